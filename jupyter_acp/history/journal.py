# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The journal, which saves every numbered message of every session to disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

import orjson

from ..rpc import Logger
from .database import Chunk, Commit, Database, Run
from .record import SessionRecord
from .search import Match

COMMIT_INTERVAL = 0.1
COMMIT_SIZE = 1024 * 1024
"""Size of unsaved messages, in bytes, that triggers an early commit to save memory."""

ROOM = 4 * 1024 * 1024
"""Maximum size of unsaved messages, in bytes; above it, writers wait for the disk."""

RETRY_INTERVAL = 1.0

T = TypeVar("T")


class Source(Protocol):
    """The part of a log that the journal uses."""

    session: str
    size: int

    def unsaved(self) -> list[Chunk]:
        """Return the messages that are not saved yet."""

    def saved(self, upto: int) -> None:
        """Note that the messages up to a number are saved."""


class Journal:
    """Schedules commits; one thread writes, another reads, so the event loop is never blocked."""

    def __init__(
        self,
        path: Path,
        log: Logger,
    ) -> None:
        self._database = Database(path, log)
        self._log = log
        self._grown: dict[Source, int] = {}
        self._records: dict[str, SessionRecord] = {}
        self._facts: dict[str, bytes] = {}
        self._dropped: dict[str, int] = {}
        self._committing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._failure: sqlite3.Error | None = None
        self._closed = False
        self._in_flight = 0
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="acp-journal-write")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="acp-journal-read")

    async def open(self) -> list[SessionRecord]:
        """Open or create the database and return the sessions in it."""
        await self._in(self._writer, self._database.open_writer)
        await self._in(self._reader, self._database.open_reader)
        return await self._in(self._reader, self._database.records)

    async def close(self) -> None:
        """Save all unsaved messages and close the database."""
        try:
            await self.flush()
        except sqlite3.Error as error:
            self._log.error("The end of some ACP sessions could not be saved: %s", error)
        self._closed = True
        await self._in(self._reader, self._database.close_reader)
        await self._in(self._writer, self._database.close_writer)
        self._writer.shutdown()
        self._reader.shutdown()

    def grown(self, log: Source, size: int) -> None:
        """Note that a log has messages to save; the next commit fetches them."""
        if self._closed:
            return
        self._grown.setdefault(log, log.size - size)
        self._commit_in(COMMIT_INTERVAL)

    def drop(self, log: Source, upto: int) -> None:
        """Delete a log's messages up to a number, in the same commit that saves the later ones."""
        self._dropped[log.session] = upto
        self._commit_in(COMMIT_INTERVAL)

    def save(self, record: SessionRecord) -> None:
        """Save a record at the next commit, together with the messages until then."""
        if self._closed:
            return
        self._records[record.id] = record
        self._commit_in(COMMIT_INTERVAL)

    def keep(self, key: str, value: bytes) -> None:
        """Save a value that belongs to no session."""
        if self._closed:
            return
        self._facts[key] = value
        self._commit_in(COMMIT_INTERVAL)

    async def fact(self, key: str) -> bytes | None:
        """Return the value saved under a key, or None."""
        return await self._in(self._reader, lambda: self._database.fact(key))

    def keeps_up(self) -> bool:
        """Commit early if much is unsaved; return True if the unsaved size is below the maximum."""
        unsaved = self._unsaved()
        if unsaved > COMMIT_SIZE and self._failure is None:
            self._start_commit()
        return unsaved + self._in_flight <= ROOM

    async def room(self) -> None:
        """Wait until the unsaved size is below the maximum, without a timeout."""
        while not self.keeps_up():
            if self._committing is not None:
                await asyncio.shield(self._committing)
            else:
                await asyncio.sleep(COMMIT_INTERVAL)

    async def flush(self) -> None:
        """Return when all messages so far are on disk; raise an error if the commit failed."""
        if self._committing is not None:
            await asyncio.shield(self._committing)
        self._start_commit()
        if self._committing is not None:
            await asyncio.shield(self._committing)
        if self._failure is not None:
            raise self._failure

    def save_now(self) -> None:
        """Save all unsaved messages without an event loop, because the process is ending."""
        if not self._closed and self._any:
            self._database.write_now(self._taken())

    async def delete(self, session: str) -> None:
        """Delete a session and all its messages from disk."""
        await self.flush()
        self._records.pop(session, None)
        await self._in(self._writer, lambda: self._database.delete(session))

    async def copy(self, source: str, target: str) -> int:
        """Copy the messages of a session to a new one; return the number of the last one."""
        await self.flush()
        return await self._in(self._writer, lambda: self._database.copy(source, target))

    async def insert(self, record: SessionRecord, messages: list[bytes]) -> None:
        """Save a complete imported session."""
        await self._in(self._writer, lambda: self._database.insert(record, messages))

    async def index(self) -> None:
        """Complete the search index, in slices between which commits can run."""
        while not self._closed and await self._in(self._writer, self._database.index_some):
            pass

    async def search(self, query: str, limit: int) -> list[Match]:
        """Return the passages that contain the words of a query, including the latest ones."""
        await self.flush()
        await self.index()
        return await self._in(self._reader, lambda: self._database.search(query, limit))

    async def sizes(self) -> dict[str, int]:
        """Return the size of each transcript in bytes."""
        return await self._in(self._reader, self._database.sizes)

    async def read(self, session: str, after: int, size: int) -> tuple[bytes, int]:
        """Return about `size` bytes of messages after a number, and the last one's number."""
        return await self._in(self._reader, lambda: self._database.read(session, after, size))

    async def page(
        self, session: str, *, after: int, before: int | None, limit: int, newest: bool
    ) -> list[bytes]:
        """Return up to `limit` messages between two numbers, from the old or the new end."""
        await self.flush()
        return await self._in(
            self._reader, lambda: self._database.page(session, after, before, limit, newest)
        )

    def _unsaved(self) -> int:
        unsaved = 0
        for log, size in self._grown.items():
            unsaved += log.size - size
        return unsaved

    def _commit_in(self, delay: float) -> None:
        if self._timer is None and self._committing is None:
            self._timer = asyncio.get_running_loop().call_later(delay, self._start_commit)

    def _start_commit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._committing is None and self._any:
            self._committing = asyncio.get_running_loop().create_task(self._commit())

    @property
    def _any(self) -> bool:
        return bool(self._grown or self._records or self._facts or self._dropped)

    async def _commit(self) -> None:
        commit = self._taken()
        grown, self._grown = self._grown, {}
        records, self._records = self._records, {}
        facts, self._facts = self._facts, {}
        dropped, self._dropped = self._dropped, {}
        self._in_flight = sum(len(chunk.body) for run in commit.runs for chunk in run.chunks)
        delay = COMMIT_INTERVAL
        try:
            await self._in(self._writer, lambda: self._database.write(commit))
        except sqlite3.Error as error:
            self._log.error("The ACP journal could not be written, will try again: %s", error)
            self._failure = error
            self._grown = {**self._grown, **grown}
            self._records = {**records, **self._records}
            self._facts = {**facts, **self._facts}
            self._dropped = {**dropped, **self._dropped}
            delay = RETRY_INTERVAL
        else:
            self._failure = None
            for log, run in zip(grown, commit.runs, strict=True):
                if run.chunks:
                    log.saved(run.chunks[-1].last)
        finally:
            self._in_flight = 0
            self._committing = None
        if self._any:
            self._commit_in(delay)

    def _taken(self) -> Commit:
        """Return a commit of everything that is unsaved now."""
        records: dict[str, bytes] = {}
        for id, record in self._records.items():
            try:
                records[id] = orjson.dumps(record.to_json())
            except TypeError as error:
                # Save the other records all the same.
                self._log.error("The ACP session %s could not be saved: %s", id, error)
        return Commit([_run(log) for log in self._grown], records, self._facts, self._dropped)

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


def _run(log: Source) -> Run:
    return Run(log.session, log.unsaved())
