# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents that repeat a session later than they should, or more than they should, or with pauses."""

from __future__ import annotations

import asyncio
import json

import pytest
from conftest import scripted
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_acp.sessions import repeated
from jupyter_acp.sessions.exchanges import Piece, normal
from jupyter_acp.sessions.passages import Passage, piece_of
from jupyter_acp.sessions.replay import Replay

USER, AGENT = "user_message_chunk", "agent_message_chunk"
LOADS = {"loadSession": True}
RESUMES = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
NOTICE = {"sessionUpdate": "notice", "level": "info", "message": "This model is old."}
REMEMBERS = "remembers more"

KNOWN = [
    Passage(1, "user", "p1", "hi"),
    Passage(2, "agent", "", "Hello there."),
    Passage(3, "user", "p2", "What is in the file?"),
    Passage(4, "tool", "t1", "Read the file"),
    Passage(5, "agent", "", "Three lines."),
]
PAST = [
    (USER, "hi"),
    (AGENT, "Hello "),
    (AGENT, "there."),
    (USER, "What is in"),
    (USER, " the file?"),
    ("tool_call", "t1"),
    (AGENT, "Three lines."),
]


def update(kind, text):
    if kind == "tool_call":
        return {"update": {"sessionUpdate": kind, "toolCallId": text, "title": "Read"}}
    return {"update": {"sessionUpdate": kind, "content": {"type": "text", "text": text}}}


def late(heard=(), asked=None, known=KNOWN):
    """Say what is told after the agent was waited for; a prompt may wait for its answer."""
    replay = Replay([*known, Passage(9, "user", "p9", asked)] if asked else known)
    for each in heard:
        replay.take(update(*each))
    assert replay.news() == []
    return replay.late()


def told(late, updates, prompt=None):
    """Return what is news, as texts; a prompt ends in the end."""
    news = []
    for kind, text in updates:
        params = update(kind, text)
        piece = Piece(piece_of(params["update"]), params)
        asked = normal(prompt) if prompt is not None else None
        news += [params] if late.is_over else late.take(piece, asked)
    news += late.interrupt()
    return [
        params["update"].get("toolCallId") or params["update"]["content"]["text"] for params in news
    ]


@pytest.mark.parametrize("asked", [None, "And now?"])
@pytest.mark.parametrize("heard", [[], PAST[:1], PAST[:3], PAST])
def test_the_past_is_told_late(asked, heard):
    rest = PAST[len(heard) :] if len(heard) > 1 else PAST
    news = [(AGENT, "Now "), (AGENT, "it is new.")] if asked else []
    found = told(late(heard, asked), [*rest, *news], asked)
    assert found == [text for _, text in news]
    # Once more, from the beginning.
    assert told(late(heard, asked), [*PAST, *PAST, *news], asked) == found


def test_it_goes_on_where_it_had_stopped():
    assert told(late(PAST[:2]), PAST[2:]) == []
    assert told(late(PAST[:1]), PAST[1:]) == []
    assert told(late(PAST[:5]), PAST[5:]) == []


def test_only_what_the_agent_said_is_told_late():
    assert told(late(), [each for each in PAST if each[0] == AGENT]) == []


@pytest.mark.parametrize(
    "answer", [["Hello there."], ["Hello ", "there."], ["Hello"], ["Three lines."]]
)
@pytest.mark.parametrize("heard", [[], PAST, PAST[:2]])
def test_an_answer_that_is_equal_to_an_older_one_is_told_at_once(answer, heard):
    known = late(heard, "again")
    for text in answer:
        params = update(AGENT, text)
        piece = Piece(piece_of(params["update"]), params)
        assert known.is_over or known.take(piece, "again") == [params]


@pytest.mark.parametrize("heard", [[], PAST])
@pytest.mark.parametrize("answer", ["Hello there.", "Hello", "Hello there. And more.", "Bye."])
def test_an_agent_that_tells_what_it_was_asked(heard, answer):
    """The question is an older one, too: then the same answer is in doubt, and kept."""
    assert "".join(told(late(heard, "hi"), [(USER, "hi"), (AGENT, answer)], "hi")) == f"hi{answer}"


@pytest.mark.parametrize("prompt", [None, "And now?"])
@pytest.mark.parametrize(
    "news",
    [
        [(USER, "What is new?"), (AGENT, "Nothing.")],
        [(USER, "hi"), (AGENT, "Hello my friend.")],
        [(AGENT, "Welcome back.")],
        [("tool_call", "t2")],
    ],
)
def test_what_is_new_is_kept(prompt, news):
    assert told(late(asked=prompt), news, prompt) == [text for _, text in news]


def test_the_question_of_the_running_prompt_is_of_the_past_if_more_is_told():
    assert told(late(asked="hi"), [*PAST[:3], (AGENT, "Hello there.")], "hi") == ["Hello there."]


@pytest.mark.parametrize("before", [[], PAST])
def test_a_call_in_answer_to_a_prompt_is_kept_whatever_its_id(before):
    """Some agents count their calls anew in every run."""
    for id in ("t1", "t9"):
        found = told(
            late(asked="And now?"), [*before, ("tool_call", id), (AGENT, "New.")], "And now?"
        )
        assert found == [id, "New."]


@pytest.mark.parametrize("before", [[], PAST])
def test_a_thought_about_a_prompt_is_kept_though_it_is_an_old_one(before):
    thought = "agent_thought_chunk"
    known = [*KNOWN[:3], Passage(4, "thought", "", "Let me see."), *KNOWN[3:]]
    found = told(late(asked="And now?", known=known), [*before, (thought, "Let me")], "And now?")
    assert found == ["Let me"]


def test_a_notice_in_answer_to_a_prompt_is_kept():
    params = {"update": NOTICE}
    piece = Piece(piece_of(NOTICE), params)
    known = late(known=[piece.passage, *KNOWN])
    assert known.take(piece, None) + known.interrupt() == []
    assert known.take(piece, "And now?") == [params]


def test_calls_that_are_repeated_late_with_other_ids():
    updates = [(kind, "other") if kind == "tool_call" else (kind, text) for kind, text in PAST]
    assert told(late(asked="And now?"), [*updates, (AGENT, "New.")], "And now?") == ["New."]


QUESTIONS = st.sampled_from(["yes", "hi", "What is in the file?", "go on"])
TEXTS = st.sampled_from(["Hello there.", "Hello", "Three lines.", "yes", "I", "I see."])


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(QUESTIONS, TEXTS), min_size=1, max_size=5),
    st.integers(0, 5),
    st.integers(0, 2),
    QUESTIONS,
    st.lists(TEXTS, min_size=1, max_size=3),
    st.data(),
)
def test_nothing_is_late_twice_and_nothing_new_is_missed(past, heard, times, asked, answer, data):
    def pieces(kind, text):
        place = data.draw(st.integers(1, len(text)))
        return [(kind, each) for each in (text[:place], text[place:]) if each]

    def rows(exchanges):
        return [each for question, text in exchanges for each in said(question, text)]

    def said(question, text):
        return [*pieces(USER, question), *pieces(AGENT, text)]

    known = [
        passage
        for number, (question, text) in enumerate(past)
        for passage in (
            Passage(number, "user", f"p{number}", question),
            Passage(number, "agent", "", text),
        )
    ]
    replay = late(rows(past[:heard]), asked, known)
    updates = [*rows(past * times), *((AGENT, text) for text in answer)]
    assert "".join(told(replay, updates, asked)) == "".join(answer)


# With agents


@pytest.fixture
def acp_agents():
    said = {"capabilities": LOADS, "replay_late": 2}
    return {
        "scripted": scripted(),
        "begins-late": scripted(**said, late_after=0.4),
        "pauses": scripted(**said, late_pause=0.3),
        "begins-later": scripted(**said, late_after=1.5),
        "resumes-late": scripted(capabilities=RESUMES, replay_late=2, late_after=0.5),
        "silent": scripted(capabilities=LOADS),
        "resumes": scripted(capabilities=RESUMES),
        "repeats": scripted(capabilities=LOADS, replay=2),
        "notices": scripted(capabilities=LOADS, replay=2, loaded=[NOTICE]),
        "refuses": scripted(capabilities=RESUMES, refuse=["session/resume"], loaded=[NOTICE]),
    }


async def restart(jp_fetch, agent):
    await jp_fetch("acp", "agents", agent, "restart", method="POST", body="{}")


@pytest.mark.parametrize("agent", ["begins-late", "pauses", "begins-later", "resumes-late"])
@pytest.mark.parametrize("is_asked", [False, True])
async def test_what_is_repeated_after_the_answer_appears_once(
    window, tmp_path, jp_fetch, agent, is_asked
):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"])
    if is_asked:
        # The prompt waits for the agent, and the agent still repeats the past when it comes.
        await window.prompt(session, ["exit", 1])
    else:
        await restart(jp_fetch, agent)
        await asyncio.sleep(2.5)
    await window.prompt(session, ["chunk", "before"])
    await window.prompt(session, ["chunk", "after"])
    assert window.texts() == ["before", "before", "after"]
    assert len(window.texts(USER)) == (4 if is_asked else 3)
    assert REMEMBERS not in json.dumps(window.received)


@pytest.mark.parametrize(("agent", "breath"), [("resumes", 60), ("repeats", 60), ("silent", 3)])
async def test_nobody_waits_longer_than_need_be(window, acp, tmp_path, monkeypatch, agent, breath):
    patience, goes_on = [], repeated.Repeated._goes_on

    async def spy(waiting, seconds, end):
        patience.append(seconds)
        return await goes_on(waiting, seconds, end)

    monkeypatch.setattr(repeated.Repeated, "_goes_on", spy)
    monkeypatch.setattr(repeated, "BREATH", breath)
    monkeypatch.setattr(repeated, "LONGEST", 60)
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"])
    manager = await acp.manager()
    link = manager.links.get(agent)
    await link.stop("Enough.")
    assert (await link.ready()).alive
    # A breath would be longer than this.
    await asyncio.wait_for(manager.get(session).connect(), 40)
    assert (breath in patience) == (agent == "silent")


@pytest.mark.parametrize("agent", ["notices", "refuses"])
async def test_a_notice_that_comes_with_every_load_appears_once(window, tmp_path, jp_fetch, agent):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"])
    for _ in range(2):
        await restart(jp_fetch, agent)
        await window.prompt(session, ["chunk", "after"])
    assert len(window.updates("notice")) == 1
    assert window.texts() == ["before", "after", "after"]


async def test_more_than_can_be_compared_is_told_of(window, tmp_path, jp_fetch, monkeypatch):
    session = await window.new(tmp_path, "repeats")
    await window.prompt(session, ["chunk", "before"])
    monkeypatch.setattr(repeated, "MOST", 1)
    await restart(jp_fetch, "repeats")
    await window.prompt(session, ["chunk", "after"])
    notices = window.of("_jupyter/session/notice")
    (notice,) = [each for each in notices if each["params"]["level"] == "warning"]
    assert "repeats more of this session than can be compared" in notice["params"]["message"]
    assert window.texts() == ["before", "after"]
