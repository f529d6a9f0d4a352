# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The transport for newline-delimited messages over asyncio streams."""

from __future__ import annotations

import asyncio

from .stdio import LineSplitter
from .transport import DEFAULT_MESSAGE_LIMIT, Receive, Transport

CHUNK = 64 * 1024


class StreamTransport(Transport):
    """Sends and receives one JSON-RPC message per line, after the caller has read a first line."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        limit: int = DEFAULT_MESSAGE_LIMIT,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._lines = LineSplitter(limit)
        self._going = asyncio.Event()

    async def run(self, receive: Receive) -> None:
        """Pass on lines until the connection ends or breaks."""
        self._going.set()
        try:
            while chunk := await self._reader.read(CHUNK):
                if messages := self._lines.feed(chunk):
                    receive(messages)
                await self._going.wait()
        except ConnectionError:
            return
        if messages := self._lines.end():
            receive(messages)

    def pause(self) -> None:
        """Stop reading; the other side has to wait."""
        self._going.clear()

    def resume(self) -> None:
        """Continue reading."""
        self._going.set()

    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Write the lines; return a future that is done when there is room for more."""
        if self._writer.is_closing():
            raise BrokenPipeError("the connection is closed")
        self._writer.write(batch + b"\n")
        return asyncio.ensure_future(self._writer.drain())

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
