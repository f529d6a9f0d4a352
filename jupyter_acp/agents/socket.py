# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Connections to agents on other machines: ACP over a websocket that we open."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..rpc.websocket import NDJSON_SUBPROTOCOL, WebSocketTransport
from .spec import AgentSpec, public_url

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection


class ClientSocket:
    """Adapts a connection of the `websockets` package to our transport."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._going = asyncio.Event()
        self._going.set()

    async def listen(self, take: Callable[[str | bytes], None]) -> None:
        """Pass on every frame until the connection is closed."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while True:
                take(await self._connection.recv(decode=False))
                await self._going.wait()

    def pause(self) -> None:
        """Stop reading frames."""
        self._going.clear()

    def resume(self) -> None:
        """Continue reading frames."""
        self._going.set()

    def send(self, frame: bytes) -> asyncio.Future[None]:
        """Start to send a text frame."""
        return asyncio.ensure_future(self._connection.send(frame, text=True))

    async def close(self) -> None:
        """Close the connection; ignore errors of one that is already closed."""
        with contextlib.suppress(Exception):
            await self._connection.close()


async def connect(spec: AgentSpec, limit: int) -> WebSocketTransport:
    """Open the websocket that the spec names."""
    from websockets.asyncio.client import connect as open_socket
    from websockets.exceptions import WebSocketException

    assert spec.url is not None
    try:
        connection = await open_socket(
            spec.url,
            additional_headers=spec.header_values(),
            subprotocols=[NDJSON_SUBPROTOCOL],  # type: ignore[list-item]
            max_size=limit,
        )
    except WebSocketException as error:
        # The library quotes the URL, which may contain a key.
        raise OSError(str(error).replace(spec.url, public_url(spec.url))) from None
    return WebSocketTransport(
        ClientSocket(connection),
        several_per_frame=connection.subprotocol == NDJSON_SUBPROTOCOL,
    )
