# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A real server with real agents behind it, and a client that knows nothing of our code."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from page import Page
from tornado.websocket import WebSocketClientConnection

pytest_plugins = ["pytest_jupyter.jupyter_server"]

Loop = asyncio.AbstractEventLoop
AGENTS = Path(__file__).parent / "agents"

# The same examples every time, however slow the machine: whoever looks for others says so.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


# Where the suite was started in the background, the shell may have turned it off for everything below.
signal.signal(signal.SIGINT, signal.default_int_handler)


def scripted(**options: Any) -> dict[str, Any]:
    """Configure the scripted agent."""
    return {"argv": [sys.executable, str(AGENTS / "scripted.py"), json.dumps(options)]}


def file_there(path: Path) -> list[Any]:
    """Let the scripted agent wait until a file is there: a step that ends when a test says so."""
    return ["shell", f"until [ -e {shlex.quote(str(path))} ]; do sleep 0.05; done"]


SLOWEST = (
    "test_packaging.py",
    "test_peers.py",
    "test_hub.py",
    "test_chaos.py",
    "test_tools_kernels.py",
    "test_server.py",
)
"""What takes long begins first: else all would wait for it at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes longest in front, and leave all else as it is."""
    places = {name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(SLOWEST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let one process have all tests of a wheel, or of a hub: each would make one of its own."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return (
                file
                if file.endswith(("test_packaging.py", "test_peers.py", "test_hub.py"))
                else nodeid
            )

    return Scheduling(config, log)


@pytest.fixture
def acp_config() -> dict[str, Any]:
    """Traits of the extension; a test module overrides it."""
    return {}


@pytest.fixture
def acp_agents() -> dict[str, Any]:
    """Agents of the test; a test module overrides it."""
    return {"scripted": scripted()}


@pytest.fixture
def jp_server_config(
    jp_server_config: dict[str, Any],
    acp_config: dict[str, Any],
    acp_agents: dict[str, Any],
    tmp_path: Path,
) -> dict[str, Any]:
    """Enable the extension with a journal of its own."""
    return {
        **jp_server_config,
        "ServerApp": {
            **jp_server_config.get("ServerApp", {}),
            "jpserver_extensions": {"jupyter_acp": True},
        },
        "AcpExtension": {
            "agents": acp_agents,
            "default_agent": "scripted",
            "journal": str(tmp_path / "journal.sqlite"),
            "stop_grace": 5.0,
            "permissions": {"*": [{"kind": "terminal", "decision": "allow"}]},
            **acp_config,
        },
    }


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


@pytest.fixture
def acp_connect(acp: Any, jp_ws_fetch: Any, jp_asyncio_loop: Loop) -> Iterator[Connect]:
    """Open windows on the server under test."""
    clients: list[Client] = []

    async def connect(*, ndjson: bool = True, initialize: bool = True, agent: str = "") -> Client:
        socket = await jp_ws_fetch(
            "acp",
            "ws",
            params={"agent": agent} if agent else None,
            subprotocols=["acp.ndjson"] if ndjson else None,
            max_message_size=256 * 1024 * 1024,
        )
        client = Client(socket)
        clients.append(client)
        if initialize:
            await client.initialize(stock=not ndjson)
        return client

    yield connect
    for client in clients:
        jp_asyncio_loop.run_until_complete(client.close())


@pytest.fixture
def acp(jp_serverapp: Any, jp_asyncio_loop: Loop) -> Iterator[Any]:
    """The extension under test; its agents are stopped afterwards."""
    (extension,) = jp_serverapp.extension_manager.extension_apps["jupyter_acp"]
    yield extension
    jp_asyncio_loop.run_until_complete(extension.stop_extension())


@pytest.fixture
def window(acp_connect: Connect, jp_asyncio_loop: Loop) -> Client:
    """One window, initialized."""
    return jp_asyncio_loop.run_until_complete(acp_connect())


@pytest.fixture
def root(jp_root_dir: Path) -> Path:
    """The folder that the server shows, as agents name it."""
    return jp_root_dir.resolve()


@pytest.fixture
def session(window: Client, root: Path, jp_asyncio_loop: Loop) -> str:
    """A session in that folder."""
    return jp_asyncio_loop.run_until_complete(window.new(root))


@pytest.fixture
def page(window: Client, root: Path, jp_asyncio_loop: Loop) -> Iterator[Page]:
    """What the window has open."""

    async def make() -> Page:
        return Page(window, root)

    page = jp_asyncio_loop.run_until_complete(make())
    yield page
    page.close()


@pytest.fixture
def git_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A user with a clone of a repository on a real server; git's settings are the test's own."""
    from gitserver import git_server
    from gitworld import World

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    with git_server(tmp_path / "srv") as server:
        yield World(tmp_path, server)
