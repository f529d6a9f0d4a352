# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a connection needs of the wire beneath it: messages in, batches out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

DEFAULT_MESSAGE_LIMIT = 64 * 1024 * 1024


class Oversized(NamedTuple):
    """A message that was longer than the limit: only its head was kept."""

    head: bytes
    size: int


class Transport(ABC):
    """A wire that carries whole JSON-RPC messages."""

    @abstractmethod
    async def read(self) -> list[bytes | Oversized] | None:
        """Return the messages that one read of the wire brought, or None at its end."""

    @abstractmethod
    async def write(self, batch: bytes) -> None:
        """Send newline-separated messages; return when the wire has taken them."""

    @abstractmethod
    async def close(self) -> None:
        """End the wire; reading then returns None."""
