# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Steps that tests of several rooms share."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3

from acpclient import Client
from server import TOKEN, Server
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect


async def until(wanted, seconds=30):
    """Wait until something is true."""
    for _ in range(seconds * 50):
        if wanted():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to be")


async def saved(acp, tmp_path):
    """The ids of the sessions that the journal has a record of, and of those that it has text of."""
    await (await acp.manager())._journal.flush()
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db:
        records = {id for (id,) in db.execute("SELECT id FROM sessions")}
        return records, {id for (id,) in db.execute("SELECT DISTINCT session FROM segments")}


def loading(session, cwd):
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


async def connect(server: Server) -> Client:
    request = HTTPRequest(
        f"ws://127.0.0.1:{server.port}/acp/ws", headers={"Authorization": f"token {TOKEN}"}
    )
    client = Client(await websocket_connect(request, subprotocols=["acp.ndjson"]))
    await client.initialize()
    return client
