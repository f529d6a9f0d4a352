# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A repository on a git server, and runners that work on it: a plugin of the tests that name it."""

from __future__ import annotations

import json

import pytest
from gitserver import git_server
from remoterunner import HELLO, Client, ref_of, scripted


@pytest.fixture
def server(tmp_path):
    with git_server(tmp_path / "srv") as server:
        server.create("p", HELLO)
        yield server


@pytest.fixture
def ref(server):
    return ref_of(server, "p")


@pytest.fixture
def start(tmp_path, jp_asyncio_loop):
    clients = []

    async def start(*, agent=None, options=None, env=None, **settings):
        client = Client()
        clients.append(client)
        client.cache = tmp_path / "cache"
        argv = ["--agent", agent] if agent else scripted(options)
        settings = {"cache": str(client.cache), "schemes": ["http"], **settings}
        await client.start("--options", json.dumps(settings), *argv, env=env)
        return client

    yield start
    for client in clients:
        jp_asyncio_loop.run_until_complete(client.stop())
