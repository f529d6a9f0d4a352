# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What clients get and are asked, by what they have said that they can take."""

from __future__ import annotations

import asyncio
import json

import orjson
import pytest
from acpclient import scripted

from jupyter_acp.sessions.sandboxagent_extension import as_form_answer, as_question
from jupyter_acp.windows.client_capabilities import Client

EXT = "_sandboxagent/session/"
OPTIONAL = ["notice", "compaction_update", "compaction_summary_chunk"]
CHOICE = {"type": "string", "title": "Station", "enum": ["Kew", "Oxford"]}


def form(**fields):
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return {"mode": "form", "message": "Which?", "requestedSchema": schema}


def extension(**names):
    return {"_meta": {"sandboxagent.dev": {"extensions": names}}}


@pytest.fixture
def acp_agents():
    logins = [
        {"id": "browser", "name": "Browser"},
        {"id": "cli", "name": "Terminal", "type": "terminal", "args": ["login"]},
    ]
    return {"scripted": scripted(auth_methods=logins)}


@pytest.fixture
def stock(acp_connect, jp_asyncio_loop):
    """Connect a client that has not heard of us, with capabilities, and what it was told of them."""

    async def connect(**capabilities):
        client = await acp_connect(ndjson=False, initialize=False)
        params = {"protocolVersion": 1, "clientCapabilities": capabilities}
        client.initialized = await client.result("initialize", params)
        return client

    return connect


def is_question(message):
    return message.get("method") in (f"{EXT}request_question", "elicitation/create")


def asked(client):
    return [message["method"] for message in client.received if is_question(message)]


async def answer(client, question, result):
    await client.send({"jsonrpc": "2.0", "id": question["id"], "result": result})


async def pending(acp, session, count=1):
    behind = (await acp.manager()).get(session)
    for _ in range(600):
        if len(behind.pending) == count:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"not {count} questions are open")


# Updates


@pytest.mark.parametrize(
    ("session", "wanted"),
    [
        (None, []),
        ({"notices": None, "compaction": False}, []),
        ({"notices": {}}, OPTIONAL[:1]),
        ({"compaction": {}}, OPTIONAL[1:]),
        ({"notices": {}, "compaction": {}}, OPTIONAL),
    ],
)
async def test_updates_that_a_client_has_to_ask_for(stock, acp_connect, tmp_path, session, wanted):
    client = await stock(session=session)
    id = await client.new(tmp_path)
    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "rawInput": {"sessionUpdate": "notice"},
    }
    updates = [{"sessionUpdate": kind, "compactionId": "c"} for kind in OPTIONAL]
    steps = [["update", each] for each in [*updates, call]]
    # Nor is it known by any other spelling.
    update = '{"sessionUpdate": "noti\\u0063e", "title": "x"}'
    raw = f'{{"jsonrpc": "2.0", "method": "session/update", "params": {{"sessionId": "%s", "update": {update}}}}}\n'
    await client.prompt(id, ["whoami"])
    agent_session = client.texts()[-1]
    await client.prompt(id, *steps, ["raw", raw % agent_session], ["chunk", "end"])
    kinds = [m["params"]["update"]["sessionUpdate"] for m in client.of("session/update")]
    spelt = ["notice"] if "notice" in wanted else []
    got = [kind for kind in kinds if kind in [*OPTIONAL, "tool_call"]]
    assert got == [*wanted, "tool_call", *spelt]
    assert client.texts()[-1] == "end"
    # What is replayed is no different.
    later = await stock(session=session)
    await later.result("session/load", {"sessionId": id, "cwd": str(tmp_path), "mcpServers": []})
    replayed = [m["params"]["update"]["sessionUpdate"] for m in later.of("session/update")]
    assert [kind for kind in replayed if kind in [*OPTIONAL, "tool_call"]] == got
    # One that knows us gets all of it.
    ours = await acp_connect()
    await ours.attach(id)
    await ours.wait(lambda m: "end" in json.dumps(m))
    assert [m for kind in OPTIONAL for m in ours.updates(kind)]


def test_what_only_looks_like_an_optional_update_is_sent():
    nested = {"sessionUpdate": "tool_call", "rawInput": {"sessionUpdate": "notice"}}
    hidden = {"a": {"sessionUpdate": "plan_removed"}, "sessionUpdate": "notice"}
    for update, is_taken in ((nested, True), (hidden, False)):
        message = {"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}
        assert Client({}).takes(orjson.dumps(message)) is is_taken
    ours = b'{"jsonrpc":"2.0","method":"_jupyter/session/state","params":{}}'
    assert not Client({}).takes(ours)


async def test_a_login_in_a_terminal_is_offered_to_those_who_have_one(stock):
    for capabilities, offered in (
        ({}, ["browser"]),
        ({"auth": {"terminal": False}}, ["browser"]),
        ({"auth": {"terminal": True}}, ["browser", "cli"]),
    ):
        client = await stock(**capabilities)
        assert [each["id"] for each in client.initialized["authMethods"]] == offered


# Questions


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": None}, {"elicitation": {"url": {}}}])
async def test_who_knows_no_forms_is_not_asked_and_the_question_waits(
    stock, acp, tmp_path, capabilities
):
    client = await stock(**capabilities)
    id = await client.new(tmp_path)
    turn = await client.start_prompt(id, ["request", "elicitation/create", form(a=CHOICE)])
    await pending(acp, id)
    assert asked(client) == []
    # Somebody who can be asked comes.
    able = await stock(elicitation={"form": {}})
    await able.result("session/resume", {"sessionId": id, "cwd": str(tmp_path)})
    question = await able.wait(is_question)
    await answer(able, question, {"action": "accept", "content": {"a": "Kew"}})
    assert (await client.response(turn))["result"]["stopReason"] == "end_turn"
    assert json.loads(client.texts()[-1])["content"] == {"a": "Kew"}
    assert asked(client) == []
    assert client.of("$/cancel_request") == []


async def test_forms_and_addresses_are_offered_apart(stock, acp, tmp_path):
    url = {"mode": "url", "message": "Log in", "url": "https://e.org", "elicitationId": "e"}
    other = {"mode": "_mine", "message": "?"}
    for capability, sent in (("form", form(a=CHOICE)), ("url", url)):
        client = await stock(elicitation={capability: {}})
        id = await client.new(tmp_path)
        for question in (form(a=CHOICE), url, other):
            turn = await client.start_prompt(id, ["request", "elicitation/create", question])
            await pending(acp, id)
            await client.notify("session/cancel", {"sessionId": id})
            await client.response(turn)
            assert json.loads(client.texts()[-1]) == {"action": "cancel"}
        (got,) = [m for m in client.received if is_question(m)]
        assert got["params"]["mode"] == sent["mode"]


async def test_a_cancel_answers_a_question_that_nobody_could_be_asked(stock, acp, tmp_path):
    client = await stock()
    id = await client.new(tmp_path)
    params = {"question": "Why?"}
    turn = await client.start_prompt(id, ["request", f"{EXT}request_question", params])
    await pending(acp, id)
    await client.notify("session/cancel", {"sessionId": id})
    assert (await client.response(turn))["result"]["stopReason"] == "cancelled"
    assert json.loads(client.texts()[-1])["outcome"] == "cancelled"
    assert asked(client) == []


async def test_of_those_who_can_be_asked_all_must_refuse(stock, acp, tmp_path):
    client, able = await stock(), await stock(elicitation={"form": {}})
    id = await client.new(tmp_path)
    await able.result("session/resume", {"sessionId": id, "cwd": str(tmp_path)})
    turn = await client.start_prompt(id, ["request", "elicitation/create", form(a=CHOICE)])
    question = await able.wait(is_question)
    error = {"code": -32601, "message": "Method not found"}
    await able.send({"jsonrpc": "2.0", "id": question["id"], "error": error})
    await client.response(turn)
    assert json.loads(client.texts()[-1])["code"] == -32601


QUESTION = {"question": "Which one?", "options": ["red", "blue"], "questionId": "q7", "own": 1}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            {"outcome": "answered", "answers": [["blue"]]},
            {"outcome": "answered", "answers": [["blue"]]},
        ),
        ({"status": "answered", "answers": ["red"]}, {"outcome": "answered", "answers": [["red"]]}),
        ({"outcome": "rejected"}, {"outcome": "rejected"}),
        ({"outcome": "cancelled"}, {"outcome": "cancelled"}),
    ],
)
async def test_a_question_goes_through_in_its_own_words(stock, tmp_path, reply, expected):
    client = await stock(elicitation={"form": {}}, **extension(requestQuestion=True))
    id = await client.new(tmp_path)
    turn = await client.start_prompt(id, ["request", f"{EXT}request_question", QUESTION])
    question = await client.wait(is_question)
    assert question["method"] == f"{EXT}request_question"
    params = question["params"]
    assert {key: params[key] for key in QUESTION} == QUESTION
    assert params["sessionId"] == id
    await answer(client, question, reply)
    await client.response(turn)
    got = json.loads(client.texts()[-1])
    assert {key: got[key] for key in got if key != "_meta"} == expected
    kept = {"questionId": "q7", "options": ["red", "blue"], "status": expected["outcome"]}
    assert got["_meta"]["sandboxagent.dev"] == kept


async def test_two_clients_are_asked_each_in_its_words(stock, acp_connect, tmp_path):
    client, ours = await stock(**extension(requestQuestion=True)), await acp_connect()
    id = await client.new(tmp_path)
    await ours.attach(id)
    turn = await client.start_prompt(id, ["request", f"{EXT}request_question", QUESTION])
    theirs, mine = await client.wait(is_question), await ours.wait(is_question)
    assert theirs["id"] == mine["id"]
    assert [theirs["method"], mine["method"]] == [f"{EXT}request_question", "elicitation/create"]
    await answer(client, theirs, {"outcome": "answered", "answers": [["blue"]]})
    await client.response(turn)
    resolved = await ours.wait(lambda m: m.get("method") == "_jupyter/permission_resolved")
    assert resolved["params"]["outcome"]["content"] == {"answer1": "blue"}


async def test_a_form_that_fits_is_asked_as_a_question(stock, tmp_path):
    client = await stock(**extension(requestQuestion=True))
    id = await client.new(tmp_path)
    turn = await client.start_prompt(id, ["request", "elicitation/create", form(a=CHOICE)])
    question = await client.wait(is_question)
    assert question["method"] == f"{EXT}request_question"
    assert question["params"]["question"] == "Which?\nStation"
    offered = question["params"]["options"]
    assert offered == [{"id": name, "label": name} for name in CHOICE["enum"]]
    # What was not offered is no answer: the question stays open.
    await answer(client, question, {"outcome": "answered", "answers": [["Rome"]]})
    other = await stock(**extension(requestQuestion=True))
    await other.result("session/resume", {"sessionId": id, "cwd": str(tmp_path)})
    again = await other.wait(is_question)
    assert again["id"] == question["id"]
    await answer(other, again, {"outcome": "answered", "answers": [["Oxford"]]})
    await client.response(turn)
    assert json.loads(client.texts()[-1]) == {"action": "accept", "content": {"a": "Oxford"}}


async def test_who_has_forms_gets_the_form(stock, tmp_path):
    client = await stock(elicitation={"form": {}}, **extension(requestQuestion=True))
    id = await client.new(tmp_path)
    turn = await client.start_prompt(id, ["request", "elicitation/create", form(a=CHOICE)])
    question = await client.wait(is_question)
    assert question["method"] == "elicitation/create"
    await answer(client, question, {"action": "decline"})
    await client.response(turn)
    assert json.loads(client.texts()[-1]) == {"action": "decline"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"a": CHOICE, "b": CHOICE},
        {"a": {"type": "boolean"}},
        {"a": {"type": "integer"}},
        {"a": {"type": "array", "items": {"enum": ["x"]}}},
        {"a": {"type": "string", "format": "email"}},
        {"a": {"type": "string", "maxLength": 3}},
    ],
)
def test_a_form_that_asks_for_more_has_no_words_in_the_extension(fields):
    assert as_question({"sessionId": "s", **form(**fields)}) is None


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "blue",
        {},
        {"outcome": "allowed"},
        {"action": "accept", "content": {"a": "Rome"}},
        {"outcome": {"outcome": "answered"}, "answers": [["Kew"]]},
        {"outcome": "answered"},
        {"outcome": "answered", "answers": "Kew"},
        {"outcome": "answered", "answers": []},
        {"outcome": "answered", "answers": [[]]},
        {"outcome": "answered", "answers": [["Kew", "Oxford"]]},
        {"outcome": "answered", "answers": [["Kew"], ["Kew"]]},
        {"outcome": "answered", "answers": [[["Kew"]]]},
        {"outcome": "answered", "answers": [[1]]},
    ],
)
def test_what_is_no_answer_becomes_none(reply):
    assert as_form_answer(form(a=CHOICE), reply) == {}


# Metadata


async def test_metadata_is_told_to_those_who_want_it(stock, tmp_path):
    client, plain = await stock(**extension(sessionMetadata=True)), await stock()
    id = await client.new(tmp_path)
    await plain.result("session/resume", {"sessionId": id, "cwd": str(tmp_path)})
    params = {"sessionId": id, "metadata": {"skills": ["a"]}}
    await client.result(f"{EXT}set_metadata", params)
    # The same once more is no change.
    await client.result(f"{EXT}set_metadata", params)
    title = {"sessionUpdate": "session_info_update", "title": "Named"}
    update = {"metadata": {"variant": "high", "title": "Theirs"}}
    await client.prompt(id, ["update", title], ["notify", f"{EXT}metadata_update", update])
    told = [m["params"] for m in client.of(f"{EXT}metadata_update")]
    assert {each["sessionId"] for each in told} == {id}
    first = json.dumps([["update", title], ["notify", f"{EXT}metadata_update", update]])[:80]
    assert [each["metadata"] for each in told] == [
        {"skills": ["a"]},
        {"skills": ["a"], "title": first},
        {"skills": ["a"], "title": "Named"},
        {"skills": ["a"], "variant": "high", "title": "Theirs"},
    ]
    assert plain.of(f"{EXT}metadata_update") == []
