# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Websocket framing: one message a frame, or several where both sides agreed on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from .transport import Receive, Transport

NDJSON_SUBPROTOCOL = "acp.ndjson"
"""A client that asks for it may get, and send, newline-separated messages in one frame."""


class Socket(Protocol):
    """The little that we need of a websocket, whichever library it comes from."""

    async def listen(self, take: Callable[[str | bytes], None]) -> None:
        """Hand on every frame as it comes, until the end."""

    def pause(self) -> None:
        """Hand on nothing for a while."""

    def resume(self) -> None:
        """Go on."""

    def send(self, frame: bytes) -> asyncio.Future[None]:
        """Begin to send a text frame; the future is done when the socket has taken it."""

    async def close(self) -> None:
        """Close the socket."""


class WebSocketTransport(Transport):
    """JSON-RPC messages in text frames."""

    def __init__(self, socket: Socket, *, several_per_frame: bool) -> None:
        self._socket = socket
        self._several = several_per_frame

    async def run(self, receive: Receive) -> None:
        """Hand on the messages of each frame."""

        def take(frame: str | bytes) -> None:
            data = frame.encode() if isinstance(frame, str) else frame
            receive(list(data.split(b"\n")) if self._several else [data])

        await self._socket.listen(take)

    def pause(self) -> None:
        """Read no further frame for a while."""
        self._socket.pause()

    def resume(self) -> None:
        """Go on reading."""
        self._socket.resume()

    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Send the batch in one frame if the other side can take it, else a frame a message."""
        if self._several:
            return self._socket.send(batch)
        # They are taken in order: the last one's future speaks for all of them.
        for message in batch.split(b"\n"):
            taken = self._socket.send(message)
        return taken

    async def close(self) -> None:
        """Close the socket."""
        await self._socket.close()
