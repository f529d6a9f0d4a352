# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The manager of all sessions of this server, and of their agents."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from traitlets.config import Configurable, LoggingConfigurable

from .. import protocol
from ..agents.agent import Agent
from ..agents.catalog import Catalog
from ..history.journal import Journal
from ..history.numbered_log import Log
from ..history.record import SessionRecord, is_writable
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


class Client(Listener, Protocol):
    """A window as the manager uses it."""

    async def close(self) -> None:
        """Close the window's connection."""


class SessionManager(LoggingConfigurable):
    """Opens, finds, closes and deletes sessions, and restores them at start-up."""

    def __init__(
        self,
        *,
        parent: Configurable,
        catalog: Catalog,
        services: ClientServices,
        journal: Path,
        root_dir: str,
        limits: Limits,
        client_info: dict[str, Any],
        on_activity: Callable[[], None],
    ) -> None:
        super().__init__(parent=parent)
        self.catalog = catalog
        self.root_dir = root_dir
        self.limits = limits
        self.info = client_info
        self.flusher = Flusher()
        self.run = uuid.uuid4().hex
        """Id of this run of the server: another run may use the same numbers for other messages."""

        self._services = services
        self._on_activity = on_activity
        self._journal = Journal(journal, self.log)
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
            log=self.log,
        )
        self._foreign = Foreign(
            root_dir, limits.request_timeout, self.links, self._index, self._pending_deletions
        )
        self.remote_results = RemoteResults(
            limits.remote, self.all, self._look_at_files, self._progressed, self.log
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
            self.log,
            insert=self.beginnings.insert,
            delete_if_idle=self.delete_if_idle,
        )

    async def open(self) -> None:
        """Restore the sessions of earlier runs; their agents start on demand."""
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
        """Stop every agent and save everything, without an event loop."""
        self.links.close_now()
        self._services.stop_now()
        self._journal.save_now()

    @property
    def services(self) -> ClientServices:
        """The services for agents."""
        return self._services

    # Sessions

    def all(self) -> list[Session]:
        """Return every session, the latest first."""
        return self._index.all()

    def get(self, id: str) -> Session:
        """Return a session by its id or alias; raise an error if there is none."""
        return self._index.get(id)

    def named(self, params: Any) -> Any:
        """Return the parameters with an alias in `sessionId` replaced by the session's id."""
        return self._index.named(params)

    async def elsewhere(self) -> list[ForeignSession]:
        """Return the sessions that only their running agents know."""
        return await self._foreign.list()

    async def find(self, id: str) -> Session:
        """Return a session; take it over first if only its agent knows it."""
        foreign = await self._foreign.find(id) if id not in self._index else None
        return self.get(id) if foreign is None else await self.beginnings.take_over(foreign)

    @property
    def running(self) -> list[Session]:
        """The sessions in which a turn is running."""
        return [session for session in self._index if session.running]

    async def delete_if_idle(self, id: str) -> None:
        """Delete a session that is not in use; the agent keeps its own."""
        if id in self._index and not self.get(id).is_busy:
            # Finish even if the server stops: a half-deleted session would come back.
            await asyncio.shield(self.delete(id, is_told=False))

    async def delete(self, id: str, *, is_told: bool = True) -> None:
        """Delete a session; keep it if the journal fails.

        With `is_told`, the agent deletes its session, too, unless another session here shares it.
        """
        session = self.get(id)
        id = session.id
        # Hide it first: a prompt that arrives meanwhile must not reopen the session.
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
                # Flush before windows are told: this is the step most likely to fail.
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
        """Return True if another session has the same agent session."""
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
        """Close a remote session at an agent that has not opened it in this run."""
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
        """Start watching files, so that open documents follow changes on disk."""
        self._services.watcher.start(self._working)

    def _progressed(self, params: dict[str, Any]) -> None:
        """Report progress to every window; the one that waits recognizes the token."""
        if is_writable(params):
            self._notifier.tell(protocol.PROGRESS, params)

    async def restart(self, id: str) -> Agent:
        """Restart an agent, and reconnect its sessions."""
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
            # The files of a remote session may have to be fetched first.
            extra_patience=self.limits.remote.timeout if record.remote is not None else 0,
            logger=self.log,
        )

    def _working(self) -> Session | None:
        """Return the latest session with a running turn, except for remote ones, or None."""
        here = [session for session in self.running if not session.is_remote]
        return max(here, key=lambda session: session.record.updated, default=None)

    def _changed(self, session: Session) -> None:
        self._on_activity()
        if session.record.created:
            self._journal.save(session.record)
            self._notifier.changed(session)
