# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The numbered messages of one session: the recent ones in memory, all of them in the journal."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from .journal import Journal

RING_SIZE = 1024 * 1024
IDLE_RING_SIZE = 64 * 1024


class Follower(Protocol):
    """Someone who reads the log as it grows."""

    def wake(self) -> None:
        """Look again: the log has grown."""


class Log:
    """An append-only sequence that any number of followers read, each at its own pace."""

    def __init__(self, session: str, journal: Journal, seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self.size = 0
        """How many bytes were appended since the log was opened."""

        self._journal = journal
        self._saved = seq
        self._recent: list[bytes] = []
        self._before_recent = seq
        self._kept: deque[tuple[int, int]] = deque()
        self._kept_size = 0
        self._dirty = False
        self._waiting: list[Follower] = []

    def append(self, message: bytes) -> None:
        """Add the message that carries the number `seq + 1`."""
        self.seq += 1
        self.size += len(message)
        self._recent.append(message)
        if not self._dirty:
            self._dirty = True
            self._journal.grown(self, len(message))
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for follower in waiting:
                follower.wake()

    def unsaved(self) -> tuple[int, list[bytes]]:
        """Return what the journal does not have yet, and the number of its first message."""
        self._dirty = False
        return self._saved + 1, self._recent[self._saved - self._before_recent :]

    def saved(self, count: int, size: int) -> None:
        """Let go of what the journal has, but for the recent past that reconnecting windows want.

        In whole commits: looking at each message would cost more than it saves.
        """
        self._saved += count
        self._kept.append((count, size))
        self._kept_size += size
        keep = IDLE_RING_SIZE if self._saved == self.seq else RING_SIZE
        drop = 0
        while self._kept_size > keep:
            count, size = self._kept.popleft()
            self._kept_size -= size
            drop += count
        del self._recent[:drop]
        self._before_recent += drop

    def has_left(self, after: int) -> bool:
        """Whether the message after a number is in the journal only."""
        return after < self._before_recent

    def recent(self, after: int, upto: int | None, size: int) -> tuple[bytes, int] | None:
        """Return about `size` bytes of messages after a number, or None if they left memory."""
        start = after - self._before_recent
        if start < 0:
            return None
        stop = len(self._recent) if upto is None else upto - self._before_recent
        messages = self._recent[start:stop]
        total = 0
        for count, message in enumerate(messages, 1):
            total += len(message)
            if total >= size:
                del messages[count:]
                break
        return b"\n".join(messages), after + len(messages)

    async def read(self, after: int, size: int) -> tuple[bytes, int]:
        """Return about `size` bytes of messages after a number, from wherever they are."""
        found = self.recent(after, None, size)
        return found or await self._journal.read(self.session, after, size)

    def wait(self, follower: Follower) -> None:
        """Wake someone up when there is more."""
        if follower not in self._waiting:
            self._waiting.append(follower)
