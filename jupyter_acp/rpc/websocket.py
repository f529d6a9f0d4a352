# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Websocket framing: one message a frame, or several where both sides agreed on it."""

from __future__ import annotations

from typing import Protocol

from .transport import Oversized, Transport

NDJSON_SUBPROTOCOL = "acp.ndjson"
"""A client that asks for it may get, and send, newline-separated messages in one frame."""


class Socket(Protocol):
    """The little that we need of a websocket, whichever library it comes from."""

    async def send(self, frame: bytes) -> None:
        """Send one text frame; return when the socket has taken it."""

    async def receive(self) -> str | bytes | None:
        """Return the next frame, or None at the end."""

    async def close(self) -> None:
        """Close the socket."""


class WebSocketTransport(Transport):
    """JSON-RPC messages in text frames."""

    def __init__(self, socket: Socket, *, several_per_frame: bool) -> None:
        self._socket = socket
        self._several = several_per_frame

    async def read(self) -> list[bytes | Oversized] | None:
        """Return the messages of the next frame."""
        frame = await self._socket.receive()
        if frame is None:
            return None
        data = frame.encode() if isinstance(frame, str) else frame
        return list(data.split(b"\n")) if self._several else [data]

    async def write(self, batch: bytes) -> None:
        """Send the batch in one frame if the other side can take it, else a frame a message."""
        if self._several:
            await self._socket.send(batch)
        else:
            for message in batch.split(b"\n"):
                await self._socket.send(message)

    async def close(self) -> None:
        """Close the socket."""
        await self._socket.close()
