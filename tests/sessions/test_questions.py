# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Permission requests: they wait for a person, the first answer wins, nothing is ever assumed."""

from __future__ import annotations

import asyncio
import json

import pytest
from acpclient import is_state

ASK = "session/request_permission"
YES = {"outcome": {"outcome": "selected", "optionId": "yes"}}
NO = {"outcome": {"outcome": "selected", "optionId": "no"}}


def is_question(message):
    return message.get("method") == ASK


async def answer(client, question, result):
    await client.send({"jsonrpc": "2.0", "id": question["id"], "result": result})


def outcome(client):
    """What the agent was told."""
    return json.loads(client.texts()[-1])


async def test_the_answer_reaches_the_agent(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["chunk", "before"], ["ask"])
    question = await window.wait(is_question)
    assert question["params"]["sessionId"] == session
    assert window.texts() == ["before"], "the question overtook an update"
    await answer(window, question, NO)
    await window.response(turn)
    assert outcome(window) == NO
    (resolved,) = window.of("_jupyter/permission_resolved")
    assert resolved["params"]["requestId"] == question["id"]
    assert resolved["params"]["outcome"] == NO["outcome"]
    assert resolved["params"]["request"]["params"]["toolCall"]["title"] == "do it"


async def test_first_answer_wins_and_the_others_are_told(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    other = await acp_connect()
    await other.attach(session)
    turn = await window.start_prompt(session, ["ask"])
    mine, theirs = await window.wait(is_question), await other.wait(is_question)
    assert mine["id"] == theirs["id"]
    await answer(other, theirs, YES)
    await window.response(turn)
    for client in (window, other):
        resolved = await client.wait(lambda m: m.get("method") == "_jupyter/permission_resolved")
        assert resolved["params"]["requestId"] == mine["id"]
    await answer(window, mine, NO)
    await window.prompt(session, ["chunk", "more"])
    assert [json.loads(t) for t in window.texts() if "outcome" in t] == [YES]


async def test_a_stock_client_is_told_by_a_cancel_request(acp_connect, window, tmp_path):
    session = await window.new(tmp_path)
    stock = await acp_connect(ndjson=False)
    await stock.result("session/resume", {"sessionId": session, "cwd": str(tmp_path)})
    turn = await window.start_prompt(session, ["ask"])
    question = await stock.wait(is_question)
    await answer(window, await window.wait(is_question), YES)
    await window.response(turn)
    cancel = await stock.wait(lambda m: m.get("method") == "$/cancel_request")
    assert cancel["params"] == {"requestId": question["id"]}


async def test_without_a_window_it_waits_and_is_delivered_again(acp, acp_connect, tmp_path):
    first = await acp_connect()
    session = await first.new(tmp_path)
    await first.start_prompt(session, ["sleep", 0.3], ["ask"], ["chunk", "done"])
    await first.wait(is_state("running"))
    await first.close()
    behind = (await acp.manager()).get(session)
    for _ in range(600):
        if behind.pending:
            break
        await asyncio.sleep(0.05)
    second = await acp_connect()
    attached = await second.attach(session)
    assert attached["state"] == "running" and len(attached["pending"]) == 1
    question = await second.wait(is_question)
    assert [question["id"]] == attached["pending"]
    assert second.texts() == [], "something was decided while nobody was there"
    await answer(second, question, YES)
    await second.wait(is_state("idle"))
    third = await acp_connect()
    assert (await third.attach(session))["pending"] == []
    await third.wait(is_state("idle"))
    assert third.of(ASK) == []
    assert json.loads(third.texts()[0]) == YES


@pytest.mark.parametrize(
    "nonsense",
    [
        {},
        None,
        "yes",
        {"outcome": "selected"},
        {"outcome": {"outcome": "selected"}},
        {"outcome": {"outcome": "selected", "optionId": "allow_everything"}},
        {"outcome": {"outcome": "allowed", "optionId": "yes"}},
    ],
)
async def test_an_answer_that_makes_no_sense_decides_nothing(
    window, tmp_path, acp_connect, nonsense
):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["ask"])
    await answer(window, await window.wait(is_question), nonsense)
    other = await acp_connect()
    assert len((await other.attach(session))["pending"]) == 1
    await answer(other, await other.wait(is_question), NO)
    await window.response(turn)
    assert outcome(window) == NO


async def test_cancel_answers_what_is_pending(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["ask"])
    await window.wait(is_question)
    await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    assert outcome(window) == {"outcome": {"outcome": "cancelled"}}
    (resolved,) = window.of("_jupyter/permission_resolved")
    assert resolved["params"]["outcome"] == {"outcome": "cancelled"}


async def test_a_crash_takes_its_questions_with_it(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["ask_and_die"])
    question = await window.wait(is_question)
    await window.response(turn)
    (resolved,) = window.of("_jupyter/permission_resolved")
    assert resolved["params"]["requestId"] == question["id"]
    assert resolved["params"]["outcome"] == {"outcome": "cancelled"}
    other = await acp_connect()
    assert (await other.attach(session))["pending"] == []


async def test_a_window_that_cannot_ask_is_no_answer_while_another_can(
    window, acp_connect, tmp_path
):
    session = await window.new(tmp_path)
    other = await acp_connect()
    await other.attach(session)
    turn = await window.start_prompt(session, ["ask"])
    question = await window.wait(is_question)
    error = {"code": -32601, "message": "Method not found"}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "error": error})
    await answer(other, await other.wait(is_question), YES)
    await window.response(turn)
    assert outcome(window) == YES


async def test_if_no_window_can_ask_the_agent_is_told_so(window, tmp_path):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["ask"])
    question = await window.wait(is_question)
    error = {"code": -32601, "message": "Method not found"}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "error": error})
    await window.response(turn)
    assert outcome(window)["code"] == -32601


async def test_elicitation_takes_the_same_way(window, tmp_path):
    session = await window.new(tmp_path)
    form = {"mode": "form", "message": "Which?", "requestedSchema": {"type": "object"}}
    turn = await window.start_prompt(session, ["request", "elicitation/create", form])
    question = await window.wait(lambda m: m.get("method") == "elicitation/create")
    accepted = {"action": "accept", "content": {"a": 1}}
    await answer(window, question, accepted)
    await window.response(turn)
    assert outcome(window) == accepted


async def test_what_was_done_in_the_browser_is_told_where_it_was_asked(window, tmp_path):
    session, other = await window.new(tmp_path), await window.new(tmp_path)
    url = {"mode": "url", "message": "Log in", "url": "https://example.org", "elicitationId": "e1"}
    turn = await window.start_prompt(session, ["request", "elicitation/create", url])
    question = await window.wait(lambda m: m.get("method") == "elicitation/create")
    await answer(window, question, {"action": "accept"})
    await window.response(turn)
    # By its name only, whichever session the agent is at work in; and nobody knows other names.
    for id in ("e2", "e1", "e1"):
        await window.prompt(other, ["notify", "elicitation/complete", {"elicitationId": id}])
    notices = [m["params"] for m in window.of("_jupyter/session/notice")]
    done = [each for each in notices if "in the browser is done" in each["message"]]
    assert [each["sessionId"] for each in done] == [session]
