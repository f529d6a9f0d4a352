# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Finding, exporting, importing and deleting what was said."""

from __future__ import annotations

import asyncio
import datetime as dt
import json

import pytest
from acpclient import is_state, scripted, seq
from tornado.httpclient import HTTPClientError


@pytest.fixture
def acp_agents():
    forks = {"sessionCapabilities": {"fork": {}}}
    return {"scripted": scripted(), "other": scripted(), "forks": scripted(capabilities=forks)}


async def rest(jp_fetch, *path, **options):
    return json.loads((await jp_fetch("acp", *path, **options)).body)


async def found(jp_fetch, query):
    return (await rest(jp_fetch, "search", params={"query": query}))["sessions"]


async def test_sessions_are_found_by_what_was_said(window, tmp_path, jp_fetch):
    one, two = await window.new(tmp_path), await window.new(tmp_path)
    await window.prompt(one, ["chunk", "The gradient "], ["chunk", "vanishes."])
    await window.prompt(two, ["chunk", "Nothing of that kind."])
    (session,) = await found(jp_fetch, "gradient vanish")
    assert session["id"] == one
    (match,) = [each for each in session["matches"] if each["speaker"] == "agent"]
    assert [part["text"] for part in match["parts"] if part["isMatch"]] == ["gradient", "vanishes"]
    # What the user said counts, too, and what is deleted does not.
    assert {each["id"] for each in await found(jp_fetch, "chunk")} == {one, two}
    await window.result("session/delete", {"sessionId": one})
    assert await found(jp_fetch, "gradient") == []


async def test_a_session_is_exported_and_taken_in_again(window, jp_root_dir, jp_fetch, acp_connect):
    session = await window.new(jp_root_dir)
    await window.prompt(session, ["flood", 300, 2000], ["chunk", "the end"])
    exported = (await jp_fetch("acp", "sessions", session, "export")).body
    lines = [json.loads(line) for line in exported.splitlines()]
    assert lines[0]["session"]["agent"] == "scripted"
    assert [seq(line) for line in lines[1:]] == list(range(1, len(lines)))

    taken = await rest(jp_fetch, "import", method="POST", body=exported)
    assert taken["id"] != session and taken["state"] == "closed" and taken["seq"] == len(lines) - 1
    again = (await jp_fetch("acp", "sessions", taken["id"], "export")).body
    same = again.replace(taken["id"].encode(), session.encode())
    first, *others = [json.loads(line) for line in same.splitlines()]
    assert others == lines[1:]
    # As new as if it were from today: else the next clean-up might take it.
    assert first["session"].pop("updated") >= lines[0]["session"].pop("updated")
    assert first == lines[0]
    # It can be read, found and gone on with.
    other = await acp_connect()
    await other.attach(taken["id"])
    await other.wait(lambda m: len(other.seqs(taken["id"])) == len(lines) - 1)
    assert {each["id"] for each in await found(jp_fetch, "the end")} == {session, taken["id"]}
    await other.prompt(taken["id"], ["chunk", "and on"])
    assert other.texts()[-2:] == ["the end", "and on"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "line 1"),
        (b"nonsense", "line 1"),
        (b"[]", "line 1: must be an object"),
        (b"{}", "line 1: this is not a session that was exported"),
        (b'{"jupyter-acp":{"format":99},"session":{}}', "another version (format 99)"),
        (b'{"jupyter-acp":{"format":1},"session":{"agent":"scripted"}}', "line 1: agent and cwd"),
        (b'{"jupyter-acp":{"format":1},"session":{"agent":7,"cwd":"/"}}', "line 1: agent"),
        (b'{"jupyter-acp":{"format":1},"session":{"agent":"nobody","cwd":"/"}}', "nobody"),
        (b'HEAD\n{"method":"session/update","params":[]}', "line 2: a message without params"),
        (b'HEAD\n{"method":"session/prompt","params":{}}', "line 2: not a message of a transcript"),
        (b'HEAD\n{"method":"_jupyter/session/queue","params":{}}', "line 2: not a message"),
        (b'HEAD\n{"method":"_jupyter/sessions/changed","params":{}}', "line 2: not a message"),
        (b'HEAD\n\n{"method":', "line 3"),
        (b"HEAD\n\xff", "line 2"),
    ],
)
async def test_what_is_no_session_is_refused_by_its_line(jp_fetch, acp, body, words):
    head = b'{"jupyter-acp":{"format":1},"session":{"agent":"scripted","cwd":"/"}}'
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("acp", "import", method="POST", body=body.replace(b"HEAD", head))
    assert refused.value.code in (400, 404)
    assert words in json.loads(refused.value.response.body)["message"]
    assert (await rest(jp_fetch, "sessions"))["sessions"] == []


async def test_what_is_imported_runs_nothing_and_gets_no_power(jp_fetch, acp, jp_root_dir):
    message = {
        "method": "session/update",
        "params": {
            "sessionId": "another",
            "_meta": {"jupyter-acp": {"seq": 77, "origin": "x"}},
            "update": {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": "a"},
            },
        },
    }
    head = {
        "jupyter-acp": {"format": 1},
        "session": {
            "id": "../../x",
            "agent": "scripted",
            "cwd": "/",
            "agent_session": "theirs",
            "mcp_servers": [{"command": "/bin/evil"}],
            "additional_directories": ["/etc"],
        },
    }
    body = json.dumps(head) + "\n" + json.dumps(message)
    taken = await rest(jp_fetch, "import", method="POST", body=body)
    record = (await acp.manager()).get(taken["id"]).record
    assert (record.agent_session, record.mcp_servers, record.additional_directories) == (
        None,
        [],
        [],
    )
    kept, notice = (await rest(jp_fetch, "sessions", taken["id"], "messages"))["messages"]
    assert kept["params"]["sessionId"] == taken["id"] and seq(kept) == 1
    assert "Its folder, /, is not one of this server" in notice["params"]["message"]
    assert record.cwd == str(jp_root_dir) == taken["cwd"]


@pytest.mark.parametrize("cwd", ["relative", "/", "/etc", "ROOT/missing", "ROOT/../..", "ROOT/out"])
async def test_an_imported_session_stays_below_the_root(jp_fetch, acp, jp_root_dir, cwd):
    (jp_root_dir / "out").symlink_to("/etc")
    session = {"agent": "scripted", "cwd": cwd.replace("ROOT", str(jp_root_dir))}
    body = json.dumps({"jupyter-acp": {"format": 1}, "session": session})
    taken = await rest(jp_fetch, "import", method="POST", body=body)
    assert taken["cwd"] == str(jp_root_dir)


async def test_an_imported_session_has_no_more_than_others(jp_fetch, acp, jp_root_dir):
    session = {"agent": "scripted", "cwd": str(jp_root_dir), "title": "x" * 10_000}
    head = {"jupyter-acp": {"format": 1}, "session": session}
    taken = await rest(jp_fetch, "import", method="POST", body=json.dumps(head))
    assert len(taken["title"]) == 500
    session["metadata"] = {"skills": "x" * 100_000}
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("acp", "import", method="POST", body=json.dumps(head))
    assert "metadata" in json.loads(refused.value.response.body)["message"]


@pytest.mark.parametrize("acp_config", [{"keep_sessions": 2}])
async def test_the_oldest_closed_sessions_go_and_never_a_running_one(
    window, acp_connect, tmp_path, jp_fetch, acp
):
    manager = await acp.manager()
    running = await window.new(tmp_path, "other")
    others = [await window.new(tmp_path) for _ in range(3)]
    turn = await window.start_prompt(running, ["until_cancel"])
    await window.wait(is_state("running"))
    for session in others:
        await window.prompt(session, ["chunk", "x"])
    await window.result("session/close", {"sessionId": others[1]})
    # Everything that a window shows stays.
    assert await manager.archive.clean_up() == []
    for session in others:
        await window.notify("_jupyter/session/detach", {"sessionId": session})
    await window.ask("session/list", {})
    # The closed one, and then the oldest.
    assert await manager.archive.clean_up() == [others[1], others[0]]
    assert {each["id"] for each in (await rest(jp_fetch, "sessions"))["sessions"]} == {
        running,
        others[2],
    }
    await window.notify("session/cancel", {"sessionId": running})
    await window.response(turn)


@pytest.mark.parametrize("acp_config", [{"keep_days": 30}])
async def test_old_sessions_go_when_the_server_starts(window, tmp_path, acp, acp_connect):
    old, young = await window.new(tmp_path), await window.new(tmp_path)
    manager = await acp.manager()
    long_ago = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=31)
    manager.get(old).record.updated = long_ago.isoformat()
    manager._journal.save(manager.get(old).record)
    await acp.stop_extension()
    await acp_connect()
    manager = await acp.manager()
    while len(manager.all()) > 1:
        await asyncio.sleep(0.05)
    assert [session.id for session in manager.all()] == [young]


async def test_what_was_imported_can_be_forked_and_is_told(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "forks")
    await window.prompt(session, ["chunk", "from far away"])
    exported = (await jp_fetch("acp", "sessions", session, "export")).body
    taken = await rest(jp_fetch, "import", method="POST", body=exported)
    params = {"sessionId": taken["id"], "cwd": str(tmp_path)}
    copy = (await window.result("session/fork", params))["sessionId"]
    await window.prompt(copy, ["prompt"])
    assert "Agent: from far away" in window.texts()[-1]


async def test_the_past_is_told_once_also_over_a_sudden_end(window, tmp_path, acp, acp_connect):
    session = await window.new(tmp_path, "scripted")
    await window.prompt(session, ["chunk", "long ago"])
    await window.prompt(session, ["exit", 1])
    await window.prompt(session, ["prompt"])
    assert "Agent: long ago" in window.texts()[-1]
    manager = await acp.manager()
    await manager._journal.flush()
    kept = await manager._journal._in(manager._journal._reader, manager._journal._database.records)
    assert [record.retold for record in kept if record.id == session] == [""]


@pytest.mark.parametrize("depth", [255, 400])
async def test_what_is_nested_too_deeply_is_not_imported(jp_fetch, acp, depth):
    head = '{"jupyter-acp":{"format":1},"session":{"agent":"scripted","cwd":"/"}}'
    deep = '{"method":"session/update","params":{"x":' + "[" * depth + "]" * depth + "}}"
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("acp", "import", method="POST", body=f"{head}\n{deep}")
    assert refused.value.code == 400
    assert "line 2: nested too deeply" in refused.value.response.body.decode()
