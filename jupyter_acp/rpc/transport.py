# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The interface of transports, which carry the messages of a connection."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

DEFAULT_MESSAGE_LIMIT = 64 * 1024 * 1024


class Oversized(NamedTuple):
    """The beginning and the size of a message that exceeded the limit."""

    head: bytes
    size: int


Receive = Callable[["list[bytes | Oversized]"], None]
"""Receives the messages of one read."""


class Transport(ABC):
    """Carries whole JSON-RPC messages in both directions."""

    @abstractmethod
    async def run(self, receive: Receive) -> None:
        """Pass on messages in order, as soon as they arrive, until the transport ends."""

    @abstractmethod
    def pause(self) -> None:
        """Stop reading; the other side has to wait."""

    @abstractmethod
    def resume(self) -> None:
        """Continue reading after a pause."""

    @abstractmethod
    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Send newline-separated messages; return a future unless they are sent already."""

    @abstractmethod
    async def close(self) -> None:
        """Close the transport."""
