# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`acp/mcp`: the tools for agents on other machines, by MCP's streamable HTTP.

The route ignores Jupyter's logins, cookies and tokens. It accepts only the bearer token that the
agent of a session was given, in the `Authorization` header.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado import web

from .base import AcpHandlerMixin

if TYPE_CHECKING:
    from ..tools.remote_agents import Door


CLIENT = "Mcp-Session-Id"
"""The header that distinguishes clients with the same bearer token."""

PULSE = 5.0
"""Interval of keep-alive comments while an answer is pending, in seconds; for proxies."""


@web.stream_request_body
class McpHandler(AcpHandlerMixin, web.RequestHandler):
    """`POST acp/mcp`: answers one JSON-RPC message, by an event stream if the answer takes time."""

    def prepare(self) -> None:
        """Refuse requests without a valid bearer token before the body is read."""
        # A query could contain a token by mistake, so it must not be logged.
        self.request.uri = self.request.path
        self._body = bytearray()
        self._limit = int(self.acp.max_message_size)
        self._is_stream = False
        if self.request.method != "POST":
            raise web.HTTPError(405)
        if "Origin" in self.request.headers:
            # Only web pages send this header, agents do not.
            raise web.HTTPError(403)
        scheme, _, bearer = self.request.headers.get("Authorization", "").partition(" ")
        remote_agents = self.acp.remote_agents
        if remote_agents is None or scheme.lower() != "bearer":
            raise web.HTTPError(401)
        door = remote_agents.admit("http", bearer.strip())
        if door is None:
            raise web.HTTPError(401)
        self._door: Door = door
        if int(self.request.headers.get("Content-Length", "0")) > self._limit:
            raise web.HTTPError(413)

    def check_xsrf_cookie(self) -> None:
        """Skip the check: this route ignores cookies, so cross-site requests gain nothing."""

    def data_received(self, chunk: bytes) -> None:
        """Append a part of the body, up to the limit."""
        if len(self._body) <= self._limit:
            self._body += chunk

    @allow_unauthenticated
    async def post(self) -> None:
        """Answer a request, or accept a notification with status 202."""
        import orjson

        self.acp.touch()
        if len(self._body) > self._limit:
            raise web.HTTPError(413)
        try:
            message = orjson.loads(self._body)
        except orjson.JSONDecodeError:
            raise web.HTTPError(400) from None
        client = self.request.headers.get(CLIENT, "")
        answering = asyncio.ensure_future(self._door.answer(message, client, self._notify))
        while not (await asyncio.wait({answering}, timeout=PULSE))[0]:
            self._stream(b": still at work\n\n")
        answer = answering.result()
        if self._is_stream:
            self._stream(_event(answer))
        elif answer is None:
            self.set_status(202)
        else:
            if isinstance(message, dict) and message.get("method") == "initialize":
                self.set_header(CLIENT, uuid.uuid4().hex)
            self.set_header("Content-Type", "application/json")
            self.finish(orjson.dumps(answer))

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._stream(_event({"jsonrpc": "2.0", "method": method, "params": params}))

    def _stream(self, part: bytes) -> None:
        """Send a part of an event stream, without waiting for the client."""
        if not self._is_stream:
            self._is_stream = True
            self.set_header("Content-Type", "text/event-stream")
            self.set_header("Cache-Control", "no-store")
            # Some proxies buffer a stream until its end otherwise.
            self.set_header("X-Accel-Buffering", "no")
        self.write(part)
        self.flush()

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # noqa: ARG002
        """Answer with the status only, without details."""
        self.set_header("Content-Type", "text/plain")
        self.finish(f"{status_code} {self._reason}\n")


def _event(message: Any) -> bytes:
    import orjson

    return b"event: message\ndata: " + orjson.dumps(message) + b"\n\n"
