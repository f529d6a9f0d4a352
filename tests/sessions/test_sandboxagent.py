# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The extension of sandboxagent.dev: aliases, metadata, questions, and what is advertised."""

from __future__ import annotations

import json

import pytest
from acpclient import scripted
from tornado.httpclient import HTTPClientError

EXT = "_sandboxagent/session/"


@pytest.fixture
def acp_agents():
    meta = {
        "sandboxagent.dev": {"extensions": {"sessionMetadata": True, "sessionEventsPoll": True}}
    }
    return {
        "scripted": scripted(),
        "other": scripted(),
        "knows": scripted(capabilities={"_meta": meta}),
    }


async def new(window, cwd, **hints):
    meta = {"sandboxagent.dev": hints}
    return await window.ask("session/new", {"cwd": str(cwd), "mcpServers": [], "_meta": meta})


async def test_what_we_support_is_advertised_to_agents_and_to_clients(window, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["capabilities"])
    extensions = json.loads(window.texts()[0])["_meta"]["sandboxagent.dev"]["extensions"]
    assert extensions == {"requestQuestion": True, "sessionMetadata": True}
    ours = (await window.initialize())["agentCapabilities"]["_meta"]["sandboxagent.dev"]
    assert set(ours["extensions"]) == {
        "sessionList",
        "sessionMetadata",
        "sessionTerminate",
        "sessionEventsPoll",
        "requestQuestion",
    }


async def test_a_session_answers_to_the_id_that_was_wanted(
    window, acp_connect, acp, tmp_path, jp_fetch
):
    session = (await new(window, tmp_path, requestedSessionId="my session"))["result"]["sessionId"]
    assert session != "my session"
    alias = {"sessionId": "my session"}
    steps = json.dumps([["chunk", "one"]])
    prompt = {**alias, "prompt": [{"type": "text", "text": steps}]}
    assert (await window.result("session/prompt", prompt))["stopReason"] == "end_turn"
    assert {m["params"]["sessionId"] for m in window.updates("agent_message_chunk")} == {session}
    other = await acp_connect()
    assert (await other.attach("my session"))["session"]["id"] == session
    await window.result("session/set_mode", {**alias, "modeId": "b"})
    await window.result("session/load", {**alias, "cwd": str(tmp_path), "mcpServers": []})
    assert (await window.result(f"{EXT}events", alias))["events"]
    turn = await window.start(
        "session/prompt",
        {**prompt, "prompt": [{"type": "text", "text": json.dumps([["until_cancel"]])}]},
    )
    await window.notify("session/cancel", alias)
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    for path in ((), ("messages",), ("export",)):
        assert (await jp_fetch("acp", "sessions", "my session", *path)).code == 200
    body = json.dumps({"title": "Renamed"})
    answer = await jp_fetch("acp", "sessions", "my session", method="PATCH", body=body)
    assert json.loads(answer.body)["id"] == session

    # Also after a restart; and nobody else can have it.
    await acp.stop_extension()
    later = await acp_connect()
    assert (await later.attach("my session"))["session"]["id"] == session
    taken = await new(later, tmp_path, requestedSessionId="my session")
    assert "there is a session 'my session' already" in taken["error"]["message"]
    taken = await new(later, tmp_path, requestedSessionId=session)
    assert "already" in taken["error"]["message"]
    await later.result("session/close", alias)
    await jp_fetch("acp", "sessions", "my session", method="DELETE")
    with pytest.raises(HTTPClientError):
        await jp_fetch("acp", "sessions", session)
    # Free again.
    assert "result" in await new(later, tmp_path, requestedSessionId="my session")


@pytest.mark.parametrize("wanted", ["", 7, ["x"], "a/b", "x" * 300])
async def test_an_id_that_cannot_be_one_is_refused(window, tmp_path, wanted):
    answer = await new(window, tmp_path, requestedSessionId=wanted)
    assert "requestedSessionId" in answer["error"]["message"]


async def test_metadata_of_the_agent_is_applied(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path)
    await window.prompt(
        session,
        ["notify", f"{EXT}metadata_update", {"metadata": {"title": "Theirs", "skills": ["a"]}}],
        ["notify", f"{EXT}metadata_update", {"_meta": {"sandboxagent.dev": {"variant": "high"}}}],
        ["notify", f"{EXT}metadata_update", {"metadata": "nonsense"}],
        ["notify", f"{EXT}metadata_update", {"metadata": {"requestedSessionId": "stolen"}}],
    )
    known = json.loads((await jp_fetch("acp", "sessions", session)).body)
    assert known["title"] == "Theirs" and known["alias"] is None
    assert known["metadata"] == {"title": "Theirs", "skills": ["a"], "variant": "high"}
    assert window.updates("session_info_update")[-1]["params"]["update"]["title"] == "Theirs"


QUESTION = {"question": "Which one?", "options": ["red", "blue"], "questionId": "q7"}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"action": "accept", "content": {"answer1": "blue"}}, "answered"),
        ({"action": "decline"}, "rejected"),
        ({"action": "cancel"}, "cancelled"),
    ],
)
async def test_a_question_is_asked_as_a_form(window, tmp_path, answer, outcome):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["request", f"{EXT}request_question", QUESTION])
    form = await window.wait(lambda m: m.get("method") == "elicitation/create")
    schema = form["params"]["requestedSchema"]
    assert form["params"]["message"] == "Which one?"
    assert [each["const"] for each in schema["properties"]["answer1"]["oneOf"]] == ["red", "blue"]
    kept = form["params"]["_meta"]["sandboxagent.dev"]
    assert (kept["questionId"], kept["options"]) == ("q7", ["red", "blue"])
    await window.send({"jsonrpc": "2.0", "id": form["id"], "result": answer})
    await window.response(turn)
    got = json.loads(window.texts()[-1])
    assert got["outcome"] == outcome
    assert got["_meta"]["sandboxagent.dev"] == {
        "questionId": "q7",
        "options": ["red", "blue"],
        "status": outcome,
    }
    assert got.get("answers") == ([["blue"]] if outcome == "answered" else None)


async def test_several_questions_of_several_kinds(window, tmp_path):
    questions = [
        {"question": "Why?"},
        {
            "question": "Which ones?",
            "multiple": True,
            "options": [
                {"id": "r", "label": "Red"},
                {"label": "Blue", "description": "as the sea"},
            ],
        },
    ]
    session = await window.new(tmp_path)
    params = {"message": "Some things are not clear.", "questions": questions}
    turn = await window.start_prompt(session, ["request", f"{EXT}request_question", params])
    form = await window.wait(lambda m: m.get("method") == "elicitation/create")
    assert form["params"]["message"] == "Some things are not clear."
    fields = form["params"]["requestedSchema"]["properties"]
    assert fields["answer1"] == {"title": "Why?", "type": "string"}
    assert fields["answer2"]["items"]["anyOf"] == [
        {"const": "r", "title": "Red"},
        {"const": "Blue", "title": "Blue: as the sea"},
    ]
    content = {"answer1": "because", "answer2": ["r", "Blue"]}
    answer = {"action": "accept", "content": content}
    await window.send({"jsonrpc": "2.0", "id": form["id"], "result": answer})
    await window.response(turn)
    assert json.loads(window.texts()[-1])["answers"] == [["because"], ["r", "Blue"]]


@pytest.mark.parametrize("params", [{}, {"question": 7}, {"questions": []}, {"questions": ["x"]}])
async def test_a_question_without_one_is_refused(window, tmp_path, params):
    session = await window.new(tmp_path)
    await window.prompt(session, ["request", f"{EXT}request_question", params])
    assert "there must be something to ask" in window.texts()[-1]


async def test_a_question_is_cancelled_with_the_turn(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["request", f"{EXT}request_question", QUESTION])
    await window.wait(lambda m: m.get("method") == "elicitation/create")
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    assert json.loads(window.texts()[-1])["outcome"] == "cancelled"


async def test_a_new_title_is_told_to_an_agent_that_wants_to_know(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "knows")
    body = json.dumps({"title": "Better"})
    await jp_fetch("acp", "sessions", session, method="PATCH", body=body)
    await window.prompt(session, ["asked"])
    told = [p for method, p in json.loads(window.texts()[-1]) if method == f"{EXT}set_metadata"]
    assert [each["metadata"] for each in told] == [{"title": "Better"}]


async def test_what_is_said_of_a_closed_session_starts_nobody(window, acp, tmp_path):
    session = await window.new(tmp_path, "knows")
    await window.prompt(session, ["chunk", "x"])
    await window.result("session/close", {"sessionId": session})
    params = {"sessionId": session, "metadata": {"title": "Later", "mode": "b"}}
    await window.result(f"{EXT}set_metadata", params)
    public = (await acp.manager()).get(session).public()
    assert (public["state"], public["title"]) == ("closed", "Later")


async def test_an_agents_own_way_to_poll_is_left_to_it(window, tmp_path):
    session = await window.new(tmp_path, "knows")
    polled = await window.result(f"{EXT}events", {"sessionId": session, "after": "cursor-abc"})
    assert polled["events"] == ["theirs"]
