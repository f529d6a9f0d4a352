# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Search, export, import and retention of all sessions with their transcripts."""

from __future__ import annotations

import asyncio
import datetime as dt
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from ..history import export, search
from ..history.journal import Journal
from ..history.record import SessionRecord
from ..history.retention import Retention, superfluous
from ..rpc import Logger
from .index import Index
from .session import Session

Insert = Callable[[SessionRecord, list[bytes]], Awaitable[Session]]
Delete = Callable[[str], Awaitable[None]]

EXPORT_SIZE = 1024 * 1024

CLEAN_UP_INTERVAL = 3600.0
"""Time between two deletions of old sessions, in seconds."""


class Archive:
    """Searches, exports, imports and deletes sessions with their transcripts."""

    def __init__(
        self,
        index: Index,
        journal: Journal,
        retention: Retention,
        log: Logger,
        *,
        insert: Insert,
        delete_if_idle: Delete,
    ) -> None:
        self._index = index
        self._journal = journal
        self._retention = retention
        self._log = log
        self._insert = insert
        self._delete_if_idle = delete_if_idle
        self._cleaning: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start the periodic deletion of old sessions, if retention has a limit."""
        if not self._retention.is_endless:
            self._cleaning = asyncio.get_running_loop().create_task(self._keep_clean())

    def close(self) -> None:
        """Stop the periodic deletion."""
        if self._cleaning is not None:
            self._cleaning.cancel()

    async def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Return the sessions that contain the words of a query, best match first, with the matches."""
        sessions = {session.id: session for session in self._index.all()}
        found: dict[str, list[dict[str, Any]]] = {}
        for match in await self._journal.search(query, limit):
            if match.session in sessions:
                found.setdefault(match.session, []).append(search.public(match))
        return [{**sessions[id].public(), "matches": matches} for id, matches in found.items()]

    async def export(self, session: Session) -> AsyncIterator[bytes]:
        """Yield a session as lines, in pieces of at most `EXPORT_SIZE` bytes."""
        yield export.head(session.record) + b"\n"
        after, end = 0, session.log.seq
        while after < end:
            body, after = await session.log.read(after, EXPORT_SIZE)
            if not body:
                return
            yield body + b"\n"

    async def take_in(self, exported: bytes) -> Session:
        """Import an exported session as a new one, which its agent does not know yet."""
        id = str(uuid.uuid4())
        record, messages = await asyncio.to_thread(export.read, iter(exported.splitlines()), id)
        return await self._insert(record, messages)

    async def clean_up(self) -> list[str]:
        """Delete the sessions that exceed the retention; return their ids."""
        sizes = await self._journal.sizes()
        sessions = self._index.all()
        busy = [session.id for session in sessions if session.is_busy]
        today = dt.datetime.now(dt.timezone.utc)
        records = [session.record for session in sessions]
        gone = superfluous(records, sizes, self._retention, today, busy)
        for id in gone:
            await self._delete_if_idle(id)
        if gone:
            self._log.info("Deleted %d sessions that were too old or too many", len(gone))
        return gone

    async def _keep_clean(self) -> None:
        while True:
            try:
                await self.clean_up()
            except Exception:
                self._log.exception("Old sessions could not be deleted")
            await asyncio.sleep(CLEAN_UP_INTERVAL)
