# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Newline-delimited framing over pipes."""

from __future__ import annotations

import asyncio
import sys

from .transport import DEFAULT_MESSAGE_LIMIT, Oversized, Transport

READ_SIZE = 16 * 1024
"""Read in one go: enough to be cheap, and little enough that nobody else waits long for it."""

HEAD_SIZE = 1024


class LineSplitter:
    """Cuts a byte stream into lines in linear time and bounded memory, whatever their length."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | Oversized]:
        """Return the lines that this chunk completes."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        out: list[bytes | Oversized] = []
        if lines and self._parts:
            self._hold(lines.pop(0))
            out.append(self._take())
        if len(chunk) <= self._limit:
            out.extend(lines)
        else:
            out.extend(
                line if len(line) <= self._limit else Oversized(line[:HEAD_SIZE], len(line))
                for line in lines
            )
        if rest:
            self._hold(rest)
        return out

    def end(self) -> list[bytes | Oversized]:
        """Return what was left without a line end: a last message, or the stump of one."""
        return [self._take()] if self._parts else []

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            head = b"".join(self._parts)[:HEAD_SIZE]
            self._parts = [head + part[: HEAD_SIZE - len(head)]]

    def _take(self) -> bytes | Oversized:
        line, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        return Oversized(line[:HEAD_SIZE], size) if size > self._limit else line


class StdioTransport(Transport):
    """One JSON-RPC message per line, as ACP asks of stdio."""

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

    @classmethod
    async def of_this_process(cls) -> StdioTransport:
        """Speak over this process's own stdin and stdout, as an agent does."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, sys.stdout
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def read(self) -> list[bytes | Oversized] | None:
        """Return the lines of one read; a stump before the end counts as a line."""
        while True:
            try:
                chunk = await self._reader.read(READ_SIZE)
            except (ConnectionError, BrokenPipeError):
                chunk = b""
            if not chunk:
                return self._lines.end() or None
            if messages := self._lines.feed(chunk):
                return messages

    async def write(self, batch: bytes) -> None:
        """Write the lines and wait until the pipe has room again."""
        self._writer.write(batch + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        """Close our end; the other side sees the end of its input."""
        self._writer.close()
