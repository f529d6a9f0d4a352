# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Newline-delimited framing over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from typing import IO, Any

from .transport import DEFAULT_MESSAGE_LIMIT, Oversized, Receive, Transport

HEAD_SIZE = 1024
LAST_WORDS = 1.0
"""How long who has stopped listening may still talk, in seconds."""


class Crowd:
    """How much one wire may have handled in one go: a lot while it is alone, else little.

    A flood is cheapest in large pieces, but whoever else has something to say waits for each.
    """

    ALONE = 64 * 1024
    TOGETHER = 4 * 1024
    MEMORY = 0.1

    def __init__(self) -> None:
        self._last: object = None
        self._changed = float("-inf")

    def piece(self, wire: object, now: float) -> int:
        """Take note of who was heard, and return how many bytes it may have handled at once."""
        if wire is not self._last:
            if self._last is not None:
                self._changed = now
            self._last = wire
        return self.TOGETHER if now - self._changed < self.MEMORY else self.ALONE


_crowd = Crowd()


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
    """One JSON-RPC message per line, as ACP asks of stdio.

    The event loop's callbacks hand data straight on: between an agent's write and a window's
    socket no task has to be woken up.
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
        """Speak over two open pipes."""
        self = cls(limit=limit)
        reading, _ = await self._loop.connect_read_pipe(lambda: _Reading(self), reader)
        writing, _ = await self._loop.connect_write_pipe(lambda: _Writing(self), writer)
        self.connected(reading, writing)
        return self

    @classmethod
    async def of_this_process(cls) -> StdioTransport:
        """Speak over this process's own stdin and stdout, as an agent does."""
        return await cls.over(sys.stdin, sys.stdout)

    async def run(self, receive: Receive) -> None:
        """Hand on lines until the end; a stump before it counts as a line."""
        self._receive = receive
        self.resume()
        await self._ended

    def pause(self) -> None:
        """Leave what comes where it is: the pipe fills up and the other side waits."""
        self._paused = True
        if self._reader is not None and not self._finished:
            self._reader.pause_reading()

    def resume(self) -> None:
        """Go on, first with what was read before the pause."""
        if self._paused:
            self._paused = False
            self._handle_soon()

    def write(self, batch: bytes) -> asyncio.Future[None] | None:
        """Write the lines; the future is done when the pipe has room again."""
        if self._writer is None or self._writer.is_closing():
            raise BrokenPipeError("the pipe is closed")
        self._writer.write(batch + b"\n")
        return self._taken

    async def close(self) -> None:
        """Close our end; the other side sees the end of its input."""
        if self._writer is not None:
            self._writer.close()

    # Called by the event loop's protocols

    def connected(self, reader: asyncio.ReadTransport, writer: asyncio.WriteTransport) -> None:
        """Take the two ends."""
        self._reader, self._writer = reader, writer

    def received(self, data: bytes) -> None:
        """Handle the first piece now and leave others their turn before the next."""
        piece = _crowd.piece(self, self._loop.time())
        if len(data) <= piece:
            self._unread.append(data)
        else:
            self._unread.extend(data[start : start + piece] for start in range(0, len(data), piece))
        if not self._paused and not self._next_is_due:
            self._handle_next()

    def finished(self) -> None:
        """Take note of the end; what was read before it comes first."""
        self._finished = True
        if not self._paused and not self._next_is_due:
            self._handle_next()

    def pause_writing(self) -> None:
        """Make the next batch wait: the pipe is full."""
        self._taken = self._loop.create_future()

    def resume_writing(self) -> None:
        """Let it go."""
        taken, self._taken = self._taken, None
        if taken is not None and not taken.done():
            taken.set_result(None)

    def lost_writing(self) -> None:
        """Take note that nobody reads any more; what was written before is still read."""
        self.resume_writing()
        self._loop.call_later(LAST_WORDS, self._give_up)

    def _give_up(self) -> None:
        if self._unread or self._paused:
            self._loop.call_later(LAST_WORDS, self._give_up)
        elif not self._ended.done():
            # Who is not listening will never answer: waiting for it would be for ever.
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
