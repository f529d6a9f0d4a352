# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Detection of agent sessions that a cancelled turn has broken.

Some agents never notice that a turn was cancelled in the middle of a tool. They answer each later
prompt at once, saying that it waits for that turn, or never end the turn. The detection depends
only on the agent's behaviour, not on its name.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from .. import protocol
from ..history.messages import text_of
from ..rpc import RpcError
from .fallbacks import NoWay, by_any_way
from .setup import KINDS as SETUP_KINDS

if TYPE_CHECKING:
    from ..agents.agent import Agent

PATIENCE = 30.0
"""Timeout for the agent to end a cancelled turn once a new prompt waits, in seconds."""

CLOSE_PATIENCE = 5.0
LONGEST = 200
"""Maximum length of a text that counts as putting a prompt off, in characters."""

MOST_BYTES = 64 * 1024
"""Maximum size of a turn that counts as putting a prompt off, in bytes."""

PUT_OFF = "{name} has only put your last message off since a turn was stopped, and would do so with the next"
STUCK = "{name} did not end the turn that was stopped"

_WORDS = re.compile(
    r"\W*(?:(?:your|the|this)\s+)?(?:(?:message|prompt|request)\s+)?(?:(?:has been|was|is)\s+)?"
    r"(?:en)?queue?(?:d|ing)\b",
    re.IGNORECASE,
)
_SAYS_NOTHING = {
    *SETUP_KINDS,
    "user_message_chunk",
    # It belongs to a call of the cancelled turn.
    "tool_call_update",
}
_OURS = {
    protocol.CONTEXT,
    protocol.MODEL,
    protocol.NOTICE,
    protocol.RESOLVED,
    protocol.SERVERS,
    protocol.STATE,
    # They belong to commands of the cancelled turn.
    protocol.TERMINAL_ENDED,
    protocol.TERMINAL_PRINTED,
}


class Anew(NamedTuple):
    """The reason to continue a session in a new session of its agent."""

    why: str
    unanswered: int | None = None
    """The number of the last message before the unanswered prompt, if there is one."""


class Health:
    """Watches the turns of a session to detect a broken session of the agent."""

    def __init__(self) -> None:
        self._cancelled_in: tuple[Agent, str | None] | None = None
        self._put_off: tuple[Agent, str | None, int] | None = None

    def cancelled(self, agent: Agent, agent_session: str | None) -> None:
        """Note that a cancelled turn has ended."""
        self._cancelled_in, self._put_off = (agent, agent_session), None

    def ended(
        self, agent: Agent, agent_session: str | None, reason: Any, began: int, said: bytes
    ) -> None:
        """Note the end of a turn that was not cancelled; it began after the message number `began`."""
        follows_a_cancel = self._cancelled_in == (agent, agent_session)
        self._cancelled_in = self._put_off = None
        if follows_a_cancel and reason == "end_turn" and is_put_off(said.split(b"\n")):
            self._put_off = agent, agent_session, began

    def unanswered(self, agent: Agent, agent_session: str | None) -> int | None:
        """Return the number of the last message before a prompt that the agent put off, or None."""
        if self._put_off is None or self._put_off[:2] != (agent, agent_session):
            return None
        return self._put_off[2]


def is_put_off(messages: Iterable[bytes]) -> bool:
    """Return True if a turn's messages only say that its prompt waits for another turn."""
    texts: list[str] = []
    for message in filter(None, messages):
        told = orjson.loads(message)
        if told["method"] in _OURS or _is_end_of_tool(told):
            continue
        update = told["params"].get("update")
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        if kind == "agent_message_chunk":
            texts.append(text_of(update.get("content")))
        elif kind not in _SAYS_NOTHING:
            return False
    text = "".join(texts).strip()
    return len(text) <= LONGEST and _WORDS.match(text) is not None


def _is_end_of_tool(told: dict[str, Any]) -> bool:
    """Return True for the end of one of our tools; a start counts as work of this turn."""
    is_tool: bool = told["method"] == protocol.TOOL
    return is_tool and told["params"].get("status") != "in_progress"


async def close(agent: Agent, agent_session: str) -> None:
    """Close an abandoned session with the agent, if the agent has a method for it."""

    async def tell(method: str) -> None:
        await agent.request(method, {"sessionId": agent_session})

    with contextlib.suppress(NoWay, RpcError, asyncio.TimeoutError):
        await asyncio.wait_for(by_any_way(agent, "close", tell), CLOSE_PATIENCE)
