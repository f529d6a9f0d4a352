# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent at the other end of a websocket: another Jupyter server with this extension."""

from __future__ import annotations

import signal

import pytest
from acpclient import is_state, scripted
from mcpclient import servers
from server import TOKEN, running


@pytest.fixture
def remote(tmp_path_factory):
    with running(tmp_path_factory.mktemp("remote"), {"scripted": scripted()}) as server:
        yield server


@pytest.fixture
def acp_agents(remote):
    url = f"ws://127.0.0.1:{remote.port}/acp/ws"
    return {
        "scripted": scripted(),
        "remote": {"url": url, "headers": {"Authorization": f"token {TOKEN}"}},
        "stranger": {"url": url, "headers": {"Authorization": "token wrong"}},
        "nowhere": {"url": "ws://127.0.0.1:9/acp/ws"},
    }


async def test_a_session_on_another_server(window, remote):
    session = await window.new(remote.folder, "remote")
    turn = await window.start_prompt(session, ["flood", 500, 20], ["ask"])
    question = await window.wait(lambda m: m.get("method") == "session/request_permission")
    yes = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": yes})
    assert (await window.response(turn))["result"]["stopReason"] == "end_turn"
    assert [int(text.split()[0]) for text in window.texts()[:-1]] == list(range(500))
    assert '"selected"' in window.texts()[-1]


async def test_an_agent_elsewhere_gets_the_tools_of_the_server_that_it_is_at(window, remote, acp):
    session = await window.new(remote.folder, "remote")
    (server,) = await servers(window, session)
    assert server["name"] == "jupyter"
    tools = (await acp.manager()).services._tools
    assert tools._accesses == {} and server["args"][-1] != tools._address


async def test_a_lost_connection_is_told_and_restored(window, remote):
    session = await window.new(remote.folder, "remote")
    await window.prompt(session, ["chunk", "before"])
    # What is younger than a moment may be lost with a server that is killed.
    await remote.written(lambda _, __, messages: b'"before"' in messages)
    remote.signal(signal.SIGKILL)
    lost = await window.wait(is_state("disconnected"))
    assert "lost" in lost["params"]["error"]["message"]
    remote.start()
    assert (await window.prompt(session, ["chunk", "after"]))["result"]["stopReason"] == "end_turn"
    assert window.texts() == ["before", "after"]
    (restored,) = window.of("_jupyter/session/restored")
    assert restored["params"]["how"] == "resume"


@pytest.mark.parametrize(("agent", "words"), [("stranger", "403"), ("nowhere", "could not be")])
async def test_what_cannot_be_reached_says_why(window, tmp_path, agent, words):
    params = {"cwd": str(tmp_path), "_meta": {"jupyter-acp": {"agent": agent}}}
    error = (await window.ask("session/new", params))["error"]
    assert words in error["message"]
    assert "wrong" not in str(error)
