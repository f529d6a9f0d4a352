# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents repeat when they load, resume or fork a session: nothing appears twice."""

from __future__ import annotations

import asyncio
import json
import sqlite3

import pytest
from acpclient import scripted
from hypothesis import given
from hypothesis import strategies as st

from jupyter_acp.history.replay_gate import FirstRound, ReplayGate, count_user_messages

USER = "user_message_chunk"
AGENT = "agent_message_chunk"
LOADS = {"loadSession": True}
RESUMES = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
NOTICE = {"sessionUpdate": "notice", "severity": "info", "title": "Your plan ends soon."}
OFFER = "_jupyter/session/reload"


def said(kind, text="", id=None, **fields):
    ids = {"toolCallId" if "tool" in kind else "messageId": id} if id else {}
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": kind, "content": content, **ids, **fields}}


def first_round(*told):
    rounds = FirstRound()
    return [each for params in told for each in rounds.take(params)] + rounds.rest()


PAST = [
    said(USER, "one", "u1"),
    said("agent_thought_chunk", "hm", "a1"),
    said(AGENT, "first", "a1"),
    said("tool_call", id="c1"),
    said("tool_call_update", id="c1"),
    said(AGENT, " and more", "a1"),
    said(USER, "two", "u2"),
    said("tool_call", id="c2"),
    said(AGENT, "second", "a2"),
    # A call of an earlier message may end late.
    said("tool_call_update", id="c1"),
]
WITHOUT_USERS_IDS = [
    said(USER, params["update"]["content"]["text"])
    if params["update"]["sessionUpdate"] == USER
    else params
    for params in PAST
]


@pytest.mark.parametrize("past", [PAST, WITHOUT_USERS_IDS])
@given(cut=st.integers(0, 10), times=st.integers(0, 2))
def test_a_second_round_is_known_by_its_ids(past, cut, times):
    assert first_round(*past, *(past * times), *past[:cut]) == (
        # The last message is told before anything shows whether it is one of the first round.
        [*past, past[0]] if cut == 1 and times == 0 and past is WITHOUT_USERS_IDS else past
    )


def test_without_ids_all_is_kept():
    past = [said(USER, "again"), said(AGENT, "yes")] * 2
    assert first_round(*past) == past


def test_user_messages_are_counted_once_each():
    gate = ReplayGate()
    for params in [
        *(said(USER, "one"), said(USER, " and a half"), said(AGENT, "yes")),
        *(said(USER, "[Request interrupted by user]"), said(AGENT, "no")),
        *(said(USER, "one"), said(USER, " and a half"), said(AGENT, "yes")),
        said(USER, "two"),
    ]:
        gate.take(params)
    assert gate.user_messages == 2
    assert gate.stopped == 9


def test_user_messages_of_the_journal_are_counted():
    def line(update, **mark):
        meta = {"jupyter-acp": {"seq": 1, **mark}}
        params = {"update": update, "_meta": meta}
        return (
            json.dumps({"method": "session/update", "params": params}).replace(": ", ":").encode()
        )

    one, two = said(USER, "a")["update"], said(AGENT, 'he said "user_message_chunk"')["update"]
    lines = [
        *(line(one, promptId="p1"), line(one, promptId="p1"), line(one, promptId="p2")),
        *(line(two), line(one), line(one), line(two), line(one)),
        b'{"method":"_jupyter/session/state","params":{}}',
        line("nonsense"),
    ]
    assert count_user_messages(lines) == 4


# With agents


@pytest.fixture
def acp_agents(jp_root_dir):
    late = {"capabilities": LOADS, "replay_late": 2}
    known = [{"sessionId": "known", "cwd": str(jp_root_dir), "title": "Known"}]
    listed = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    past = [[USER, "What was that?"], [AGENT, "It was "], [AGENT, "long ago."]]
    (jp_root_dir / ".known.said").write_text("".join(json.dumps(row) + "\n" for row in past))
    return {
        "scripted": scripted(),
        "begins-late": scripted(**late, late_after=0.4),
        "pauses": scripted(**late, late_pause=0.3),
        "resumes-late": scripted(capabilities=RESUMES, replay_late=2),
        "repeats": scripted(capabilities=LOADS, replay="all"),
        "twice": scripted(capabilities=LOADS, replay=4),
        "silent": scripted(capabilities=LOADS),
        "resumes": scripted(capabilities=RESUMES),
        "cannot": scripted(),
        "notices": scripted(capabilities=LOADS, replay=2, loaded=[NOTICE]),
        "foreign": scripted(capabilities=listed, listed=[known], replay=6, repeats_ids=True),
    }


async def restart(jp_fetch, agent):
    await jp_fetch("acp", "agents", agent, "restart", method="POST", body="{}")


def offers(window):
    notices = window.of("_jupyter/session/notice")
    return [each["params"]["message"] for each in notices if each["params"].get("offer") == OFFER]


@pytest.mark.parametrize(
    "agent", ["begins-late", "pauses", "resumes-late", "repeats", "twice", "silent", "resumes"]
)
@pytest.mark.parametrize("is_asked", [False, True])
async def test_what_is_repeated_appears_once(window, tmp_path, jp_fetch, agent, is_asked):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"])
    if is_asked:
        # The prompt waits for the agent, and the agent still repeats the past when it comes.
        await window.prompt(session, ["exit", 1])
    else:
        await restart(jp_fetch, agent)
    await window.prompt(session, ["chunk", "before"])
    await window.prompt(session, ["chunk", "after"])
    assert window.texts() == ["before", "before", "after"]
    assert len(window.texts(USER)) == (4 if is_asked else 3)
    assert offers(window) == []


async def test_state_passes_while_history_does_not(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "notices")
    await window.prompt(session, ["chunk", "before"])
    await restart(jp_fetch, "notices")
    await window.prompt(session, ["chunk", "after"])
    assert len(window.updates("notice")) == 1
    assert window.texts() == ["before", "after"]


async def test_what_only_the_agent_knows_is_recorded_once(window, jp_root_dir):
    listed = (await window.result("session/list", {}))["sessions"]
    if not listed:
        # Only agents that run are asked.
        await window.new(jp_root_dir, "foreign")
        listed = (await window.result("session/list", {}))["sessions"]
    (id,) = [each["sessionId"] for each in listed if each["title"] == "Known"]
    await window.result(
        "session/load", {"sessionId": id, "cwd": str(jp_root_dir), "mcpServers": []}
    )
    assert window.texts(USER) == ["What was that?"]
    assert window.texts() == ["It was ", "long ago."]


# Reload from the agent


@pytest.fixture
def knowing(window, acp, tmp_path, jp_fetch, jp_asyncio_loop):
    """A session of which its agent, just restarted, knows more than the journal."""

    async def make():
        session = await window.new(tmp_path, "repeats")
        await window.prompt(session, ["chunk", "before"])
        record = (await acp.manager()).get(session).record
        with (tmp_path / f".{record.agent_session}.said").open("a") as said:
            for row in ([USER, "From a terminal?"], [AGENT, "From a terminal."]):
                said.write(json.dumps(row) + "\n")
        await restart(jp_fetch, "repeats")
        return session

    return jp_asyncio_loop.run_until_complete(make())


async def test_what_only_the_agent_has_is_offered_once(window, knowing, jp_fetch):
    assert offers(window) == ["The agent knows more of this session than is written down here."]
    assert window.texts() == ["before"]
    await restart(jp_fetch, "repeats")
    assert len(offers(window)) == 1


async def test_reload_replaces_the_transcript(
    window, acp, acp_connect, knowing, jp_fetch, tmp_path
):
    info = (await window.attach(knowing, 0))["session"]
    assert info["canReload"] is True
    start = len(window.received)
    await window.result("_jupyter/session/reload", {"sessionId": knowing})
    reloaded = await window.wait(lambda m: m.get("method") == "_jupyter/session/reloaded", start)
    number = reloaded["params"]["_meta"]["jupyter-acp"]["seq"]

    # A window that comes later gets the new transcript alone, and its numbers without a gap.
    other = await acp_connect()
    attached = await other.attach(knowing, 0)
    assert attached["after"] == number - 1
    await other.wait(lambda m: "From a terminal." in json.dumps(m))
    assert other.seqs(knowing) == list(range(number, number + 5))
    assert other.texts() == ["before", "From a terminal."]
    # So does one that stopped in the middle of the old one.
    assert (await other.attach(knowing, 2))["after"] == number - 1

    # It goes on, and is found by its new words only after a search.
    await window.prompt(knowing, ["chunk", "after"])
    found = await jp_fetch("acp", "search", params={"query": "terminal"})
    assert json.loads(found.body)["sessions"][0]["id"] == knowing
    await (await acp.manager())._journal.flush()
    journal = (await acp.manager())._journal._database.path
    with sqlite3.connect(journal) as db:
        rows = db.execute("SELECT first FROM segments WHERE session=?", (knowing,)).fetchall()
    assert min(first for (first,) in rows) == number


async def test_what_was_reloaded_survives_a_restart_of_the_server(
    window, acp, acp_connect, knowing, jp_fetch
):
    await window.result("_jupyter/session/reload", {"sessionId": knowing})
    dropped = (await acp.manager()).get(knowing).record.dropped
    await acp.stop_extension()
    again = await acp_connect()
    attached = await again.attach(knowing, 0)
    assert attached["after"] == dropped > 0
    await again.wait(lambda m: "From a terminal." in json.dumps(m))
    assert again.texts() == ["before", "From a terminal."]


@pytest.mark.parametrize(
    ("agent", "words"),
    [("cannot", "cannot tell what was said"), ("silent", "told nothing of this session")],
)
async def test_a_reload_that_brings_nothing_leaves_all_as_it_is(window, tmp_path, agent, words):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"])
    answer = await window.ask("_jupyter/session/reload", {"sessionId": session})
    assert words in answer["error"]["message"]
    await window.prompt(session, ["chunk", "after"])
    assert window.texts() == ["before", "after"]


async def test_no_reload_in_a_turn(window, tmp_path):
    session = await window.new(tmp_path, "repeats")
    turn = await window.start_prompt(session, ["chunk", "before"], ["until_cancel"])
    await window.wait(lambda m: "before" in json.dumps(m.get("params", {}).get("update", {})))
    answer = await window.ask("_jupyter/session/reload", {"sessionId": session})
    assert "A turn is running" in answer["error"]["message"]
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)


async def test_a_prompt_waits_for_a_reload(window, knowing):
    reloading = await window.start("_jupyter/session/reload", {"sessionId": knowing})
    turn = await window.start_prompt(knowing, ["chunk", "after"])
    assert "result" in await window.response(reloading)
    await asyncio.wait_for(window.response(turn), 60)
    assert window.texts()[-3:] == ["before", "From a terminal.", "after"]
