# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`acp/ws`: the websocket at which this server is an ACP agent."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WS_PING_INTERVAL, WebSocketMixin
from jupyter_server.utils import ensure_async
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .base import AcpHandlerMixin

NDJSON_SUBPROTOCOL = "acp.ndjson"
CONNECTION_HEADER = "Acp-Connection-Id"


class AcpWebSocketHandler(AcpHandlerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Authorizes a client and connects its socket to a window."""

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Create the connection's id, which the response headers contain."""
        super().initialize(*args, **kwargs)
        self._connection_id = uuid.uuid4().hex
        self._socket = TornadoSocket(self)
        self._serving: asyncio.Task[None] | None = None

    def set_default_headers(self) -> None:
        """Send the connection's id instead of the default headers of REST responses."""
        self.set_header(CONNECTION_HEADER, getattr(self, "_connection_id", ""))

    @ws_authenticated
    @authorized
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Accept the upgrade of users who may at least watch."""
        self.set_header(CONNECTION_HEADER, self._connection_id)
        self._may_act = await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "execute", self.auth_resource)
        )
        self._agent = self.get_query_argument("agent", None)
        await super().get(*args, **kwargs)

    @property
    def max_message_size(self) -> int:
        """Maximum size of a message in bytes."""
        return int(self.acp.max_message_size)

    @property
    def ping_interval(self) -> float:
        """Interval of websocket pings in seconds; the setting is in milliseconds."""
        return float(self.settings.get("ws_ping_interval", WS_PING_INTERVAL) / 1000)

    @property
    def ping_timeout(self) -> float:
        """Timeout for the answer to a ping, in seconds."""
        return self.ping_interval

    def get_compression_options(self) -> None:
        """Disable compression: most sockets are local, and proxies compress by themselves."""

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Accept the subprotocol for several messages per frame if the client offers it."""
        return NDJSON_SUBPROTOCOL if NDJSON_SUBPROTOCOL in subprotocols else None

    async def open(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Start a window for this socket."""
        self.set_nodelay(True)
        from ..rpc import RpcError
        from ..rpc.websocket import WebSocketTransport
        from ..windows.window import Window

        try:
            manager = await self.manager()
        except RpcError as error:
            self.log.error("%s", error.message)
            # The reason in a close frame is limited to 123 bytes.
            self.close(1011, error.message.encode()[:120].decode(errors="ignore"))
            return
        window = Window(
            manager,
            WebSocketTransport(
                self._socket, several_per_frame=self.selected_subprotocol is not None
            ),
            id=self._connection_id,
            agent=self._agent,
            may_act=self._may_act,
            log=self.log,
        )
        self._serving = asyncio.get_running_loop().create_task(window.run())

    async def on_message(self, message: str | bytes) -> None:
        """Pass on a frame; tornado reads the next one when there is room."""
        self.acp.touch()
        await self._socket.received(message)

    def on_close(self) -> None:
        """End the window; its sessions continue."""
        super().on_close()
        if self._serving is not None:
            self._serving.cancel()


class TornadoSocket:
    """Adapts a tornado handler to our transport."""

    def __init__(self, handler: AcpWebSocketHandler) -> None:
        self._handler = handler
        self._take: Callable[[str | bytes], None] | None = None
        self._going = asyncio.Event()

    async def received(self, frame: str | bytes) -> None:
        """Pass on a frame of the handler, which reads the next one after this returns."""
        await self._going.wait()
        if self._take is not None:
            self._take(frame)

    async def listen(self, take: Callable[[str | bytes], None]) -> None:
        """Pass on frames until the handler cancels this, when the socket closes."""
        self._take = take
        self._going.set()
        await asyncio.Event().wait()

    def pause(self) -> None:
        """Stop reading frames."""
        self._going.clear()

    def resume(self) -> None:
        """Continue reading frames."""
        self._going.set()

    def send(self, frame: bytes) -> asyncio.Future[None]:
        """Start to send a text frame."""
        try:
            return self._handler.write_message(frame)
        except WebSocketClosedError as error:
            raise ConnectionError("the socket is closed") from error

    async def close(self) -> None:
        """Close the socket and ask the client to reconnect."""
        self._handler.close(1013, "Reconnect to go on.")
