# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a window hears of sessions that it does not watch."""

from __future__ import annotations

import asyncio
import json

from jupyter_acp.sessions import notifier

CHANGED, REMOVED = "_jupyter/sessions/changed", "_jupyter/sessions/removed"


def changes(window, session):
    told = [message["params"]["session"] for message in window.of(CHANGED)]
    return [each for each in told if each["id"] == session]


def tells(session, **wanted):
    """Pick the message that says that a session is like this."""

    def fits(message):
        if message.get("method") != CHANGED:
            return False
        told = message["params"]["session"]
        return told["id"] == session and wanted.items() <= told.items()

    return fits


async def test_every_window_hears_what_becomes_of_a_session(window, acp_connect, tmp_path):
    other = await acp_connect()
    session = await window.new(tmp_path)
    for listener in (window, other):
        await listener.wait(tells(session, state="idle", agent="scripted", cwd=str(tmp_path)))
    turn = await window.start_prompt(session, ["ask"])
    await other.wait(tells(session, state="running", waiting=1))
    request = await window.wait(lambda m: m.get("method") == "session/request_permission")
    outcome = {"outcome": {"outcome": "cancelled"}}
    await window.send({"jsonrpc": "2.0", "id": request["id"], "result": outcome})
    await window.response(turn)
    await other.wait(tells(session, state="idle", waiting=0, stopReason="end_turn", failed=False))
    await window.prompt(session, ["fail", -32000, "no credit"])
    await other.wait(tells(session, state="idle", failed=True, error="no credit"))
    # It watches none of them.
    assert other.updates("agent_message_chunk") == []


async def test_a_new_name_and_the_end_are_told(window, acp_connect, tmp_path, jp_fetch):
    other = await acp_connect()
    session = await window.new(tmp_path)
    body = json.dumps({"title": "Another name"})
    await jp_fetch("acp", "sessions", session, method="PATCH", body=body)
    await other.wait(tells(session, title="Another name"))
    await jp_fetch("acp", "sessions", session, method="DELETE")
    gone = await other.wait(lambda m: m.get("method") == REMOVED)
    assert gone["params"] == {"sessionId": session}
    assert other.received.index(gone) > other.received.index(other.of(CHANGED)[-1])


async def test_a_busy_session_is_told_of_once_an_interval(
    window, acp, acp_connect, tmp_path, monkeypatch
):
    other = await acp_connect()
    session = await window.new(tmp_path)
    title = {"sessionUpdate": "session_info_update", "title": "again"}
    await other.wait(tells(session, state="idle"))
    # Longer than any machine takes for it.
    monkeypatch.setattr(notifier, "INTERVAL", 3600)
    manager = await acp.manager()
    while manager._notifier._timer is not None:
        await asyncio.sleep(0.01)
    before = len(changes(other, session))
    await window.prompt(session, *[["update", title]] * 500, ["flood", 5000, 50])
    manager._notifier._tell_changes()
    await other.wait(tells(session, state="idle", stopReason="end_turn"))
    assert len(changes(other, session)) - before == 1


async def test_how_the_last_turn_ended_outlives_its_agent(window, tmp_path):
    done, failed = await window.new(tmp_path), await window.new(tmp_path)
    await window.prompt(done, ["chunk", "well"])
    await window.prompt(failed, ["exit", 1])
    # The same agent had both of them, but only one was at work.
    await window.wait(tells(done, state="disconnected", failed=False, stopReason="end_turn"))
    await window.wait(tells(failed, state="disconnected", failed=True, stopReason=None))


async def test_a_window_that_has_detached_is_sent_no_more(window, acp_connect, tmp_path):
    other = await acp_connect()
    session = await window.new(tmp_path)
    await other.attach(session)
    await window.prompt(session, ["chunk", "one"])
    await other.wait(lambda m: other.texts() == ["one"])
    await other.notify("_jupyter/session/detach", {"sessionId": session})
    await other.result("session/list")
    await window.prompt(session, ["chunk", "two"])
    await other.wait(tells(session, state="idle", seq=window.seqs(session)[-1]))
    assert other.texts() == ["one"]
    await other.attach(session)
    await other.wait(lambda m: other.texts() == ["one", "one", "two"])


async def test_a_stock_client_hears_nothing_of_it(acp_connect, tmp_path):
    stock = await acp_connect(ndjson=False)
    ours = await acp_connect()
    session = await stock.new(tmp_path)
    await stock.prompt(session, ["chunk", "hi"])
    await ours.wait(tells(session, stopReason="end_turn"))
    assert {message.get("method") for message in stock.received} == {None, "session/update"}
