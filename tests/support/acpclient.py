# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A client of the socket that knows nothing of our code, and the agent that plays a script."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection

Loop = asyncio.AbstractEventLoop


AGENTS = Path(__file__).parent / "agent_programs"


def scripted(**options: Any) -> dict[str, Any]:
    """Configure the scripted agent."""
    return {"argv": [sys.executable, str(AGENTS / "scripted.py"), json.dumps(options)]}


def file_there(path: Path) -> list[Any]:
    """Let the scripted agent wait until a file is there: a step that ends when a test says so."""
    return ["shell", f"until [ -e {shlex.quote(str(path))} ]; do sleep 0.05; done"]


class Client:
    """A window: JSON-RPC over the socket, everything received kept in order."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket
        self.received: list[dict[str, Any]] = []
        self.frames = 0
        self.closed = asyncio.Event()
        self._news = asyncio.Condition()
        self._last_id = 0
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        while (frame := await self.socket.read_message()) is not None:
            self.frames += 1
            assert isinstance(frame, str)
            for line in frame.split("\n"):
                self.received.append(json.loads(line))
            async with self._news:
                self._news.notify_all()
        self.closed.set()
        async with self._news:
            self._news.notify_all()

    async def send(self, message: Any) -> None:
        await self.socket.write_message(
            message if isinstance(message, str) else json.dumps(message)
        )

    async def start(self, method: str, params: Any = None) -> int:
        """Send a request and return its id."""
        self._last_id += 1
        await self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    async def response(self, id: Any) -> dict[str, Any]:
        return await self.wait(lambda m: m.get("id") == id and "method" not in m)

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its whole response."""
        return await self.response(await self.start(method, params))

    async def result(self, method: str, params: Any = None) -> Any:
        response = await self.ask(method, params)
        assert "result" in response, response
        return response["result"]

    async def notify(self, method: str, params: Any = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def wait(
        self, wanted: Callable[[dict[str, Any]], bool], start: int = 0
    ) -> dict[str, Any]:
        """Return the first message that fits, past or future."""
        async with self._news:
            at = start
            while True:
                for message in self.received[at:]:
                    at += 1
                    if wanted(message):
                        return message
                assert not self.closed.is_set(), "the socket closed"
                await asyncio.wait_for(self._news.wait(), 60)

    async def initialize(self, *, stock: bool = False) -> dict[str, Any]:
        meta = {} if stock else {"_meta": {"jupyter-acp": {}}}
        return await self.result("initialize", {"protocolVersion": 1, "clientCapabilities": meta})

    async def new(self, cwd: Any, agent: str | None = None) -> str:
        meta = {"jupyter-acp": {"agent": agent}} if agent else {}
        params = {"cwd": str(cwd), "mcpServers": [], "_meta": meta}
        return (await self.result("session/new", params))["sessionId"]

    async def start_prompt(self, session: str, *steps: Any) -> int:
        block = {"type": "text", "text": json.dumps(steps)}
        return await self.start("session/prompt", {"sessionId": session, "prompt": [block]})

    async def prompt(self, session: str, *steps: Any) -> dict[str, Any]:
        return await self.response(await self.start_prompt(session, *steps))

    async def attach(self, session: str, after: int = 0) -> dict[str, Any]:
        return await self.result("_jupyter/session/attach", {"sessionId": session, "after": after})

    def seqs(self, session: str) -> list[int]:
        return [seq(m) for m in self.received if seq(m) and m["params"]["sessionId"] == session]

    def texts(self, kind: str = "agent_message_chunk") -> list[str]:
        return [m["params"]["update"]["content"]["text"] for m in self.updates(kind)]

    def updates(self, kind: str) -> list[dict[str, Any]]:
        return [
            m
            for m in self.received
            if m.get("method") == "session/update"
            and m["params"]["update"]["sessionUpdate"] == kind
        ]

    def of(self, method: str) -> list[dict[str, Any]]:
        return [m for m in self.received if m.get("method") == method]

    def printed(self, start: int = 0) -> str:
        """What commands have printed: however many messages it came in."""
        method = "_jupyter/terminal/output"
        return "".join(
            m["params"]["data"] for m in self.received[start:] if m.get("method") == method
        )

    def of_sessions(self, start: int = 0) -> list[dict[str, Any]]:
        """All but the news of the list of sessions and of queues, which come when they come."""
        news = ("_jupyter/sessions/", "_jupyter/session/queue")
        return [m for m in self.received[start:] if not m.get("method", "").startswith(news)]

    async def close(self) -> None:
        self.socket.close()
        await self._reading


def seq(message: dict[str, Any]) -> int | None:
    """The number of a message."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return (meta or {}).get("jupyter-acp", {}).get("seq")


def is_state(state: str) -> Callable[[dict[str, Any]], bool]:
    """Pick the message that says that a session is in a state."""
    return lambda m: m.get("method") == "_jupyter/session/state" and m["params"]["state"] == state


Connect = Callable[..., Awaitable[Client]]
