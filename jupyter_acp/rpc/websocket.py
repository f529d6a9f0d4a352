# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The transport over websockets: one message per frame, or several if both sides support it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from .transport import Receive, Transport

NDJSON_SUBPROTOCOL = "acp.ndjson"
"""The subprotocol that allows several newline-separated messages in one frame."""


class Socket(Protocol):
    """The interface that we need of a websocket, for any library."""

    async def listen(self, take: Callable[[str | bytes], None]) -> None:
        """Pass on every frame as it arrives, until the end."""

    def pause(self) -> None:
        """Stop reading frames."""

    def resume(self) -> None:
        """Continue reading frames."""

    def send(self, frame: bytes) -> asyncio.Future[None]:
        """Start to send a text frame; the future is done when the socket has accepted it."""

    async def close(self) -> None:
        """Close the socket."""


class WebSocketTransport(Transport):
    """Sends and receives JSON-RPC messages in text frames."""

    def __init__(self, socket: Socket, *, several_per_frame: bool) -> None:
        self._socket = socket
        self._several = several_per_frame

    async def run(self, receive: Receive) -> None:
        """Pass on the messages of each frame."""

        def take(frame: str | bytes) -> None:
            data = frame.encode() if isinstance(frame, str) else frame
            receive(list(data.split(b"\n")) if self._several else [data])

        await self._socket.listen(take)

    def pause(self) -> None:
        """Stop reading frames."""
        self._socket.pause()

    def resume(self) -> None:
        """Continue reading frames."""
        self._socket.resume()

    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Send the batch in one frame if the other side supports it, else one frame per message."""
        if self._several:
            return self._socket.send(batch)
        # Frames are sent in order, so the last future is done after all others.
        for message in batch.split(b"\n"):
            taken = self._socket.send(message)
        return taken

    async def close(self) -> None:
        """Close the socket."""
        await self._socket.close()
