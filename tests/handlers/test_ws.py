# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The socket itself: its limits, its pings, its names, and what counts as activity."""

from __future__ import annotations

import asyncio
import json

import pytest
from acpclient import is_state

MIB = 1024 * 1024


@pytest.fixture
def acp_config():
    return {"max_message_size": 2 * MIB}


@pytest.fixture
def pings():
    """How often windows are pinged, in milliseconds; a test overrides it."""
    return 30_000


@pytest.fixture
def jp_server_config(jp_server_config, pings):
    settings = {"ws_ping_interval": pings}
    server = {**jp_server_config["ServerApp"], "tornado_settings": settings}
    return {**jp_server_config, "ServerApp": server}


async def test_the_connection_has_the_same_name_in_header_and_result(acp_connect):
    client = await acp_connect(initialize=False)
    result = await client.initialize()
    ours = result["_meta"]["jupyter-acp"]
    assert client.socket.headers["Acp-Connection-Id"] == ours["connectionId"]
    assert ours["defaultAgent"] == "scripted"
    assert result["protocolVersion"] == 1
    assert result["agentInfo"]["name"] == "jupyter_acp"


async def test_a_message_below_the_limit_works(window, tmp_path):
    session = await window.new(tmp_path)
    text = {"type": "text", "text": json.dumps([["chunk", "hi"]]) + " " * MIB}
    params = {"sessionId": session, "prompt": [text]}
    assert (await window.result("session/prompt", params))["stopReason"] == "end_turn"


async def test_a_message_over_the_limit_closes_only_its_own_socket(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    other = await acp_connect()
    await other.send("x" * (3 * MIB))
    await asyncio.wait_for(other.closed.wait(), 60)
    assert other.socket.close_code == 1009
    assert (await window.prompt(session, ["chunk", "hi"]))["result"]["stopReason"] == "end_turn"


async def test_a_line_of_an_agent_over_the_limit_is_refused_and_the_turn_goes_on(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["big", 3 * MIB], ["chunk", "after"])
    assert response["result"]["stopReason"] == "end_turn"
    assert window.texts() == ["after"]


@pytest.mark.parametrize("pings", [3000])
async def test_a_window_that_answers_pings_stays(window, monkeypatch):
    heard = asyncio.Queue()
    monkeypatch.setattr(window.socket, "on_ping", heard.put_nowait)
    # The second comes to whoever has answered the first.
    for _ in range(2):
        await asyncio.wait_for(heard.get(), 60)
    assert not window.closed.is_set()
    assert "sessions" in await window.result("session/list", {})


@pytest.mark.parametrize("pings", [1000])
async def test_a_window_that_does_not_answer_pings_is_closed(
    acp, jp_http_port, jp_auth_header, jp_base_url, http_server_client
):
    reader, writer = await asyncio.open_connection("localhost", jp_http_port)
    writer.write(
        f"GET {jp_base_url}acp/ws HTTP/1.1\r\nHost: localhost:{jp_http_port}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Authorization: {jp_auth_header['Authorization']}\r\n\r\n".encode()
    )
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    # A ping, and in the end nothing more.
    assert (await asyncio.wait_for(reader.read(), 60))[:1] == b"\x89"
    writer.close()


async def test_running_turns_are_activity_and_open_sessions_are_not(
    window, tmp_path, acp, jp_serverapp, jp_fetch
):
    session = await window.new(tmp_path)
    assert jp_serverapp.web_app.settings["acp_last_activity"] is not None
    assert acp.current_activity() == {}
    turn = await window.start_prompt(session, ["until_cancel"])
    await window.wait(is_state("running"))
    assert list(acp.current_activity()) == [session]
    assert json.loads((await jp_fetch("acp", "health")).body)["running"] == 1
    before = jp_serverapp.web_app.settings["acp_last_activity"]
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    assert jp_serverapp.web_app.settings["acp_last_activity"] > before
    assert acp.current_activity() == {}


async def test_health_wakes_nobody(acp, jp_fetch):
    health = json.loads((await jp_fetch("acp", "health")).body)
    assert health["status"] == "ok"
    assert acp._manager is None
