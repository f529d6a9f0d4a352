# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that end on their way back, and agents that confuse one with another."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3

import pytest
from acpclient import is_state, scripted
from steps import loading, saved, until

from jupyter_acp.sessions.agent_session import AgentSession

ENDS = {"close": {}, "delete": {}}
LOADS = {"loadSession": True, "sessionCapabilities": ENDS}
RESTORED = "_jupyter/session/restored"


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "slow-load": scripted(capabilities=LOADS, replay=20, replay_pause=0.15),
        "stubborn": scripted(capabilities={"sessionCapabilities": ENDS}, ignore=["session/close"]),
        "forgetful": scripted(capabilities=LOADS, session_ids=["same"]),
        "confused": scripted(
            capabilities={"sessionCapabilities": ENDS}, session_ids=["a", "b", "b"]
        ),
    }


async def state_of(window, session):
    listed = (await window.result("session/list", {}))["sessions"]
    (state,) = [
        entry["_meta"]["jupyter-acp"]["state"] for entry in listed if entry["sessionId"] == session
    ]
    return state


async def crashed(window, session):
    """Let the agent of a session end."""
    start = len(window.received)
    await window.prompt(session, ["exit", 1])
    await window.wait(is_state("disconnected"), start)


# Sessions that end


@pytest.mark.parametrize("how", ["close", "delete"])
async def test_a_session_that_is_ended_on_its_way_back_stays_so(window, acp, tmp_path, how):
    session = await window.new(tmp_path, "slow-load")
    await window.prompt(session, ["chunk", "before"])
    await crashed(window, session)
    manager = await acp.manager()
    behind, link = manager.get(session), manager.links.get("slow-load")
    turn = await window.start_prompt(session, ["chunk", "never"])
    await until(lambda: behind.transcript.gate is not None and behind.transcript.gate.stopped > 0)
    await window.result(f"session/{how}", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    # Answered when the agent is done with all that it was asked before.
    other = await window.new(tmp_path, "slow-load")
    await window.prompt(other, ["ended"])
    assert [method for method, _ in json.loads(window.texts()[-1])][:1] == ["session/close"]
    assert [each.id for each in link._sessions.values()] == [other]
    assert set(manager.services._tools._accesses) == {other}
    assert window.of(RESTORED) == []
    if how == "delete":
        assert await saved(acp, tmp_path) == ({other}, {other})
        return
    assert await state_of(window, session) == "closed"
    await window.prompt(session, ["chunk", "after"])
    assert window.texts()[-1] == "after" and await state_of(window, session) == "idle"


async def test_a_closed_session_is_not_brought_back_with_its_agent(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path)
    await crashed(window, session)
    await window.result("session/close", {"sessionId": session})
    await jp_fetch("acp", "agents", "scripted", "restart", method="POST", body="{}")
    assert await state_of(window, session) == "closed" and window.of(RESTORED) == []


async def test_a_prompt_does_not_open_what_is_being_closed(
    window, acp_connect, tmp_path, patience, monkeypatch
):
    session = await window.new(tmp_path, "stubborn")
    other = await acp_connect()
    tell, told, go = AgentSession.tell, asyncio.Event(), asyncio.Event()

    async def slowly(*args):
        told.set()
        await go.wait()
        await tell(*args)

    monkeypatch.setattr(AgentSession, "tell", slowly)
    closing = await window.start("session/close", {"sessionId": session})
    await asyncio.wait_for(told.wait(), 30)
    refused = await other.prompt(session, ["chunk", "never"])
    assert "is being closed" in refused["error"]["message"]
    go.set()
    await window.response(closing)
    assert await state_of(window, session) == "closed"
    await other.prompt(session, ["chunk", "opened again"])
    assert other.texts() == ["opened again"]


@pytest.mark.parametrize("how", ["close", "delete"])
async def test_a_session_is_ended_though_the_window_goes(
    window, acp, acp_connect, tmp_path, patience, how
):
    session = await window.new(tmp_path, "stubborn")
    await window.prompt(session, ["chunk", "PRIVATE"])
    hasty = await acp_connect()
    link = (await acp.manager()).links.get("stubborn")
    await hasty.start(f"session/{how}", {"sessionId": session})
    # The agent has been told, and lets it wait.
    await until(lambda: not link._sessions)
    await hasty.close()
    if how == "close":
        await window.wait(is_state("closed"))
    else:
        await window.wait(lambda m: m.get("method") == "_jupyter/sessions/removed")
        assert await saved(acp, tmp_path) == (set(), set())
    await until(lambda: acp._manager.services._tools._accesses == {})


async def test_what_the_journal_does_not_delete_is_still_there(window, acp, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["chunk", "kept"])
    await saved(acp, tmp_path)
    refuse = "CREATE TRIGGER no BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'no'); END"
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db:
        db.execute(refuse)
    assert "error" in await window.ask("session/delete", {"sessionId": session})
    assert await state_of(window, session) == "closed"
    # Neither the session nor the journal is any worse for it.
    await window.result("session/load", loading(session, tmp_path))
    await window.prompt(session, ["chunk", "more"])
    assert window.texts()[-2:] == ["kept", "more"]
    assert await saved(acp, tmp_path) == ({session}, {session})
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db:
        db.execute("DROP TRIGGER no")
    await window.result("session/delete", {"sessionId": session})
    assert await saved(acp, tmp_path) == (set(), set())


# Agents that repeat their ids


async def test_an_id_that_another_session_has_by_now(window, tmp_path):
    first = await window.new(tmp_path, "forgetful")
    await crashed(window, first)
    second = await window.new(tmp_path, "forgetful")
    # It cannot be loaded by its id any more: it begins anew, and leaves the other alone.
    await window.prompt(first, ["whoami"])
    await window.prompt(second, ["whoami"])
    mine, other = window.texts()
    assert other == "same" and mine != "same"
    assert [m["params"]["how"] for m in window.of(RESTORED)] == ["new"]


async def test_deleting_a_session_deletes_no_other_of_the_same_id(window, tmp_path):
    first = await window.new(tmp_path, "forgetful")
    await crashed(window, first)
    second = await window.new(tmp_path, "forgetful")
    await window.result("session/delete", {"sessionId": first})
    await window.prompt(second, ["ended"], ["whoami"])
    assert window.texts() == ["[]", "same"]
    await window.result("session/close", {"sessionId": second})
    third = await window.new(tmp_path, "forgetful")
    await window.result("session/delete", {"sessionId": second})
    await window.prompt(third, ["ended"])
    ended = [["session/close", "same"], ["session/delete", "same"]]
    assert json.loads(window.texts()[-1]) == ended


async def test_an_id_that_was_refused_is_not_kept(window, tmp_path):
    first = await window.new(tmp_path, "confused")
    second = await window.new(tmp_path, "confused")
    await window.result("session/close", {"sessionId": first})
    refused = await window.prompt(first, ["whoami"])
    assert "has given two sessions the same id" in refused["error"]["message"]
    await window.result("session/delete", {"sessionId": first})
    await window.prompt(second, ["ended"], ["whoami"])
    assert [json.loads(window.texts()[0]), window.texts()[1]] == [
        [["session/close", "a"], ["session/delete", "a"]],
        "b",
    ]


def plan(agent_session):
    """Return a line with an update."""
    params = {"sessionId": agent_session, "update": {"sessionUpdate": "plan", "entries": []}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}) + "\n"


async def test_what_an_agent_says_to_a_session_that_was_closed_is_not_kept(window, acp, tmp_path):
    first, second = await window.new(tmp_path), await window.new(tmp_path)
    await window.prompt(first, ["whoami"])
    (theirs,) = window.texts()
    await window.result("session/close", {"sessionId": first})
    await window.prompt(second, *[["raw", plan(theirs)]] * 3)
    link = (await acp.manager()).links.get("scripted")
    assert not link._early
    # What might still find its session is.
    await window.prompt(second, *[["raw", plan("nobody")]] * 3)
    assert len(link._early) == 3 and link._early_size == sum(size for size, _ in link._early)
