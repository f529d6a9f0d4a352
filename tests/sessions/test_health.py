# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents whose sessions a cancelled turn has broken: the next message goes to a new one."""

from __future__ import annotations

import json

import orjson
import pytest
from acpclient import is_state, scripted

from jupyter_acp.sessions import health

CLOSES = {"sessionCapabilities": {"close": {}, "resume": {}}, "loadSession": True}
RESTORED = "_jupyter/session/restored"
BUSY = ["update", {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "sleep 60"}]


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "closes": scripted(capabilities=CLOSES),
        "forgetful": scripted(session_id="always this one"),
    }


async def stop(window, session, *steps):
    """Run a turn, and cancel it in the middle."""
    start = len(window.received)
    turn = await window.start_prompt(session, *steps)
    await window.wait(lambda m: "sleep 60" in json.dumps(m) and "tool_call" in json.dumps(m), start)
    await window.notify("session/cancel", {"sessionId": session})
    return turn


async def broken_session(window, tmp_path, agent=None):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"], ["whoami"])
    first = window.texts()[-1]
    await window.response(await stop(window, session, ["break"], BUSY, ["until_cancel"]))
    return session, first


async def test_the_next_message_after_one_that_was_put_off_goes_to_a_new_session(window, tmp_path):
    session, first = await broken_session(window, tmp_path)
    put_off = await window.prompt(session, ["chunk", "the one that got stuck"])
    assert put_off["result"]["stopReason"] == "end_turn"
    assert window.texts()[-1] == "Queued for the next turn. (1 queued)"
    assert window.of(RESTORED) == []
    await window.prompt(session, ["whoami"], ["prompt"])
    *_, who, prompt = window.texts()
    assert who != first
    (restored,) = window.of(RESTORED)
    assert restored["params"]["how"] == "new"
    assert "put your last message off since a turn was stopped" in restored["params"]["message"]
    told = json.loads(prompt)[0]["text"]
    assert "Agent: before" in told and "Tool: sleep 60" in told
    # What was put off is told as such; that it was, is not.
    stuck = told.index("the one that got stuck")
    assert told.index("(This has not been answered.") > stuck
    assert "Queued for" not in told
    # It works from then on, and remembers.
    start = len(window.received)
    await window.prompt(session, ["whoami"], ["prompt"])
    assert window.texts()[-2] == who
    assert len(json.loads(window.texts()[-1])) == 1
    assert not [m for m in window.received[start:] if m.get("method") == RESTORED]


async def test_an_agent_that_gives_each_session_the_same_name_is_asked_once(window, tmp_path):
    session, _ = await broken_session(window, tmp_path, "forgetful")
    await window.prompt(session, ["chunk", "x"])
    for _ in range(2):
        await window.prompt(session, ["chunk", "y"])
    assert len(window.of(RESTORED)) == 1


async def test_the_session_that_was_left_is_closed_and_hears_nothing_more(window, tmp_path):
    session, first = await broken_session(window, tmp_path, "closes")
    await window.prompt(session, ["chunk", "x"])
    await window.prompt(session, ["ended"])
    assert ["session/close", first] in json.loads(window.texts()[-1])
    late = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "late"}}
    message = {"jsonrpc": "2.0", "method": "session/update"}
    raw = json.dumps({**message, "params": {"sessionId": first, "update": late}}) + "\n"
    await window.prompt(session, ["raw", raw], ["chunk", "mine"])
    assert window.texts()[-1] == "mine" and "late" not in window.texts()


async def test_an_agent_that_goes_on_after_a_cancel_keeps_its_session(window, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["whoami"])
    await window.response(await stop(window, session, BUSY, ["until_cancel"]))
    # An answer that begins with that word, but is one: something was done for it.
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}
    await window.prompt(session, ["update", thought], ["chunk", "Queued jobs: none."])
    await window.prompt(session, ["whoami"])
    # Without a cancel right before it, it is an answer, too.
    await window.prompt(session, ["chunk", "Queued: 3 jobs."])
    await window.prompt(session, ["whoami"])
    # Nor is the cancel right before it if another turn has failed meanwhile.
    await window.response(await stop(window, session, BUSY, ["until_cancel"]))
    await window.prompt(session, ["fail", -32000, "out of quota"])
    await window.prompt(session, ["chunk", "Queued: 3 jobs."])
    await window.prompt(session, ["whoami"])
    texts = window.texts()
    assert texts[0] == texts[-1] == texts[2]
    assert window.of(RESTORED) == []


async def test_a_cancel_before_the_agent_was_asked_tells_nothing(window, tmp_path):
    session = await window.new(tmp_path)
    first = await window.start_prompt(session, ["whoami"], ["sleep", 0.5])
    waiting = await window.start_prompt(session, ["chunk", "never"])
    await window.send(
        {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": waiting}}
    )
    await window.response(waiting)
    await window.response(first)
    await window.prompt(session, ["chunk", "Queued."])
    await window.prompt(session, ["whoami"])
    assert window.texts()[0] == window.texts()[-1]
    assert window.of(RESTORED) == []


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(health, "PATIENCE", 0.2)


@pytest.mark.parametrize("how", ["message", "cancel", "message before"])
async def test_a_turn_that_the_agent_never_ends_is_ended(window, tmp_path, impatient, how):
    session = await window.new(tmp_path, "closes")
    await window.prompt(session, ["whoami"])
    first = window.texts()[-1]
    after = (["whoami"], ["prompt"])
    if how == "message before":
        stuck = await window.start_prompt(session, ["chunk", "hello"], ["never"])
        await window.wait(lambda m: "hello" in json.dumps(m.get("params", {}).get("update", {})))
        following = await window.start_prompt(session, *after)
        await window.send(
            {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": stuck}}
        )
    else:
        stuck = await stop(window, session, ["chunk", "hello"], BUSY, ["never"])
    if how == "message":
        following = await window.start_prompt(session, *after)
    if how == "cancel":
        await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(stuck))["result"]["stopReason"] == "cancelled"
    if how == "cancel":
        following = await window.start_prompt(session, *after)
    await window.response(following)
    *_, who, prompt = window.texts()
    assert who != first
    notices = [m["params"]["message"] for m in window.of("_jupyter/session/notice")]
    assert [each for each in notices if "did not end the turn that was stopped" in each]
    (restored,) = window.of(RESTORED)
    assert restored["params"]["how"] == "new"
    assert "hello" in json.loads(prompt)[0]["text"]


async def test_nobody_is_given_up_who_was_cancelled_once(window, acp, tmp_path, impatient):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["chunk", "go"], ["until_cancel"], ["sleep", 1])
    await window.wait(lambda m: "go" in json.dumps(m.get("params", {}).get("update", {})))
    await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    await window.prompt(session, ["chunk", "on"])
    assert window.of(RESTORED) == []
    assert is_state("running")(window.of("_jupyter/session/state")[-2])


def said(*updates, method="session/update"):
    return [
        orjson.dumps({"jsonrpc": "2.0", "method": method, "params": {"update": update}})
        for update in updates
    ]


def text(*texts, kind="agent_message_chunk"):
    return [{"sessionUpdate": kind, "content": {"type": "text", "text": each}} for each in texts]


@pytest.mark.parametrize(
    "updates",
    [
        text("Queued for the next turn. (1 queued)"),
        text("Que", "ued."),
        text("⏳ Your message has been queued."),
        text("Message queued"),
        text("Enqueued"),
        [*text("Queued"), {"sessionUpdate": "session_info_update", "title": "x"}],
        [{"sessionUpdate": "tool_call_update", "toolCallId": "old"}, *text("Queued")],
    ],
)
def test_what_puts_a_prompt_off(updates):
    ours = said(None, method="_jupyter/session/state")
    assert health.is_put_off(
        [*said(*text("do it", kind="user_message_chunk")), *said(*updates), *ours]
    )


@pytest.mark.parametrize(
    "updates",
    [
        [],
        text("It is queued."),
        text("The queue is empty."),
        text("Queues are first in, first out."),
        text("Queued " + "x" * health.LONGEST),
        [*text("Queued"), *text("hm", kind="agent_thought_chunk")],
        [*text("Queued"), {"sessionUpdate": "tool_call", "toolCallId": "t"}],
        [*text("Queued"), {"sessionUpdate": "plan", "entries": []}],
        [*text("Queued"), {"sessionUpdate": "usage_update"}],
        [*text("Queued"), {"odd": 1}],
        [*text("Queued"), None],
    ],
)
def test_what_is_an_answer(updates):
    assert not health.is_put_off(said(*updates))


@pytest.mark.parametrize(
    "method",
    [
        "_jupyter/session/notice",
        "_jupyter/session/model",
        "_jupyter/session/servers",
        "_jupyter/prompt/context",
        "_jupyter/permission_resolved",
        "_jupyter/terminal/output",
        "_jupyter/terminal/exit",
    ],
)
def test_what_comes_by_itself_or_from_the_turn_before_is_no_answer(method):
    assert health.is_put_off([*said(*text("Queued")), *said(None, method=method)])


@pytest.mark.parametrize(
    ("status", "is_put_off"), [("in_progress", False), ("completed", True), ("failed", True)]
)
def test_a_tool_that_ends_is_no_answer(status, is_put_off):
    params = {"name": "run_cell", "status": status}
    tool = orjson.dumps({"jsonrpc": "2.0", "method": "_jupyter/tool", "params": params})
    assert health.is_put_off([*said(*text("Queued")), tool]) is is_put_off


@pytest.mark.parametrize("method", ["_jupyter/file/changed", "_jupyter/terminal/created"])
def test_what_was_done_in_between_is_an_answer(method):
    assert not health.is_put_off([*said(*text("Queued")), *said(None, method=method)])


def test_nothing_is_an_answer_as_well():
    assert not health.is_put_off([b""])
