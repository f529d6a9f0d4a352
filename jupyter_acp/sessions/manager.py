# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""All sessions and all agents of this server."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .. import protocol
from ..agents.agent import Agent
from ..agents.catalog import Catalog
from ..history.journal import Journal
from ..history.numbered_log import Log
from ..history.record import SessionRecord, is_writable
from ..rpc import Logger
from ..rpc.outbox import Flusher
from ..services import ClientServices
from .agent_links import Links
from .archive import Archive
from .begin import Beginnings
from .foreign_sessions import Foreign, ForeignSession
from .index import Index
from .limits import Limits
from .notifier import Listener, Notifier
from .pending_deletions import PendingDeletions
from .remote import give_up_fetching
from .remote_results import RemoteResults
from .session import Session

if TYPE_CHECKING:
    pass


class Client(Listener, Protocol):
    """A window, as far as we know it."""

    async def close(self) -> None:
        """Stop watching."""


class SessionManager:
    """Makes sessions, finds them again, and ends everything at the end."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        services: ClientServices,
        journal: Path,
        root_dir: str,
        limits: Limits,
        client_info: dict[str, Any],
        on_activity: Callable[[], None],
        log: Logger,
    ) -> None:
        self.catalog = catalog
        self.root_dir = root_dir
        self.limits = limits
        self.info = client_info
        self.log = log
        self.flusher = Flusher()
        self.run = uuid.uuid4().hex
        """Names this run: numbers of an earlier one may not mean the same messages."""

        self._services = services
        self._on_activity = on_activity
        self._journal = Journal(journal, log)
        self._pending_deletions = PendingDeletions(self._journal)
        self._index = Index()
        self.windows: set[Client] = set()
        self._notifier = Notifier(self.windows)
        self.links = Links(
            catalog=catalog,
            services=services,
            journal=self._journal,
            pending_deletions=self._pending_deletions,
            limits=limits,
            client_info=client_info,
            flusher=self.flusher,
            on_start=self._look_at_files,
            on_progress=self._progressed,
            log=log,
        )
        self._foreign = Foreign(
            root_dir, limits.request_timeout, self.links, self._index, self._pending_deletions
        )
        self.remote_results = RemoteResults(
            limits.remote, self.all, self._look_at_files, self._progressed, log
        )
        self.beginnings = Beginnings(
            index=self._index,
            links=self.links,
            services=services,
            journal=self._journal,
            pending_deletions=self._pending_deletions,
            remote_results=self.remote_results,
            limits=limits,
            root_dir=root_dir,
            make=self._make,
        )
        self.archive = Archive(
            self._index,
            self._journal,
            limits.retention,
            log,
            insert=self.beginnings.insert,
            delete_if_idle=self.delete_if_idle,
        )

    async def open(self) -> None:
        """Take up the sessions of earlier runs; their agents start when they are needed."""
        records = await self._journal.open()
        await self._services.remember(self._journal, self.root_dir)
        await self._pending_deletions.open()
        for record in records:
            if record.state in ("idle", "running"):
                if record.state == "running":
                    record.error, record.failed = "The server stopped during the turn.", True
                record.state = "disconnected"
            session = self._make(record)
            self._index.add(session)
            give_up_fetching(session)
        self.archive.open()
        if homes := {record.home for record in records if record.home}:
            self.remote_results.look_for_interrupted(homes)

    async def close(self) -> None:
        """Stop every agent and save everything."""
        self.links.refuse_more()
        self.archive.close()
        self._notifier.close()
        self.remote_results.close()
        await asyncio.gather(*(window.close() for window in list(self.windows)))
        for session in self._index:
            await session.stop()
        await self.links.close()
        await self._services.close()
        await self._journal.close()

    def close_now(self) -> None:
        """Do what `close` does as far as it can be done without an event loop."""
        self.links.close_now()
        self._services.stop_now()
        self._journal.save_now()

    @property
    def services(self) -> ClientServices:
        """What agents can ask of us, and windows tell us."""
        return self._services

    # Sessions

    def all(self) -> list[Session]:
        """Return every session, the latest first."""
        return self._index.all()

    def get(self, id: str) -> Session:
        """Return a session, by its id or by the one it was wanted to have, or say that there is none."""
        return self._index.get(id)

    def named(self, params: Any) -> Any:
        """Return parameters with the session's own id, where it is called by another."""
        return self._index.named(params)

    async def elsewhere(self) -> list[ForeignSession]:
        """Return the sessions that running agents have besides those that are known here."""
        return await self._foreign.list()

    async def find(self, id: str) -> Session:
        """Return a session; one that only its agent knows is taken over first."""
        foreign = await self._foreign.find(id) if id not in self._index else None
        return self.get(id) if foreign is None else await self.beginnings.take_over(foreign)

    @property
    def running(self) -> list[Session]:
        """The sessions in which a turn is running."""
        return [session for session in self._index if session.running]

    async def delete_if_idle(self, id: str) -> None:
        """Forget a session that nobody needs; to its agent it is still the user's."""
        if id in self._index and not self.get(id).is_busy:
            # To the end, also if the server stops meanwhile: half of it would come back.
            await asyncio.shield(self.delete(id, is_told=False))

    async def delete(self, id: str, *, is_told: bool = True) -> None:
        """End a session and forget everything about it, or nothing if the journal cannot."""
        session = self.get(id)
        id = session.id
        # First of all: a prompt that comes meanwhile must not bring it back to life.
        self._index.hide(session)
        with session.ending():
            try:
                await session.close()
                link = self.links.known(session.record)
                is_theirs = is_told and not self._is_shared(session)
                if is_theirs and link is not None and link.running:
                    await session.agent_session.tell("delete")
                elif is_theirs and session.record.agent_session is not None:
                    whose = self.links.id_for(session.record)
                    self._pending_deletions.add(whose, session.record.agent_session)
                # Asked before anybody is told: most of what can go wrong goes wrong here.
                await self._journal.flush()
                session.forget()
                await self._journal.delete(id)
            except BaseException:
                self._index.add(session)
                session.remember()
                raise
            finally:
                self._services.forget(session)
        self._index.remove(session)
        if session.record.home:
            await self.remote_results.forget(session)
        self._services.deleted(session)
        self._notifier.removed(id)

    def _is_shared(self, session: Session) -> bool:
        """Whether the agent has given its id for a session to another one, too."""
        return any(
            other.agent == session.agent
            and other.record.agent_session == session.record.agent_session
            for other in self._index
        )

    async def close_session(self, id: str) -> None:
        """End a session and keep its transcript."""
        session = self.get(id)
        is_told = session.agent_session.is_connected
        try:
            await session.close()
            if session.is_remote and not is_told:
                await self._close_elsewhere(session)
        finally:
            self._services.forget(session)

    async def _close_elsewhere(self, session: Session) -> None:
        """Let the files of a session go that its agent has not been asked for in this run."""
        link = self.links.known(session.record)
        if link is not None and link.running:
            await session.agent_session.tell("close")
        elif session.record.agent_session is not None:
            whose = self.links.id_for(session.record)
            self._pending_deletions.add(whose, session.record.agent_session, "close")

    async def messages(
        self, id: str, *, after: int, before: int | None, limit: int, newest: bool
    ) -> list[bytes]:
        """Return a page of a session's numbered messages."""
        id = self.get(id).id
        return await self._journal.page(id, after=after, before=before, limit=limit, newest=newest)

    def _look_at_files(self) -> None:
        """See to it that open documents follow what has changed on disk."""
        self._services.watcher.start(self._working)

    def _progressed(self, params: dict[str, Any]) -> None:
        """Tell everybody how far something is; whoever waits for it knows it by its token."""
        if is_writable(params):
            self._notifier.tell(protocol.PROGRESS, params)

    async def restart(self, id: str) -> Agent:
        """Stop an agent if it runs, start it, and restore the sessions that it had."""
        had = [s for s in self._index if s.record.agent == id and s.agent_session.was_connected]
        await self.links.stop(id)
        agent = await self.links.agent(id)
        await asyncio.gather(
            *(session.agent_session.connect() for session in had), return_exceptions=True
        )
        return agent

    def _make(self, record: SessionRecord) -> Session:
        return Session(
            record,
            Log(record.id, self._journal, record.seq),
            self.links,
            on_change=self._changed,
            on_turn_end=self._services.turn_ended,
            on_result=self.remote_results.arrived,
            # Its files may have to be fetched first.
            extra_patience=self.limits.remote.timeout if record.remote is not None else 0,
            logger=self.log,
        )

    def _working(self) -> Session | None:
        """Return the session in which an agent is at work, the latest if there are several."""
        here = [session for session in self.running if not session.is_remote]
        return max(here, key=lambda session: session.record.updated, default=None)

    def _changed(self, session: Session) -> None:
        self._on_activity()
        if session.record.created:
            self._journal.save(session.record)
            self._notifier.changed(session)
