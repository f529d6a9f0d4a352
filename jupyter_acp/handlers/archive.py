# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""REST handlers for search, export and import of sessions."""

from __future__ import annotations

import json

from jupyter_server.auth.decorator import authorized
from tornado import web

from .api import AcpApiHandler

MAX_MATCHES = 200
LINES = "application/x-ndjson"


class SearchHandler(AcpApiHandler):
    """`GET acp/search`."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Find sessions by the text of their transcripts."""
        limit = min(self.number("limit", 50, 1) or 50, MAX_MATCHES)
        manager = await self.manager()
        found = await manager.archive.search(self.get_query_argument("query", ""), limit)
        self.finish(json.dumps({"sessions": found}))


class ElsewhereHandler(AcpApiHandler):
    """`GET acp/elsewhere`."""

    @web.authenticated
    @authorized(action="execute")
    async def get(self) -> None:
        """List the sessions of running agents that this server does not know."""
        found = await (await self.manager()).elsewhere()
        self.finish(json.dumps({"sessions": [session.public() for session in found]}))


class ExportHandler(AcpApiHandler):
    """`GET acp/sessions/ID/export`."""

    @web.authenticated
    @authorized
    async def get(self, id: str) -> None:
        """Export a session as JSON lines."""
        manager = await self.manager()
        session = manager.get(id)
        self.set_header("Content-Type", LINES)
        self.set_header("Content-Disposition", f'attachment; filename="{session.id}.jsonl"')
        async for piece in manager.archive.export(session):
            # Stream the transcript, because it may be larger than the memory.
            self.write(piece)
            await self.flush()
        self.finish()


class ImportHandler(AcpApiHandler):
    """`POST acp/import`."""

    @web.authenticated
    @authorized(action="write")
    async def post(self) -> None:
        """Import an exported session as a new one."""
        session = await (await self.manager()).archive.take_in(self.request.body)
        self.set_status(201)
        self.finish(json.dumps(session.public()))
