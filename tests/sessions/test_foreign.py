# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that only an agent knows: listed once, and taken over with all that was said in them."""

from __future__ import annotations

import json

import pytest
from acpclient import scripted

LOADS = {"loadSession": True, "sessionCapabilities": {"list": {}}}


def entry(root, id, **fields):
    return {"sessionId": id, "cwd": str(root), "title": f"Title of {id}", **fields}


@pytest.fixture
def acp_agents(jp_root_dir, tmp_path):
    root = jp_root_dir
    pages = [
        [entry(root, "one", updatedAt="2026-01-02T00:00:00Z"), entry("/", "outside")],
        [
            entry(root, "two", updatedAt="2026-01-03T00:00:00Z"),
            entry(root, "broken", cwd=7),
            {"sessionId": ["odd"]},
            "nonsense",
        ],
    ]
    (root / ".one.said").write_text(
        "".join(
            json.dumps(line) + "\n"
            for line in (
                ["user_message_chunk", "What was that?"],
                ["agent_message_chunk", "It was "],
                ["agent_message_chunk", "long ago."],
            )
        )
    )
    return {
        "scripted": scripted(),
        "knows": scripted(capabilities=LOADS, listed=pages, replay=3),
        "resumes": scripted(
            capabilities={"sessionCapabilities": {"list": {}, "resume": {}}},
            listed=[[entry(root, "three")]],
        ),
        "lists": scripted(
            capabilities={"sessionCapabilities": {"list": {}}}, listed=[[entry(root, "four")]]
        ),
        "refuses": scripted(
            capabilities={
                "loadSession": True,
                "sessionCapabilities": {"list": {}, "close": {}, "delete": {}},
            },
            listed=[[entry(root, "five")]],
            refuse=["session/load"],
        ),
        "endless": scripted(
            capabilities={"sessionCapabilities": {"list": {}}}, listed=[[entry(root, "x")]] * 100
        ),
        "deletes": scripted(
            capabilities={
                "loadSession": True,
                "sessionCapabilities": {"list": {}, "delete": {}},
            },
            listed=[[entry(root, "s1")]],
            session_ids=["s1"],
        ),
        "keeps": scripted(
            capabilities={"sessionCapabilities": {"list": {}}},
            listed=[[entry(root, "k1")]],
            session_ids=["k1", "k2"],
        ),
        "sly": scripted(capabilities=LOADS, listed=[[entry(root / "way", "six")]]),
        "mute": scripted(
            capabilities={"sessionCapabilities": {"list": {}}}, ignore=["session/list"]
        ),
    }


async def elsewhere(jp_fetch):
    return json.loads((await jp_fetch("acp", "elsewhere")).body)["sessions"]


async def test_no_agent_is_started_for_it(acp, jp_fetch):
    assert await elsewhere(jp_fetch) == []
    assert (await acp.manager()).links.running == []


async def test_they_are_listed_page_by_page_with_ours_and_without_doubles(window, root, jp_fetch):
    own = await window.new(root, "knows")
    found = await elsewhere(jp_fetch)
    assert [each["title"] for each in found] == ["Title of two", "Title of one"]
    listed = (await window.result("session/list", {}))["sessions"]
    assert [each["sessionId"] for each in listed] == [own, found[0]["id"], found[1]["id"]]
    assert len((await window.result("session/list", {"cwd": str(root / "sub")}))["sessions"]) == 0
    # Always by the same id.
    assert await elsewhere(jp_fetch) == found


async def test_one_is_taken_over_with_what_was_said(window, acp_connect, root, jp_fetch):
    await window.new(root, "knows")
    (one,) = [each for each in await elsewhere(jp_fetch) if each["title"] == "Title of one"]
    other = await acp_connect()
    loaded = await other.result(
        "session/load", {"sessionId": one["id"], "cwd": str(root), "mcpServers": []}
    )
    assert loaded["_meta"]["jupyter-acp"]["session"]["title"] == "Title of one"
    assert other.texts("user_message_chunk") == ["What was that?"]
    assert other.texts() == ["It was ", "long ago."]
    assert other.seqs(one["id"]) == list(range(1, len(other.seqs(one["id"])) + 1))
    # Ours from now on, and once.
    await other.prompt(one["id"], ["chunk", "And now."])
    assert [each["title"] for each in await elsewhere(jp_fetch)] == ["Title of two"]
    ids = [each["sessionId"] for each in (await window.result("session/list", {}))["sessions"]]
    assert ids.count(one["id"]) == 1
    # And again after the agent was restarted: nothing twice.
    await jp_fetch("acp", "agents", "knows", "restart", method="POST", body="{}")
    await other.prompt(one["id"], ["chunk", "Still."])
    assert other.texts() == ["It was ", "long ago.", "And now.", "Still."]


async def test_one_that_can_only_be_resumed_goes_on_without_its_past(window, root, jp_fetch):
    await window.new(root, "resumes")
    (three,) = await elsewhere(jp_fetch)
    params = {"sessionId": three["id"], "cwd": str(root), "mcpServers": []}
    await window.result("session/resume", params)
    await window.prompt(three["id"], ["whoami"])
    assert window.texts() == ["three"]


async def test_one_that_cannot_be_opened_says_so_and_leaves_nothing(window, root, jp_fetch):
    await window.new(root, "lists")
    (four,) = await elsewhere(jp_fetch)
    params = {"sessionId": four["id"], "cwd": str(root), "mcpServers": []}
    answer = await window.ask("session/load", params)
    assert "lists lists its sessions but cannot open them again" in answer["error"]["message"]
    assert len(json.loads((await jp_fetch("acp", "sessions")).body)["sessions"]) == 1


async def test_an_agent_that_lists_for_ever_is_not_listened_to_for_ever(window, root, jp_fetch):
    await window.new(root, "endless")
    assert len({each["id"] for each in await elsewhere(jp_fetch)}) == 1


@pytest.mark.parametrize("acp_config", [{"request_timeout": 5.0}])
async def test_an_agent_that_does_not_answer_hides_nothing(window, root, jp_fetch):
    await window.new(root, "mute")
    await window.new(root, "knows")
    assert len(await elsewhere(jp_fetch)) == 2


async def test_one_that_cannot_be_loaded_is_still_its_agents(window, root, jp_fetch, acp_connect):
    await window.new(root, "refuses")
    (five,) = await elsewhere(jp_fetch)
    params = {"sessionId": five["id"], "cwd": str(root), "mcpServers": []}
    answer = await window.ask("session/load", params)
    assert "did not open this session again" in answer["error"]["message"]
    assert [each["id"] for each in await elsewhere(jp_fetch)] == [five["id"]]
    witness = await window.new(root, "refuses")
    await window.prompt(witness, ["asked"])
    asked = json.loads(window.texts()[-1])
    ended = [each for each in asked if each[0] in ("session/close", "session/delete")]
    assert [params["sessionId"] for _, params in ended if params["sessionId"] == "five"] == []
    # Nor was one begun in its place: only those of this test.
    assert [method for method, _ in asked].count("session/new") == 2


async def test_two_windows_take_over_the_same_one(window, acp_connect, root, jp_fetch):
    await window.new(root, "knows")
    (one,) = [each for each in await elsewhere(jp_fetch) if each["title"] == "Title of one"]
    other = await acp_connect()
    params = {"sessionId": one["id"], "cwd": str(root), "mcpServers": []}
    first = await window.start("session/load", params)
    second = await other.start("session/load", params)
    assert "result" in await window.response(first)
    assert "result" in await other.response(second)
    await window.prompt(one["id"], ["chunk", "And now."])
    await other.wait(lambda _: "And now." in other.texts())
    assert other.texts() == window.texts() == ["It was ", "long ago.", "And now."]


@pytest.mark.parametrize("agent", ["deletes", "keeps"])
async def test_what_was_deleted_without_its_agent_does_not_come_back(
    acp_connect, acp, root, jp_fetch, agent
):
    window = await acp_connect()
    session = await window.new(root, agent)
    await window.prompt(session, ["chunk", "x"])
    await acp.stop_extension()
    # No agent runs now.
    await jp_fetch("acp", "sessions", session, method="DELETE")
    await acp.stop_extension()
    later = await acp_connect()
    witness = await later.new(root, agent)
    await later.prompt(witness, ["asked"])
    asked = json.loads(later.texts()[-1])
    deleted = [params["sessionId"] for method, params in asked if method == "session/delete"]
    assert deleted == (["s1"] if agent == "deletes" else [])
    if agent == "keeps":
        # It has given the id to another one, which is ours.
        assert await elsewhere(jp_fetch) == []


async def test_an_agent_that_cannot_delete_does_not_show_it_again(acp, acp_connect, root, jp_fetch):
    window = await acp_connect()
    await window.new(root, "keeps")
    await acp.stop_extension()
    (session,) = json.loads((await jp_fetch("acp", "sessions")).body)["sessions"]
    await jp_fetch("acp", "sessions", session["id"], method="DELETE")
    manager = await acp.manager()
    assert ("keeps", "k1") in manager._pending_deletions
    await manager.links.agent("keeps")
    assert await elsewhere(jp_fetch) == []
    await acp.stop_extension()
    await (await acp.manager()).links.agent("keeps")
    assert await elsewhere(jp_fetch) == []


async def test_one_is_known_by_its_id_before_it_was_listed(window, acp, root, jp_fetch):
    await window.new(root, "knows")
    one = next(each for each in await elsewhere(jp_fetch) if each["title"] == "Title of one")
    (await acp.manager())._foreign._listed.clear()
    params = {"sessionId": one["id"], "cwd": str(root), "mcpServers": []}
    await window.result("session/load", params)
    assert window.texts() == ["It was ", "long ago."]


async def test_one_whose_folder_leads_outside_is_not_taken_over(window, root, tmp_path, jp_fetch):
    (tmp_path / "outside").mkdir()
    (root / "way").symlink_to(tmp_path / "outside")
    await window.new(root, "sly")
    (six,) = await elsewhere(jp_fetch)
    params = {"sessionId": six["id"], "cwd": str(root), "mcpServers": []}
    refused = (await window.ask("session/load", params))["error"]
    assert refused["code"] == -32602 and "leads outside" in refused["message"]
    # By where it leads, not by its name.
    (root / "way").unlink()
    (root / "way").mkdir()
    await window.result("session/load", params)
