# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Outboxes: buffers for messages to be written, with backpressure for slow readers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

BATCH_SIZE = 256 * 1024
"""Size of one write in bytes: large for throughput, small enough not to block the loop."""

Write = Callable[[bytes], "asyncio.Future[None] | None"]


class Flusher:
    """Sends the messages in all outboxes at the end of the current work.

    After a connection has handled a batch of received messages it flushes, so the resulting
    messages are sent together and at once. Others are sent in the next round of the event loop.
    """

    def __init__(self) -> None:
        self._filled: list[Outbox] = []

    def add(self, outbox: Outbox) -> None:
        """Note that an outbox has messages to send."""
        if not self._filled:
            asyncio.get_running_loop().call_soon(self.flush)
        self._filled.append(outbox)

    def flush(self) -> None:
        """Flush every noted outbox."""
        if self._filled:
            filled, self._filled = self._filled, []
            for outbox in filled:
                try:
                    outbox.flush()
                except Exception as error:
                    # A failing outbox must not prevent the others from sending.
                    outbox.fail(error)


class Outbox(ABC):
    """A buffer of messages to write, in order, one batch at a time."""

    def __init__(self, flusher: Flusher | None = None) -> None:
        self.flusher = flusher or Flusher()
        self._write: Write | None = None
        self._on_failure: Callable[[BaseException], None] | None = None
        self._waiting = False
        self._writing = False

    @abstractmethod
    def put(self, message: bytes, lane: str | None = None, *, answer: bool = False) -> None:
        """Add a message at the end, or at the end of a lane that it must not overtake."""

    @abstractmethod
    def next_batch(self) -> bytes:
        """Return the next messages to write, newline-separated, or nothing."""

    @property
    @abstractmethod
    def full(self) -> bool:
        """True if the other side leaves so many answers unread that its requests have to wait."""

    @abstractmethod
    async def room(self) -> None:
        """Wait until the unsent messages are below the limit."""

    def start(self, write: Write, on_failure: Callable[[BaseException], None]) -> None:
        """Start writing the messages, present and future ones."""
        self._write = write
        self._on_failure = on_failure
        self.filled()

    def fail(self, error: BaseException) -> None:
        """Close the outbox after a failed write, and report the error."""
        if self._write is not None:
            self.close()
            if self._on_failure is not None:
                self._on_failure(error)

    def close(self) -> None:
        """Stop writing."""
        self._write = None

    def filled(self) -> None:
        """Schedule a flush, because there are messages to send."""
        if not self._waiting and not self._writing:
            self._waiting = True
            self.flusher.add(self)

    def flush(self) -> None:
        """Write batch after batch until the transport blocks or the outbox is empty."""
        self._waiting = False
        while not self._writing and self._write is not None and (batch := self.next_batch()):
            try:
                taken = self._write(batch)
            except ConnectionError as error:
                self.fail(error)
                return
            if taken is not None:
                self._writing = True
                taken.add_done_callback(self._taken)

    def _taken(self, taken: asyncio.Future[None]) -> None:
        self._writing = False
        error = ConnectionError("closed") if taken.cancelled() else taken.exception()
        if error is not None:
            self.fail(error)
        else:
            self.flush()


class Queue(Outbox):
    """A first-in first-out outbox whose senders wait above a number of bytes."""

    def __init__(self, limit: int = 4 * 1024 * 1024, flusher: Flusher | None = None) -> None:
        super().__init__(flusher)
        self._limit = limit
        self._messages: list[tuple[bytes, bool]] = []
        self._size = 0
        self._answers = 0
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, message: bytes, lane: str | None = None, *, answer: bool = False) -> None:  # noqa: ARG002
        """Add a message; callers that can wait call `room` first."""
        self._messages.append((message, answer))
        self._size += len(message)
        if answer:
            self._answers += len(message)
        if self._size > self._limit:
            self._drained.clear()
        self.filled()

    def next_batch(self) -> bytes:
        """Return about `BATCH_SIZE` bytes of messages."""
        size = count = 0
        for message, answer in self._messages:
            size += len(message)
            count += 1
            if answer:
                self._answers -= len(message)
            if size >= BATCH_SIZE:
                break
        batch = b"\n".join(message for message, _ in self._messages[:count])
        del self._messages[:count]
        self._size -= size
        if self._size <= self._limit:
            self._drained.set()
        return batch

    @property
    def full(self) -> bool:
        """True if more bytes of answers than the limit are unread.

        Our own requests do not count: with an agent that writes a lot before it reads again, both
        sides would otherwise wait for each other.
        """
        return self._answers > self._limit

    async def room(self) -> None:
        """Wait until the unsent messages are below the limit."""
        await self._drained.wait()

    async def flushed(self) -> None:
        """Wait until all messages are written."""
        while (self._messages or self._writing) and self._write is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Drop unsent messages and release callers that wait for room."""
        super().close()
        self._messages.clear()
        self._size = self._answers = 0
        self._drained.set()
