# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent that is somewhere else: ACP over a websocket that we open."""

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
    """A websocket of the `websockets` package as our transport wants it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._going = asyncio.Event()
        self._going.set()

    async def listen(self, take: Callable[[str | bytes], None]) -> None:
        """Hand on every frame until the other side is gone."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while True:
                take(await self._connection.recv(decode=False))
                await self._going.wait()

    def pause(self) -> None:
        """Take no further frame."""
        self._going.clear()

    def resume(self) -> None:
        """Go on."""
        self._going.set()

    def send(self, frame: bytes) -> asyncio.Future[None]:
        """Begin to send a text frame."""
        return asyncio.ensure_future(self._connection.send(frame, text=True))

    async def close(self) -> None:
        """Close politely; a dead socket is closed already."""
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
        # The library quotes the URL, and a URL may hold a key.
        raise OSError(str(error).replace(spec.url, public_url(spec.url))) from None
    return WebSocketTransport(
        ClientSocket(connection),
        several_per_frame=connection.subprotocol == NDJSON_SUBPROTOCOL,
    )
