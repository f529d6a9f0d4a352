# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Requests of a window about its repository and the results of remote sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import protocol
from ..protocol import parse
from ..remote.progress import Reporter
from ..rpc import Connection, RpcError
from ..rpc.errors import CONFLICT

if TYPE_CHECKING:
    from ..sessions.manager import SessionManager
    from ..sessions.session import Session


class RemoteRequests:
    """Serves these requests for one window."""

    def __init__(self, manager: SessionManager, connection: Connection) -> None:
        self._manager = manager
        self._connection = connection

    async def inspect(self, params: Any) -> dict[str, Any]:
        """Describe the repository of a folder, as a start for a remote session."""
        wanted = parse(protocol.InspectParams, params)
        return await self._manager.remote_results.inspect(wanted.cwd)

    async def push(self, params: Any) -> dict[str, Any]:
        """Push local commits, and on request uncommitted changes, to a separate branch."""
        wanted = parse(protocol.PushParams, params)
        results = self._manager.remote_results
        with Reporter(self._tell, wanted.token) as report:
            ref = await results.push(wanted.cwd, uncommitted=wanted.uncommitted, report=report)
        return {"ref": ref}

    async def fetch(self, params: Any) -> dict[str, Any]:
        """Fetch a result again."""
        session, number = self._wanted(parse(protocol.ResultParams, params))
        self._manager.remote_results.fetch(session, number)
        return {}

    async def stop(self, params: Any) -> dict[str, Any]:
        """Stop fetching a result."""
        session, number = self._wanted(parse(protocol.ResultParams, params))
        self._manager.remote_results.cancel(session, number)
        return {}

    async def review(self, params: Any) -> dict[str, Any]:
        """Return the changes in a result."""
        session, number = self._wanted(parse(protocol.ResultParams, params))
        return await self._manager.remote_results.review(session, number)

    async def file(self, params: Any) -> dict[str, Any]:
        """Return one file of a result, before and after the change."""
        wanted = parse(protocol.ResultFileParams, params)
        session, number = self._wanted(wanted)
        results = self._manager.remote_results
        return await results.contents(session, number, wanted.path, wanted.old_path)

    async def act(self, params: Any) -> dict[str, Any]:
        """Perform the user's action on a result."""
        wanted = parse(protocol.ActParams, params)
        session, number = self._wanted(wanted)
        results = self._manager.remote_results
        return await results.act(session, number, wanted.action, wanted.branch)

    def _tell(self, progress: dict[str, Any]) -> None:
        self._connection.notify(protocol.PROGRESS, progress)

    def _wanted(self, params: protocol.ResultParams) -> tuple[Session, int]:
        session = self._manager.get(params.session_id)
        if not session.record.home:
            raise RpcError(CONFLICT, "The session has no repository here that results come to.")
        return session, params.number
