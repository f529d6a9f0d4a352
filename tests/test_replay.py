# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent repeats appears once, and what the journal lacks is kept."""

from __future__ import annotations

import random

import pytest

from jupyter_acp.sessions.passages import Passage
from jupyter_acp.sessions.replay import Replay
from jupyter_acp.sessions.retelling import with_past

USER, AGENT, THOUGHT = "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"


def said(kind, text):
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return {"sessionId": "theirs", "update": update}


def call(id, title="look"):
    update = {"sessionUpdate": "tool_call", "toolCallId": id, "title": title}
    return {"sessionId": "theirs", "update": update}


def called(id):
    update = {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}
    return {"sessionId": "theirs", "update": update}


KNOWN = [
    Passage(1, "user", "p1", "What is in the file?"),
    Passage(2, "thought", "", "I should look."),
    Passage(3, "tool", "t1", "Read the file"),
    Passage(4, "agent", "", "It holds three\nlines of text."),
    Passage(5, "user", "p2", "yes"),
    Passage(6, "agent", "", "Then I go on with the next one."),
]
ALL = [
    said(USER, "What is in the file?"),
    said(THOUGHT, "I should look."),
    call("t1", "Read the file"),
    called("t1"),
    said(AGENT, "It holds three\nlines of text."),
    said(USER, "yes"),
    said(AGENT, "Then I go on with the next one."),
]


def news(updates, known=KNOWN):
    replay = Replay(known, ended=["t1"])
    for update in updates:
        replay.take(update)
    return replay.news()


def in_chunks(updates, seed):
    """Cut every text anew."""
    chance = random.Random(seed)
    for params in updates:
        content = params["update"].get("content")
        if content is None:
            yield params
            continue
        text = content["text"]
        while text:
            size = chance.randint(1, 9)
            yield said(params["update"]["sessionUpdate"], text[:size])
            text = text[size:]


ELSEWHERE = [
    said(USER, "And now?"),
    call("t9", "Write the file"),
    called("t9"),
    said(AGENT, "Now it is written, too."),
]


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(ALL, [], id="all of it"),
        pytest.param(ALL + ALL, [], id="all of it, twice"),
        pytest.param(ALL[5:], [], id="only the end"),
        pytest.param([ALL[0], ALL[4], ALL[5], ALL[6]], [], id="only what was said"),
        pytest.param(ALL + ELSEWHERE, ELSEWHERE, id="more at the end"),
        pytest.param(ALL[:5] + ELSEWHERE + ALL[5:], ELSEWHERE, id="more in between"),
        pytest.param(
            [*ALL, said(USER, "yes"), said(AGENT, "So I do that as well.")],
            [said(USER, "yes"), said(AGENT, "So I do that as well.")],
            id="the same word, with another answer",
        ),
        pytest.param(
            [*ALL[:4], said(AGENT, "It holds three lines of text. "), *ALL[5:]], [], id="spaces"
        ),
        pytest.param(
            [
                *ALL[:4],
                said(AGENT, "It holds three\n"),
                called("t1"),
                said(AGENT, "lines of text."),
                *ALL[5:],
            ],
            [],
            id="one message as two",
        ),
        pytest.param(
            [call("other", "Read the file"), called("other"), *ALL[4:]], [], id="other ids of calls"
        ),
        pytest.param(
            [*ALL[:6], said(AGENT, "Then I go on with the next one. And with the last.")],
            [said(AGENT, " And with the last.")],
            id="what the journal has not got the end of",
        ),
    ],
)
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_what_is_news(updates, expected, seed):
    found = news(updates if seed is None else in_chunks(updates, seed))
    assert joined(found) == joined(expected)


def joined(updates):
    """Put texts of the same kind together."""
    result = []
    for params in updates:
        update = dict(params["update"])
        if "content" not in update:
            result.append(update)
        elif result and result[-1].get("sessionUpdate") == update["sessionUpdate"]:
            result[-1]["text"] += update["content"]["text"]
        else:
            result.append(
                {"sessionUpdate": update["sessionUpdate"], "text": update["content"]["text"]}
            )
    return result


def test_several_messages_that_are_told_as_one():
    known = [
        Passage(1, "user", "", "Count to a hundred"),
        Passage(2, "agent", "", "One, two, three, four"),
        Passage(3, "agent", "m2", "five, six, seven, eight"),
    ]
    told = [
        said(USER, "Count to a hundred"),
        said(AGENT, "One, two, three, four\n\nfive, six, seven, eight"),
    ]
    assert news(told, known) == []


def test_everything_is_news_to_an_empty_journal():
    plan = {"sessionId": "theirs", "update": {"sessionUpdate": "plan", "entries": []}}
    updates = [*ALL, plan]
    assert news(updates, []) == updates
    assert news(updates, KNOWN) == []


def test_a_journal_that_has_lost_its_last_moments_gets_them_back():
    cut = [*KNOWN[:5], Passage(6, "agent", "", "Then I go")]
    assert joined(news(ALL, cut)) == joined([said(AGENT, " on with the next one.")])
    assert joined(news(ALL, KNOWN[:5])) == joined([ALL[6]])
    assert joined(news(ALL, KNOWN[:4])) == joined(ALL[5:])
    # Also while the user has just asked for more, which no agent has heard yet.
    asked = Passage(7, "user", "p3", "And after that?")
    assert joined(news(ALL, [*cut, asked])) == joined([said(AGENT, " on with the next one.")])
    assert news([*ALL, said(USER, "And after that?")], [*KNOWN, asked]) == []


def test_what_is_told_again_in_other_marks_is_the_same():
    known = [
        Passage(1, "agent", "", "**First** the file is read, then it is sorted, then written back.")
    ]
    told = said(AGENT, "First the file is read, then it is sorted, then it is written back!")
    assert news([told], known) == []


@pytest.mark.parametrize(
    ("known", "told", "expected"),
    [
        pytest.param(
            [("user", "run"), ("agent", "Done.")],
            [(USER, "run"), (AGENT, "Done."), (USER, "run it again please"), (AGENT, "Done.")],
            [(USER, "run it again please"), (AGENT, "Done.")],
            id="the same answer to another question",
        ),
        pytest.param(
            [
                ("user", "run the tests"),
                ("agent", "All 52 tests passed in 3.1 s and nothing is left to do"),
            ],
            [
                (USER, "run the tests"),
                (AGENT, "All 52 tests passed in 3.1 s and nothing is left to do"),
                (USER, "please run the tests once more"),
                (AGENT, "All 52 tests passed in 2.9 s and nothing is left to do"),
            ],
            [
                (USER, "please run the tests once more"),
                (AGENT, "All 52 tests passed in 2.9 s and nothing is left to do"),
            ],
            id="much the same once more",
        ),
        pytest.param(
            [("user", "go"), ("agent", "\n\nI will look at the")],
            [(USER, "go"), (AGENT, "I will  look at the file and more")],
            [(AGENT, " file and more")],
            id="cut off, with other spaces",
        ),
        pytest.param(
            [("user", "explain this\n[a.ipynb]\n"), ("agent", "Yes.")],
            [(USER, "explain this[@a.ipynb](file:///a.ipynb)"), (AGENT, "Yes.")],
            [],
            id="attachments told in another way",
        ),
        pytest.param(
            [("user", "go"), ("agent", "OK."), ("tool", "look"), ("agent", "Done.")],
            [(USER, "go"), (AGENT, "OK.Done.")],
            [],
            id="told without its tools",
        ),
    ],
)
def test_turns_that_look_like_others(known, told, expected):
    passages = [
        Passage(number, speaker, "t" if speaker == "tool" else "", text)
        for number, (speaker, text) in enumerate(known, 1)
    ]
    found = news([said(kind, text) for kind, text in told], passages)
    assert joined(found) == joined([said(kind, text) for kind, text in expected])


@pytest.mark.parametrize("can_embed", [False, True])
def test_what_the_agent_was_told_of_the_past_is_not_told_again(can_embed):
    capabilities = {"embeddedContext": True} if can_embed else {}
    told = with_past([{"type": "text", "text": "continue"}], "User: hi\n\nAgent: ho", capabilities)
    blocks = [{"sessionUpdate": USER, "content": block} for block in told]
    known = [
        Passage(1, "user", "", "hi"),
        Passage(2, "agent", "", "ho"),
        Passage(3, "user", "", "continue"),
        Passage(4, "agent", "", "So I do."),
    ]
    repeated = [{"sessionId": "s", "update": update} for update in blocks]
    assert news([*repeated, said(AGENT, "So I do.")], known) == []


def test_a_call_that_was_cut_off_gets_its_end():
    replay = Replay(KNOWN)
    for params in [ALL[0], call("t1", "Read the file"), called("t1"), called("t1")]:
        replay.take(params)
    assert replay.news() == [called("t1")]


def test_a_picture_is_not_lost():
    picture = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    shown = {"sessionId": "s", "update": {"sessionUpdate": AGENT, "content": picture}}
    assert news([shown], []) == [shown]
    known = [Passage(1, "agent", "", "\n[image image/png 4]\n")]
    assert news([shown], known) == []
