# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A client over stdio of `python -m jupyter_acp.remote`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

from acpclient import AGENTS
from gitserver import git

from jupyter_acp.agents.process import AgentProcess
from jupyter_acp.rpc import Connection, Peer, RpcError

HELLO = {"hello.py": "print('helo')\n", "sub/data.txt": "1\n"}
LOADS = {"capabilities": {"loadSession": True}}


class Client(Peer):
    """A client over stdio, as plain as can be."""

    def __init__(self):
        self.updates = []
        self.progress = []
        self.asked = []

    async def start(self, *argv, env=None):
        command = [sys.executable, "-m", "jupyter_acp.remote", *argv]
        self.process = await AgentProcess.start(command, env={**os.environ, **(env or {})}, grace=5)
        self.connection = Connection(self.process.wire, self)
        self._run = asyncio.ensure_future(self.connection.run())
        result = await self.ask(
            "initialize",
            protocolVersion=1,
            clientCapabilities={
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
            },
        )
        self.capabilities = result["agentCapabilities"]
        return self

    async def ask(self, method, **params):
        return await asyncio.wait_for(self.connection.request(method, params), 60)

    def on_request(self, request):
        self.asked.append((request.method, request.params))
        if request.method == "session/request_permission":
            option = next(o for o in request.params["options"] if o["kind"] == "allow_once")
            request.respond({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
        else:
            raise RpcError(-32601, "Not here.")

    def on_notification(self, method, params):
        if method == "_jupyter/remote/progress":
            self.progress.append(params)
        else:
            self.updates.append(params)

    async def new(self, ref, **params):
        body = {"cwd": "/nowhere", "mcpServers": [], "remote": ref, **params}
        return await self.ask("session/new", **body)

    async def prompt(self, session, *steps, text=None):
        text = text if text is not None else json.dumps(steps)
        return await self.ask(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}]
        )

    def said(self):
        return "".join(
            each["update"]["content"]["text"]
            for each in self.updates
            if each["update"]["sessionUpdate"] == "agent_message_chunk"
        )

    async def stop(self):
        await self.process.stop()
        self._run.cancel()


def ref_of(server, name):
    revision = git(server.root / f"{name}.git", "rev-parse", "main")
    return {"type": "git", "url": server.url(name), "branch": "main", "revision": revision}


def scripted(options=None):
    return ["--", sys.executable, str(AGENTS / "scripted.py"), json.dumps(options or {})]


def show(server, name, revision, path):
    return git(server.root / f"{name}.git", "show", f"{revision}:{path}")


async def until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
