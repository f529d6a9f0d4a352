# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a window is sent: its own answers, and the logs that it follows, in strict order.

A feed pulls. It remembers, for each session, the number of the last message sent and reads on from
there, out of memory or out of the journal. Replaying and following are therefore the same thing,
and a window that reads slowly holds nothing but its place.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from ..rpc.outbox import BATCH_SIZE, Outbox
from .log import Log

STALL = 1.0
"""How long a write may stand still, in seconds, before too much unread counts against a window."""


BATCH_INTERVAL = 0.001
"""In a flood, what comes within this time leaves together: a frame costs more than a message."""


class Follow:
    """A window's place in one session's log."""

    def __init__(self, log: Log, after: int) -> None:
        self.log = log
        self.cursor = after
        self.asides: deque[tuple[int, bytes]] = deque()
        """Messages that are not in the log, each to be sent when the cursor reaches its number."""


class Feed(Outbox):
    """The outbox of a window."""

    def __init__(
        self,
        *,
        limit: int,
        on_stalled: Callable[[], None],
        keep: Callable[[bytes], bool] | None = None,
    ) -> None:
        """Call `on_stalled` when the window leaves more than `limit` bytes unread.

        `keep` picks the logged messages that the window wants; None is all of them.
        """
        self._limit = limit
        self._on_stalled = on_stalled
        self.keep = keep
        self._direct: deque[bytes] = deque()
        self._direct_size = 0
        self._follows: dict[str, Follow] = {}
        self._filled = asyncio.Event()
        self._writing_since: float | None = None
        self._written_before = 0
        self._last_batch = 0.0
        self._stall: asyncio.TimerHandle | None = None
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, message: bytes, lane: str | None = None) -> None:
        """Send a message soon, or, in a session's lane, after all that its log holds now."""
        follow = self._follows.get(lane) if lane is not None else None
        if follow is not None:
            follow.asides.append((follow.log.seq, message))
        else:
            self._direct.append(message)
            self._direct_size += len(message)
            if self._direct_size > self._limit:
                self._drained.clear()
        self._filled.set()

    def follow(self, session: str, log: Log, after: int) -> None:
        """Send the log's messages after a number, and go on as it grows."""
        old = self._follows.pop(session, None)
        if old is not None:
            for _, message in old.asides:
                self.put(message)
        self._follows[session] = Follow(log, after)
        self._filled.set()

    def unfollow(self, session: str) -> None:
        """Send nothing more of a session."""
        self._follows.pop(session, None)

    def follows(self, session: str) -> bool:
        """Whether the window watches a session."""
        return session in self._follows

    def wake(self) -> None:
        """Look again: a log has grown."""
        self._filled.set()

    async def take(self) -> bytes:
        """Return the next batch; being asked for it means that the last one was sent."""
        self._writing_since = None
        while True:
            self._filled.clear()
            parts: list[bytes] = []
            if self._direct:
                parts.extend(self._direct)
                self._direct.clear()
                self._direct_size = 0
                self._drained.set()
            for follow in list(self._follows.values()):
                await self._advance(follow, parts)
            if parts:
                self._begin_write()
                return b"\n".join(parts)
            for follow in self._follows.values():
                follow.log.wait(self)
            await self._filled.wait()
            pause = self._last_batch + BATCH_INTERVAL - asyncio.get_running_loop().time()
            if pause > 0:
                await asyncio.sleep(pause)

    async def room(self) -> None:
        """Wait while the window has not read the answers to its own questions."""
        await self._drained.wait()

    def close(self) -> None:
        """Follow nothing any more."""
        for session in list(self._follows):
            self.unfollow(session)
        if self._stall is not None:
            self._stall.cancel()
        self._direct.clear()
        self._drained.set()

    def _begin_write(self) -> None:
        loop = asyncio.get_running_loop()
        self._writing_since = self._last_batch = loop.time()
        self._written_before = self._written()
        if self._stall is None:
            self._stall = loop.call_later(STALL, self._check_stall)

    def _check_stall(self) -> None:
        """Give up on a window that takes nothing while more than the limit is written for it."""
        self._stall = None
        if self._writing_since is None:
            return
        loop = asyncio.get_running_loop()
        unread = self._written() - self._written_before + self._direct_size
        if unread > self._limit and loop.time() - self._writing_since >= STALL:
            self._on_stalled()
        else:
            self._stall = loop.call_later(STALL, self._check_stall)

    def _written(self) -> int:
        return sum(follow.log.size for follow in self._follows.values())

    async def _advance(self, follow: Follow, parts: list[bytes]) -> None:
        """Add what comes next of one session: its log up to the next aside, then the aside."""
        budget = BATCH_SIZE
        while budget > 0:
            while follow.asides and follow.asides[0][0] <= follow.cursor:
                parts.append(follow.asides.popleft()[1])
            upto = follow.asides[0][0] if follow.asides else None
            if follow.cursor >= (follow.log.seq if upto is None else upto):
                return
            found = follow.log.recent(follow.cursor, upto, budget)
            if found is None:
                found = await follow.log.read(follow.cursor, upto, budget)
            body, last = found
            if last <= follow.cursor:
                raise LookupError("messages are missing from the journal")
            follow.cursor = last
            budget -= len(body)
            if self.keep is not None:
                body = b"\n".join([line for line in body.split(b"\n") if self.keep(line)])
            if body:
                parts.append(body)
