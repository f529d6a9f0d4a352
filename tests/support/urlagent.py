# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent at the other end of a websocket, that a test lets ask what it wants."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from websockets.asyncio.server import ServerConnection, serve


class UrlAgent:
    """It opens sessions, ends turns at once, and remembers what it was given and told."""

    def __init__(self, capabilities: dict[str, Any]) -> None:
        self.capabilities = capabilities
        self.given: dict[str, list[Any]] = {}
        """The MCP servers of each session, by its id."""

        self.told: list[Any] = []
        self.url = ""
        self._socket: ServerConnection | None = None
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._asked = 0

    async def __aenter__(self) -> UrlAgent:
        self._server = await serve(self._connected, "127.0.0.1", 0)
        port = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}/acp"
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def leave(self) -> None:
        """Hang up."""
        assert self._socket is not None
        await self._socket.close()

    async def send(self, **message: Any) -> None:
        assert self._socket is not None
        await self._socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def start(self, method: str, params: Any) -> tuple[str, asyncio.Future[Any]]:
        """Ask the client; return the id, and the answer when it comes."""
        self._asked += 1
        id = f"a{self._asked}"
        self._waiting[id] = asyncio.get_running_loop().create_future()
        await self.send(id=id, method=method, params=params)
        return id, self._waiting[id]

    async def ask(self, method: str, params: Any) -> Any:
        _, answer = await self.start(method, params)
        return await asyncio.wait_for(answer, 60)

    async def _connected(self, socket: ServerConnection) -> None:
        self._socket = socket
        with contextlib.suppress(Exception):
            async for frame in socket:
                for line in frame.split("\n" if isinstance(frame, str) else b"\n"):
                    await self._take(json.loads(line))

    async def _take(self, message: Any) -> None:
        method, id, params = message.get("method"), message.get("id"), message.get("params")
        if method is None:
            self._waiting.pop(id).set_result(message)
            return
        self.told.append(message)
        if id is None:
            return
        result: dict[str, Any] = {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": self.capabilities}
        elif method == "session/new":
            session = f"s{len(self.given)}"
            self.given[session] = params["mcpServers"]
            result = {"sessionId": session}
        elif method == "session/prompt":
            result = {"stopReason": "end_turn"}
        await self.send(id=id, result=result)
