# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Answers that may be large: an agent must not fill the memory with those that it does not read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")

AT_ONCE = 4


class Reader(Protocol):
    """Who is answered."""

    @property
    def is_full(self) -> bool:
        """Whether it has left many answers unread."""

    async def room(self) -> None:
        """Wait until it has read them."""


class LargeAnswers:
    """Makes few at a time, and none for whoever has not read those before."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)

    async def make(self, reader: Reader, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work for an answer when there is room for it."""
        while True:
            while reader.is_full:
                await reader.room()
            # Waited for outside: who does not read keeps nobody else from it.
            async with self._places:
                if not reader.is_full:
                    return await work()
