# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent repeats appears once, and what the journal lacks is kept."""

from __future__ import annotations

import random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_acp.sessions.passages import AFTER, Passage, ended_calls, history, piece_of
from jupyter_acp.sessions.replay import Replay
from jupyter_acp.sessions.retelling import with_past

USER, AGENT, THOUGHT = "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"


def said(kind, text):
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return {"sessionId": "theirs", "update": update}


def row(*told, id=None):
    """Make updates of texts, with an id for each if need be."""
    updates = [said(kind, text) for kind, text in told]
    for number, params in enumerate(updates if id else []):
        params["update"]["messageId"] = f"{id}{number}"
    return updates


def known(*told):
    """Make a journal of texts."""
    speakers = {USER: "user", AGENT: "agent", THOUGHT: "thought"}
    return [
        Passage(n, speakers[kind], f"p{n}" if kind == USER else "", text)
        for n, (kind, text) in enumerate(told, 1)
    ]


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
    return [params for params, _ in replay.news()]


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
    assert [params for params, _ in replay.news()] == [called("t1")]


def test_a_picture_is_not_lost():
    picture = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    shown = {"sessionId": "s", "update": {"sessionUpdate": AGENT, "content": picture}}
    assert news([shown], []) == [shown]
    known = [Passage(1, "agent", "", "\n[image image/png 4]\n")]
    assert news([shown], known) == []


RUN = [(USER, "run"), (AGENT, "Done.")]
TESTS = [
    (USER, "run the tests"),
    (AGENT, "All 52 tests passed in 3.1 s and nothing is left to do"),
]
AGAIN = [
    (USER, "run the tests"),
    (AGENT, "All 52 tests passed in 2.9 s and nothing is left to do"),
]
LONG = " ".join(f"Number {number}." for number in range(20))
THANKS = [(USER, "thanks"), (AGENT, "You are welcome.")]


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize(
    ("journal", "updates", "expected"),
    [
        pytest.param(KNOWN, (ALL + ELSEWHERE) * 2, ELSEWHERE, id="with news"),
        pytest.param(KNOWN, ALL + ALL + ELSEWHERE, ELSEWHERE, id="with news the second time"),
        pytest.param(KNOWN, ALL + ELSEWHERE + ALL, ELSEWHERE, id="with news the first time"),
        pytest.param(KNOWN, ALL[:5] + ALL + ELSEWHERE, ELSEWHERE, id="first without its end"),
        pytest.param(KNOWN, (ALL + ELSEWHERE) * 3, ELSEWHERE, id="three times"),
        pytest.param(KNOWN[:5], ALL + ALL, [ALL[6]], id="without its end in the journal"),
        pytest.param(
            [*KNOWN[:5], Passage(6, "agent", "", "Then I go")],
            ALL + ALL,
            [said(AGENT, " on with the next one.")],
            id="cut off in the journal",
        ),
        pytest.param([], ALL + ALL, ALL, id="to an empty journal"),
        pytest.param([], (ALL + ELSEWHERE) * 2, ALL + ELSEWHERE, id="more to an empty journal"),
        pytest.param([], row(*RUN) * 2, row(*RUN), id="one exchange"),
        pytest.param(known(*RUN), row(*RUN) * 3 + row(RUN[0]), [], id="and a half"),
        pytest.param([], row(*RUN, (USER, "x")) * 2, row(*RUN, (USER, "x")), id="not answered"),
        pytest.param([], row((AGENT, LONG)) * 2, row((AGENT, LONG)), id="only answers"),
        pytest.param([], row((AGENT, "ha")) * 2, row((AGENT, "haha")), id="only a laugh"),
    ],
)
def test_what_is_repeated_twice_appears_once(journal, updates, expected, seed):
    found = news(updates if seed is None else in_chunks(updates, seed), journal)
    assert joined(found) == joined(expected)


@pytest.mark.parametrize(
    ("journal", "updates", "expected"),
    [
        pytest.param(KNOWN, ALL + ALL[5:], ALL[5:], id="with the same answer"),
        pytest.param(
            known(*RUN, *THANKS), row(*RUN, *THANKS, *RUN), row(*RUN), id="as in the beginning"
        ),
        pytest.param([], row(*RUN, *RUN, *THANKS), row(*RUN, *RUN, *THANKS), id="at once"),
        pytest.param(
            known(*RUN), row(*RUN, id="a") + row(*RUN, id="b"), row(*RUN), id="with ids of its own"
        ),
        pytest.param(known(*RUN), row(*RUN, id="a") * 2, [], id="but not with the same ids"),
        pytest.param(
            known(*RUN, *THANKS),
            row(*RUN, *THANKS, id="a") + row(*RUN, *THANKS, id="a")[2:],
            [],
            id="nor with the same ids in the end",
        ),
    ],
)
def test_what_a_user_has_said_twice_is_kept(journal, updates, expected):
    assert joined(news(updates, journal)) == joined(expected)


def test_a_notice_that_is_told_twice_appears_once():
    notice = {"sessionId": "s", "update": {"sessionUpdate": "notice", "message": "Careful."}}
    assert news([notice, *ALL, notice, *ALL], []) == [notice, *ALL]
    assert news([*ALL, notice, *ALL, notice], []) == [*ALL, notice]


@pytest.mark.parametrize(
    ("journal", "told", "expected"),
    [
        pytest.param(
            [*RUN, (USER, "fix")],
            [*RUN, (USER, "fix the other file too"), (AGENT, "Both are fixed now.")],
            [(USER, "fix the other file too"), (AGENT, "Both are fixed now.")],
            id="a question that begins like another",
        ),
        pytest.param(
            [*RUN, (USER, "fix"), (AGENT, "Done.")],
            [*RUN, (USER, "fix the other file too"), (AGENT, "Done.")],
            [(USER, "fix the other file too"), (AGENT, "Done.")],
            id="with the same short answer",
        ),
        pytest.param([*TESTS, *THANKS], [*THANKS, *AGAIN], AGAIN, id="much like one that is gone"),
        pytest.param([*RUN, *TESTS], [*RUN, *AGAIN], AGAIN, id="with another number in it"),
        pytest.param(
            [(USER, "a"), (AGENT, "Done."), *THANKS],
            [*THANKS, (USER, "b"), (AGENT, "Done.")],
            [(USER, "b"), (AGENT, "Done.")],
            id="the answer of one that is gone",
        ),
        pytest.param(
            [(USER, "yes"), (AGENT, "One."), *THANKS],
            [*THANKS, (USER, "yes"), (AGENT, "Two.")],
            [(USER, "yes"), (AGENT, "Two.")],
            id="the question of one that is gone",
        ),
    ],
)
def test_what_is_like_the_past_is_kept(journal, told, expected):
    assert joined(news(row(*told), known(*journal))) == joined(row(*expected))


@pytest.mark.parametrize(
    ("journal", "told"),
    [
        pytest.param(
            [*RUN, (USER, "/review"), (AGENT, "It is good."), *THANKS],
            [*RUN, (USER, "Review what I wrote."), (AGENT, "It is good."), *THANKS],
            id="a command that was spelled out",
        ),
        pytest.param(
            [(USER, "explain"), (AGENT, "This is a notebook.")],
            [(USER, "<context>a.ipynb</context>\nexplain"), (AGENT, "This is a notebook.")],
            id="a question with more around it",
        ),
        pytest.param([*RUN, *THANKS], [RUN[1], THANKS[1]], id="only what the agent said"),
        pytest.param([*RUN, *THANKS], [*RUN, THANKS[0]], id="without the last answer"),
        pytest.param(
            [RUN[0], (USER, "again"), (AGENT, "Done.")],
            [(USER, "again"), (AGENT, "Done.")],
            id="without what was never answered",
        ),
    ],
)
def test_what_is_told_in_another_way_is_the_same(journal, told):
    assert news(row(*told), known(*journal)) == []


def test_what_agents_write_into_a_conversation_is_no_news():
    journal = [
        *known(*RUN),
        Passage(9, "tool", "t", "pytest"),
        Passage(9, "agent", "", "All of it is green."),
    ]
    told = [
        (USER, "<session_context>\nIt is Monday.\n</session_context>"),
        RUN[0],
        (AGENT, "Done.[Function Call: pytest]"),
        (USER, "[Function Response: pytest]"),
        (AGENT, "All of it is green."),
        (USER, "[Request interrupted by user]"),
    ]
    assert news(row(*told), journal) == []
    journal[-1] = Passage(9, "agent", "", "All of it is gr")
    assert joined(news(row(*told), journal))[:1] == joined(row((AGENT, "een.")))


@pytest.mark.parametrize("cut", ["", "Y", "Yes."])
def test_what_is_told_of_an_attachment_as_if_the_user_had_said_it(cut):
    told = row((USER, "explain this"), (USER, "Called the Read tool with a.py"), (AGENT, "Yes."))
    journal = [*known((USER, "explain this\n[a.py]\n")), Passage(9, "agent", "", cut)]
    rest = "Yes."[len(cut) :]
    assert joined(news(told, journal)) == joined(row((AGENT, rest)) if rest else [])


def test_short_pieces_that_are_messages_of_their_own():
    pieces = [(kind, piece) for kind, text in TESTS for piece in text.split(" ")]
    assert news(row(*pieces, id="m"), known(*TESTS)) == []


def test_calls_with_other_ids_and_titles():
    journal = [*KNOWN[:4], *KNOWN[4:]]
    told = [ALL[0], ALL[1], call("x", "read_file"), called("x"), *ALL[4:]]
    assert news(told, journal) == []
    more = [ALL[0], ALL[1], call("x", "a"), call("y", "b"), called("y"), *ALL[4:]]
    assert news(more, journal) == [call("y", "b"), called("y")]
    # The end of one is told by the id that the journal has for it.
    replay = Replay(journal)
    for params in told:
        replay.take(params)
    assert [params for params, _ in replay.news()] == [called("t1")]


def other(kind, **fields):
    return {"sessionId": "theirs", "update": {"sessionUpdate": kind, **fields}}


def lines(*messages):
    """Write a journal as it is written."""
    return [
        orjson.dumps(
            {"method": method, "params": {**params, "_meta": {"jupyter-acp": {"seq": n, **mark}}}}
        )
        for n, (method, params, mark) in enumerate(messages, 1)
    ]


def loaded(written, updates):
    """Load a session, and return what its journal is then."""
    replay = Replay(history(lines(*written)), ended_calls(lines(*written)))
    for params in updates:
        replay.take(params)
    marks = [(params, {AFTER: after} if replay.has_past else {}) for params, after in replay.news()]
    restored = ("_jupyter/session/restored", {}, {})
    return [*written, *(("session/update", params, mark) for params, mark in marks), restored]


def updates_of(written):
    return [params for method, params, _ in written if method == "session/update"]


@pytest.mark.parametrize(
    "update",
    [
        other("notice", level="info", message="Careful."),
        other("compaction_update", compactionId="c", status="completed"),
        other("compaction_summary_chunk", compactionId="c", content={"type": "text", "text": "x"}),
        other("from_the_future", of=["any", {"kind": 1}]),
        other("usage_update", used=5, size=10),
    ],
)
def test_any_other_update_that_is_repeated_appears_once(update):
    told = [*ALL, update]
    once = loaded([], told)
    assert updates_of(once) == told
    assert updates_of(loaded(once, told)) == told
    stamped = {**update, "update": {**update["update"], "_meta": {"time": "later"}}}
    assert updates_of(loaded(once, [*ALL, stamped])) == told


def test_a_notice_that_is_new_is_kept():
    notice = other("notice", message="Careful.")
    once = loaded([], [*ALL, notice])
    assert updates_of(loaded(once, [*ALL, notice, notice])) == [*ALL, notice, notice]


def test_of_how_much_was_used_the_last_counts():
    one, two, three = (other("usage_update", used=used) for used in (1, 2, 3))
    once = loaded([], [ALL[0], one, ALL[4], two, *ALL[5:], three])
    assert updates_of(once) == [ALL[0], ALL[4], *ALL[5:], three]
    assert updates_of(loaded(once, [*ALL, two]))[-1] == two


def test_a_plan_comes_with_other_news():
    plan = other("plan", entries=[{"content": "x"}])
    once = loaded([], ALL)
    assert updates_of(loaded(once, [*ALL, plan])) == ALL
    assert updates_of(loaded(once, [*ALL, *ELSEWHERE, plan])) == [*ALL, *ELSEWHERE, plan]


def test_what_was_remembered_once_is_not_remembered_again():
    asked = ("session/update", said(USER, "And then?"), {"promptId": "p9"})
    for whole in (
        [*ALL[:5], *ELSEWHERE, *ALL[5:]],
        [*ALL, *ELSEWHERE],
        [*ALL[:4], said(AGENT, "It holds three\nlines of text. And a picture."), *ALL[5:]],
        [*ALL[:5], *row((USER, "Stop!"), id="m"), *ALL[5:]],
    ):
        once = loaded([*loaded([], ALL), asked], whole)
        assert len(updates_of(once)) > len(ALL) + 1
        # What was asked before that is answered after it.
        answered = [*once, ("session/update", said(AGENT, "Nothing more."), {})]
        later = [*whole, said(USER, "And then?"), said(AGENT, "Nothing more.")]
        assert updates_of(loaded(answered, later)) == updates_of(answered)


def texts(kinds):
    words = [
        "yes",
        "fix",
        "fix the other file too",
        "I look at it.",
        "It\n has three lines",
        "x" * 99,
    ]
    return st.tuples(st.sampled_from(kinds), st.sampled_from(words))


ANSWERS = st.lists(texts([AGENT, THOUGHT, "tool"]), max_size=3)
EXCHANGES = st.lists(st.tuples(texts([USER]), ANSWERS, texts([AGENT])), max_size=4)


@settings(deadline=None, max_examples=300)
@given(EXCHANGES, ANSWERS, st.integers(0, 2), st.sampled_from(["", "same", "own"]), st.data())
def test_everything_appears_once_and_in_order(exchanges, first, times, ids, data):
    """The first question is no other's, and ids of their own are not told twice in one exchange."""
    exchanges = [((USER, "What is in it?"), first, (AGENT, "Done.")), *exchanges]
    conversation = [each for asked, more, last in exchanges for each in (asked, *more, last)]

    def cut(text):
        places = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=4)) | {len(text)})
        return [text[start:end] for start, end in zip([0, *places], places, strict=False)]

    def told(number, kind, text):
        if kind == "tool":
            yield call(f"t{number}", text)
            return
        for piece in cut(text):
            params = said(kind, piece)
            if ids:
                own = f"{number}-{id(params)}" if ids == "own" and len(exchanges) > 1 else number
                params["update"]["messageId"] = f"m{own}"
            yield params

    count = data.draw(st.integers(0, len(conversation)))
    journal = list(enumerate(conversation))[:count]
    if journal and journal[-1][1][0] in (AGENT, THOUGHT):
        number, (kind, text) = journal[-1]
        journal[-1] = (number, (kind, text[: data.draw(st.integers(1, len(text)))]))
    written = [
        piece_of(params["update"], key=f"p{number}" if kind == USER else "")
        for number, (kind, text) in journal
        for params in told(number, kind, text)
    ]
    heard = [
        params
        for _ in range(times)
        for number, (kind, text) in enumerate(conversation)
        for params in told(number, kind, text)
    ]
    found = [piece_of(params["update"]) for params in news(heard, written)]
    expected = conversation if times else [each for _, each in journal]
    everything = [piece_of(p["update"]) for n, e in enumerate(expected) for p in told(n, *e)]
    assert plainly([*written, *found]) == plainly(everything)


def plainly(pieces):
    """Put texts together that one speaker says, and leave out spaces."""
    result = []
    for piece in pieces:
        text = "".join(piece.text.split())
        if result and result[-1][0] == piece.speaker != "tool":
            result[-1][1] += text
        else:
            result.append([piece.speaker, text])
    return result


MANY = 20_000
"""If each were compared with each, nobody would live to see the end of it, nor would the test."""


@pytest.mark.parametrize(
    ("journal", "told", "expected"),
    [
        pytest.param(lambda n: [("x", "y")], lambda n: [("x", "y")], 0, id="equal"),
        pytest.param(lambda n: [(f"{n}", "!")], lambda n: [(f"{n}", "!")], 0, id="different"),
        pytest.param(lambda n: [("x", f"a{n}")], lambda n: [("x", f"b{n}")], 2, id="other answers"),
        pytest.param(lambda n: [], lambda n: [("x", "y"), (f"{n}", f"{n}")], 4, id="as at first"),
    ],
)
def test_a_long_past_is_compared_in_time(journal, told, expected):
    written = [
        Passage(n, speaker, f"p{n}" if speaker == "user" else "", text)
        for n in range(MANY)
        for pair in journal(n)
        for speaker, text in zip(("user", "agent"), pair, strict=True)
    ]
    heard = [
        said(kind, text)
        for n in range(MANY)
        for pair in told(n)
        for kind, text in zip((USER, AGENT), pair, strict=True)
    ]
    assert len(news(heard, written)) == expected * MANY
