# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The words of all sessions, to find them by (SQLite's FTS5).

Transcripts are written far more often than they are searched: what was said is taken into the index
when somebody searches, a slice at a time, so that those who write need not wait for long.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from .messages import passages

SLICE = 1024 * 1024
"""How many bytes of a transcript are indexed in one go: whoever writes has to wait for it."""

LONGEST = 20_000
"""How much of one message can be found, in characters."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS indexed (
    session TEXT PRIMARY KEY,
    upto INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    speaker TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_of_session ON passages (session);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, tokenize="unicode61 remove_diacritics 2");
"""

# Written without spaces: each character is taken for a word.
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_WORD = re.compile(r"\w+")
_START, _END = "\x02", "\x03"


class Match(NamedTuple):
    """A place where words were found."""

    session: str
    seq: int
    speaker: str
    parts: list[tuple[str, bool]]
    """What is said there, in parts: the text of each, and whether it is what was looked for."""


def index_some(db: sqlite3.Connection) -> bool:
    """Index a slice of what is not yet indexed; return whether there is more."""
    row = db.execute(
        "SELECT s.session, coalesce(i.upto, 0), max(s.last) FROM segments s"
        " LEFT JOIN indexed i ON i.session = s.session"
        " GROUP BY s.session HAVING max(s.last) > coalesce(i.upto, 0) LIMIT 1"
    ).fetchone()
    if row is None:
        return False
    session, upto, _ = row
    lines: list[bytes] = []
    size = 0
    for first, last, body in db.execute(
        "SELECT first, last, body FROM segments WHERE session=? AND last>? ORDER BY first",
        (session, upto),
    ):
        lines.extend(body.split(b"\n")[max(0, upto + 1 - first) :])
        size, upto = size + len(body), last
        if size >= SLICE:
            break
    db.execute("BEGIN")
    try:
        for passage in passages(lines):
            if passage.text.strip() and passage.speaker != "thought":
                found = db.execute(
                    "INSERT INTO passages (session, seq, speaker) VALUES (?, ?, ?)",
                    (session, passage.seq, passage.speaker),
                )
                text = _UNSPACED.sub(r" \1 ", passage.text[:LONGEST])
                db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (found.lastrowid, text))
        db.execute("INSERT OR REPLACE INTO indexed VALUES (?, ?)", (session, upto))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    return True


def forget(db: sqlite3.Connection, session: str) -> None:
    """Take a session out of the index, inside of a transaction."""
    db.execute("DELETE FROM indexed WHERE session=?", (session,))
    if not db.execute("SELECT 1 FROM passages WHERE session=? LIMIT 1", (session,)).fetchone():
        return
    db.execute(
        "DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE session=?)", (session,)
    )
    db.execute("DELETE FROM passages WHERE session=?", (session,))
    # Else the words stay in the index until other words happen to be written there.
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


def search(db: sqlite3.Connection, query: str, limit: int) -> list[Match]:
    """Return where all the words of a query are said, the best places first."""
    words = _WORD.findall(_UNSPACED.sub(r" \1 ", query))
    if not words:
        return []
    # Each as the beginning of a word, and none of them as an operator.
    expression = " ".join(f'"{word}"*' for word in words)
    rows = db.execute(
        "SELECT p.session, p.seq, p.speaker, snippet(words, 0, ?, ?, '…', 16) FROM words"
        " JOIN passages p ON p.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT ?",
        (_START, _END, expression, limit),
    )
    return [Match(session, seq, who, list(_parts(said))) for session, seq, who, said in rows]


def public(match: Match) -> dict[str, Any]:
    """Return a match as REST clients see it."""
    parts = [{"text": text, "isMatch": is_match} for text, is_match in match.parts]
    return {"seq": match.seq, "speaker": match.speaker, "parts": parts}


def _parts(said: str) -> Iterator[tuple[str, bool]]:
    said = re.sub(
        rf" ([{_START}{_END}]*)({_UNSPACED.pattern[1:-1]})([{_START}{_END}]*) ", r"\1\2\3", said
    )
    for index, part in enumerate(re.split(f"[{_START}{_END}]", said)):
        if part:
            yield " ".join(part.split("\n")), index % 2 == 1
