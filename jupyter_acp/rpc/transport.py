# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a connection needs of the wire beneath it: messages in, batches out."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

DEFAULT_MESSAGE_LIMIT = 64 * 1024 * 1024


class Oversized(NamedTuple):
    """A message that was longer than the limit: only its head was kept."""

    head: bytes
    size: int


Receive = Callable[["list[bytes | Oversized]"], None]
"""Takes the messages that one read of the wire brought."""


class Transport(ABC):
    """A wire that carries whole JSON-RPC messages."""

    @abstractmethod
    async def run(self, receive: Receive) -> None:
        """Hand on what arrives, in order and as soon as it does, until the wire ends."""

    @abstractmethod
    def pause(self) -> None:
        """Hand on nothing for a while; the other side has to wait."""

    @abstractmethod
    def resume(self) -> None:
        """Go on after a pause."""

    @abstractmethod
    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Send newline-separated messages; return a future if the wire has not taken them yet."""

    @abstractmethod
    async def close(self) -> None:
        """End the wire."""
