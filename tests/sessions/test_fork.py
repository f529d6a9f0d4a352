# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that go on in two ways: both have the past, and neither the other's future."""

from __future__ import annotations

import json
import re

import pytest
from acpclient import is_state, scripted, seq

FORK = {"sessionCapabilities": {"fork": {}}}


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "forks": scripted(capabilities=FORK),
        "repeats": scripted(capabilities=FORK, fork_replay=5),
        "refuses": scripted(capabilities=FORK, refuse=["session/fork"]),
        "embeds": scripted(capabilities={"promptCapabilities": {"embeddedContext": True}}),
        "nameless": scripted(capabilities=FORK, fork_id=False),
    }


async def fork(window, session, cwd, **params):
    return await window.result("session/fork", {"sessionId": session, "cwd": str(cwd), **params})


def said(page, kind="agent_message_chunk"):
    return [
        message["params"]["update"]["content"]["text"]
        for message in page
        if message["method"] == "session/update"
        and message["params"]["update"]["sessionUpdate"] == kind
    ]


async def messages(jp_fetch, session):
    response = await jp_fetch("acp", "sessions", session, "messages", params={"limit": 1000})
    return json.loads(response.body)["messages"]


@pytest.mark.parametrize("agent", ["forks", "repeats"])
async def test_a_fork_has_the_past_of_its_source_and_a_future_of_its_own(
    window, tmp_path, jp_fetch, agent
):
    source = await window.new(tmp_path, agent)
    await window.prompt(source, ["chunk", f'the past of {{"sessionId":"{source}"}}'])
    result = await fork(window, source, tmp_path)
    copy = result["sessionId"]
    assert copy != source
    ours = result["_meta"]["jupyter-acp"]
    assert ours["agent"] == agent and ours["session"]["title"].endswith(" (fork)")
    assert result["modes"]["currentModeId"] == "a", "the source's, as the agent names none"

    assert (await window.prompt(copy, ["whoami"]))["result"]["stopReason"] == "end_turn"
    await window.prompt(source, ["chunk", "elsewhere"])
    page = await messages(jp_fetch, copy)
    past, own = said(page)
    assert past == f'the past of {{"sessionId":"{source}"}}', "text is left as it was"
    assert own.endswith("-fork")
    assert [seq(message) for message in page] == list(range(1, len(page) + 1))
    assert {message["params"]["sessionId"] for message in page} == {copy}
    assert len(re.findall("Forked from “.*?”.", json.dumps(page, ensure_ascii=False))) == 1
    # And the window has seen just that.
    assert window.seqs(copy) == [seq(message) for message in page]
    assert said(await messages(jp_fetch, source)) == [past, "elsewhere"]


async def test_the_agent_is_asked_for_a_fork_of_its_own_session(window, tmp_path):
    source = await window.new(tmp_path, "forks")
    await window.prompt(source, ["whoami"])
    (theirs,) = window.texts()
    folder = tmp_path / "sub"
    folder.mkdir()
    server = {"name": "mine", "command": "/bin/true", "args": [], "env": []}
    await fork(window, source, folder, mcpServers=[server])
    await window.wait(lambda m: "available_commands_update" in str(m))
    (commands,) = window.updates("available_commands_update")
    asked = json.loads(commands["params"]["update"]["availableCommands"][0]["description"])
    assert (asked["sessionId"], asked["cwd"]) == (theirs, str(folder))
    assert server in asked["mcpServers"]


async def test_a_fork_outlives_its_source_and_the_server_knows_who_can(window, tmp_path, jp_fetch):
    source = await window.new(tmp_path, "forks")
    await window.prompt(source, ["chunk", "kept"])
    copy = (await fork(window, source, tmp_path))["sessionId"]
    await window.result("session/delete", {"sessionId": source})
    assert said(await messages(jp_fetch, copy)) == ["kept"]
    plain = await window.new(tmp_path)
    response = await jp_fetch("acp", "sessions")
    can = {each["id"]: each["canFork"] for each in json.loads(response.body)["sessions"]}
    assert can == {copy: True, plain: False}


@pytest.mark.parametrize(
    ("agent", "can_embed"), [("scripted", False), ("refuses", False), ("embeds", True)]
)
async def test_an_agent_that_cannot_fork_is_told_what_was_said(
    window, tmp_path, jp_fetch, agent, can_embed
):
    source = await window.new(tmp_path, agent)
    await window.prompt(source, ["chunk", "the past"])
    copy = (await fork(window, source, tmp_path))["sessionId"]
    page = await messages(jp_fetch, copy)
    assert said(page) == ["the past"]
    assert f"{agent} cannot fork: with your first message it is told" in str(page)

    await window.prompt(copy, ["prompt"])
    told = json.loads(said(await messages(jp_fetch, copy))[-1])
    assert len(told) == (3 if can_embed else 2)
    block = told[1]["resource"] if can_embed else told[0]
    assert "Agent: the past" in block["text"] and 'User: [["chunk", "the past"]]' in block["text"]
    # Once; and nobody sees it as something that the user has said.
    await window.prompt(copy, ["prompt"])
    page = await messages(jp_fetch, copy)
    assert len(json.loads(said(page)[-1])) == 1
    assert "the past" not in "".join(said(page, "user_message_chunk")[1:])


async def test_where_it_cannot_be_forked_nothing_is_left_behind(window, tmp_path, jp_fetch):
    source = await window.new(tmp_path, "nameless")
    await window.prompt(source, ["chunk", "one"])
    answer = await window.ask("session/fork", {"sessionId": source, "cwd": str(tmp_path)})
    assert "without an id" in answer["error"]["message"]
    response = await jp_fetch("acp", "sessions")
    assert [each["id"] for each in json.loads(response.body)["sessions"]] == [source]
    # What the agent says to its own session still arrives there.
    await window.prompt(source, ["chunk", "two"])
    assert window.texts() == ["one", "two"]


async def test_a_running_turn_is_not_forked(window, tmp_path):
    source = await window.new(tmp_path, "forks")
    turn = await window.start_prompt(source, ["until_cancel"])
    await window.wait(is_state("running"))
    answer = await window.ask("session/fork", {"sessionId": source, "cwd": str(tmp_path)})
    assert "A turn is running" in answer["error"]["message"]
    await window.notify("session/cancel", {"sessionId": source})
    await window.response(turn)


async def test_a_fork_that_meets_a_new_turn_has_all_of_it_or_nothing(window, tmp_path, jp_fetch):
    source = await window.new(tmp_path, "forks")
    await window.prompt(source, ["flood", 200, 1000])
    forking = await window.start("session/fork", {"sessionId": source, "cwd": str(tmp_path)})
    turn = await window.start_prompt(source, ["chunk", "half"], ["until_cancel"])
    answer = await window.response(forking)
    await window.notify("session/cancel", {"sessionId": source})
    await window.response(turn)
    if "error" in answer:
        assert "A turn is running" in answer["error"]["message"]
        assert len(json.loads((await jp_fetch("acp", "sessions")).body)["sessions"]) == 1
    else:
        copy = await messages(jp_fetch, answer["result"]["sessionId"])
        assert "half" not in said(copy)
        assert len(said(copy, "user_message_chunk")) == 1


async def test_a_turn_that_comes_and_goes_while_it_is_copied_is_copied_too(
    window, acp, tmp_path, jp_fetch, monkeypatch
):
    source = await window.new(tmp_path, "forks")
    await window.prompt(source, ["chunk", "one"])
    journal = (await acp.manager())._journal
    copy, copied = journal.copy, []

    async def slowly(*args):
        last = await copy(*args)
        if not copied:
            await window.prompt(source, ["chunk", "two"])
        copied.append(args[1])
        return last

    monkeypatch.setattr(journal, "copy", slowly)
    forked = (await fork(window, source, tmp_path))["sessionId"]
    assert said(await messages(jp_fetch, forked)) == ["one", "two"]
    assert copied[-1] == forked and len(copied) == 2
    assert await journal.read(copied[0], 0, 1000) == (b"", 0)


async def test_what_is_deleted_while_it_is_copied_is_not_forked(
    window, acp, acp_connect, tmp_path, jp_fetch, monkeypatch
):
    source = await window.new(tmp_path, "forks")
    await window.prompt(source, ["chunk", "PRIVATE"])
    other = await acp_connect()
    journal = (await acp.manager())._journal
    copy, copied = journal.copy, []

    async def slowly(*args):
        last = await copy(*args)
        copied.append(args[1])
        await other.result("session/delete", {"sessionId": source})
        return last

    monkeypatch.setattr(journal, "copy", slowly)
    answer = await window.ask("session/fork", {"sessionId": source, "cwd": str(tmp_path)})
    assert "There is no session" in answer["error"]["message"]
    assert json.loads((await jp_fetch("acp", "sessions")).body)["sessions"] == []
    assert await journal.read(copied[0], 0, 1000) == (b"", 0)


async def test_a_stock_client_forks_and_is_told_no_past(acp_connect, tmp_path):
    stock = await acp_connect(ndjson=False, initialize=False, agent="forks")
    can = (await stock.initialize(stock=True))["agentCapabilities"]["sessionCapabilities"]
    assert set(can) == {"list", "resume", "close", "delete", "fork"}
    source = await stock.new(tmp_path)
    await stock.prompt(source, ["chunk", "past"])
    copy = (await fork(stock, source, tmp_path, mcpServers=[]))["sessionId"]
    await stock.prompt(copy, ["chunk", "present"])
    assert stock.texts() == ["past", "present"]


async def test_the_built_in_agent_remembers_in_its_fork(window, tmp_path):
    source = await window.new(tmp_path, "builtin")

    async def prompt(session, text):
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        return await window.result("session/prompt", params)

    await prompt(source, "/stream 3")
    copy = (await fork(window, source, tmp_path))["sessionId"]
    assert (await prompt(copy, "/stream 2"))["stopReason"] == "end_turn"
