# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Where messages wait to be written, and what makes a fast sender wait for a slow reader."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

BATCH_SIZE = 256 * 1024
"""What leaves in one write: large enough to be cheap, small enough to share the loop fairly."""

Write = Callable[[bytes], "asyncio.Future[None] | None"]


class Flusher:
    """Sends what was put into outboxes at the end of the work that put it there.

    Whoever handles a batch of messages flushes when it is done: what came in together leaves
    together, and at once. What is put in at other times leaves in the loop's next round.
    """

    def __init__(self) -> None:
        self._filled: list[Outbox] = []

    def add(self, outbox: Outbox) -> None:
        """Take note that an outbox has something to send."""
        if not self._filled:
            asyncio.get_running_loop().call_soon(self.flush)
        self._filled.append(outbox)

    def flush(self) -> None:
        """Let every outbox send."""
        if self._filled:
            filled, self._filled = self._filled, []
            for outbox in filled:
                try:
                    outbox.flush()
                except Exception as error:
                    # One that fails must not silence the others.
                    outbox.fail(error)


class Outbox(ABC):
    """Messages on their way out, in order, one batch at a time."""

    def __init__(self, flusher: Flusher | None = None) -> None:
        self.flusher = flusher or Flusher()
        self._write: Write | None = None
        self._on_failure: Callable[[BaseException], None] | None = None
        self._waiting = False
        self._writing = False

    @abstractmethod
    def put(self, message: bytes, lane: str | None = None, *, answer: bool = False) -> None:
        """Add a message at the end, or at the end of the one stream that it must not overtake."""

    @abstractmethod
    def next_batch(self) -> bytes:
        """Return what is to be written next, newline-separated, or nothing."""

    @property
    @abstractmethod
    def full(self) -> bool:
        """Whether the other side leaves so many answers unread that it should not ask for more."""

    @abstractmethod
    async def room(self) -> None:
        """Wait while too much is unsent."""

    def start(self, write: Write, on_failure: Callable[[BaseException], None]) -> None:
        """Write what there is, and what is put in from now on."""
        self._write = write
        self._on_failure = on_failure
        self.filled()

    def fail(self, error: BaseException) -> None:
        """Give up: nothing can be written any more."""
        if self._write is not None:
            self.close()
            if self._on_failure is not None:
                self._on_failure(error)

    def close(self) -> None:
        """Write nothing any more."""
        self._write = None

    def filled(self) -> None:
        """Write soon: there is something to send."""
        if not self._waiting and not self._writing:
            self._waiting = True
            self.flusher.add(self)

    def flush(self) -> None:
        """Write batch after batch until the wire needs time or nothing is left."""
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
    """A first-in first-out outbox that asks its senders to wait above a number of bytes."""

    def __init__(self, limit: int = 4 * 1024 * 1024, flusher: Flusher | None = None) -> None:
        super().__init__(flusher)
        self._limit = limit
        self._messages: list[tuple[bytes, bool]] = []
        self._size = 0
        self._answers = 0
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, message: bytes, lane: str | None = None, *, answer: bool = False) -> None:  # noqa: ARG002
        """Add a message; whoever can wait calls `room` first."""
        self._messages.append((message, answer))
        self._size += len(message)
        if answer:
            self._answers += len(message)
        if self._size > self._limit:
            self._drained.clear()
        self.filled()

    def next_batch(self) -> bytes:
        """Return about one batch of what waits."""
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
        """Whether more answers than the limit are unread.

        Our own requests do not count: an agent that writes a lot before it reads again would
        otherwise wait for us as we wait for it.
        """
        return self._answers > self._limit

    async def room(self) -> None:
        """Wait until less than the limit is unsent."""
        await self._drained.wait()

    async def flushed(self) -> None:
        """Wait until everything has left."""
        while (self._messages or self._writing) and self._write is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Forget what is unsent and release those who wait for room."""
        super().close()
        self._messages.clear()
        self._size = self._answers = 0
        self._drained.set()
