# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Where messages wait to be written, and what makes a fast sender wait for a slow reader."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

BATCH_SIZE = 256 * 1024
"""What leaves in one write: large enough to be cheap, small enough to share the loop fairly."""


class Outbox(ABC):
    """Messages on their way out, in order."""

    @abstractmethod
    def put(self, message: bytes, lane: str | None = None) -> None:
        """Add a message at the end, or at the end of the one stream that it must not overtake."""

    @abstractmethod
    async def take(self) -> bytes:
        """Wait for messages and return some of them, newline-separated."""

    @abstractmethod
    async def room(self) -> None:
        """Wait while too much is unsent."""

    @abstractmethod
    def close(self) -> None:
        """Let nobody wait any longer: what is unsent will never be sent."""


class Queue(Outbox):
    """A first-in first-out outbox that asks its senders to wait above a number of bytes."""

    def __init__(self, limit: int = 4 * 1024 * 1024) -> None:
        self._limit = limit
        self._messages: list[bytes] = []
        self._size = 0
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, message: bytes, lane: str | None = None) -> None:  # noqa: ARG002
        """Add a message; whoever can wait calls `room` first."""
        self._messages.append(message)
        self._size += len(message)
        self._filled.set()
        if self._size > self._limit:
            self._drained.clear()

    async def take(self) -> bytes:
        """Return about one batch of what waits."""
        while not self._messages:
            self._filled.clear()
            await self._filled.wait()
        size = count = 0
        for message in self._messages:
            size += len(message)
            count += 1
            if size >= BATCH_SIZE:
                break
        batch = b"\n".join(self._messages[:count])
        del self._messages[:count]
        self._size -= size
        if self._size <= self._limit:
            self._drained.set()
        return batch

    async def room(self) -> None:
        """Wait until less than the limit is unsent."""
        await self._drained.wait()

    def close(self) -> None:
        """Forget what is unsent and release those who wait for room."""
        self._messages.clear()
        self._size = 0
        self._drained.set()
