# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The transport for newline-delimited messages over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from typing import IO, Any

from .transport import DEFAULT_MESSAGE_LIMIT, Oversized, Receive, Transport

HEAD_SIZE = 1024
LAST_WORDS = 1.0
"""Time to read on after the other side closed its input, in seconds."""


class Crowd:
    """Chooses the number of bytes that one transport handles at once.

    Large pieces are faster, but other transports have to wait for each. So the pieces are large
    while only one transport receives data, else small.
    """

    ALONE = 64 * 1024
    TOGETHER = 4 * 1024
    MEMORY = 0.1

    def __init__(self) -> None:
        self._last: object = None
        self._changed = float("-inf")

    def piece(self, wire: object, now: float) -> int:
        """Note that a transport received data, and return its maximum piece in bytes."""
        if wire is not self._last:
            if self._last is not None:
                self._changed = now
            self._last = wire
        return self.TOGETHER if now - self._changed < self.MEMORY else self.ALONE


_crowd = Crowd()


class LineSplitter:
    """Splits a byte stream into lines of any length, in linear time and bounded memory."""

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
        """Return the rest without a line end: a last message, or an incomplete one."""
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
    """Sends and receives one JSON-RPC message per line, as ACP requires for stdio.

    The callbacks of the event loop pass the data on directly, so no task is woken up between an
    agent's write and a window's socket.
    """

    def __init__(self, *, limit: int = DEFAULT_MESSAGE_LIMIT) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines = LineSplitter(limit)
        self._receive: Receive | None = None
        self._unread: deque[bytes] = deque()
        self._paused = True
        self._next_is_due = False
        self._finished = False
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._taken: asyncio.Future[None] | None = None
        self._reader: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None

    @classmethod
    async def over(
        cls, reader: IO[Any], writer: IO[Any], *, limit: int = DEFAULT_MESSAGE_LIMIT
    ) -> StdioTransport:
        """Create a transport over two open pipes."""
        self = cls(limit=limit)
        reading, _ = await self._loop.connect_read_pipe(lambda: _Reading(self), reader)
        writing, _ = await self._loop.connect_write_pipe(lambda: _Writing(self), writer)
        self.connected(reading, writing)
        return self

    @classmethod
    async def of_this_process(cls) -> StdioTransport:
        """Create a transport over stdin and stdout of this process, for an agent."""
        return await cls.over(sys.stdin, sys.stdout)

    async def run(self, receive: Receive) -> None:
        """Pass on lines until the end of the input; an incomplete last line counts as one."""
        self._receive = receive
        self.resume()
        await self._ended

    def pause(self) -> None:
        """Stop reading: the pipe fills up and the other side has to wait."""
        self._paused = True
        if self._reader is not None and not self._finished:
            self._reader.pause_reading()

    def resume(self) -> None:
        """Continue, first with data read before the pause."""
        if self._paused:
            self._paused = False
            self._handle_soon()

    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Write the lines; return a future that is done when the pipe has room, or None if it has."""
        if self._writer is None or self._writer.is_closing():
            raise BrokenPipeError("the pipe is closed")
        self._writer.write(batch + b"\n")
        return self._taken

    async def close(self) -> None:
        """Close the output; the other side sees the end of its input."""
        if self._writer is not None:
            self._writer.close()

    # Called by the event loop's protocols

    def connected(self, reader: asyncio.ReadTransport, writer: asyncio.WriteTransport) -> None:
        """Store the transports of both pipes."""
        self._reader, self._writer = reader, writer

    def received(self, data: bytes) -> None:
        """Handle the first piece now; other transports have their turn before the next."""
        piece = _crowd.piece(self, self._loop.time())
        if len(data) <= piece:
            self._unread.append(data)
        else:
            self._unread.extend(data[start : start + piece] for start in range(0, len(data), piece))
        if not self._paused and not self._next_is_due:
            self._handle_next()

    def finished(self) -> None:
        """Note the end of the input, after the data that was read before it."""
        self._finished = True
        if not self._paused and not self._next_is_due:
            self._handle_next()

    def pause_writing(self) -> None:
        """Delay the next batch, because the pipe is full."""
        self._taken = self._loop.create_future()

    def resume_writing(self) -> None:
        """Release the next batch."""
        taken, self._taken = self._taken, None
        if taken is not None and not taken.done():
            taken.set_result(None)

    def lost_writing(self) -> None:
        """Note that the other side closed its input; read on for a while."""
        self.resume_writing()
        self._loop.call_later(LAST_WORDS, self._give_up)

    def _give_up(self) -> None:
        if self._unread or self._paused:
            self._loop.call_later(LAST_WORDS, self._give_up)
        elif not self._ended.done():
            # The other side gets no requests, so no answer will ever come.
            self._ended.set_result(None)

    def _handle_soon(self) -> None:
        if not self._next_is_due:
            self._next_is_due = True
            self._loop.call_soon(self._handle_next)

    def _handle_next(self) -> None:
        self._next_is_due = False
        if self._paused or self._receive is None:
            return
        if self._unread and (messages := self._lines.feed(self._unread.popleft())):
            self._receive(messages)
        if self._unread:
            if self._reader is not None and not self._finished:
                self._reader.pause_reading()
            self._handle_soon()
        elif self._finished:
            if messages := self._lines.end():
                self._receive(messages)
            if not self._ended.done():
                self._ended.set_result(None)
        elif self._reader is not None and not self._paused:
            self._reader.resume_reading()


class _Reading(asyncio.Protocol):
    def __init__(self, transport: StdioTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.received(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport.finished()


class _Writing(asyncio.BaseProtocol):
    def __init__(self, transport: StdioTransport) -> None:
        self._transport = transport

    def pause_writing(self) -> None:
        self._transport.pause_writing()

    def resume_writing(self) -> None:
        self._transport.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport.lost_writing()
