# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Keep out of a transcript what an agent repeats when it loads, resumes or forks a session.

The journal has everything that was said through us, so the past is not taken from the agent a second
time. The gate is shut when the request is sent and opens once the agent has answered and then been
quiet: some agents repeat the past after their answer. Updates of state (commands, modes, options,
usage, titles, notices) always pass; only those in `KINDS` are stopped.

A session that only its agent knows has no journal yet. Its past passes, once: some agents tell it
twice.
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
"""The updates that are history."""

QUIET = 0.15
"""How long an agent must be silent, in seconds, to have repeated everything."""

BREATH = 1.0
"""The same for an agent that must have more to repeat, or has promised to and not begun."""

LONGEST = 10.0
"""How long an agent is waited for that is never silent, in seconds."""

_MARKS = re.compile(r"(\[[A-Za-z][^\[\]\n]*\]\s*)+")
"""What agents write down as if the user had said it: "[Request interrupted by user]"."""

Params = dict[str, Any]
"""Of `session/update`."""


class ReplayGate:
    """Stops what an agent repeats, from its creation until it is opened."""

    def __init__(self, keep: Callable[[Params], None] | None = None) -> None:
        """Stop all history; or `keep` what is told of it for the first time."""
        self._keep = keep
        self._first_round = FirstRound()
        self._users = _UserMessages()
        self._heard = asyncio.Event()
        self.stopped = 0
        """How many updates were stopped."""

    @property
    def user_messages(self) -> int:
        """How many messages of users the agent has told."""
        return self._users.count

    def take(self, params: Params) -> None:
        """Take an update of history."""
        self._heard.set()
        self._users.take(params["update"])
        if self._keep is None:
            self.stopped += 1
            return
        for each in self._first_round.take(params):
            self._keep(each)

    def open(self) -> None:
        """Keep what was held back to see what follows it."""
        if self._keep is not None:
            for each in self._first_round.rest():
                self._keep(each)

    async def quiet(self, expected: int, *, is_promised: bool) -> None:
        """Wait until the agent has been silent, but not for ever.

        `expected` is how many messages of users it is to tell; one that has promised to tell them is
        given time to begin.
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
    """Passes what an agent tells of the past, and stops what it tells a second time.

    A second round is noticed by the id of a message or of a tool call that belongs to an earlier
    message of the user. Messages of users are held until something follows them: many have no id.
    """

    def __init__(self) -> None:
        self._exchanges: dict[tuple[str, str], int] = {}
        self._exchange = 0
        self._held: list[Params] = []
        self._is_over = False

    def take(self, params: Params) -> list[Params]:
        """Return the updates that are told for the first time, those held before included."""
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
            # A call may go on behind a later message, but does not begin there.
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
        """Return what was held to the end."""
        held, self._held = self._held, []
        return held


def count_user_messages(messages: Iterable[bytes]) -> int:
    """Return how many messages of users there are among numbered messages of one session."""
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
    """Counts the different messages of users in what an agent repeats."""

    def __init__(self) -> None:
        self._told: set[int] = set()
        self._text: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether nothing has followed the last one."""
        return bool(self._text)

    @property
    def count(self) -> int:
        """How many there are, the last one included."""
        return len(self._told | self._last())

    def take(self, update: dict[str, Any]) -> None:
        """Take an update of history."""
        if update.get("sessionUpdate") == "user_message_chunk":
            self._text.append(text_of(update.get("content")))
        elif self._text:
            self._told |= self._last()
            self._text.clear()

    def _last(self) -> set[int]:
        text = "".join(self._text).strip()
        return {hash(text)} if text and not _MARKS.fullmatch(text) else set()
