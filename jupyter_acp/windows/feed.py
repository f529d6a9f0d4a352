# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The outbox of a window: answers to its requests, and the logs that it follows, in strict order.

A feed pulls. For each session it stores the number of the last message sent and reads on from
there, from memory or from the journal. Replaying and following are therefore the same operation,
and a window that reads slowly costs no memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from ..history.numbered_log import Log
from ..rpc.outbox import BATCH_SIZE, Flusher, Outbox

STALL = 5.0
"""Time without a completed write, in seconds, after which a window over its limit is dropped."""


BATCH_INTERVAL = 0.001
"""Interval between small batches in seconds; a frame costs more than a message."""


class Follow:
    """A window's position in the log of one session."""

    def __init__(self, log: Log, after: int) -> None:
        self.log = log
        self.cursor = after
        self.size_before = log.size
        self.asides: deque[tuple[int, bytes]] = deque()
        """Messages outside the log, each sent when the cursor reaches the number beside it."""

        self.fetching: asyncio.Task[None] | None = None
        self.fetched: tuple[bytes, int] | None = None
        """Messages read from the journal, and the number of the last one."""


class Feed(Outbox):
    """Sends a window its direct messages and the logs of the sessions that it follows."""

    def __init__(
        self,
        *,
        limit: int,
        on_stalled: Callable[[], None],
        keep: Callable[[bytes], bool] | None = None,
        flusher: Flusher | None = None,
    ) -> None:
        """Call `on_stalled` when the window leaves more than `limit` bytes unread.

        `keep` selects the logged messages for the window; None selects all of them.
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
        """Send a message soon, or, in a session's lane, after all messages now in its log."""
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
        """Send the log's messages after a number, including future ones."""
        follow = Follow(log, after)
        if session in self._follows:
            follow.asides = self._follows[session].asides
            self._stop_fetching(session)
        self._follows[session] = follow
        self.filled()

    def unfollow(self, session: str) -> None:
        """Stop sending a session's log; messages already put into its lane are still sent."""
        self._stop_fetching(session)
        follow = self._follows.pop(session, None)
        if follow is not None:
            self._direct.extend(message for _, message in follow.asides)
            self.filled()

    def follows(self, session: str) -> bool:
        """Return True if the window follows a session."""
        return session in self._follows

    def wake(self) -> None:
        """Send new messages, because a log has grown."""
        self.filled()

    @property
    def full(self) -> bool:
        """True if more than the limit of answers and other direct messages is unread."""
        return self._unsent > self._limit

    async def room(self) -> None:
        """Wait until the unread direct messages are below the limit."""
        await self._drained.wait()

    def flush(self) -> None:
        """Send the next batch, at least `BATCH_INTERVAL` after a small one."""
        pause = self._last_batch + BATCH_INTERVAL - self._loop.time()
        if pause <= 0 or self._was_large:
            super().flush()
        elif self._pause is None:
            self._pause = self._loop.call_later(pause, self._end_pause)

    def next_batch(self) -> bytes:
        """Return the next batch of direct messages and of all followed logs."""
        parts: list[bytes] = list(self._direct)
        self._direct.clear()
        while True:
            moved = [self._advance(follow, parts) for follow in self._follows.values()]
            # If the filter removed all messages read so far, read on.
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
        """Stop following all logs."""
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
        """Report a window that reads nothing while its unread messages exceed the limit."""
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
        """Add the next messages of one session: its log up to the next aside, then the aside.

        Return True if the cursor has moved.
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
                # An aside was added in this range while the journal was read.
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
            # Read ahead while this batch is being sent.
            follow.fetching = self._loop.create_task(self._fetch(follow))
        return follow.cursor > start

    async def _fetch(self, follow: Follow) -> None:
        """Read messages that are no longer in memory from the journal, then continue."""
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
