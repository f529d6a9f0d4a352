# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools for agents on other machines: within ACP, or by HTTP.

Such an agent gets our server with a secret of its session. A client that sends the secret, in the
way it was given for, is served as that session's agent until the session is forgotten.
"""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from .. import protocol
from ..client.view import SessionView
from ..rpc import Request, RpcError, invalid_params, method_not_found
from ..rpc.errors import CANCELLED, INVALID_REQUEST, NOT_FOUND, UNAVAILABLE
from .mcp import CALL, Notify, Server

PATH = "acp/mcp"
"""Path of the HTTP endpoint, below the server's URL."""

MOST_CONNECTIONS = 100
"""Maximum number of open connections of a session within ACP."""

MOST_CALLS = 100
"""Maximum number of calls of a session in progress by HTTP."""

Way = Literal["acp", "http"]


@dataclass(eq=False)
class Door:
    """The access that a session's agent was given."""

    way: Way
    secret: str
    server: Server
    calls: dict[tuple[str, Any], asyncio.Task[Any]] = field(default_factory=dict)
    """Calls in progress by HTTP, by client and request id."""

    async def answer(self, message: Any, client: str, notify: Notify) -> dict[str, Any] | None:
        """Return the answer to a message that came by HTTP, or None for a notification.

        Several clients may use the same secret, and each counts its requests from 1.
        """
        if not isinstance(message, dict):
            error = RpcError(INVALID_REQUEST, "Send one JSON-RPC message, which is an object.")
            return _answer(None, error)
        method, params, id = message.get("method"), message.get("params"), message.get("id")
        if not isinstance(method, str) or "id" not in message:
            if method == protocol.MCP_CANCELLED and isinstance(params, dict):
                self._cancel(client, params.get("requestId"))
            return None
        if type(id) not in (str, int, float):
            return _answer(None, RpcError(INVALID_REQUEST, "An id is a text or a number."))
        try:
            if method == CALL:
                return _answer(id, await self._call((client, id), params, notify))
            return _answer(id, self.server.answer(method, params))
        except RpcError as error:
            return _answer(id, error)

    async def _call(self, key: tuple[str, Any], params: Any, notify: Notify) -> dict[str, Any]:
        if key in self.calls:
            raise RpcError(INVALID_REQUEST, "A call with this id is at work: take another id.")
        if len(self.calls) >= MOST_CALLS:
            raise RpcError(UNAVAILABLE, f"{MOST_CALLS} calls are at work: wait for one to end.")
        # Independent of the HTTP request: only a cancellation or the end of the session stops it.
        task = asyncio.ensure_future(self.server.call(params, notify))
        self.calls[key] = task
        try:
            await asyncio.wait({task})
        finally:
            del self.calls[key]
        if task.cancelled():
            raise RpcError(CANCELLED, "The call was cancelled, or its session has ended.")
        return task.result()

    def _cancel(self, client: str, id: Any) -> None:
        task = self.calls.get((client, id)) if type(id) in (str, int, float) else None
        if task is not None:
            task.cancel()


class RemoteAgents:
    """Holds the access of agents on other machines, and serves their requests."""

    def __init__(self, make: Callable[[SessionView], Server], public_url: str) -> None:
        """Use `make` for the server of each session; without a public URL, HTTP is not offered."""
        self._make = make
        self._public_url = public_url
        self._doors: dict[str, Door] = {}
        self._connections: dict[str, Door] = {}
        self.on_use: Callable[[str], None] = lambda _: None
        """Called with the id of each session whose agent has connected."""

    def way(self, capabilities: Any) -> Way | None:
        """Return the way to give an agent the tools, by its `mcpCapabilities`, or None."""
        able = capabilities if isinstance(capabilities, dict) else {}
        if able.get("acp") not in (None, False):
            return "acp"
        return "http" if able.get("http") is True and self._public_url else None

    def entry(self, session: SessionView, name: str, way: Way) -> dict[str, Any]:
        """Return the MCP server for a session's agent; an existing secret stays valid."""
        door = self._doors.get(session.id)
        if door is None or door.way != way:
            door = Door(way, secrets.token_urlsafe(32), self._make(session))
            self._doors[session.id] = door
        if way == "acp":
            # The schema and the text of the proposal have different names for it.
            return {"type": "acp", "name": name, "serverId": door.secret, "id": door.secret}
        return {
            "type": "http",
            "name": name,
            "url": f"{self._public_url.rstrip('/')}/{PATH}",
            "headers": [{"name": "Authorization", "value": f"Bearer {door.secret}"}],
        }

    def forget(self, session_id: str) -> None:
        """Invalidate a session's secret, and end its calls."""
        door = self._doors.pop(session_id, None)
        if door is None:
            return
        self._connections = {id: each for id, each in self._connections.items() if each is not door}
        door.server.stop()

    def close(self) -> None:
        """Invalidate all secrets, and end all calls."""
        for session_id in list(self._doors):
            self.forget(session_id)

    def admit(self, way: Way, secret: Any) -> Door | None:
        """Return the access that a secret gives, if it was given for this way."""
        shown = secret.encode("utf-8", "replace") if isinstance(secret, str) else b""
        found = None
        for session_id, door in self._doors.items():
            if secrets.compare_digest(shown, door.secret.encode()) and door.way == way:
                found = door
                self.on_use(session_id)
        return found

    def serve(self, request: Request) -> None:
        """Answer a request that came within ACP."""
        params = request.params if isinstance(request.params, dict) else {}
        if request.method == protocol.MCP_CONNECT:
            request.respond({"connectionId": self._connect(params)})
            return
        id = str(params.get("connectionId"))
        door = self._connections.get(id)
        if door is None:
            raise RpcError(NOT_FOUND, "There is no such connection to an MCP server.")
        if request.method == protocol.MCP_DISCONNECT:
            del self._connections[id]
            request.respond({})
        elif request.method == protocol.MCP_MESSAGE:

            def notify(method: str, inner: dict[str, Any]) -> None:
                told = {"connectionId": id, "method": method, "params": inner}
                request.notify(protocol.MCP_MESSAGE, told)

            door.server.serve(request, params.get("method"), params.get("params"), notify)
        else:
            raise method_not_found(request.method)

    def _connect(self, params: dict[str, Any]) -> str:
        door = self.admit("acp", params.get("serverId", params.get("acpId")))
        if door is None:
            raise RpcError(NOT_FOUND, "There is no such MCP server, or its session has ended.")
        if sum(each is door for each in self._connections.values()) >= MOST_CONNECTIONS:
            raise invalid_params(f"{MOST_CONNECTIONS} connections are open: close one first.")
        id = uuid.uuid4().hex
        self._connections[id] = door
        return id


def _answer(id: Any, result: dict[str, Any] | RpcError) -> dict[str, Any]:
    told = {"error": result.to_json()} if isinstance(result, RpcError) else {"result": result}
    return {"jsonrpc": "2.0", "id": id, **told}
