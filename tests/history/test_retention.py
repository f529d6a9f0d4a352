# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which sessions go when there are too many."""

from __future__ import annotations

import datetime as dt

import pytest

from jupyter_acp.history.record import SessionRecord
from jupyter_acp.history.retention import MEGABYTE, Retention, superfluous

NOW = dt.datetime(2026, 1, 31, tzinfo=dt.timezone.utc)


def record(id, day, state="closed"):
    updated = dt.datetime(2026, 1, day, tzinfo=dt.timezone.utc).isoformat()
    return SessionRecord(id=id, agent="a", cwd="/", state=state, updated=updated)


RECORDS = [
    record("open", 2, "disconnected"),
    record("old", 5),
    record("newest", 30),
    record("newer", 20),
]
SIZES = {"open": MEGABYTE, "old": MEGABYTE, "newer": 2 * MEGABYTE, "newest": MEGABYTE}


@pytest.mark.parametrize(
    ("retention", "gone"),
    [
        (Retention(), []),
        (Retention(sessions=4), []),
        (Retention(sessions=3), ["old"]),
        (Retention(sessions=1), ["old", "newer", "newest"]),
        (Retention(days=15), ["old", "open"]),
        (Retention(days=400), []),
        (Retention(size=5), []),
        (Retention(size=4), ["old"]),
        (Retention(size=2), ["old", "newer"]),
        (Retention(days=28, sessions=3), ["old", "open"]),
    ],
)
def test_closed_ones_go_first_and_the_oldest_of_them(retention, gone):
    assert superfluous(RECORDS, SIZES, retention, NOW) == gone


def test_a_session_without_a_time_is_not_old():
    odd = SessionRecord(id="odd", agent="a", cwd="/", updated="")
    assert superfluous([odd], {}, Retention(days=1), NOW) == []


def test_those_that_are_busy_count_but_stay():
    assert superfluous(RECORDS, SIZES, Retention(sessions=3), NOW, {"old"}) == ["newer"]
    assert superfluous(RECORDS, SIZES, Retention(sessions=1), NOW, {"old", "open"}) == [
        "newer",
        "newest",
    ]
