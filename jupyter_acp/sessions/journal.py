# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The journal: every numbered message of every session, in SQLite.

Messages are kept as they travel: a row is a run of consecutive messages, newline-separated. What
replays them sends rows, and what writes them makes one row where a plain table would make
thousands.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import orjson

from ..rpc import RpcError
from ..rpc.errors import UNAVAILABLE
from .record import SessionRecord

COMMIT_INTERVAL = 0.1
COMMIT_SIZE = 1024 * 1024
"""A flood is committed earlier, so that what waits in memory stays small."""

ROOM = 4 * 1024 * 1024
"""Above this much unsaved, whoever writes has to wait for the disk."""

RETRY_INTERVAL = 1.0
SEGMENT_SIZE = 128 * 1024
PAGE_SIZE = 16 * 1024
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    record BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS segments (
    session TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session, first)
);
"""

T = TypeVar("T")


class Source(Protocol):
    """A log, as the journal sees it."""

    session: str
    size: int

    def unsaved(self) -> tuple[int, list[bytes]]:
        """Return what is not saved yet, and the number of its first message."""

    def saved(self, count: int, size: int) -> None:
        """Take note that so many more messages, of so many bytes, are saved."""


class Run(NamedTuple):
    """Consecutive messages of one log."""

    log: Source
    size: int
    first: int
    messages: list[bytes]


class Batch(NamedTuple):
    """What one commit writes."""

    runs: list[Run]
    records: dict[str, bytes]


class Journal:
    """One writer thread and one reader thread on one database; nothing blocks the event loop."""

    def __init__(
        self,
        path: Path,
        log: logging.Logger | logging.LoggerAdapter[Any],
    ) -> None:
        self._path = path
        self._log = log
        self._grown: dict[Source, int] = {}
        self._records: dict[str, bytes] = {}
        self._committing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._failure: sqlite3.Error | None = None
        self._closed = False
        self._in_flight = 0
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="acp-journal-write")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="acp-journal-read")
        self._write_db: sqlite3.Connection | None = None
        self._read_db: sqlite3.Connection | None = None
        self._claimed: sqlite3.Connection | None = None

    async def open(self) -> list[SessionRecord]:
        """Open or make the database and return the sessions in it."""
        await self._in(self._writer, self._open_writer)
        await self._in(self._reader, self._open_reader)
        return await self._in(self._reader, self._read_records)

    async def close(self) -> None:
        """Save what is unsaved and close."""
        try:
            await self.flush()
        except sqlite3.Error as error:
            self._log.error("The end of some ACP sessions could not be saved: %s", error)
        self._closed = True
        for executor, db in (
            (self._reader, self._read_db),
            (self._writer, self._write_db),
            (self._writer, self._claimed),
        ):
            if db is not None:
                await self._in(executor, db.close)
        self._writer.shutdown()
        self._reader.shutdown()

    def grown(self, log: Source, size: int) -> None:
        """Take note that a log has messages to save; they are fetched at the next commit."""
        if self._closed:
            return
        self._grown.setdefault(log, log.size - size)
        self._commit_in(COMMIT_INTERVAL)

    def save(self, record: SessionRecord) -> None:
        """Save what is known of a session, along with the messages taken so far."""
        if self._closed:
            return
        self._records[record.id] = orjson.dumps(record.to_json())
        self._commit_in(COMMIT_INTERVAL)

    def keeps_up(self) -> bool:
        """Commit a flood early; return whether the disk is near enough behind for more."""
        unsaved = self._unsaved()
        if unsaved <= COMMIT_SIZE:
            return True
        if self._failure is None:
            self._start_commit()
        return unsaved + self._in_flight <= ROOM

    async def room(self) -> None:
        """Wait for the disk, however long it takes."""
        while not self.keeps_up():
            if self._committing is not None:
                await asyncio.shield(self._committing)
            else:
                await asyncio.sleep(COMMIT_INTERVAL)

    async def flush(self) -> None:
        """Return when everything taken so far is on disk, or raise if the disk refuses it."""
        if self._committing is not None:
            await asyncio.shield(self._committing)
        self._start_commit()
        if self._committing is not None:
            await asyncio.shield(self._committing)
        if self._failure is not None:
            raise self._failure

    def save_now(self) -> None:
        """Save what is unsaved from a process that is ending without its event loop."""
        if not self._closed and self._write_db is not None and (self._grown or self._records):
            self._write(self._batch(self._grown, self._records), self._connect())

    async def delete(self, session: str) -> None:
        """Forget a session and all its messages, really."""
        await self.flush()
        self._records.pop(session, None)
        await self._in(self._writer, lambda: self._delete(session))

    async def read(self, session: str, after: int, size: int) -> tuple[bytes, int]:
        """Return about `size` bytes of messages after a number, and the last one's number."""
        return await self._in(self._reader, lambda: self._read(session, after, size))

    async def page(
        self, session: str, *, after: int, before: int | None, limit: int, newest: bool
    ) -> list[bytes]:
        """Return up to `limit` messages between two numbers, from the old or the new end."""
        await self.flush()
        return await self._in(
            self._reader, lambda: self._page(session, after, before, limit, newest)
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
        if self._committing is None and (self._grown or self._records):
            self._committing = asyncio.get_running_loop().create_task(self._commit())

    def _batch(self, grown: dict[Source, int], records: dict[str, bytes]) -> Batch:
        runs = [Run(log, log.size - size, *log.unsaved()) for log, size in grown.items()]
        return Batch(runs, records)

    async def _commit(self) -> None:
        grown, self._grown = self._grown, {}
        records, self._records = self._records, {}
        batch = self._batch(grown, records)
        self._in_flight = sum(run.size for run in batch.runs)
        delay = COMMIT_INTERVAL
        try:
            await self._in(self._writer, lambda: self._write(batch))
        except sqlite3.Error as error:
            self._log.error("The ACP journal could not be written, will try again: %s", error)
            self._failure = error
            self._grown = {**self._grown, **grown}
            self._records = {**records, **self._records}
            delay = RETRY_INTERVAL
        else:
            self._failure = None
            for run in batch.runs:
                run.log.saved(len(run.messages), run.size)
        finally:
            self._in_flight = 0
            self._committing = None
        if self._grown or self._records:
            self._commit_in(delay)

    # What follows runs in the two threads.

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, timeout=30)
        # Larger than the default: a row is a long run of text, and each page costs two writes.
        db.execute(f"PRAGMA page_size={PAGE_SIZE}")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA wal_autocheckpoint={4 * COMMIT_SIZE // PAGE_SIZE}")
        db.execute("PRAGMA synchronous=NORMAL")
        # A small cache: what is replayed is read once.
        db.execute("PRAGMA cache_size=-1024")
        return db

    def _open_writer(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._claim()
            # Made before SQLite opens it: transcripts are nobody else's business.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            self._write_db = self._connect()
            version = self._write_db.execute("PRAGMA user_version").fetchone()[0]
            if version <= SCHEMA_VERSION:
                self._write_db.executescript(_SCHEMA)
                self._write_db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                self._write_db.execute("PRAGMA secure_delete=ON")
                return
            problem = "it was written by a newer version of this extension"
        except (OSError, sqlite3.Error) as error:
            problem = str(error)
        for db in (self._write_db, self._claimed):
            if db is not None:
                db.close()
        self._write_db = self._claimed = None
        raise RpcError(
            UNAVAILABLE,
            f"Sessions cannot be kept in {self._path}: {problem}. "
            "Mend it, or set AcpExtension.journal to another file.",
        )

    def _claim(self) -> None:
        """Take the first journal of this name that no other running server writes to."""
        wanted = self._path
        for number in range(2, 100):
            lock = self._path.with_suffix(".lock")
            os.close(os.open(lock, os.O_CREAT | os.O_RDWR, 0o600))
            claim = sqlite3.connect(lock, isolation_level=None, timeout=0)
            try:
                # Held until we close it, and let go by the system if we die.
                claim.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                claim.close()
                if "locked" not in str(error):
                    raise
                self._path = wanted.with_stem(f"{wanted.stem}-{number}")
            else:
                self._claimed = claim
                break
        if self._path != wanted:
            self._log.warning(
                "Another server keeps its sessions in %s; this one uses %s.", wanted, self._path
            )

    def _open_reader(self) -> None:
        self._read_db = self._connect()

    def _write(self, batch: Batch, db: sqlite3.Connection | None = None) -> None:
        db = db or self._write_db
        assert db is not None
        rows: list[tuple[str, int, int, bytes]] = []
        for run in batch.runs:
            rows.extend(_segments(run.log.session, run.first, run.messages, run.size))
        db.execute("BEGIN")
        try:
            # Written before and not known to be: by a commit that the process did not outlive.
            db.executemany(
                "DELETE FROM segments WHERE session=? AND first>=?",
                [(run.log.session, run.first) for run in batch.runs],
            )
            db.executemany("INSERT INTO segments VALUES (?, ?, ?, ?)", rows)
            db.executemany(
                "INSERT OR REPLACE INTO sessions VALUES (?, ?)", list(batch.records.items())
            )
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def _delete(self, session: str) -> None:
        assert self._write_db is not None
        self._write_db.execute("BEGIN")
        self._write_db.execute("DELETE FROM segments WHERE session=?", (session,))
        self._write_db.execute("DELETE FROM sessions WHERE id=?", (session,))
        self._write_db.execute("COMMIT")
        # Until then the text is still in the file beside the database.
        self._write_db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _rows(self, sql: str, *values: Any) -> sqlite3.Cursor:
        assert self._read_db is not None
        return self._read_db.execute(sql, values)

    def _read_records(self) -> list[SessionRecord]:
        # The messages are the truth: a record may be older than the last of them.
        last = dict(self._rows("SELECT session, max(last) FROM segments GROUP BY session"))
        records = [
            SessionRecord.from_json(orjson.loads(row[0]))
            for row in self._rows("SELECT record FROM sessions")
        ]
        for record in records:
            record.seq = last.get(record.id, 0)
        return records

    def _last(self, session: str) -> int:
        return int(
            self._rows("SELECT max(last) FROM segments WHERE session=?", session).fetchone()[0] or 0
        )

    def _segments_after(self, session: str, after: int) -> sqlite3.Cursor:
        # The segment that holds `after` may hold later messages too.
        return self._rows(
            "SELECT first, last, body FROM segments WHERE session=?1 AND first >= coalesce("
            "(SELECT max(first) FROM segments WHERE session=?1 AND first <= ?2), 0)"
            " ORDER BY first",
            session,
            after + 1,
        )

    def _read(self, session: str, after: int, size: int) -> tuple[bytes, int]:
        bodies: list[bytes] = []
        total, last = 0, after
        for first, end, body in self._segments_after(session, after):
            if end <= after:
                continue
            if first <= after:
                body = body.split(b"\n", after - first + 1)[-1]
            bodies.append(body)
            total += len(body)
            last = end
            if total >= size:
                break
        return b"\n".join(bodies), last

    def _page(
        self, session: str, after: int, before: int | None, limit: int, newest: bool
    ) -> list[bytes]:
        end = before if before is not None else self._last(session) + 1
        if newest:
            after = max(after, end - limit - 1)
        messages: list[bytes] = []
        for first, _, body in self._segments_after(session, after):
            lines = body.split(b"\n")
            messages.extend(lines[max(0, after + 1 - first) : max(0, end - first)])
            if len(messages) >= limit or first + len(lines) >= end:
                break
        return messages[:limit]

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


def _segments(
    session: str, first: int, messages: list[bytes], size: int
) -> list[tuple[str, int, int, bytes]]:
    """Cut a run of messages into rows of about one size, without looking at each message."""
    step = -(-len(messages) * SEGMENT_SIZE // max(size, SEGMENT_SIZE)) or 1
    return [
        (session, first + start, first + start + len(part) - 1, b"\n".join(part))
        for start in range(0, len(messages), step)
        if (part := messages[start : start + step])
    ]
