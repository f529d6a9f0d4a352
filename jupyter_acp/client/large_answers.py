# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A limit on large answers, so that an agent that does not read cannot fill the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")

AT_ONCE = 4


class Reader(Protocol):
    """The receiver of answers."""

    @property
    def is_full(self) -> bool:
        """True if many answers are unread."""

    async def room(self) -> None:
        """Wait until the unread answers have been read."""


class LargeAnswers:
    """Makes few answers at a time, and none for a receiver with many unread answers."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)

    async def make(self, reader: Reader, work: Callable[[], Awaitable[T]]) -> T:
        """Run `work` when there is room for its answer."""
        while True:
            while reader.is_full:
                await reader.room()
            # Wait outside of the semaphore: a slow receiver must not block the others.
            async with self._places:
                if not reader.is_full:
                    return await work()
