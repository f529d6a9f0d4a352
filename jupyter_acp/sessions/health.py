# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions of agents that a cancelled turn has broken: how to notice it, and how to let them go.

Some agents never notice that a turn was cancelled in the middle of a tool. They answer each later
prompt at once, saying that it waits for that turn, or do not even end the turn. Only what an agent
does counts here, not which one it is.
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
"""How long an agent may take to end a cancelled turn, in seconds, once the user wants to go on."""

CLOSE_PATIENCE = 5.0
LONGEST = 200
"""How long a text may be that only puts a prompt off, in characters."""

MOST_BYTES = 64 * 1024
"""How much a turn may say that does so; a longer one is an answer."""

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
    # Of a call that began before: the end of what was cancelled.
    "tool_call_update",
}
_OURS = {
    protocol.CONTEXT,
    protocol.MODEL,
    protocol.NOTICE,
    protocol.RESOLVED,
    protocol.SERVERS,
    protocol.STATE,
    # Of commands that began before: the end of what was cancelled.
    protocol.TERMINAL_ENDED,
    protocol.TERMINAL_PRINTED,
}


class Anew(NamedTuple):
    """Why a session is to go on in a new one of its agent."""

    why: str
    unanswered: int | None = None
    """The number after which nothing was answered, if the agent was told something in vain."""


class Health:
    """What the turns of a session tell of the agent's session behind it."""

    def __init__(self) -> None:
        self._cancelled_in: tuple[Agent, str | None] | None = None
        self._put_off: tuple[Agent, str | None, int] | None = None

    def cancelled(self, agent: Agent, agent_session: str | None) -> None:
        """Take note that a turn ended which the agent had been told to end."""
        self._cancelled_in, self._put_off = (agent, agent_session), None

    def ended(
        self, agent: Agent, agent_session: str | None, reason: Any, began: int, said: bytes
    ) -> None:
        """Take note of how a turn ended by itself that began after a number, and what it said."""
        follows_a_cancel = self._cancelled_in == (agent, agent_session)
        self._cancelled_in = self._put_off = None
        if follows_a_cancel and reason == "end_turn" and is_put_off(said.split(b"\n")):
            self._put_off = agent, agent_session, began

    def unanswered(self, agent: Agent, agent_session: str | None) -> int | None:
        """Return the number after which an agent's session has put off what it was told, if it did."""
        if self._put_off is None or self._put_off[:2] != (agent, agent_session):
            return None
        return self._put_off[2]


def is_put_off(messages: Iterable[bytes]) -> bool:
    """Whether the messages of a turn say that its prompt waits for another turn, and nothing else."""
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
    """Whether one of our tools has ended; one that begins is something that was done."""
    is_tool: bool = told["method"] == protocol.TOOL
    return is_tool and told["params"].get("status") != "in_progress"


async def close(agent: Agent, agent_session: str) -> None:
    """Let the agent forget a session that was left, if it can."""

    async def tell(method: str) -> None:
        await agent.request(method, {"sessionId": agent_session})

    with contextlib.suppress(NoWay, RpcError, asyncio.TimeoutError):
        await asyncio.wait_for(by_any_way(agent, "close", tell), CLOSE_PATIENCE)
