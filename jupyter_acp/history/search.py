# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The full-text index of all transcripts (SQLite's FTS5).

Transcripts are written far more often than they are searched, so they are indexed only when
somebody searches. This is done in slices, because commits have to wait meanwhile.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from .messages import passages

SLICE = 1024 * 1024
"""Size of the part of a transcript that is indexed at once, in bytes; commits wait for it."""

LONGEST = 20_000
"""Maximum length of the indexed part of one message, in characters."""

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

# Scripts without spaces: each character is indexed as a word.
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_WORD = re.compile(r"\w+")
_START, _END = "\x02", "\x03"


class Match(NamedTuple):
    """A passage that contains the words of a query."""

    session: str
    seq: int
    speaker: str
    parts: list[tuple[str, bool]]
    """The text around the words, in parts, each with True if it is one of the words."""


def index_some(db: sqlite3.Connection) -> bool:
    """Index a slice of the messages that are not indexed yet; return False if there are none."""
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
    """Remove a session from the index, inside a transaction."""
    db.execute("DELETE FROM indexed WHERE session=?", (session,))
    if not db.execute("SELECT 1 FROM passages WHERE session=? LIMIT 1", (session,)).fetchone():
        return
    db.execute(
        "DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE session=?)", (session,)
    )
    db.execute("DELETE FROM passages WHERE session=?", (session,))
    # Without this the deleted words stay in the index until others overwrite them.
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


def search(db: sqlite3.Connection, query: str, limit: int) -> list[Match]:
    """Return the passages that contain all words of a query, best match first."""
    words = _WORD.findall(_UNSPACED.sub(r" \1 ", query))
    if not words:
        return []
    # Quotes prevent FTS5 operators; the asterisk matches words by their beginning.
    expression = " ".join(f'"{word}"*' for word in words)
    rows = db.execute(
        "SELECT p.session, p.seq, p.speaker, snippet(words, 0, ?, ?, '…', 16) FROM words"
        " JOIN passages p ON p.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT ?",
        (_START, _END, expression, limit),
    )
    return [Match(session, seq, who, list(_parts(said))) for session, seq, who, said in rows]


def public(match: Match) -> dict[str, Any]:
    """Return a match in the format of the REST API."""
    parts = [{"text": text, "isMatch": is_match} for text, is_match in match.parts]
    return {"seq": match.seq, "speaker": match.speaker, "parts": parts}


def _parts(said: str) -> Iterator[tuple[str, bool]]:
    said = re.sub(
        rf" ([{_START}{_END}]*)({_UNSPACED.pattern[1:-1]})([{_START}{_END}]*) ", r"\1\2\3", said
    )
    for index, part in enumerate(re.split(f"[{_START}{_END}]", said)):
        if part:
            yield " ".join(part.split("\n")), index % 2 == 1
