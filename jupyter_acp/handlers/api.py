# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""REST handlers for agents, sessions and their messages."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from .base import AcpHandlerMixin

if TYPE_CHECKING:
    from ..rpc import RpcError

MAX_PAGE = 1000
MAX_FILES = 200


class AcpApiHandler(AcpHandlerMixin, APIHandler):
    """A REST handler with JSON bodies, also for errors."""

    async def prepare(self) -> None:  # type: ignore[override]
        """Remove the query from the URI, because Jupyter logs the URI of refused requests."""
        self.request.uri = self.request.path
        await super().prepare()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer an RPC error with its status code, message and data."""
        from ..rpc import RpcError

        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, RpcError):
            self.set_status(_status(error))
            self.set_header("Content-Type", "application/json")
            self.finish(json.dumps({"message": error.message, "reason": None, "data": error.data}))
            return
        super().write_error(status_code, **kwargs)

    def log_exception(self, *exc_info: Any) -> None:
        """Log a refused request with its path only, because the query may contain a token."""
        from ..rpc import RpcError

        error = exc_info[1]
        if isinstance(error, (RpcError, web.HTTPError)):
            reason = error.brief if isinstance(error, RpcError) else error.log_message
            self.log.info("%s %s: %s", self.request.method, self.request.path, reason)
        else:
            super().log_exception(*exc_info)

    def body(self) -> dict[str, Any]:
        """Return the JSON object in the request's body, empty if there is no body."""
        try:
            data = self.get_json_body()
        except UnicodeDecodeError:
            raise web.HTTPError(400, "The body must be UTF-8.") from None
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise web.HTTPError(400, "The body must be a JSON object.")
        return data

    def number(self, name: str, default: int | None, lowest: int = 0) -> int | None:
        """Return a number from the query, or the default."""
        text = self.get_query_argument(name, None)
        if text is None or text == "":
            return default
        if not (text.isascii() and text.isdecimal() and len(text) <= 15) or int(text) < lowest:
            raise web.HTTPError(400, f"{name} must be a whole number, {lowest} or more.")
        return int(text)


class HealthHandler(AcpApiHandler):
    """`GET acp/health`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Return the state of the extension without starting the session manager."""
        self.finish(json.dumps(self.acp.health()))


class AgentsHandler(AcpApiHandler):
    """`GET acp/agents`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List all allowed agents, what each one lacks, and the command that installs it."""
        from ..agents.authentication import can_log_out

        manager = await self.manager()
        default = manager.catalog.default_id
        agents = [
            {
                **entry.public(),
                "running": agent is not None,
                "canLogOut": agent is not None and can_log_out(agent),
                "default": entry.spec.id == default,
            }
            for entry, agent in manager.links.all()
        ]
        self.finish(json.dumps({"agents": agents, "problems": manager.catalog.problems}))


class AgentRestartHandler(AcpApiHandler):
    """`POST acp/agents/ID/restart`."""

    @web.authenticated
    @authorized(action="execute")
    async def post(self, id: str) -> None:
        """Restart the agent and restore its sessions."""
        agent = await (await self.manager()).restart(id)
        self.finish(json.dumps({"id": id, "running": True, "agentInfo": agent.info}))


class AgentLogHandler(AcpApiHandler):
    """`GET acp/agents/ID/log`."""

    @web.authenticated
    @authorized(action="execute")
    async def get(self, id: str) -> None:
        """Return the last lines of the agent's stderr, only to its user because they may be private."""
        self.finish(json.dumps({"lines": (await self.manager()).links.stderr(id)}))


class SessionsHandler(AcpApiHandler):
    """`GET|POST acp/sessions`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List all sessions, the latest first."""
        manager = await self.manager()
        self.finish(json.dumps({"sessions": [session.public() for session in manager.all()]}))

    @web.authenticated
    @authorized(action="execute")
    async def post(self) -> None:
        """Create a session."""
        from ..protocol import NewSessionParams, parse
        from .models import CreateSession

        manager = await self.manager()
        wanted = parse(CreateSession, self.body())
        params = parse(NewSessionParams, {"cwd": wanted.cwd or manager.root_dir})
        session, _ = await manager.beginnings.create(params, wanted.agent, wanted.title)
        self.set_status(201)
        self.finish(json.dumps(session.public()))


class SessionHandler(AcpApiHandler):
    """`GET|PATCH|DELETE acp/sessions/ID`."""

    @web.authenticated
    @authorized
    async def get(self, id: str) -> None:
        """Return the description of a session."""
        self.finish(json.dumps((await self.manager()).get(id).public()))

    @web.authenticated
    @authorized(action="write")
    async def patch(self, id: str) -> None:
        """Rename a session."""
        from ..protocol import parse
        from .models import PatchSession

        session = (await self.manager()).get(id)
        await session.set_metadata({"title": parse(PatchSession, self.body()).title})
        self.finish(json.dumps(session.public()))

    @web.authenticated
    @authorized(action="write")
    async def delete(self, id: str) -> None:
        """Delete a session."""
        await (await self.manager()).delete(id)
        self.set_status(204)
        self.finish()


class FilesHandler(AcpApiHandler):
    """`GET acp/files`."""

    @web.authenticated
    @authorized(action="execute")
    async def get(self) -> None:
        """Find files by a part of their paths, for completion in prompts."""
        from .file_search import find_files

        query = self.get_query_argument("query", "")
        limit = min(self.number("limit", 20, 1) or 20, MAX_FILES)
        root = (await self.manager()).root_dir
        found = await asyncio.to_thread(find_files, root, query, limit)
        self.finish(json.dumps({"files": found.paths, "complete": found.complete}))


class MessagesHandler(AcpApiHandler):
    """`GET acp/sessions/ID/messages`."""

    @web.authenticated
    @authorized
    async def get(self, id: str) -> None:
        """Return a page of the transcript; with `order=newest` the page ends at the newest message."""
        order = self.get_query_argument("order", "oldest")
        if order not in ("oldest", "newest"):
            raise web.HTTPError(400, "order must be oldest or newest.")
        manager = await self.manager()
        seq = manager.get(id).log.seq
        messages = await manager.messages(
            id,
            after=self.number("after", 0) or 0,
            before=self.number("before", None),
            limit=min(self.number("limit", 200, 1) or 200, MAX_PAGE),
            newest=order == "newest",
        )
        self.set_header("Content-Type", "application/json")
        # Messages are stored as JSON, so they need not be parsed.
        self.finish(b'{"seq":%d,"messages":[%s]}' % (seq, b",".join(messages)))


def _status(error: RpcError) -> int:
    from ..rpc import errors

    known = {
        errors.NOT_FOUND: 404,
        errors.INVALID_PARAMS: 400,
        errors.FORBIDDEN: 403,
        errors.UNAVAILABLE: 503,
    }
    return known.get(error.code, 502)
