# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The built-in agent's protocol surface: sessions, settings, cancelling, bad input."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from builtindriver import Driver, driven, drives, names

from jupyter_acp.rpc import RpcError


@drives
async def test_initialize(agent: Driver) -> None:
    answer = await agent.initialize()
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"]["name"] == "jupyter-acp-builtin"
    assert answer["agentInfo"]["version"]
    assert answer["authMethods"] == []
    capabilities = answer["agentCapabilities"]
    assert capabilities["loadSession"] is True
    assert capabilities["promptCapabilities"]["embeddedContext"] is True
    assert set(capabilities["sessionCapabilities"]) == {"list", "resume", "fork", "close", "delete"}


@drives
async def test_a_version_that_we_do_not_speak_is_answered_with_ours(agent: Driver) -> None:
    assert (await agent.call("initialize", protocolVersion=2))["protocolVersion"] == 1


@drives
async def test_new_session_advertises_commands_after_the_answer(agent: Driver) -> None:
    made = await agent.start()
    assert re.fullmatch("[0-9a-f]{32}", made["sessionId"])
    await agent.until(lambda: agent.of("available_commands_update"))
    [update] = agent.of("available_commands_update")
    commands = {command["name"]: command for command in update["availableCommands"]}
    assert set(commands) == {
        "help",
        "workspace",
        "outline",
        "find",
        "edit",
        "todo",
        "run",
        "plan",
        "ask",
        "image",
        "stream",
        "slow",
        "crash",
    }
    assert commands["find"]["input"] == {"hint": "TEXT"}
    assert "input" not in commands["plan"]


@pytest.mark.parametrize(
    ("method", "params", "code", "words"),
    [
        ("session/new", {}, -32602, "`cwd`"),
        ("session/new", {"cwd": "relative/path"}, -32602, "absolute"),
        ("session/load", {"cwd": "/", "sessionId": "../../etc/passwd"}, -32002, "no session"),
        ("session/load", {"cwd": "/", "sessionId": "0" * 32}, -32002, "no session"),
        ("session/resume", {"cwd": "/"}, -32602, "sessionId"),
        ("session/fork", {"cwd": "/", "sessionId": "0" * 32}, -32002, "no session"),
        ("session/close", {"sessionId": "0" * 32}, -32002, "no session"),
        ("session/prompt", {"sessionId": "0" * 32, "prompt": []}, -32002, "no session"),
        ("session/list", {"cwd": "here"}, -32602, "absolute"),
        ("session/set_model", {"modelId": "x"}, -32601, "session/set_model"),
        ("_nothing/like/this", {}, -32601, "_nothing/like/this"),
        ("authenticate", {"methodId": "key"}, -32602, "no authentication"),
        ("initialize", {"protocolVersion": "one"}, -32602, "protocolVersion"),
    ],
)
@drives
async def test_bad_requests(
    agent: Driver, method: str, params: dict[str, Any], code: int, words: str
) -> None:
    await agent.initialize()
    error = await agent.refused(method, **params)
    assert error.code == code
    assert words in error.message


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ([], "non-empty list"),
        ("hello", "non-empty list"),
        (["hello"], "prompt[0].type"),
        ([{"type": "text", "text": "a"}, {"type": "video"}], "prompt[1].type"),
        ([{"type": "text"}], "prompt[0].text"),
        ([{"type": "resource", "resource": "x"}], "prompt[0].resource"),
    ],
)
@drives
async def test_bad_prompts(agent: Driver, prompt: Any, words: str) -> None:
    await agent.start()
    error = await agent.refused("session/prompt", sessionId=agent.session, prompt=prompt)
    assert error.code == -32602
    assert words in error.message
    assert "Assistant" in await agent.prompt("still there?")


@drives
async def test_initialize_comes_first(agent: Driver) -> None:
    error = await agent.refused("session/new", cwd="/", mcpServers=[])
    assert error.code == -32600
    assert "initialize" in error.message


@drives
async def test_junk_on_the_line_does_not_end_it(agent: Driver) -> None:
    agent.wire.write(b"hello\n[1]\n{\xff}\n" + b'{"jsonrpc":"2.0","method":"x/y"}')
    agent.connection.notify("session/cancel", {"sessionId": 5})
    await agent.start()
    assert "Assistant" in await agent.prompt("hello")


@drives
async def test_a_turn_is_titled_metered_and_streamed(agent: Driver) -> None:
    await agent.start()
    assert await agent.ask("hello  there\n" + "x" * 100) == "end_turn"
    [info] = agent.of("session_info_update")
    assert info["title"].startswith("hello there x")
    assert len(info["title"]) == 60
    chunks = agent.of("agent_message_chunk")
    assert len(chunks) > 5
    assert len({chunk["messageId"] for chunk in chunks}) == 1
    assert agent.of("agent_thought_chunk")
    [usage] = agent.of("usage_update")
    assert 0 < usage["used"] <= usage["size"]
    assert usage["_meta"]["jupyter-acp"]["unit"] == "characters"
    await agent.ask("again")
    assert len(agent.of("session_info_update")) == 1
    assert agent.of("usage_update")[-1]["used"] > usage["used"]


@drives
async def test_options_of_every_type(agent: Driver) -> None:
    made = await agent.start()
    options = {option["id"]: option for option in made["configOptions"]}
    assert options["mode"]["category"] == "mode"
    assert [group["group"] for group in options["scope"]["options"]] == ["everything", "kind"]
    assert options["thoughts"]["type"] == "boolean"
    assert options["thoughts"]["currentValue"] is True
    answer = await agent.call(
        "session/set_config_option",
        sessionId=agent.session,
        configId="thoughts",
        type="boolean",
        value=False,
    )
    after = {option["id"]: option["currentValue"] for option in answer["configOptions"]}
    assert after == {"mode": "ask", "scope": "all", "thoughts": False}
    await agent.prompt("hello")
    assert not agent.of("agent_thought_chunk")


@drives
async def test_a_client_without_booleans_is_offered_none(agent: Driver) -> None:
    made = await agent.start({})
    assert {option["type"] for option in made["configOptions"]} == {"select"}


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("colour", "red", "mode, scope, thoughts"),
        ("scope", "abroad", "all, notebooks"),
        ("thoughts", "on", "True, False"),
        ("mode", 1, "ask"),
    ],
)
@drives
async def test_bad_options(agent: Driver, option: str, value: Any, words: str) -> None:
    await agent.start()
    error = await agent.refused(
        "session/set_config_option", sessionId=agent.session, configId=option, value=value
    )
    assert error.code == -32602
    assert words in error.message


@drives
async def test_a_mode_is_told_both_ways(agent: Driver) -> None:
    await agent.start()
    await agent.call("session/set_mode", sessionId=agent.session, modeId="read")
    assert agent.of("current_mode_update")[-1]["currentModeId"] == "read"
    assert agent.of("config_option_update")[-1]["configOptions"][0]["currentValue"] == "read"
    await agent.call(
        "session/set_config_option", sessionId=agent.session, configId="mode", value="edit"
    )
    assert agent.of("current_mode_update")[-1]["currentModeId"] == "edit"
    error = await agent.refused("session/set_mode", sessionId=agent.session, modeId="yolo")
    assert error.code == -32602


@drives
async def test_cancel_stops_a_slow_turn(agent: Driver) -> None:
    await agent.start()
    turn = asyncio.ensure_future(agent.ask("/slow 3000"))
    await agent.until(lambda: "0.5 of 3000 s" in agent.said())
    agent.connection.notify("session/cancel", {"sessionId": agent.session})
    assert await turn == "cancelled"
    assert "Assistant" in await agent.prompt("hello")


@drives
async def test_a_cancel_right_behind_the_prompt_counts(agent: Driver) -> None:
    await agent.start()
    turn = asyncio.ensure_future(agent.ask("/slow 3000"))
    await asyncio.sleep(0)
    agent.connection.notify("session/cancel", {"sessionId": agent.session})
    assert await turn == "cancelled"


@drives
async def test_cancel_request_ends_the_turn_too(agent: Driver) -> None:
    await agent.start()
    ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    id = agent.connection.call(
        "session/prompt",
        {"sessionId": agent.session, "prompt": [{"type": "text", "text": "/slow 3000"}]},
        lambda result, error: ended.set_result(result or error),
    )
    agent.connection.notify("$/cancel_request", {"requestId": id})
    assert await asyncio.wait_for(ended, 20) == {"stopReason": "cancelled"}
    assert "Assistant" in await agent.prompt("hello")


@drives
async def test_cancel_takes_back_a_permission_request(agent: Driver, folder: Path) -> None:
    (folder / "a.txt").write_text("one \n")
    agent.permission = None
    await agent.start()
    turn = asyncio.ensure_future(agent.ask("/edit a.txt"))
    await agent.until(lambda: "session/request_permission" in agent.methods())
    agent.connection.notify("session/cancel", {"sessionId": agent.session})
    assert await turn == "cancelled"
    assert agent.cancelled == [agent.asked[-1].id]
    assert agent.tool()["status"] == "failed"
    assert (folder / "a.txt").read_text() == "one \n"


@drives
async def test_a_permission_answered_with_cancelled_ends_the_turn(
    agent: Driver, folder: Path
) -> None:
    (folder / "a.txt").write_text("one \n")
    agent.permission = "cancelled"
    await agent.start()
    assert await agent.ask("/edit a.txt") == "cancelled"
    assert (folder / "a.txt").read_text() == "one \n"


@drives
async def test_sessions_answer_at_the_same_time(agent: Driver) -> None:
    await agent.start()
    first = agent.session
    turn = asyncio.ensure_future(agent.ask("/slow 3000"))
    await agent.until(agent.said)
    second = (await agent.call("session/new", cwd="/", mcpServers=[]))["sessionId"]
    assert await agent.ask("/stream 10", session=second) == "end_turn"
    assert agent.said(session=second) == "1 2 3 4 5 6 7 8 9 10 "
    error = await agent.refused(
        "session/prompt", sessionId=first, prompt=[{"type": "text", "text": "me too"}]
    )
    assert error.code == -32600
    assert "still answering" in error.message
    agent.connection.notify("session/cancel", {"sessionId": first})
    assert await turn == "cancelled"


@drives
async def test_crash_then_load(state: Path, folder: Path) -> None:
    (folder / "a.txt").write_text("one \n")
    async with driven(state, folder) as agent:
        await agent.start()
        await agent.call("session/set_mode", sessionId=agent.session, modeId="edit")
        hello = await agent.prompt("hello", {"type": "resource_link", "name": "a", "uri": "x:a"})
        await agent.ask("/edit a.txt")
        await agent.ask("/image")
        crashing = asyncio.ensure_future(agent.ask("/crash"))
        assert await asyncio.wait_for(agent.process.wait(), 20) == 3
        assert agent.process.stderr is not None
        assert b"/crash" in await agent.process.stderr.read()
        agent.connection.end(RpcError(-32010, "it crashed"))
        with pytest.raises(RpcError):
            await crashing
        assert "I crash now" in agent.said()
        session = agent.session

    async with driven(state, folder) as agent:
        await agent.initialize()
        error = await agent.refused(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}]
        )
        assert "not open" in error.message
        answer = await agent.call("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        assert answer["modes"]["currentModeId"] == "edit"
        assert "sessionId" not in answer
        # Everything below came before the answer.
        assert agent.said().startswith(hello)
        assert agent.said().endswith("load it again.\n")
        users = agent.of("user_message_chunk")
        texts = [user["content"].get("text") for user in users]
        assert texts == [None, "hello", "/edit a.txt", "/image", "/crash"]
        assert users[0]["messageId"] == users[1]["messageId"] != users[2]["messageId"]
        assert agent.tool()["status"] == "completed"
        assert agent.tool()["content"][0]["oldText"] == "one \n"
        assert [c["content"]["type"] for c in agent.of("agent_message_chunk")].count("image") == 1
        assert "Assistant" in await agent.prompt("hello again", session=session)

    async with driven(state, folder) as agent:
        await agent.initialize()
        await agent.call("session/resume", sessionId=session, cwd=str(folder), mcpServers=[])
        await agent.until(lambda: agent.of("usage_update"))
        assert [update["sessionUpdate"] for update in agent.updates] == [
            "available_commands_update",
            "usage_update",
        ]
        assert "Assistant" in await agent.prompt("and again", session=session)


@drives
async def test_fork_close_and_delete(agent: Driver, state: Path, folder: Path) -> None:
    await agent.start()
    first = agent.session
    await agent.ask("remember me")
    forked = await agent.call("session/fork", sessionId=first, cwd=str(folder), mcpServers=[])
    second = forked["sessionId"]
    assert second != first
    await agent.ask("only here", session=second)
    await agent.call("session/close", sessionId=first)
    assert "not open" in (await agent.refused("session/set_mode", sessionId=first)).message

    async def asked(session: str) -> list[str]:
        before = len(agent.updates)
        await agent.call("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        return [
            update["content"]["text"]
            for update in agent.updates[before:]
            if update["sessionUpdate"] == "user_message_chunk"
        ]

    assert await asked(first) == ["remember me"]
    assert await asked(second) == ["remember me", "only here"]
    turn = asyncio.ensure_future(agent.ask("/slow 3000", session=first))
    await agent.until(lambda: "0.5 of 3000" in agent.said())
    assert await agent.call("session/delete", sessionId=first) == {}
    assert await turn == "cancelled"
    assert names(state) == [f"{second}.jsonl"]
    assert await agent.call("session/delete", sessionId=first) == {}
    listed = await agent.call("session/list")
    assert [info["sessionId"] for info in listed["sessions"]] == [second]


@drives
async def test_close_cancels_the_turn(agent: Driver) -> None:
    await agent.start()
    turn = asyncio.ensure_future(agent.ask("/slow 3000"))
    await agent.until(agent.said)
    assert await agent.call("session/close", sessionId=agent.session) == {}
    assert await turn == "cancelled"


@drives
async def test_list_filters_by_folder_the_latest_first(agent: Driver, folder: Path) -> None:
    await agent.start()
    newer = (await agent.call("session/new", cwd=str(folder), mcpServers=[]))["sessionId"]
    other = (await agent.call("session/new", cwd="/", mcpServers=[]))["sessionId"]
    await agent.ask("the one with a title")
    page = await agent.call("session/list", cwd=str(folder))
    assert [info["sessionId"] for info in page["sessions"]] == [agent.session, newer]
    assert page["sessions"][0]["title"] == "the one with a title"
    assert all(re.fullmatch(r"20.*Z", info["updatedAt"]) for info in page["sessions"])
    assert {info["cwd"] for info in page["sessions"]} == {str(folder)}
    [root] = (await agent.call("session/list", cwd="/"))["sessions"]
    assert root["sessionId"] == other
    assert len((await agent.call("session/list"))["sessions"]) == 3


@drives
async def test_a_line_that_cannot_be_read_is_skipped(
    agent: Driver, state: Path, folder: Path
) -> None:
    await agent.start()
    await agent.ask("/stream 3")
    await agent.ask("/stream 4")
    file = state / f"{agent.session}.jsonl"
    lines = file.read_bytes().splitlines()
    broken = next(index for index, line in enumerate(lines) if b"1 2 3 " in line)
    for junk in (b'{"update": {', b"\xff", b"[]", b'{"update": 5}', b""):
        lines[broken] = junk
        file.write_bytes(b"\n".join(lines) + b"\n")
        agent.updates.clear()
        await agent.call("session/load", sessionId=agent.session, cwd=str(folder), mcpServers=[])
        assert agent.said() == "1 2 3 4 "
        assert len(agent.of("user_message_chunk")) == 2


@drives
async def test_a_session_of_an_older_version_is_opened(
    agent: Driver, state: Path, folder: Path
) -> None:
    id = "0123456789abcdef" * 2
    said = {
        "sessionUpdate": "user_message_chunk",
        "content": {"type": "text", "text": "hello"},
        "messageId": "1",
    }
    records = [
        {"format": 1, "sessionId": id, "cwd": str(folder)},
        {"settings": {"mode": "read", "verbosity": "brief", "thoughts": True}},
        {"title": "An old one"},
        {"update": said},
    ]
    await agent.start()
    (state / f"{id}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    listed = (await agent.call("session/list", cwd=str(folder)))["sessions"]
    assert {info["sessionId"]: info.get("title") for info in listed}[id] == "An old one"
    answer = await agent.call("session/load", sessionId=id, cwd=str(folder), mcpServers=[])
    assert answer["modes"]["currentModeId"] == "read"
    assert [update["content"]["text"] for update in agent.of("user_message_chunk")] == ["hello"]


@drives
async def test_a_session_that_moved_is_listed_where_it_is(agent: Driver, folder: Path) -> None:
    await agent.start()
    await agent.ask("hello")
    await agent.call("session/load", sessionId=agent.session, cwd="/", mcpServers=[])
    [info] = (await agent.call("session/list", cwd="/"))["sessions"]
    assert info["title"] == "hello"
    assert (await agent.call("session/list", cwd=str(folder)))["sessions"] == []


@drives
async def test_a_disk_that_refuses_costs_only_the_history(tmp_path: Path, folder: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    async with driven(blocked / "state", folder) as agent:
        await agent.start()
        assert await agent.ask("/stream 3") == "end_turn"
        assert agent.said() == "1 2 3 "
