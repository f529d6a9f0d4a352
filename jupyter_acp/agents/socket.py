# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent that is somewhere else: ACP over a websocket that we open."""

from __future__ import annotations

import contextlib

from ..rpc.websocket import NDJSON_SUBPROTOCOL, WebSocketTransport
from .spec import AgentSpec, public_url


class ClientSocket:
    """A websocket of the `websockets` package as our transport wants it."""

    def __init__(self, connection: object) -> None:
        self._connection = connection

    async def send(self, frame: bytes) -> None:
        """Send a text frame; a lost connection shows as one."""
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(frame, text=True)  # type: ignore[attr-defined]
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    async def receive(self) -> str | bytes | None:
        """Return the next frame, or None when the other side is gone."""
        from websockets.exceptions import ConnectionClosed

        try:
            frame = await self._connection.recv(decode=False)  # type: ignore[attr-defined]
        except ConnectionClosed:
            return None
        return bytes(frame)

    async def close(self) -> None:
        """Close politely; a dead socket is closed already."""
        with contextlib.suppress(Exception):
            await self._connection.close()  # type: ignore[attr-defined]


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
