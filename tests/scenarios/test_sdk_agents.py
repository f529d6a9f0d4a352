# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents that were built on the two official SDKs, over stdio behind our server."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from acpclient import AGENTS, Client
from agent_programs.sdk_node import PROJECT, node


@pytest.fixture(params=["python", "typescript"])
def sdk(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def acp_agents(sdk: str) -> dict[str, Any]:
    argv = {
        "python": lambda: [sys.executable, str(AGENTS / "sdk_agent.py")],
        "typescript": lambda: [node(), str(PROJECT / "sdk_agent.mjs")],
    }
    return {"scripted": {"argv": argv[sdk]()}}


async def answer(window: Client, option: str) -> dict[str, Any]:
    """Wait for the permission request and choose."""
    ask = await window.wait(lambda m: m.get("method") == "session/request_permission")
    outcome = {"outcome": {"outcome": "selected", "optionId": option}}
    await window.send({"jsonrpc": "2.0", "id": ask["id"], "result": outcome})
    return ask


def is_text(text: str) -> Any:
    return lambda m: (
        m.get("method") == "session/update"
        and m["params"]["update"].get("content", {}).get("text") == text
        and m["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
    )


async def test_the_agent_is_the_sdk(window, tmp_path, sdk):
    result = await window.result("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    ours = result["_meta"]["jupyter-acp"]
    assert ours["agentInfo"]["name"] == f"sdk-{sdk}"
    assert ours["agentCapabilities"]["loadSession"] is True
    # Both agents call their first session the same: ours must be told apart.
    assert result["sessionId"] != "same-1"


async def test_chunks_come_in_order_and_before_the_response(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["stream", 300])
    assert response["result"]["stopReason"] == "end_turn"
    assert window.texts() == [f"chunk {number}" for number in range(300)]
    assert window.of_sessions()[-1] is response


async def test_one_turn_with_permission_file_and_terminal(window, jp_root_dir):
    session = await window.new(jp_root_dir)
    path = jp_root_dir / "written.txt"
    turn = await window.start_prompt(
        session,
        ["stream", 3],
        ["ask"],
        ["write", str(path), "grüße"],
        ["run", sys.executable, "-c", "print('out'); raise SystemExit(7)"],
        ["stream", 1],
    )
    ask = await answer(window, "yes")
    assert ask["params"]["sessionId"] == session
    assert ask["params"]["toolCall"]["toolCallId"] == "call-1"
    assert [option["kind"] for option in ask["params"]["options"]] == ["allow_once", "reject_once"]
    response = await window.response(turn)
    assert response["result"]["stopReason"] == "end_turn"
    assert path.read_text("utf-8") == "grüße"
    assert [text.rstrip() for text in window.texts()] == [
        "chunk 0",
        "chunk 1",
        "chunk 2",
        "yes",
        "read back grüße",
        "exit 7: out",
        "chunk 0",
    ]
    (call,) = window.updates("tool_call")
    assert call["params"]["update"]["title"] == "Do it"
    # The window sees the output live, although only the agent asked for it.
    shown = window.printed()
    assert shown.rstrip() == "out"


async def test_a_rejection_reaches_the_agent(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["ask"])
    await answer(window, "no")
    await window.response(turn)
    assert window.texts() == ["no"]


async def test_a_refused_file_ends_the_turn_with_the_reason(window, jp_root_dir, tmp_path):
    session = await window.new(jp_root_dir)
    outside = tmp_path / "outside.txt"
    response = await window.prompt(session, ["write", str(outside), "x"])
    # Each SDK wraps our error in its own way; the words have to survive in both.
    assert "is outside the folders of this session" in json.dumps(response["error"])
    assert not outside.exists()
    assert (await window.prompt(session, ["stream", 1]))["result"]["stopReason"] == "end_turn"


async def test_cancel(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["until_cancel"])
    await window.wait(is_text("waiting"))
    await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"


async def test_cancel_answers_the_open_permission(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["ask"])
    await window.wait(lambda m: m.get("method") == "session/request_permission")
    await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    assert window.texts() == ["cancelled"]


async def test_two_sessions_at_once(window, jp_root_dir):
    first, second = await window.new(jp_root_dir), await window.new(jp_root_dir)
    turns = [await window.start_prompt(id, ["stream", 50]) for id in (first, second)]
    for turn in turns:
        assert (await window.response(turn))["result"]["stopReason"] == "end_turn"
    for id in (first, second):
        texts = [
            m["params"]["update"]["content"]["text"]
            for m in window.updates("agent_message_chunk")
            if m["params"]["sessionId"] == id
        ]
        assert texts == [f"chunk {number}" for number in range(50)]


async def test_a_restarted_agent_loads_the_session(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path)
    await window.prompt(session, ["stream", 1])
    await jp_fetch("acp", "agents", "scripted", "restart", method="POST", body="{}")
    response = await window.prompt(session, ["stream", 2])
    assert response["result"]["stopReason"] == "end_turn"
    (restored,) = window.of("_jupyter/session/restored")
    assert restored["params"]["how"] == "load"
    # What the agent repeats while it loads is in the journal already.
    assert window.texts() == ["chunk 0", "chunk 0", "chunk 1"]
