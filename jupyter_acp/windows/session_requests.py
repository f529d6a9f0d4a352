# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Requests of a window about sessions that it need not watch."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from .. import protocol
from ..protocol import parse
from ..rpc import invalid_params
from ..sessions import sandboxagent_extension
from ..sessions.fallbacks import NoWay

if TYPE_CHECKING:
    from ..sessions.manager import SessionManager

T = TypeVar("T")

LIST_PAGE = 100


class SessionRequests:
    """Serves these requests for one window."""

    def __init__(self, manager: SessionManager, *, may_act: bool) -> None:
        self._manager = manager
        self._may_act = may_act

    async def list(self, params: Any) -> dict[str, Any]:
        """Return a page of the sessions known to this server and to running agents."""
        wanted = parse(protocol.ListParams, params)
        cursor = wanted.cursor or "0"
        if not (cursor.isdecimal() and len(cursor) <= 9):
            raise invalid_params("cursor: must be one that `session/list` returned.")
        start = int(cursor)
        known = [session.public() for session in self._manager.all()]
        # Listing their sessions sends requests to agents, which a watcher must not cause.
        foreign = await self._manager.elsewhere() if self._may_act else []
        elsewhere = [each.public() for each in foreign]
        found = [
            session
            for session in [*known, *elsewhere]
            if wanted.cwd is None or session["cwd"] == wanted.cwd
        ]
        page = found[start : start + LIST_PAGE]
        result: dict[str, Any] = {
            "sessions": [
                {
                    "sessionId": session["id"],
                    "cwd": session["cwd"],
                    "title": session["title"],
                    "updatedAt": session["updated"],
                    "_meta": {protocol.META: session},
                }
                for session in page
            ]
        }
        if start + LIST_PAGE < len(found):
            result["nextCursor"] = str(start + LIST_PAGE)
        return result

    async def close(self, params: Any) -> dict[str, Any]:
        """Close a session and keep its transcript."""
        id = parse(protocol.SessionParams, params).session_id
        await to_the_end(self._manager.close_session(id))
        return {}

    async def delete(self, params: Any) -> dict[str, Any]:
        """Delete a session and its transcript."""
        id = parse(protocol.SessionParams, params).session_id
        await to_the_end(self._manager.delete(id))
        return {}

    async def reload(self, params: Any) -> dict[str, Any]:
        """Replace a transcript by the agent's replay."""
        session = self._manager.get(parse(protocol.SessionParams, params).session_id)
        await to_the_end(session.reload())
        return {}

    async def set_metadata(self, params: Any) -> dict[str, Any]:
        """Change the metadata of a session."""
        session = self._manager.get(parse(protocol.SessionParams, params).session_id)
        await session.set_metadata(sandboxagent_extension.metadata_of(params))
        return {"metadata": session.record.metadata}

    async def events(self, params: Any) -> Any:
        """Return a page of a session's events, for tools that poll."""
        session = self._manager.get(parse(protocol.SessionParams, params).session_id)
        if session.agent_session.is_connected:
            # Polling starts no agent. A connected one that offers this method answers by itself.
            with contextlib.suppress(NoWay):
                return await session.agent_session.call_by("events", params)
        wanted = parse(protocol.EventsParams, params)
        page = await self._manager.messages(
            session.id, after=wanted.after, before=None, limit=wanted.limit, newest=False
        )
        return {"events": [orjson.loads(message) for message in page], "seq": session.log.seq}

    async def decide(self, params: Any) -> dict[str, Any]:
        """Keep, undo or redo changes of an agent."""
        session = self._manager.get(parse(protocol.SessionParams, params).session_id)
        return await to_the_end(self._manager.services.decide_change(session, params))


async def to_the_end(opening: Coroutine[Any, Any, T]) -> T:
    """Wait for work that is completed even if the window disconnects meanwhile."""
    task = asyncio.ensure_future(opening)
    # Fetch the exception, so that asyncio does not report it if nobody waits any more.
    task.add_done_callback(lambda task: task.cancelled() or task.exception())
    return await asyncio.shield(task)
