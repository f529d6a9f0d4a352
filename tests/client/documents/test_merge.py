# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Three-way merges lose nothing of either side."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_acp.client.documents.merge import (
    ConflictError,
    merge_notebooks,
    merge_sequences,
    merge_texts,
)

BASE = "a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (BASE, BASE, BASE),
        ("A\nb\nc\nd\ne\n", BASE, "A\nb\nc\nd\ne\n"),
        (BASE, "a\nb\nc\nd\nE\n", "a\nb\nc\nd\nE\n"),
        ("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"),
        ("a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "a\nB\nC\nd\ne\n"),
        ("a\nx\nb\nc\nd\ne\n", "a\nb\nc\nd\ny\ne\n", "a\nx\nb\nc\nd\ny\ne\n"),
        ("a\nx\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nx\nB\nc\nd\ne\n"),
        ("b\nc\nd\ne\n", "a\nb\nc\nd\n", "b\nc\nd\n"),
        ("a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n"),
        ("a\nX\nc\nd\ne\n", "a\nX\nc\nd\nE\n", "a\nX\nc\nd\nE\n"),
        (BASE + "f", "z\n" + BASE, "z\n" + BASE + "f"),
    ],
)
def test_texts_that_go_together(ours, theirs, merged):
    assert merge_texts(BASE, ours, theirs) == merged
    assert merge_texts(BASE, theirs, ours) == merged


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n"),
        ("a\nx\nb\nc\nd\ne\n", "a\ny\nb\nc\nd\ne\n"),
        ("a\ne\n", "a\nb\nC\nd\ne\n"),
        ("a\nX\nd\ne\n", "a\nb\nY\ne\n"),
        ("a\nb\nc\nd\ne\nx", "a\nb\nc\nd\ne\ny"),
    ],
)
def test_texts_that_do_not(ours, theirs):
    for sides in ((ours, theirs), (theirs, ours)):
        with pytest.raises(ConflictError, match="line"):
            merge_texts(BASE, *sides)


letters = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@given(base=letters, side=letters)
def test_one_side_alone_wins(base, side):
    assert merge_sequences(base, side, base, what="x") == side
    assert merge_sequences(base, base, side, what="x") == side
    assert merge_sequences(base, side, side, what="x") == side


@given(base=letters, ours=letters, theirs=letters)
def test_a_merge_invents_and_loses_nothing(base, ours, theirs):
    try:
        merged = merge_sequences(base, ours, theirs, what="x")
    except ConflictError:
        return
    assert merged == merge_sequences(base, theirs, ours, what="x")
    for letter in "abcdefgh":
        counts = [side.count(letter) for side in (base, ours, theirs, merged)]
        gained = max(counts[1] - counts[0], 0) + max(counts[2] - counts[0], 0)
        assert counts[3] <= counts[0] + gained


def code(id, source="", outputs=(), count=None, **metadata):
    return {
        "id": id,
        "cell_type": "code",
        "source": source,
        "outputs": list(outputs),
        "execution_count": count,
        "metadata": metadata,
    }


def notebook(*cells, **metadata):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}


OUTPUT = {"output_type": "stream", "name": "stdout", "text": "1\n"}
START = notebook(code("a", "1"), code("b", "2", [OUTPUT], 1), code("c", "3"))


def changed(change):
    result = copy.deepcopy(START)
    change(result)
    return result


def setting(index, **fields):
    return changed(lambda n: n["cells"][index].update(fields))


def test_each_side_may_have_its_cells():
    ours = setting(0, source="user")
    theirs = setting(1, source="agent")
    merged = merge_notebooks(START, ours, theirs)
    assert [cell["source"] for cell in merged["cells"]] == ["user", "agent", "3"]
    assert merged["cells"][1]["outputs"] == [OUTPUT]
    assert merge_notebooks(START, theirs, ours) == merged


def test_what_ran_meanwhile_keeps_its_outputs():
    new = {**OUTPUT, "text": "2\n"}
    ours = setting(1, outputs=[new], execution_count=2)
    theirs = setting(1, source="agent", outputs=[])
    merged = merge_notebooks(START, ours, theirs)["cells"][1]
    assert merged == code("b", "agent", [new], 2)
    cleared = merge_notebooks(START, START, setting(1, outputs=[], execution_count=None))
    assert cleared["cells"][1] == code("b", "2")


def test_cells_come_go_and_move():
    ours = changed(lambda n: n["cells"].append(code("user", "new")))
    theirs = changed(lambda n: n["cells"].insert(0, n["cells"].pop(1)))
    merged = merge_notebooks(START, ours, theirs)
    assert [cell["id"] for cell in merged["cells"]] == ["b", "a", "c", "user"]
    gone = changed(lambda n: n["cells"].pop(2))
    merged = merge_notebooks(START, setting(0, source="user"), gone)
    assert [cell["source"] for cell in merged["cells"]] == ["user", "2"]


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (setting(0, source="user"), setting(0, source="agent"), "^cell a"),
        (setting(0, source="user"), changed(lambda n: n["cells"].pop(0)), "cell a, deleted"),
        (changed(lambda n: n["cells"].pop(0)), setting(0, source="agent"), "cell a, deleted"),
        (setting(0, cell_type="raw"), setting(0, cell_type="markdown"), "cell_type of cell a"),
        (
            changed(lambda n: n["cells"].insert(0, n["cells"].pop(2))),
            changed(lambda n: n["cells"].insert(1, n["cells"].pop(2))),
            "both sides moved",
        ),
        (
            changed(lambda n: n["metadata"].update(kernelspec={"name": "r"})),
            changed(lambda n: n["metadata"].update(kernelspec={"name": "julia"})),
            "kernelspec of the notebook's metadata",
        ),
    ],
)
def test_what_both_touched_is_a_conflict(ours, theirs, words):
    with pytest.raises(ConflictError, match=words):
        merge_notebooks(START, ours, theirs)


def test_metadata_of_both_sides():
    ours = changed(lambda n: (n["metadata"].update(a=1), n["cells"][0]["metadata"].update(x=1)))
    theirs = changed(lambda n: (n["metadata"].update(b=2), n["cells"][0]["metadata"].update(y=2)))
    merged = merge_notebooks(START, ours, theirs)
    assert merged["metadata"] == {"a": 1, "b": 2}
    assert merged["cells"][0]["metadata"] == {"x": 1, "y": 2}
