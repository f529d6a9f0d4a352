# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The replay gate, which drops the history that an agent repeats when it opens a session.

The journal already has the messages that went through this server, so a replay must not append
them again. The gate is shut when the request is sent, and opened after the agent has answered and
then been silent: some agents replay after their answer. Updates of state (commands, modes,
options, usage, titles, notices) always pass; only those in `KINDS` are dropped.

A session that only its agent knows is not in the journal. Its replay is kept, once: some agents
send it twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from ..protocol import META
from .messages import text_of

KINDS = {
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "compaction_update",
    "compaction_summary_chunk",
}
"""The kinds of updates that are history."""

QUIET = 0.15
"""Time of silence, in seconds, after which a replay counts as complete."""

BREATH = 1.0
"""The same while messages are missing, or a promised replay has not begun."""

LONGEST = 10.0
"""Timeout for the whole replay, in seconds."""

_MARKS = re.compile(r"(\[[A-Za-z][^\[\]\n]*\]\s*)+")
"""Marks that agents replay as user messages, such as "[Request interrupted by user]"."""

Params = dict[str, Any]
"""The parameters of `session/update`."""


class ReplayGate:
    """Drops the agent's history from its creation until it is opened."""

    def __init__(self, keep: Callable[[Params], None] | None = None) -> None:
        """Drop all history, or pass its first round to `keep`."""
        self._keep = keep
        self._first_round = FirstRound()
        self._users = _UserMessages()
        self._heard = asyncio.Event()
        self.stopped = 0
        """Number of updates that were dropped."""

    @property
    def user_messages(self) -> int:
        """Number of different user messages in the replay so far."""
        return self._users.count

    def take(self, params: Params) -> None:
        """Drop or keep an update of the history."""
        self._heard.set()
        self._users.take(params["update"])
        if self._keep is None:
            self.stopped += 1
            return
        for each in self._first_round.take(params):
            self._keep(each)

    def open(self) -> None:
        """Keep the user messages that were held back at the end."""
        if self._keep is not None:
            for each in self._first_round.rest():
                self._keep(each)

    async def quiet(self, expected: int, *, is_promised: bool) -> None:
        """Wait until the agent is silent, at most `LONGEST` seconds.

        `expected` is the number of user messages to wait for. An agent that has promised a replay
        gets more time to begin.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST
        while loop.time() < end:
            told = self.user_messages
            has_begun = told > 0 or self._heard.is_set()
            is_due = told < expected or self._users.is_open if has_begun else is_promised
            self._heard.clear()
            try:
                await asyncio.wait_for(self._heard.wait(), BREATH if is_due else QUIET)
            except asyncio.TimeoutError:
                return


class FirstRound:
    """Passes the first replay of the history, and drops a second one.

    A second round is detected by the id of a message or of a tool call that belongs to an earlier
    user message. User messages are held until another update follows, because many have no id.
    """

    def __init__(self) -> None:
        self._exchanges: dict[tuple[str, str], int] = {}
        self._exchange = 0
        self._held: list[Params] = []
        self._is_over = False

    def take(self, params: Params) -> list[Params]:
        """Return the updates to keep, including those held before."""
        if self._is_over:
            return []
        update = params["update"]
        kind = update.get("sessionUpdate")
        is_user = kind == "user_message_chunk"
        if is_user and not self._held:
            self._exchange += 1
        id = update.get("toolCallId" if "tool" in kind else "messageId")
        if isinstance(id, str):
            name = ("tool" if "tool" in kind else kind, id)
            # Updates of a call may follow a later user message, but not its start.
            is_known = self._exchanges.setdefault(name, self._exchange) != self._exchange
            if is_known and (kind != "tool_call_update" or self._held):
                self._is_over = True
                self._held = []
                return []
        passed, self._held = [*self._held, params], []
        if is_user:
            passed, self._held = [], passed
        return passed

    def rest(self) -> list[Params]:
        """Return the updates that are still held."""
        held, self._held = self._held, []
        return held


def count_user_messages(messages: Iterable[bytes]) -> int:
    """Return the number of user messages among numbered messages of one session."""
    count, current = 0, None
    for message in messages:
        if b'"session/update"' not in message:
            continue
        params = orjson.loads(message)["params"] if b'"user_message_chunk"' in message else {}
        update = params.get("update")
        if not isinstance(update, dict) or update.get("sessionUpdate") != "user_message_chunk":
            current = None
            continue
        key = params["_meta"][META].get("promptId") or update.get("messageId") or ""
        count += key != current
        current = key
    return count


class _UserMessages:
    """Counts the different user messages in a replay."""

    def __init__(self) -> None:
        self._told: set[int] = set()
        self._text: list[str] = []

    @property
    def is_open(self) -> bool:
        """True if nothing has followed the last user message."""
        return bool(self._text)

    @property
    def count(self) -> int:
        """Number of different user messages, including the last one."""
        return len(self._told | self._last())

    def take(self, update: dict[str, Any]) -> None:
        """Count an update of the history."""
        if update.get("sessionUpdate") == "user_message_chunk":
            self._text.append(text_of(update.get("content")))
        elif self._text:
            self._told |= self._last()
            self._text.clear()

    def _last(self) -> set[int]:
        text = "".join(self._text).strip()
        return {hash(text)} if text and not _MARKS.fullmatch(text) else set()
