# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools for agents that are not on this machine: within ACP, or by HTTP.

Our server is given to such an agent under a secret of its session. Whoever shows it, in the way that it
was given for, is served as that session's agent, until the session is forgotten.
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
"""Where this server answers HTTP, below its own address."""

MOST_CONNECTIONS = 100
"""How many connections a session's agent may have open within ACP."""

MOST_CALLS = 100
"""How many of its calls by HTTP may be at work at a time."""

Way = Literal["acp", "http"]


@dataclass(eq=False)
class Door:
    """What one session's agent was given."""

    way: Way
    secret: str
    server: Server
    calls: dict[tuple[str, Any], asyncio.Task[Any]] = field(default_factory=dict)
    """By HTTP: what is at work, by its client and the id of the request."""

    async def answer(self, message: Any, client: str, notify: Notify) -> dict[str, Any] | None:
        """Return the answer to a message that came by HTTP, or None if it wants none.

        Several clients may show the same secret, and each counts its requests from 1.
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
        # Whether or not somebody still waits: only they or the end of the session take it back.
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
    """Which agents elsewhere were given the tools, and what they ask."""

    def __init__(self, make: Callable[[SessionView], Server], public_url: str) -> None:
        """Make a server for each session; without a public address there is no way by HTTP."""
        self._make = make
        self._public_url = public_url
        self._doors: dict[str, Door] = {}
        self._connections: dict[str, Door] = {}
        self.on_use: Callable[[str], None] = lambda _: None
        """Told of each session whose agent has come."""

    def way(self, capabilities: Any) -> Way | None:
        """Return how an agent can be given the tools, by its `mcpCapabilities`."""
        able = capabilities if isinstance(capabilities, dict) else {}
        if able.get("acp") not in (None, False):
            return "acp"
        return "http" if able.get("http") is True and self._public_url else None

    def entry(self, session: SessionView, name: str, way: Way) -> dict[str, Any]:
        """Return the MCP server for a session's agent; one that has it already keeps its secret."""
        door = self._doors.get(session.id)
        if door is None or door.way != way:
            door = Door(way, secrets.token_urlsafe(32), self._make(session))
            self._doors[session.id] = door
        if way == "acp":
            # The schema has the one name for it, the text of the proposal the other.
            return {"type": "acp", "name": name, "serverId": door.secret, "id": door.secret}
        return {
            "type": "http",
            "name": name,
            "url": f"{self._public_url.rstrip('/')}/{PATH}",
            "headers": [{"name": "Authorization", "value": f"Bearer {door.secret}"}],
        }

    def forget(self, session_id: str) -> None:
        """Let a session's secret open nothing any more, and end what it has begun."""
        door = self._doors.pop(session_id, None)
        if door is None:
            return
        self._connections = {id: each for id, each in self._connections.items() if each is not door}
        door.server.stop()

    def close(self) -> None:
        """Serve nobody any more."""
        for session_id in list(self._doors):
            self.forget(session_id)

    def admit(self, way: Way, secret: Any) -> Door | None:
        """Return what a secret opens, if it was given for this way."""
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
