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

from ..history.log import Log
from ..rpc.outbox import BATCH_SIZE, Flusher, Outbox

STALL = 5.0
"""How long a write may stand still, in seconds, before too much unread counts against a window."""


BATCH_INTERVAL = 0.001
"""In a flood, what comes within this time leaves together: a frame costs more than a message."""


class Follow:
    """A window's place in one session's log."""

    def __init__(self, log: Log, after: int) -> None:
        self.log = log
        self.cursor = after
        self.size_before = log.size
        self.asides: deque[tuple[int, bytes]] = deque()
        """Messages that are not in the log, each to be sent when the cursor reaches its number."""

        self.fetching: asyncio.Task[None] | None = None
        self.fetched: tuple[bytes, int] | None = None
        """What the journal had to be asked for, and the number that it ends with."""


class Feed(Outbox):
    """The outbox of a window."""

    def __init__(
        self,
        *,
        limit: int,
        on_stalled: Callable[[], None],
        keep: Callable[[bytes], bool] | None = None,
        flusher: Flusher | None = None,
    ) -> None:
        """Call `on_stalled` when the window leaves more than `limit` bytes unread.

        `keep` picks the logged messages that the window wants; None is all of them.
        """
        super().__init__(flusher)
        self.keep = keep
        self._limit = limit
        self._on_stalled = on_stalled
        self._loop = asyncio.get_running_loop()
        self._direct: deque[bytes] = deque()
        self._unsent = 0
        self._follows: dict[str, Follow] = {}
        self._last_batch = 0.0
        self._was_large = False
        self._written_before = 0
        self._pause: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, message: bytes, lane: str | None = None, *, answer: bool = False) -> None:  # noqa: ARG002
        """Send a message soon, or, in a session's lane, after all that its log holds now."""
        follow = self._follows.get(lane) if lane is not None else None
        if follow is not None:
            follow.asides.append((follow.log.seq, message))
        else:
            self._direct.append(message)
        self._unsent += len(message)
        if self._unsent > self._limit:
            self._drained.clear()
        self.filled()

    def follow(self, session: str, log: Log, after: int) -> None:
        """Send the log's messages after a number, and go on as it grows."""
        follow = Follow(log, after)
        if session in self._follows:
            follow.asides = self._follows[session].asides
            self._stop_fetching(session)
        self._follows[session] = follow
        self.filled()

    def unfollow(self, session: str) -> None:
        """Send nothing more of a session but what was put into its lane."""
        self._stop_fetching(session)
        follow = self._follows.pop(session, None)
        if follow is not None:
            self._direct.extend(message for _, message in follow.asides)
            self.filled()

    def follows(self, session: str) -> bool:
        """Whether the window watches a session."""
        return session in self._follows

    def wake(self) -> None:
        """Look again: a log has grown."""
        self.filled()

    @property
    def full(self) -> bool:
        """Whether the window leaves the answers to its own questions unread."""
        return self._unsent > self._limit

    async def room(self) -> None:
        """Wait until it has read them."""
        await self._drained.wait()

    def flush(self) -> None:
        """Send what there is, but no sooner after a small batch than it pays."""
        pause = self._last_batch + BATCH_INTERVAL - self._loop.time()
        if pause <= 0 or self._was_large:
            super().flush()
        elif self._pause is None:
            self._pause = self._loop.call_later(pause, self._end_pause)

    def next_batch(self) -> bytes:
        """Return what is next of everything that the window is owed."""
        parts: list[bytes] = list(self._direct)
        self._direct.clear()
        while True:
            moved = [self._advance(follow, parts) for follow in self._follows.values()]
            # What a filter leaves nothing of does not end the search: there may be more behind it.
            if parts or not any(moved):
                break
        if not parts:
            for follow in self._follows.values():
                follow.log.wait(self)
            return b""
        batch = b"\n".join(parts)
        self._last_batch = self._loop.time()
        self._was_large = len(batch) >= BATCH_SIZE
        self._written_before = self._written()
        if self._stall is None:
            self._stall = self._loop.call_later(STALL, self._check_stall)
        self._unsent = sum(len(m) for f in self._follows.values() for _, m in f.asides)
        if not self.full:
            self._drained.set()
        return batch

    def close(self) -> None:
        """Follow nothing any more."""
        super().close()
        for session in list(self._follows):
            self.unfollow(session)
        for timer in (self._stall, self._pause):
            if timer is not None:
                timer.cancel()
        self._direct.clear()
        self._unsent = 0
        self._drained.set()

    def _end_pause(self) -> None:
        self._pause = None
        super().flush()

    def _check_stall(self) -> None:
        """Give up on a window that takes nothing while more than the limit is written for it."""
        self._stall = None
        if not self._writing:
            return
        unread = self._written() - self._written_before + self._unsent
        if unread > self._limit and self._loop.time() - self._last_batch >= STALL:
            self._on_stalled()
        else:
            self._stall = self._loop.call_later(STALL, self._check_stall)

    def _written(self) -> int:
        return sum(follow.log.size - follow.size_before for follow in self._follows.values())

    def _advance(self, follow: Follow, parts: list[bytes]) -> bool:
        """Add what comes next of one session: its log up to the next aside, then the aside.

        Return whether it got any further.
        """
        budget, start = BATCH_SIZE, follow.cursor
        while budget > 0:
            while follow.asides and follow.asides[0][0] <= follow.cursor:
                parts.append(follow.asides.popleft()[1])
            upto = follow.asides[0][0] if follow.asides else None
            if follow.cursor >= (follow.log.seq if upto is None else upto):
                break
            found = follow.fetched or follow.log.recent(follow.cursor, upto, budget)
            if found is None:
                break
            follow.fetched = None
            body, last = found
            if upto is not None and last > upto:
                # Something was put in between while the journal was read.
                body = b"\n".join(body.split(b"\n", upto - follow.cursor)[: upto - follow.cursor])
                last = upto
            follow.cursor = last
            budget -= len(body)
            if self.keep is not None:
                body = b"\n".join([line for line in body.split(b"\n") if self.keep(line)])
            if body:
                parts.append(body)
        if (
            follow.fetched is None
            and follow.fetching is None
            and follow.log.has_left(follow.cursor)
        ):
            # Already now: it is read while this batch is on its way.
            follow.fetching = self._loop.create_task(self._fetch(follow))
        return follow.cursor > start

    async def _fetch(self, follow: Follow) -> None:
        """Get from the journal what has left memory, and go on when it is there."""
        try:
            body, last = await follow.log.read(follow.cursor, BATCH_SIZE)
        except Exception as error:
            self.fail(error)
            return
        follow.fetching = None
        if last > follow.cursor:
            follow.fetched = (body, last)
            self.filled()

    def _stop_fetching(self, session: str) -> None:
        follow = self._follows.get(session)
        if follow is not None and follow.fetching is not None:
            follow.fetching.cancel()
