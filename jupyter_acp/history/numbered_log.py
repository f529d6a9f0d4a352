# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The log of one session: recent numbered messages in memory, all of them in the journal."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Protocol

import orjson

from ..protocol import META, SESSION_UPDATE
from .database import Chunk
from .journal import Journal

RING_SIZE = 1024 * 1024
IDLE_RING_SIZE = 64 * 1024


class Follower(Protocol):
    """A reader of the log that is notified of new messages."""

    def wake(self) -> None:
        """Read new messages, because the log has grown."""


class Log:
    """An append-only sequence that any number of followers read, each at its own pace.

    For speed, messages that arrive together stay in one chunk, also for windows and on disk.
    """

    def __init__(self, session: str, journal: Journal, seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self.size = 0
        """Size of all messages appended since the log was opened, in bytes."""

        self._journal = journal
        self._saved = seq
        self._envelope = _envelope(session)
        self._chunks: list[Chunk] = []
        self._chunks_size = 0
        self._before_chunks = seq
        self._dirty = False
        self._waiting: list[Follower] = []

    def append(self, message: bytes) -> None:
        """Append a message, which has to contain the number `seq + 1`."""
        self._add(self.seq + 1, message)

    def append_updates(self, updates: list[dict[str, Any]]) -> None:
        """Append updates of the agent, each wrapped in a message with its number."""
        count, last = len(updates), self.seq + len(updates)
        # One format for all messages takes half the time of one per message.
        values: list[Any] = [None] * (2 * count)
        values[::2] = range(self.seq + 1, last + 1)
        values[1::2] = map(orjson.dumps, updates)
        self._add(last, b"\n".join([self._envelope] * count) % tuple(values))

    def unsaved(self) -> list[Chunk]:
        """Return the chunks that the journal has not saved yet."""
        self._dirty = False
        return self._chunks[bisect_right(self._chunks, self._saved, key=_last) :]

    def saved(self, upto: int) -> None:
        """Drop saved messages from memory, except recent ones for windows that reconnect."""
        self._saved = upto
        keep = IDLE_RING_SIZE if upto == self.seq else RING_SIZE
        drop = 0
        for chunk in self._chunks:
            if self._chunks_size <= keep or chunk.last > upto:
                break
            self._chunks_size -= len(chunk.body)
            self._before_chunks = chunk.last
            drop += 1
        del self._chunks[:drop]

    def drop(self, upto: int) -> None:
        """Delete the messages up to a number; the same commit saves the later ones."""
        self._chunks = [chunk for chunk in self._chunks if chunk.last > upto]
        self._chunks_size = sum(len(chunk.body) for chunk in self._chunks)
        self._before_chunks = max(self._before_chunks, upto)
        self._journal.drop(self, upto)

    def has_left(self, after: int) -> bool:
        """Return True if the message after a number is only in the journal."""
        return after < self._before_chunks

    def recent(self, after: int, upto: int | None, size: int) -> tuple[bytes, int] | None:
        """Return about `size` bytes of messages after a number, or None if they left memory."""
        if after < self._before_chunks:
            return None
        end = self.seq if upto is None else upto
        bodies: list[bytes] = []
        total, last = 0, after
        for index in range(bisect_right(self._chunks, after, key=_last), len(self._chunks)):
            if total >= size or last >= end:
                break
            chunk = self._chunks[index]
            body, last = chunk.body, min(chunk.last, end)
            if chunk.first <= after or chunk.last > end:
                lines = body.split(b"\n")
                body = b"\n".join(lines[max(0, after + 1 - chunk.first) : last + 1 - chunk.first])
            bodies.append(body)
            total += len(body)
        return bodies[0] if len(bodies) == 1 else b"\n".join(bodies), last

    async def read(self, after: int, size: int) -> tuple[bytes, int]:
        """Return about `size` bytes of messages after a number, from memory or the journal."""
        found = self.recent(after, None, size)
        return found or await self._journal.read(self.session, after, size)

    async def everything(self) -> list[bytes]:
        """Return all messages until now."""
        lines: list[bytes] = []
        after = 0
        while after < self.seq:
            body, after = await self.read(after, RING_SIZE)
            if not body:
                break
            lines += body.split(b"\n")
        return lines

    def wait(self, follower: Follower) -> None:
        """Wake a follower once, at the next message."""
        if follower not in self._waiting:
            self._waiting.append(follower)

    def _add(self, last: int, body: bytes) -> None:
        self._chunks.append(Chunk(self.seq + 1, last, body))
        self._chunks_size += len(body)
        self.seq = last
        self.size += len(body)
        if not self._dirty:
            self._dirty = True
            self._journal.grown(self, len(body))
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for follower in waiting:
                follower.wake()


def _last(chunk: Chunk) -> int:
    return chunk.last


def _envelope(session: str) -> bytes:
    """Return a format string for the message around an update, with its number and the update."""
    number, update = "<number>", "<update>"
    message = {
        "jsonrpc": "2.0",
        "method": SESSION_UPDATE,
        "params": {"sessionId": session, "_meta": {META: {"seq": number}}, "update": update},
    }
    return (
        orjson.dumps(message)
        .replace(b"%", b"%%")
        .replace(orjson.dumps(number), b"%d")
        .replace(orjson.dumps(update), b"%b")
    )
