# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A real server with real agents behind it, and a client that knows nothing of our code."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acpclient import Client, Connect, Loop, scripted
from hypothesis import settings
from page import Page

pytest_plugins = ["pytest_jupyter.jupyter_server"]


# The same examples every time, however slow the machine: whoever looks for others says so.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


# Where the suite was started in the background, the shell may have turned it off for everything below.
signal.signal(signal.SIGINT, signal.default_int_handler)


SLOWEST = (
    "test_packaging.py",
    "test_peers.py",
    "test_hub.py",
    "test_chaos.py",
    "test_kernel_tools.py",
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


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the server wait less for agents that do not answer."""
    from jupyter_acp.sessions.agent_session import AgentSession

    monkeypatch.setattr(AgentSession, "patience", 0.3)
