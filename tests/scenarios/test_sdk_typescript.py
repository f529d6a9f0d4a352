# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The npm `@agentclientprotocol/sdk` as a client that has never heard of us."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acpclient import scripted
from agent_programs.sdk_node import PROJECT, node

Play = Callable[[str], Awaitable[Any]]
CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.fixture
def acp_agents() -> dict[str, Any]:
    return {"scripted": scripted(capabilities={"promptCapabilities": {"image": True}})}


@pytest.fixture
def play(
    acp: Any,
    http_server: Any,
    jp_http_port: int,
    jp_base_url: str,
    jp_auth_header: Any,
    tmp_path: Path,
) -> Play:
    """Run one of the client's scenarios in Node and return what it saw."""
    program = node()
    url = f"ws://localhost:{jp_http_port}{jp_base_url}acp/ws"

    async def run(scenario: str) -> Any:
        process = await asyncio.create_subprocess_exec(
            *(program, str(PROJECT / "sdk_client.mjs"), scenario, url, str(tmp_path)),
            env={**os.environ, "AUTHORIZATION": jp_auth_header["Authorization"]},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), 60)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, err.decode()
        return json.loads(out)

    return run


def texts(updates: list[dict[str, Any]], kind: str = "agent_message_chunk") -> list[str]:
    return [u["content"]["text"] for u in updates if u["sessionUpdate"] == kind]


async def test_chunks_come_in_order_and_before_the_response(play):
    seen = await play("prompt")
    *updates, stop = seen["read"]
    assert stop["stopReason"] == "end_turn"
    numbers = [int(text.split()[0]) for text in texts([m["update"] for m in updates])]
    assert numbers == list(range(500))
    *before, response = seen["turn"]
    assert response["result"]["stopReason"] == "end_turn"
    # Nothing that a client could not have expected, its own prompt included.
    assert {message.get("method") for message in before} == {"session/update"}
    kinds = [m["params"]["update"]["sessionUpdate"] for m in before]
    assert kinds == ["session_info_update"] + ["agent_message_chunk"] * 500


async def test_initialize_and_new(play):
    seen = await play("prompt")
    answer = seen["initialized"]
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"]["name"] == "jupyter_acp"
    capabilities = answer["agentCapabilities"]
    assert capabilities["loadSession"] is True
    assert {"list", "resume", "close", "delete"} <= set(capabilities["sessionCapabilities"])
    # Of the agent behind us, not of us.
    assert capabilities["promptCapabilities"] == {"image": True}
    assert seen["created"]["modes"]["currentModeId"] == "a"


async def test_nothing_comes_that_the_client_has_not_said_it_takes(play):
    seen = await play("unadvertised")
    assert seen["response"]["stopReason"] == "cancelled"
    *came, _ = seen["came"]
    assert {message.get("method") for message in came} == {"session/update"}
    told = {message["params"]["update"]["sessionUpdate"] for message in came}
    assert told == {"session_info_update", "agent_message_chunk"}
    # The agent was answered all the same.
    assert texts(seen["updates"]) == ["asking", json.dumps({"action": "cancel"})]


async def test_permission(play):
    seen = await play("permission")
    (question,) = seen["questions"]
    assert question["sessionId"] == seen["sessionId"]
    assert question["toolCall"]["title"] == "do it"
    assert seen["response"]["stopReason"] == "end_turn"
    chosen = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert [json.loads(text) for text in texts(seen["updates"])] == [chosen]


async def test_cancel(play):
    seen = await play("cancel")
    assert seen["response"]["stopReason"] == "cancelled"
    assert seen["next"]["stopReason"] == "end_turn"
    assert texts(seen["updates"]) == ["go", "on"]


async def test_cancel_while_a_permission_is_open(play):
    seen = await play("cancel_permission")
    assert seen["response"]["stopReason"] == "cancelled"
    assert seen["next"]["stopReason"] == "end_turn"
    assert texts(seen["updates"]) == [json.dumps(CANCELLED), "on"]
    assert len(seen["questions"]) == 1


async def test_load_replays_everything_before_it_answers(play):
    seen = await play("load")
    *replay, response = seen["replay"]
    assert response["result"]["modes"]["currentModeId"] == "a"
    kinds = [message["params"]["update"]["sessionUpdate"] for message in replay]
    assert kinds == ["user_message_chunk", "session_info_update"] + ["agent_message_chunk"] * 50
    assert texts(seen["updates"]) == texts(seen["live"])
    assert texts(seen["updates"])[-1] == "to both"
    said = texts(seen["updates"], "user_message_chunk")
    assert [json.loads(text) for text in said] == [[["flood", 50, 10]], [["chunk", "to both"]]]


async def test_list(play, tmp_path):
    (tmp_path / "other").mkdir()
    seen = await play("list")
    both = {seen["sessionId"], seen["elsewhere"]["sessionId"]}
    assert {info["sessionId"] for info in seen["all"]["sessions"]} == both
    (info,) = seen["here"]["sessions"]
    assert info["sessionId"] == seen["sessionId"]
    assert info["cwd"] == str(tmp_path)
    assert info["title"] == '[["chunk","hello"]]'
    assert info["updatedAt"]


async def test_mode_resume_close_and_delete(play):
    seen = await play("lifecycle")
    assert [u["currentModeId"] for u in seen["updates"]] == ["b"]
    assert seen["resumed"]["modes"]["currentModeId"] == "b"
    assert seen["left"] == 0


async def test_errors_are_the_protocols_own(play):
    seen = await play("errors")
    assert seen["missing"]["code"] == -32002
    assert seen["relative"]["code"] == -32602
    assert seen["failed"]["code"] == -32000
    assert "out of quota" in seen["failed"]["message"]
    assert seen["unknown"]["code"] == -32601
