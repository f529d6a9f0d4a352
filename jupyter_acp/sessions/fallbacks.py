# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Methods for each session capability of agents: the standard one first, then extensions.

A method is used only if the agent offers it. If the agent then answers that it does not know the
method, it is not tried with this agent again. To support another method, add a line to `WAYS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import protocol
from ..rpc import RpcError
from ..rpc.errors import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from ..agents.agent import Agent

T = TypeVar("T")

Offer = dict[str, Any]
"""The `agentCapabilities` of an agent."""


class Way(NamedTuple):
    """A method, and the test for an agent that offers it."""

    method: str
    is_offered: Callable[[Offer], bool]


def _standard(name: str) -> Callable[[Offer], bool]:
    return lambda offer: is_set(_dict(offer.get("sessionCapabilities")).get(name))


def _root(name: str) -> Callable[[Offer], bool]:
    return lambda offer: is_set(offer.get(name))


def _extension(name: str) -> Callable[[Offer], bool]:
    return lambda offer: extensions(offer).get(name) is True


WAYS: dict[str, tuple[Way, ...]] = {
    "list": (
        Way(protocol.SESSION_LIST, _standard("list")),
        Way(protocol.EXT_LIST, _extension("sessionList")),
    ),
    "resume": (
        Way(protocol.SESSION_RESUME, _standard("resume")),
        Way(protocol.SESSION_LOAD, _root("loadSession")),
    ),
    "load": (
        # Preferred here because it replays the history, which the journal does not have.
        Way(protocol.SESSION_LOAD, _root("loadSession")),
        Way(protocol.SESSION_RESUME, _standard("resume")),
    ),
    "fork": (
        Way(protocol.SESSION_FORK, _standard("fork")),
        Way(protocol.EXT_FORK, _extension("sessionFork")),
    ),
    "close": (
        Way(protocol.SESSION_CLOSE, _standard("close")),
        Way(protocol.EXT_TERMINATE, _extension("sessionTerminate")),
    ),
    "delete": (
        Way(protocol.SESSION_DELETE, _standard("delete")),
        Way(protocol.EXT_TERMINATE, _extension("sessionTerminate")),
    ),
    "metadata": (Way(protocol.EXT_SET_METADATA, _extension("sessionMetadata")),),
    "events": (Way(protocol.EXT_EVENTS, _extension("sessionEventsPoll")),),
}


class NoWay(Exception):  # noqa: N818
    """The agent offers no method for a capability."""


def ways(agent: Agent, capability: str) -> list[str]:
    """Return the methods that an agent offers for a capability, the best first."""
    return [
        way.method
        for way in WAYS[capability]
        if way.method not in agent.unknown and way.is_offered(agent.capabilities)
    ]


async def by_any_way(agent: Agent, capability: str, ask: Callable[[str], Awaitable[T]]) -> T:
    """Ask by the best method; try the next one if the agent does not know a method it offered."""
    for method in ways(agent, capability):
        try:
            return await ask(method)
        except RpcError as error:
            if not note_unknown(agent, method, error):
                raise
    raise NoWay(capability)


def note_unknown(agent: Agent, method: str, error: RpcError) -> bool:
    """Return True if an error says that the agent lacks the method, and remember that."""
    if error.code != METHOD_NOT_FOUND:
        return False
    agent.unknown.add(method)
    return True


def extensions(offer: Offer) -> dict[str, Any]:
    """Return the extensions that an agent or a client advertises."""
    return _dict(_dict(_dict(offer.get("_meta")).get(protocol.SANDBOX)).get("extensions"))


def is_set(value: Any) -> bool:
    """Return True if a capability is set; an empty object counts as set."""
    return value is not None and value is not False


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
