# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Finding sessions by what was said in them, and forgetting it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3

import pytest

from jupyter_acp.history import search
from jupyter_acp.history.journal import Journal
from jupyter_acp.history.numbered_log import Log
from jupyter_acp.history.record import SessionRecord


@pytest.fixture
def journal(tmp_path, jp_asyncio_loop):
    journal = Journal(tmp_path / "journal.sqlite", logging.getLogger())
    jp_asyncio_loop.run_until_complete(journal.open())
    yield journal
    jp_asyncio_loop.run_until_complete(journal.close())


def say(journal, session, *texts, kind="agent_message_chunk", log=None):
    log = log or Log(session, journal)
    log.append_updates(
        [{"sessionUpdate": kind, "content": {"type": "text", "text": text}} for text in texts]
    )
    journal.save(SessionRecord(id=session, agent="a", cwd="/"))
    return log


async def found(journal, query):
    return {match.session for match in await journal.search(query, 100)}


async def test_words_are_found_across_chunks_in_any_case_and_by_their_beginning(journal):
    say(journal, "one", "The Gra", "dient vanishes ", "in deep networks")
    say(journal, "two", "Nothing about it here")
    assert await found(journal, "gradient") == {"one"}
    assert await found(journal, "NETW gradi") == {"one"}
    assert await found(journal, "gradient here") == set(), "all words, in one place"
    assert await found(journal, "adient") == set()


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("El señor está aquí", "senor esta"),
        ("機械学習のモデルを作る", "学習"),
        ("df_merge(left, right)", "df_merge"),
        ("Straße und Fluß", "straße"),
        ("don't panic", "don't"),
    ],
)
async def test_words_of_many_languages(journal, said, query):
    say(journal, "one", said)
    say(journal, "two", "something else")
    assert await found(journal, query) == {"one"}


@pytest.mark.parametrize(
    "query", ["", " ", '"', "a AND", "NEAR(", "x*", "-", "col:val", "(", "\0", "🙂"]
)
async def test_no_query_is_a_language_of_its_own(journal, query):
    say(journal, "one", "plain words")
    await journal.search(query, 10)


async def test_a_place_is_shown_with_what_was_looked_for(journal):
    text = "word " * 100 + "needle in hay " + "word " * 100
    say(journal, "one", text)
    (match,) = await journal.search("needle", 10)
    assert (match.session, match.seq, match.speaker) == ("one", 1, "agent")
    assert [part for part, is_match in match.parts if is_match] == ["needle"]
    assert len("".join(part for part, _ in match.parts)) < 200


async def test_what_users_say_and_tools_do_is_found_but_not_what_is_thought(journal):
    log = say(journal, "one", "spoken", kind="user_message_chunk")
    say(journal, "one", "pondered", kind="agent_thought_chunk", log=log)
    log.append_updates(
        [{"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Read data.csv"}]
    )
    assert await found(journal, "spoken") == {"one"}
    assert await found(journal, "data.csv") == {"one"}
    assert await found(journal, "pondered") == set()


async def test_what_is_said_later_is_found_later(journal):
    log = say(journal, "one", "first")
    assert await found(journal, "first") == {"one"}
    say(journal, "one", " second", log=log)
    assert await found(journal, "second") == {"one"}


async def test_a_long_transcript_is_indexed_in_slices_that_others_can_come_between(
    journal, monkeypatch
):
    monkeypatch.setattr(search, "SLICE", 2000)
    log = Log("one", journal)
    for number in range(200):
        say(journal, "one", f" number{number} " + "x" * 100, log=log)
        await journal.flush()
    slices = 0
    while await journal._in(journal._writer, journal._database.index_some):
        slices += 1
    assert slices > 5
    assert await found(journal, "number199") == {"one"}


async def test_what_is_deleted_is_found_nowhere_not_even_in_the_file(tmp_path):
    journal = Journal(tmp_path / "journal.sqlite", logging.getLogger())
    await journal.open()
    say(journal, "one", "confidential figures")
    say(journal, "two", "other things")
    assert await found(journal, "confidential") == {"one"}
    await journal.delete("one")
    assert await found(journal, "confidential") == set()
    assert await found(journal, "other") == {"two"}
    await journal.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("journal*"))
    assert b"onfidential" not in kept and b"figures" not in kept


async def test_a_journal_of_an_older_version_is_searched_as_well(tmp_path):
    path = tmp_path / "journal.sqlite"
    journal = Journal(path, logging.getLogger())
    await journal.open()
    say(journal, "one", "from long ago")
    await journal.close()
    db = sqlite3.connect(path)
    for table in ("words", "passages", "indexed"):
        db.execute(f"DROP TABLE {table}")
    db.execute("PRAGMA user_version=1")
    db.commit()
    db.close()
    journal = Journal(path, logging.getLogger())
    await journal.open()
    assert await found(journal, "long ago") == {"one"}
    await journal.close()


async def test_searching_does_not_keep_others_from_writing(journal):
    log = Log("one", journal)
    searches = asyncio.gather(*(journal.search("word", 5) for _ in range(5)))
    for number in range(50):
        say(journal, "one", f"word {number} ", log=log)
        await asyncio.sleep(0)
    await searches
    assert await found(journal, "word 49") == {"one"}
