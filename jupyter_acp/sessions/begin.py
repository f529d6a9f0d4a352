# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The beginnings of sessions: new, forked, imported, or taken over from an agent."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import protocol
from ..history.journal import Journal
from ..history.record import SessionRecord, is_acceptable
from ..rpc import RpcError, invalid_params
from ..rpc.errors import INVALID_REQUEST, UNAVAILABLE
from ..services import ClientServices
from . import sandboxagent_extension
from .agent_links import Links
from .fallbacks import NoWay, by_any_way
from .foreign_sessions import ForeignSession
from .index import Index
from .limits import Limits
from .options import WORDS
from .pending_deletions import PendingDeletions
from .remote import check_takes_remote, checked_remote, folder_of, going_on
from .remote_results import RemoteResults
from .retelling import retell
from .sandboxagent_extension import HINTS, REQUESTED_ID
from .session import Session

if TYPE_CHECKING:
    from ..agents.spec import AgentSpec

_OUR_OWN = ("agent", "home", "continues")
"""Fields that are not passed on to the agent: another server of our kind would obey them."""


class Beginnings:
    """Opens sessions; if the agent refuses one, nothing of it remains."""

    def __init__(
        self,
        *,
        index: Index,
        links: Links,
        services: ClientServices,
        journal: Journal,
        pending_deletions: PendingDeletions,
        remote_results: RemoteResults,
        limits: Limits,
        root_dir: str,
        make: Callable[[SessionRecord], Session],
    ) -> None:
        self._index = index
        self._links = links
        self._services = services
        self._journal = journal
        self._pending_deletions = pending_deletions
        self._remote_results = remote_results
        self._limits = limits
        self._root_dir = root_dir
        self._make = make
        self._beginning = 0

    async def create(
        self, params: protocol.NewSessionParams, agent: str | None, title: str = ""
    ) -> tuple[Session, dict[str, Any]]:
        """Open a new session with an agent."""
        with self._place():
            return await self._create(params, agent, title)

    async def _create(
        self, params: protocol.NewSessionParams, agent: str | None, title: str
    ) -> tuple[Session, dict[str, Any]]:
        spec = self._links.spec(agent)
        remote = checked_remote(params, self._limits.remote)
        is_home = remote is not None and params.ours().get("home") is True
        if remote is None or is_home:
            _check_folder(spec, params)
        metadata = dict(sandboxagent_extension.corner({"_meta": params.meta}))
        if not is_acceptable(metadata):
            raise invalid_params(f'_meta["{protocol.SANDBOX}"]: too much, or nested too deeply.')
        wanted, named = metadata.get("requestedSessionId"), metadata.get("title")
        record = SessionRecord(
            id=str(uuid.uuid4()),
            agent=spec.id,
            cwd=params.cwd,
            title=title or (named if isinstance(named, str) else ""),
            alias=self._index.checked_alias(wanted) if wanted is not None else None,
            metadata=metadata,
            remote=remote,
            home=params.cwd if is_home else "",
            additional_directories=params.additional_directories,
            mcp_servers=params.mcp_servers,
        )
        # Reserve it before the first await: another request may want the same alias.
        self._index.reserve(record.alias, record.id)
        session = self._make(record)
        return session, await self._begin(session, begin_new(session, params))

    async def fork(self, params: protocol.ForkParams) -> tuple[Session, dict[str, Any]]:
        """Open a session with a copy of another one's transcript."""
        with self._place():
            return await self._fork(params)

    async def _fork(self, params: protocol.ForkParams) -> tuple[Session, dict[str, Any]]:
        source = self._index.get(params.session_id)
        wanted = checked_remote(params, self._limits.remote)
        if wanted is not None and wanted["url"] != (source.record.remote or {}).get("url"):
            raise invalid_params(
                "remote: a fork is about the same files as what it is forked from."
            )
        _check_folder(self._links.spec(source.agent), params)
        record = await self._copy(source, params)
        session = self._make(record)
        return session, await self._begin(session, begin_fork(session, source, params))

    async def _copy(self, source: Session, params: protocol.ForkParams) -> SessionRecord:
        """Copy a session's record and transcript, but never in the middle of a turn."""
        while True:
            _check_idle(source)
            turns = source.turns
            record = source.record.fork(str(uuid.uuid4()), params.cwd)
            if "mcp_servers" in params.model_fields_set:
                record.mcp_servers = params.mcp_servers
            if "additional_directories" in params.model_fields_set:
                record.additional_directories = params.additional_directories
            record.seq = await self._journal.copy(source.id, record.id)
            if source.turns == turns and self._index.has(source):
                return record
            await self._journal.delete(record.id)
            self._index.get(source.id)

    async def _begin(
        self, session: Session, beginning: Awaitable[dict[str, Any]]
    ) -> dict[str, Any]:
        try:
            result = await beginning
        except BaseException:
            await self._undo(session)
            raise
        self._pending_deletions.discard(
            self._links.id_for(session.record), session.record.agent_session
        )
        # Add it only now, when the agent has opened it.
        self._index.add(session)
        return {**result, "sessionId": session.id}

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        """Reserve a place for a new session; refuse it if too many sessions are open."""
        is_open = (each.record.state in ("idle", "running") for each in self._index)
        if sum(is_open) + self._beginning >= self._limits.sessions:
            raise RpcError(
                UNAVAILABLE,
                f"{self._limits.sessions} sessions are open: close one first "
                "(AcpExtension.max_sessions).",
            )
        self._beginning += 1
        try:
            yield
        finally:
            self._beginning -= 1

    async def _undo(self, session: Session) -> None:
        """Delete a session that could not be opened."""
        session.forget()
        if link := self._links.known(session.record):
            link.leave(session)
        self._services.forget(session)
        self._index.remove(session)
        self._remote_results.dropped(session)
        await self._journal.delete(session.id)

    async def take_over(self, foreign: ForeignSession) -> Session:
        """Open a session that only its agent knows."""
        record = await foreign.record(await self._links.agent(foreign.agent), self._root_dir)
        if record.id in self._index:
            # Another window has taken it over meanwhile.
            return self._index.get(record.id)
        session = self._make(record)
        self._index.add(session)
        try:
            await session.agent_session.connect(may_begin_anew=False)
        except BaseException:
            # Only here: the agent keeps its session.
            await self._undo(session)
            raise
        return session

    async def insert(self, record: SessionRecord, messages: list[bytes]) -> Session:
        """Import a session with its transcript."""
        self._links.spec(record.agent)
        wanted = record.cwd
        if not self._has_folder(wanted):
            record.cwd = self._root_dir
        await self._journal.insert(record, messages)
        session = self._make(record)
        self._index.add(session)
        if record.cwd != wanted:
            # An imported file could name any folder, and the agent could read there.
            words = f"Its folder, {wanted}, is not one of this server: it goes on in {record.cwd}."
            session.append(protocol.NOTICE, {"level": "info", "message": words})
        session.changed()
        return session

    def _has_folder(self, path: str) -> bool:
        """Return True if a folder exists in the root folder of the server."""
        folder = Path(path)
        is_there = folder.is_absolute() and folder.is_dir()
        return is_there and folder.resolve().is_relative_to(self._root_dir)


async def begin_new(session: Session, params: protocol.NewSessionParams) -> dict[str, Any]:
    """Open a new session with the agent, and apply the requested options."""
    if session.is_remote:
        check_takes_remote(await session.agent_session.ready())
    result = await session.begin(protocol.SESSION_NEW, _body(params, session))
    if session.is_remote and not session.record.home and (folder := folder_of(result)):
        session.record.cwd = folder
        session.changed()
    options = session.agent_session.options
    for what in HINTS:
        value = session.record.metadata.get(what)
        # If the agent has no such option, it has only the hint in the request.
        if isinstance(value, str) and options.can_choose(what, value):
            try:
                await options.choose(what, value)
            except RpcError as error:
                words = f"The {WORDS[what]} could not be set to {value}: {error.text}"
                session.append(protocol.NOTICE, {"level": "warning", "message": words})
    return {**result, **session.setup.chosen()}


async def begin_fork(
    session: Session, source: Session, params: protocol.ForkParams
) -> dict[str, Any]:
    """Fork the agent's session; the transcript is copied already."""
    title = source.record.title or "an untitled session"
    words = f"Forked from “{title}”."
    if source.record.title:
        session.rename(f"{title} (fork)")
    agent = await session.agent_session.ready()
    body = _body(params, session)
    before = session.setup.chosen()
    forked = {**body, "sessionId": source.record.agent_session}
    # Some agents replay the history, which is copied already.
    session.transcript.shut_gate()
    try:
        if source.record.agent_session is None:
            # The source has never been opened with an agent.
            raise NoWay("fork")
        result = await by_any_way(agent, "fork", lambda method: session.begin(method, forked))
    except NoWay:
        session.transcript.open_gate()
        session.record.retold = await retell(session.transcript)
        if hints := {k: v for k, v in session.record.metadata.items() if k != REQUESTED_ID}:
            body["_meta"] = {**body.get("_meta", {}), protocol.SANDBOX: hints}
        result = await session.begin(protocol.SESSION_NEW, body)
        words += f" {agent.spec.name} cannot fork: with your first message it is told what was said before."
    else:
        await session.transcript.end_replay()
    session.append(protocol.NOTICE, {"level": "info", "message": words})
    await session.agent_session.options.choose_again(before)
    return {**result, **session.setup.chosen()}


def _body(params: protocol.NewSessionParams, session: Session) -> dict[str, Any]:
    """Return the parameters for the agent: those of the client without our own fields."""
    body = params.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    body.pop("sessionId", None)
    body["cwd"] = session.record.cwd
    body["mcpServers"] = session.record.mcp_servers
    if session.record.additional_directories:
        body["additionalDirectories"] = session.record.additional_directories
    ours = {key: value for key, value in params.ours().items() if key not in _OUR_OWN}
    if session.is_remote:
        # Sent twice: some agents' libraries drop the field, which is only a proposal yet.
        body["remote"] = ours["remote"] = params.wanted_remote() or going_on(session.record)
        body.pop("additionalDirectories", None)
    if ours:
        body["_meta"] = {**body.get("_meta", {}), protocol.META: ours}
    elif "_meta" in body:
        body["_meta"].pop(protocol.META, None)
    return body


def _check_idle(session: Session) -> None:
    if session.running:
        raise RpcError(INVALID_REQUEST, "A turn is running: fork the session when it has ended.")


def _check_folder(spec: AgentSpec, params: protocol.NewSessionParams) -> None:
    if spec.url is None and not os.path.isdir(params.cwd):
        raise invalid_params(f"cwd: there is no folder {params.cwd}.")
