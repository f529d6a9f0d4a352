# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Wait for what an agent repeats of a session that it has loaded, and no longer than need be.

Most agents repeat it before they answer, some after it, some with pauses, some not at all. An agent
that has come to where the journal ends is waited for a moment only, as is one that has not promised
to repeat anything; one that is not through yet, or has not begun, may take a breath. What comes even
later is told from the present as it comes (`late`).
"""

from __future__ import annotations

import asyncio

import orjson

from .exchanges import Piece, Update
from .late import Late
from .log import Log
from .passages import ended_calls, history, piece_of
from .replay import News, Replay

QUIET = 0.15
BREATH = 1.0
LONGEST = 10.0
"""How long an agent must be silent, in seconds, to have repeated all; how long if there must be more;
and how long it is waited for if it is never silent."""

LATEST = 30.0
"""For how long afterwards it may still repeat something, in seconds."""

MOST = 200_000
MOST_BYTES = 64 * 1024 * 1024
"""How much is held against the journal; an agent that repeats more repeats itself."""

MOST_READ = 20_000
"""How many messages of the journal are read only in case that the agent begins late."""


class Repeated:
    """What an agent says while it is taken for the past."""

    def __init__(self) -> None:
        self._taken: list[Update] = []
        self._size = 0
        self._more = asyncio.Event()
        self.late: Late | None = None
        """What tells the past from the present after all is read."""

        self.has_past = False
        """Whether anything was said before that the journal knows of."""

        self.is_cut = False
        """Whether it was more than is held against the journal."""

    def take(self, params: Update) -> None:
        """Take one update of the agent; one that cannot be written down raises."""
        self._size += len(orjson.dumps(params))
        if len(self._taken) < MOST and self._size < MOST_BYTES:
            self._taken.append(params)
        else:
            self.is_cut = True
        self._more.set()

    def others(self) -> list[Update]:
        """Return what it has said that belongs to no conversation, as notices do not."""
        pieces = ((params, piece_of(params["update"])) for params in self._taken)
        return [params for params, each in pieces if each.speaker == "other" and each.key != "plan"]

    async def news(self, log: Log, *, is_promised: bool) -> list[News]:
        """Wait until the agent is silent; return what it has said that the journal does not have."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST
        lines: list[bytes] | None = None
        replay, news, count = Replay([]), list[News](), -1
        while True:
            self._more.clear()
            if lines is None and (self._taken or log.seq <= MOST_READ):
                lines = await log.everything()
            if count < len(self._taken):
                count = len(self._taken)
                replay, news = await loop.run_in_executor(
                    None, _held_against, lines or [], self._taken[:count]
                )
            is_through = replay.is_through if count else not is_promised
            # What is empty though it was written in has nothing that could be repeated.
            is_empty = lines is not None and log.seq > 0 and not replay.has_past
            if not await self._goes_on(QUIET if is_through or is_empty else BREATH, end):
                break
        self.has_past = replay.has_past
        self.late = late = replay.late() if lines is not None else None
        rest, self._taken = self._taken[count:], []
        for params in rest:
            # One that is never silent is not waited for.
            piece = Piece(piece_of(params["update"]), params)
            fresh = late.take(piece, None) if late is not None else [params]
            news += [News(each) for each in fresh]
        return news

    async def _goes_on(self, patience: float, end: float) -> bool:
        """Wait for more, and then for silence; return whether there is more."""
        loop = asyncio.get_running_loop()
        goes_on = False
        while loop.time() < end:
            try:
                await asyncio.wait_for(self._more.wait(), patience)
            except asyncio.TimeoutError:
                return goes_on
            self._more.clear()
            goes_on, patience = True, QUIET
        return False


def _held_against(lines: list[bytes], updates: list[Update]) -> tuple[Replay, list[News]]:
    replay = Replay(history(lines), ended_calls(lines))
    for params in updates:
        replay.take(params)
    return replay, replay.news()
