# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""MCP itself, by the `mcp` package; imported when the first agent connects, since it is large."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import TypeAdapter

from ..rpc import RpcError
from .arguments import schema
from .tool import Tool
from .toolbox import FailedRunError, Toolbox
from .words import Content

PROGRESS = 5.0
"""How often an agent that waits is told that its tool still runs, in seconds."""

INSTRUCTIONS = (
    "Tools for the JupyterLab that the user works in. Notebooks are live: cells that you edit or run "
    "change before the user's eyes. Read a notebook before you change it, name cells by their ids, "
    "and prefer these tools to writing .ipynb files yourself."
)

Context = ServerRequestContext[Any, Any]
_MESSAGE: TypeAdapter[types.JSONRPCMessage] = types.jsonrpc_message_adapter
_CONTENT: TypeAdapter[list[types.ContentBlock]] = TypeAdapter(list[types.ContentBlock])


async def serve(
    toolbox: Toolbox,
    version: str,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    log: Any,
) -> None:
    """Serve one agent until it leaves."""

    async def list_tools(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in toolbox.tools()])

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            async with _progress(context):
                content = await _apart(toolbox.run(params.name, params.arguments))
        except RpcError as error:
            return _failed(error.text)
        except FailedRunError as error:
            return types.CallToolResult(content=_blocks(error.content), is_error=True)
        except Exception as error:
            log.exception("Error in the tool %s", params.name)
            return _failed(f"{params.name} failed: {error}")
        return types.CallToolResult(content=_blocks(content))

    server = Server(
        "jupyter",
        title="Jupyter",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with _streams(reader, writer) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@contextlib.asynccontextmanager
async def _streams(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[tuple[Any, Any]]:
    """Make messages of lines, and lines of messages."""
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive() -> None:
        async with received:
            # A line without end, or a connection that breaks, ends it all.
            with contextlib.suppress(ValueError, ConnectionError, anyio.BrokenResourceError):
                while line := await reader.readline():
                    try:
                        message = SessionMessage(_MESSAGE.validate_json(line, by_name=False))
                    except ValueError as error:
                        await received.send(error)
                    else:
                        await received.send(message)

    async def send() -> None:
        async with to_send:
            with contextlib.suppress(ConnectionError):
                async for item in to_send:
                    line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    writer.write(line.encode() + b"\n")
                    await writer.drain()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        try:
            yield incoming, outgoing
        finally:
            outgoing.close()
            tasks.cancel_scope.cancel()


async def _apart(work: Any) -> Content:
    """Run a tool in a task of its own, so that it can tidy up in peace when it is cancelled."""
    task: asyncio.Task[Content] = asyncio.ensure_future(work)
    _TASKS.add(task)
    task.add_done_callback(_ended)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        raise
    return task.result()


_TASKS: set[asyncio.Task[Content]] = set()


def _ended(task: asyncio.Task[Content]) -> None:
    _TASKS.discard(task)
    if not task.cancelled():
        # Looked at, since after a cancel nobody else will.
        task.exception()


@contextlib.asynccontextmanager
async def _progress(context: Context) -> AsyncIterator[None]:
    """Let the agent know, every now and then, that it is not forgotten."""
    start = time.monotonic()

    async def tell() -> None:
        while True:
            await asyncio.sleep(PROGRESS)
            await context.session.report_progress(time.monotonic() - start, message="Running")

    telling = asyncio.ensure_future(tell())
    try:
        yield
    finally:
        telling.cancel()


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.arguments),
        annotations=types.ToolAnnotations.model_validate(tool.annotations),
    )


def _failed(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)], is_error=True)


def _blocks(content: Content) -> list[types.ContentBlock]:
    return _CONTENT.validate_python(content)
