# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`acp/mcp`: the tools for agents that are elsewhere, by MCP's streamable HTTP.

It has nothing to do with who is logged in at this server: no cookie and no token of Jupyter's opens it.
What does is the bearer of one session, which its agent was given, in the header and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado import web

from .base import AcpHandlerMixin

if TYPE_CHECKING:
    from ..tools.elsewhere import Door


@web.stream_request_body
class McpHandler(AcpHandlerMixin, web.RequestHandler):
    """`POST acp/mcp`: one JSON-RPC message in, and its answer out."""

    def prepare(self) -> None:
        """Refuse whoever is not the agent of a session, before anything of the body is read."""
        # What somebody writes into the query by mistake belongs into no log.
        self.request.uri = self.request.path
        self._body = bytearray()
        self._limit = int(self.acp.max_message_size)
        if self.request.method != "POST":
            return
        if "Origin" in self.request.headers:
            # A web page; no agent is one.
            raise web.HTTPError(403)
        scheme, _, bearer = self.request.headers.get("Authorization", "").partition(" ")
        elsewhere = self.acp.elsewhere
        if elsewhere is None or scheme.lower() != "bearer":
            raise web.HTTPError(401)
        door = elsewhere.admit("http", bearer.strip())
        if door is None:
            raise web.HTTPError(401)
        self._door: Door = door
        if int(self.request.headers.get("Content-Length", "0")) > self._limit:
            raise web.HTTPError(413)

    def check_xsrf_cookie(self) -> None:
        """Cookies open nothing here, so that nobody can be made to use theirs."""

    def data_received(self, chunk: bytes) -> None:
        """Take a part of the body."""
        if len(self._body) <= self._limit:
            self._body += chunk

    @allow_unauthenticated
    async def post(self) -> None:
        """Answer a message; what is no request is only taken."""
        import orjson

        self.acp.touch()
        if len(self._body) > self._limit:
            raise web.HTTPError(413)
        try:
            message = orjson.loads(self._body)
        except orjson.JSONDecodeError:
            raise web.HTTPError(400) from None
        answer = await self._door.answer(message)
        if answer is None:
            self.set_status(202)
            return
        self.set_header("Content-Type", "application/json")
        self.finish(orjson.dumps(answer))

    def write_error(self, status_code: int, **kwargs: Any) -> None:  # noqa: ARG002
        """Say no more than the status does."""
        self.set_header("Content-Type", "text/plain")
        self.finish(f"{status_code} {self._reason}\n")
