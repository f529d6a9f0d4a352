# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Our MCP server: the toolbox of a session by the Model Context Protocol.

It serves only what tools need of that protocol. Other modules carry the messages: over the
socket of `channel.py`, by HTTP, or within ACP.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from ..protocol import MCP_CANCELLED
from ..rpc import Connection, Logger, Peer, Request, RpcError, invalid_params, method_not_found
from ..rpc.streams import StreamTransport
from .arguments import schema
from .model_text import Content, text
from .tool import Tool
from .toolbox import FailedRunError, Toolbox

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Published versions that begin with `initialize`, newest first; they do not differ in tools."""

CALL = "tools/call"
PROGRESS = 5.0
"""Interval between progress notifications for a running tool, in seconds."""

INSTRUCTIONS = (
    "Tools for the JupyterLab that the user works in. Notebooks are live: cells that you edit or run "
    "change before the user's eyes. Read a notebook before you change it, name cells by their ids, "
    "and prefer these tools to writing .ipynb files yourself."
)

Notify = Callable[[str, dict[str, Any]], object]
"""Sends a notification to the agent."""


class Server:
    """The MCP server of one session."""

    def __init__(self, toolbox: Toolbox, version: str, log: Logger) -> None:
        self._toolbox = toolbox
        self._version = version
        self._log = log
        self._calls: set[asyncio.Task[Any]] = set()

    def stop(self) -> None:
        """Cancel all calls when the session has ended."""
        for call in list(self._calls):
            call.cancel()

    def serve(self, request: Request, method: Any, params: Any, notify: Notify) -> None:
        """Answer a request: a call when its tool has ended, any other at once."""
        if method == CALL:
            request.run(self.call(params, notify))
        else:
            request.respond(self.answer(method, params))

    def answer(self, method: Any, params: Any) -> dict[str, Any]:
        """Return the answer to a request other than a call."""
        if method == "initialize":
            return self._greeting(params)
        if method == "tools/list":
            return {"tools": [described(tool) for tool in self._toolbox.tools()]}
        if method == "ping":
            return {}
        raise method_not_found(str(method)[:100])

    async def call(self, params: Any, notify: Notify) -> dict[str, Any]:
        """Run a tool; return its errors as results, too, for the model to read."""
        if not isinstance(params, dict) or not isinstance(name := params.get("name"), str):
            raise invalid_params("Say which tool: `name` must be text.")
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            async with _progress(params, notify):
                content = await self._toolbox.run(name, params.get("arguments"))
        except RpcError as error:
            return _result([text(error.text)], failed=True)
        except FailedRunError as error:
            return _result(error.content, failed=True)
        except Exception as error:
            self._log.exception("Error in the tool %s", name)
            return _result([text(f"{name} failed: {error}")], failed=True)
        finally:
            self._calls.discard(task)
        return _result(content, failed=False)

    def _greeting(self, params: Any) -> dict[str, Any]:
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "jupyter", "title": "Jupyter", "version": self._version},
            "instructions": INSTRUCTIONS,
        }


async def serve(
    server: Server,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    limit: int,
    log: Logger,
) -> None:
    """Serve one agent until it disconnects, and cancel its remaining calls."""
    transport = StreamTransport(reader, writer, limit=limit)
    connection = Connection(transport, peer := _Agent(server), name="tools", log=log)
    peer.connection = connection
    try:
        await connection.run()
    finally:
        await connection.close()


class _Agent(Peer):
    """Receives the messages of an agent."""

    connection: Connection

    def __init__(self, server: Server) -> None:
        self._server = server

    def on_request(self, request: Request) -> None:
        self._server.serve(request, request.method, request.params, self.connection.notify)

    def on_notification(self, method: str, params: Any) -> None:
        if method == MCP_CANCELLED and isinstance(params, dict):
            self.connection.drop(params.get("requestId"))


@contextlib.asynccontextmanager
async def _progress(params: dict[str, Any], notify: Notify) -> AsyncIterator[None]:
    """Send progress notifications during a call, if the agent has asked for them."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if type(token) not in (str, int):
        yield
        return
    start = time.monotonic()

    async def tell() -> None:
        while True:
            await asyncio.sleep(PROGRESS)
            progress = {"progressToken": token, "progress": time.monotonic() - start}
            notify("notifications/progress", {**progress, "message": "Running"})

    telling = asyncio.ensure_future(tell())
    try:
        yield
    finally:
        telling.cancel()


def described(tool: Tool) -> dict[str, Any]:
    """Return the description of a tool for agents."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema(tool.arguments),
        "annotations": tool.annotations,
    }


def _result(content: Content, *, failed: bool) -> dict[str, Any]:
    return {"content": content, "isError": failed}
