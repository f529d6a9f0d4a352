# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The SQLite database of the journal.

Messages are stored as they are sent: a row is a run of consecutive messages, newline-separated. A
replay sends whole rows, and a commit writes one row instead of thousands.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ..rpc import Logger, RpcError
from ..rpc.errors import UNAVAILABLE
from . import search
from .record import SessionRecord

SEGMENT_SIZE = 128 * 1024
BUSY = 30.0
"""Timeout for a lock of another process on the file, in seconds."""

PAGE_SIZE = 16 * 1024
CHECKPOINT_SIZE = 4 * 1024 * 1024
SCHEMA_VERSION = 2

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
CREATE TABLE IF NOT EXISTS facts (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL
);
"""


class Chunk(NamedTuple):
    """Consecutive messages, newline-separated, as they are sent and stored."""

    first: int
    last: int
    body: bytes


class Run(NamedTuple):
    """Consecutive chunks of one session."""

    session: str
    chunks: list[Chunk]


class Commit(NamedTuple):
    """The content of one transaction."""

    runs: list[Run]
    records: dict[str, bytes]
    facts: dict[str, bytes]
    dropped: dict[str, int]
    """Numbers of the last messages to delete, by session."""


class Database:
    """Holds one connection for writing and one for reading, each used by a single thread."""

    def __init__(self, path: Path, log: Logger) -> None:
        self._path = path
        self._log = log
        self._write_db: sqlite3.Connection | None = None
        self._read_db: sqlite3.Connection | None = None
        self._claimed: sqlite3.Connection | None = None
        self._has_words = False

    @property
    def path(self) -> Path:
        """The file, which may differ from the requested one: see `_claim`."""
        return self._path

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, timeout=BUSY)
        # Larger than the default: rows are long, and each page is written twice.
        db.execute(f"PRAGMA page_size={PAGE_SIZE}")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_SIZE // PAGE_SIZE}")
        db.execute("PRAGMA synchronous=NORMAL")
        # A small cache suffices: a replay reads each page once.
        db.execute("PRAGMA cache_size=-1024")
        return db

    def open_writer(self) -> None:
        """Open or create the file; raise an error with the reason if that fails."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._claim()
            # Create the file before SQLite does, so that only the user can read it.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            self._write_db = self._connect()
            version = self._write_db.execute("PRAGMA user_version").fetchone()[0]
            if version <= SCHEMA_VERSION:
                self._write_db.executescript(_SCHEMA)
                self._has_words = _make_words(self._write_db)
                self._write_db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                self._write_db.execute("PRAGMA secure_delete=ON")
                self._sweep(self._write_db)
                return
            problem = "it was written by a newer version of this extension"
        except (OSError, sqlite3.Error) as error:
            problem = str(error)
        self.close_writer()
        raise RpcError(
            UNAVAILABLE,
            f"Sessions cannot be kept in {self._path}: {problem}. "
            "Correct this, or set AcpExtension.journal to another file.",
        )

    def _sweep(self, db: sqlite3.Connection) -> None:
        """Delete messages without a session, such as those of a fork that the server did not finish."""
        orphans = (
            "SELECT DISTINCT session FROM segments WHERE session NOT IN (SELECT id FROM sessions)"
        )
        for (session,) in db.execute(orphans).fetchall():
            self.delete(session)

    def _claim(self) -> None:
        """Lock the first journal of this name that no other running server writes to."""
        wanted = self._path
        for number in range(2, 100):
            lock = self._path.with_suffix(".lock")
            os.close(os.open(lock, os.O_CREAT | os.O_RDWR, 0o600))
            claim = sqlite3.connect(lock, isolation_level=None, timeout=0)
            try:
                # The lock lasts until `close_writer`; the operating system releases it after a crash.
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

    def open_reader(self) -> None:
        """Open the file for reading, after `open_writer`."""
        self._read_db = self._connect()

    def close_writer(self) -> None:
        """Close the connection for writing, and release the file for other servers."""
        for db in (self._write_db, self._claimed):
            if db is not None:
                db.close()
        self._write_db = self._claimed = None

    def close_reader(self) -> None:
        """Close the connection for reading."""
        if self._read_db is not None:
            self._read_db.close()

    def write(self, commit: Commit) -> None:
        """Write a commit in one transaction."""
        assert self._write_db is not None
        _write(self._write_db, commit, has_words=self._has_words)

    def write_now(self, commit: Commit) -> None:
        """Write a commit from any thread, after the writer's thread has ended."""
        db = self._connect()
        try:
            _write(db, commit, has_words=self._has_words)
        finally:
            db.close()

    def delete(self, session: str) -> None:
        """Delete a session and all its messages, and remove their text from the files."""
        assert self._write_db is not None
        db = self._write_db
        db.execute("BEGIN")
        try:
            db.execute("DELETE FROM segments WHERE session=?", (session,))
            db.execute("DELETE FROM sessions WHERE id=?", (session,))
            if self._has_words:
                search.forget(db, session)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        try:
            # Without a checkpoint the text stays in the write-ahead log.
            is_busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            problem = "somebody else reads it" if is_busy else ""
        except sqlite3.Error as error:
            problem = str(error)
        if problem:
            self._log.warning("Deleted text is still in the journal's log: %s", problem)

    def copy(self, source: str, target: str) -> int:
        """Copy the messages of a session to another; return the number of the last one."""
        assert self._write_db is not None
        db, last = self._write_db, 0
        # No text contains this sequence, because quotes in texts are escaped.
        old, new = (b'"sessionId":' + orjson.dumps(id) for id in (source, target))
        db.execute("BEGIN")
        try:
            found = db.execute(
                "SELECT first FROM segments WHERE session=? ORDER BY first", (source,)
            )
            for (first,) in found.fetchall():
                last, body = db.execute(
                    "SELECT last, body FROM segments WHERE session=? AND first=?", (source, first)
                ).fetchone()
                row = (target, first, last, body.replace(old, new))
                db.execute("INSERT INTO segments VALUES (?, ?, ?, ?)", row)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        return int(last)

    def insert(self, record: SessionRecord, messages: list[bytes]) -> None:
        """Write a complete session in one transaction."""
        chunks = [Chunk(number, number, message) for number, message in enumerate(messages, 1)]
        runs = [Run(record.id, chunks)] if chunks else []
        self.write(Commit(runs, {record.id: orjson.dumps(record.to_json())}, {}, {}))

    def index_some(self) -> bool:
        """Add some messages to the search index; return True if there may be more."""
        assert self._write_db is not None
        return self._has_words and search.index_some(self._write_db)

    def search(self, query: str, limit: int) -> list[search.Match]:
        """Return the passages that contain the words of a query."""
        assert self._read_db is not None
        if not self._has_words:
            raise RpcError(
                UNAVAILABLE,
                "Transcripts cannot be searched: the SQLite of this Python has no FTS5. Sessions are "
                "still found by their titles.",
            )
        return search.search(self._read_db, query, limit)

    def sizes(self) -> dict[str, int]:
        """Return the size of each transcript in bytes."""
        return dict(self._rows("SELECT session, sum(length(body)) FROM segments GROUP BY session"))

    def _rows(self, sql: str, *values: Any) -> sqlite3.Cursor:
        assert self._read_db is not None
        return self._read_db.execute(sql, values)

    def records(self) -> list[SessionRecord]:
        """Return the records of all sessions."""
        # A record may be older than the last message, so take the number from the messages.
        last = dict(self._rows("SELECT session, max(last) FROM segments GROUP BY session"))
        records = [
            SessionRecord.from_json(orjson.loads(row[0]))
            for row in self._rows("SELECT record FROM sessions")
        ]
        for record in records:
            record.seq = last.get(record.id, 0)
        return records

    def fact(self, key: str) -> bytes | None:
        """Return the value stored under a key, or None."""
        row = self._rows("SELECT value FROM facts WHERE key=?", key).fetchone()
        return row[0] if row else None

    def _last(self, session: str) -> int:
        return int(
            self._rows("SELECT max(last) FROM segments WHERE session=?", session).fetchone()[0] or 0
        )

    def _segments_after(self, session: str, after: int) -> sqlite3.Cursor:
        # The segment that contains `after` may contain later messages, too.
        return self._rows(
            "SELECT first, last, body FROM segments WHERE session=?1 AND first >= coalesce("
            "(SELECT max(first) FROM segments WHERE session=?1 AND first <= ?2), 0)"
            " ORDER BY first",
            session,
            after + 1,
        )

    def read(self, session: str, after: int, size: int) -> tuple[bytes, int]:
        """Return about `size` bytes of messages after a number, and the last one's number."""
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

    def page(
        self, session: str, after: int, before: int | None, limit: int, newest: bool
    ) -> list[bytes]:
        """Return up to `limit` messages between two numbers, from the old or the new end."""
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


def _make_words(db: sqlite3.Connection) -> bool:
    """Create the search index; return False if this SQLite has no FTS5."""
    try:
        db.executescript(search.SCHEMA)
    except sqlite3.OperationalError:
        return False
    return True


def _write(db: sqlite3.Connection, commit: Commit, *, has_words: bool) -> None:
    rows = [(run.session, *row) for run in commit.runs for row in _segments(run.chunks)]
    db.execute("BEGIN")
    try:
        # A commit may have been written without our knowledge, just before the process was killed.
        db.executemany(
            "DELETE FROM segments WHERE session=? AND first>=?",
            [(run.session, run.chunks[0].first) for run in commit.runs if run.chunks],
        )
        db.executemany("INSERT INTO segments VALUES (?, ?, ?, ?)", rows)
        for session, upto in commit.dropped.items():
            db.execute("DELETE FROM segments WHERE session=? AND last<=?", (session, upto))
            if has_words:
                search.forget(db, session)
        records, facts = list(commit.records.items()), list(commit.facts.items())
        db.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?)", records)
        db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _segments(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Join small chunks, because each row has a fixed cost."""
    waiting: list[Chunk] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk.body)
        if size >= SEGMENT_SIZE:
            yield _joined(waiting)
            waiting, size = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    return Chunk(chunks[0].first, chunks[-1].last, b"\n".join([chunk.body for chunk in chunks]))
