# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Whatever two sides make of a notebook or a text, together they lose, invent and break nothing."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import nbformat
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jupyter_acp.client.documents.formats import NOTEBOOK
from jupyter_acp.client.documents.merge import ConflictError, merge_texts
from jupyter_acp.client.documents.revise import revise_notebook, revise_text

SOURCES = st.sampled_from(["", "1", "a\nb\nc", "a\nB\nc"])
VALUES = st.sampled_from([0, 1, True, False, None, "x", {"x": 1}, float("nan")])
METADATA = st.dictionaries(st.sampled_from(["a", "b"]), VALUES, max_size=2)
OUTPUT = {"output_type": "stream", "name": "stdout", "text": "1\n"}
OUTPUTS = st.sampled_from([[], [OUTPUT], [OUTPUT, OUTPUT]])
ATTACHMENTS = {"x.png": {"image/png": "iVBORw0KGgo="}}
KINDS = st.sampled_from(["code", "markdown", "raw"])
STEPS = st.sampled_from(["add", "drop", "move", "edit", "run", "tag", "attach", "turn"])


def cell_of(kind: str, source: str = "", **more: Any) -> dict[str, Any]:
    results = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "source": source, "metadata": {}, **results, **more}


def notebook(*cells: dict[str, Any], minor: int = 5, **metadata: Any) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": metadata, "cells": [*cells]}


@st.composite
def histories(draw: Any) -> list[dict[str, Any]]:
    """Draw a notebook and what two sides make of it, one step after the other."""
    names = iter(f"n{number}" for number in range(100))

    def cell() -> dict[str, Any]:
        return cell_of(draw(KINDS), draw(SOURCES), id=next(names), metadata=draw(METADATA))

    base = notebook(*(cell() for _ in range(draw(st.integers(0, 5)))))

    def side() -> dict[str, Any]:
        made = copy.deepcopy(base)
        cells = made["cells"]
        for _ in range(draw(st.integers(0, 3))):
            at, step = draw(st.integers(0, len(cells))), draw(STEPS)
            if step == "add":
                cells.insert(at, cell())
            elif at == len(cells):
                made["metadata"] = draw(METADATA)
            elif step == "drop":
                del cells[at]
            elif step == "move":
                cells.insert(draw(st.integers(0, len(cells) - 1)), cells.pop(at))
            elif step == "edit":
                cells[at]["source"] = draw(SOURCES)
            elif step == "tag":
                cells[at]["metadata"] = draw(METADATA)
            elif step == "turn":
                keys = ("id", "source", "metadata")
                cells[at] = cell_of(draw(KINDS), **{key: cells[at][key] for key in keys})
            elif cells[at]["cell_type"] == "code":
                cells[at].update(outputs=draw(OUTPUTS), execution_count=2)
            else:
                cells[at]["attachments"] = ATTACHMENTS
        return made

    return [base, side(), side()]


def read(value: dict[str, Any]) -> dict[str, Any]:
    """Return it as a file or a window has it: nothing is shared with another version."""
    return NOTEBOOK.parse(json.dumps(value))


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where a number is no boolean and all NaN are one."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def ids(value: dict[str, Any]) -> list[str]:
    return [cell["id"] for cell in value["cells"]]


def check(value: dict[str, Any]) -> None:
    """Fail unless it can be written, and read by everybody."""
    nbformat.validate(json.loads(NOTEBOOK.text(value)))


@given(histories())
def test_a_merge_of_notebooks_is_one_with_every_cell_of_both_and_no_other(versions):
    base, ours, theirs = map(read, versions)
    try:
        merged = NOTEBOOK.merge(base, ours, theirs)
    except ConflictError:
        return
    check(merged)
    was, mine, other, now = (ids(value) for value in (base, ours, theirs, merged))
    assert len(set(now)) == len(now)
    assert set(now) <= {*mine, *other}
    # What one side put in is there, and what neither has thrown away.
    assert ({*mine, *other} - {*was}) | ({*mine} & {*other}) <= set(now)


@given(histories())
def test_every_field_of_a_merge_is_one_sides(versions):
    base, ours, theirs = map(read, versions)
    try:
        merged = NOTEBOOK.merge(base, ours, theirs)
    except ConflictError:
        return
    known = [{cell["id"]: cell for cell in side["cells"]} for side in (base, ours, theirs)]
    for cell in merged["cells"]:
        was, mine, other = (side.get(cell["id"]) for side in known)
        for field in cell:
            if field in ("metadata", "outputs", "execution_count"):
                continue
            sides = [each.get(field) for each in (mine, other) if each is not None]
            assert any(same(cell[field], side) for side in sides)
            if was is not None and mine is not None and other is not None:
                # What only one side has touched is as that side made it.
                for untouched, touched in ((mine, other), (other, mine)):
                    if same(was.get(field), untouched.get(field)):
                        assert same(cell[field], touched.get(field))


@given(histories())
def test_what_both_sides_have_in_one_order_stays_in_it(versions):
    base, ours, theirs = map(read, versions)
    try:
        now = ids(NOTEBOOK.merge(base, ours, theirs))
    except ConflictError:
        return
    mine, other = ids(ours), ids(theirs)
    both = [id for id in mine if id in other]
    for before, after in ((a, b) for n, a in enumerate(both) for b in both[n + 1 :]):
        if other.index(before) < other.index(after):
            assert now.index(before) < now.index(after)


@given(histories())
def test_one_side_of_a_notebook_alone_wins(versions):
    base, side, _ = map(read, versions)
    assert same(NOTEBOOK.merge(base, side, read(versions[0])), side)
    assert same(NOTEBOOK.merge(base, read(versions[0]), side), side)
    assert same(NOTEBOOK.merge(base, side, read(versions[1])), side)


@given(histories())
def test_notebooks_conflict_for_both_sides_or_for_none(versions):
    base, ours, theirs = map(read, versions)
    results = []
    for sides in ((ours, theirs), (theirs, ours)):
        try:
            merged = NOTEBOOK.merge(base, *sides)
        except ConflictError:
            results.append(None)
        else:
            # Only what has run is our side's alone.
            for cell in merged["cells"]:
                cell.pop("outputs", None), cell.pop("execution_count", None)
            results.append(merged)
    assert same(*results)


# Files: what agents and people write, of any version


ODD_IDS = st.sampled_from(["a", "a", "a-2", "a-3", "b", "b-2", "x" * 64, "x" * 62 + "-2"])
OLD_IDS = ODD_IDS | st.sampled_from([None, 7, True, "", "a b", "x" * 65, ["a"], {}])
WITHOUT = {}


@st.composite
def files(draw: Any) -> dict[str, Any]:
    """Draw a notebook whose cells were copied with their ids, or have none, or what is none."""
    minor = draw(st.sampled_from([0, 2, 4, 5]))
    ids = ODD_IDS if minor == 5 else OLD_IDS | st.just(WITHOUT)
    cells = draw(st.lists(st.tuples(KINDS, SOURCES, ids), max_size=7))
    return notebook(
        *(
            cell_of(kind, source) if id is WITHOUT else cell_of(kind, source, id=id)
            for kind, source, id in cells
        ),
        minor=minor,
    )


def content(value: dict[str, Any]) -> list[tuple[str, str]]:
    return [(cell["cell_type"], cell["source"]) for cell in value["cells"]]


@given(files())
@example(notebook(*(cell_of("code", str(n), id=id) for n, id in enumerate(["a", "a", "a-2"]))))
@example(notebook(*(cell_of("code", str(n), id=None) for n in range(2)), minor=4))
@example(notebook(cell_of("code", "1", id=7), cell_of("code", "2", id="x"), minor=4))
def test_no_cell_of_a_file_is_lost_whatever_its_id_is(value):
    try:
        parsed = read(value)
    except ValueError:
        assume(False)
    assert content(parsed) == content(value)
    known = [cell["id"] for cell in parsed["cells"] if "id" in cell]
    assert all(isinstance(id, str) for id in known) and len(set(known)) == len(known)
    check(parsed)
    merged = NOTEBOOK.merge(read(value), parsed, read(value))
    assert content(merged) == content(value)


@given(files(), files(), files())
def test_files_of_any_version_merge_or_conflict(base, ours, theirs):
    try:
        versions = [*map(read, (base, ours, theirs))]
    except ValueError:
        assume(False)
    try:
        merged = NOTEBOOK.merge(*versions)
    except ConflictError:
        return
    check(merged)
    sources = [{source for _, source in content(each)} for each in (merged, ours, theirs)]
    assert sources[0] <= sources[1] | sources[2]


JUNK = st.recursive(
    VALUES | st.integers() | st.text(max_size=3) | st.sampled_from([4, 3, 5, "code", [""], []]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["source", "id", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a value: what holds it, and by which key."""
    keys = value if isinstance(value, dict) else range(len(value))
    below = [nodes(value[key]) for key in keys if isinstance(value[key], (dict, list))]
    return [*((value, key) for key in keys), *(node for more in below for node in more)]


# What converts version 1 takes a cell of an unknown kind for the one before it.
@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
@given(histories(), st.integers(0, 1000), JUNK, st.sampled_from([1, 2, 3, 4, 5, None, True]))
def test_what_is_no_notebook_is_refused_in_words(versions, place, junk, version):
    value = {**copy.deepcopy(versions[1]), "nbformat": version}
    known = nodes(value)
    holder, key = known[place % len(known)]
    holder[key] = junk
    try:
        parsed = read(value)
    except ValueError as error:
        words = str(error)
    else:
        words = "it is one"
        check(parsed)
        assert content(read(parsed)) == content(parsed)
    assert words.startswith("it is ")


@given(st.text(max_size=10) | JUNK.map(json.dumps))
def test_what_is_no_json_is_refused_in_words(text):
    with pytest.raises(ValueError, match=r"^it is "):
        NOTEBOOK.parse(text)


def test_what_is_nested_too_deeply_is_refused_in_words():
    metadata = '{"a":' * 900 + "1" + "}" * 900
    for text in ("[" * 100_000, f'{{"nbformat": 4, "cells": [], "metadata": {metadata}}}'):
        with pytest.raises(ValueError, match="recursion"):
            NOTEBOOK.parse(text)


# Texts


LINES = st.lists(st.sampled_from("abcde"), max_size=6)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\x0c", "\u2028"])


@st.composite
def texts(draw: Any) -> str:
    """Draw lines, the last of which may have no end."""
    end = draw(ENDS)
    text = "".join(line + (end if draw(st.integers(0, 9)) else "\r\n") for line in draw(LINES))
    return text if draw(st.booleans()) else text.removesuffix(end)


@given(texts(), texts(), texts())
@example("a\nb\n", "a\nB", "a\nb\nc\n")
@example("a\nb\n", "a\nb\nc\n", "a\nB")
@example("a\nb\n", "a\nB\r", "a\nb\n\nc\n")
def test_every_line_of_a_merge_was_somebodys(base, ours, theirs):
    try:
        merged = merge_texts(base, ours, theirs)
    except ConflictError:
        return
    known = {line for text in (base, ours, theirs) for line in text.splitlines(keepends=True)}
    assert {*merged.splitlines(keepends=True)} <= known
    assert merged == merge_texts(base, theirs, ours)


PIECES = st.text("ab \n", max_size=8)


@given(PIECES, PIECES, PIECES, st.booleans())
def test_a_change_that_is_taken_back_leaves_what_was_there(text, before, after, whole):
    try:
        changed = revise_text(text, before, after, whole=whole)
        back = revise_text(changed, after, before, whole=whole)
    except ConflictError:
        return
    # Where the change had been made already, nothing was done; and so it may seem the other way.
    assert back in (text, changed) or changed == text


ANY_ENDS = st.text("ab\n\r", max_size=8) | st.text("ab\n", max_size=8)


@given(ANY_ENDS, ANY_ENDS, ANY_ENDS, st.booleans())
def test_a_change_leaves_the_line_ends_of_a_text_as_they_are(text, before, after, whole):
    text = text.replace("\r", "").replace("\n", "\r\n")
    assume("\n" in text and text not in (before, after))
    with contextlib.suppress(ConflictError):
        revised = revise_text(text, before, after, whole=whole)
        assert revised.count("\n") == revised.count("\r\n")


@given(histories(), PIECES, PIECES)
def test_a_piece_is_changed_in_one_cell_and_nowhere_else(versions, before, after):
    now = read(versions[0])
    with contextlib.suppress(ConflictError):
        revised = revise_notebook(now, before, after)
        assert len(touched(now, revised)) <= 1
        assert ids(revised) == ids(now) and same(read(versions[0]), now)


def touched(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Return the ids of the cells that came, went, or became others."""
    was, now = ({cell["id"]: cell for cell in each["cells"]} for each in (before, after))
    return {id for id in {*was, *now} if not same(was.get(id), now.get(id))}


@given(histories())
def test_a_change_of_a_notebook_that_is_taken_back_leaves_what_was_there(versions):
    before, now, after = versions
    # What somebody else has changed in just the same way is taken back for both.
    assume(not touched(before, now) & touched(before, after))
    assume(same(before["metadata"], now["metadata"]))
    for made in (now, after):
        kept = [id for id in ids(made) if id in ids(before)]
        assume(kept == [id for id in ids(before) if id in kept])
    try:
        changed = revise_notebook(read(now), json.dumps(before), json.dumps(after))
        back = revise_notebook(changed, json.dumps(after), json.dumps(before))
    except ConflictError:
        return
    # Where both have put something in, or taken it out, nobody knows which of it came first.
    for each in (back, now):
        each["cells"].sort(key=lambda cell: cell["id"])
    assert same(back, read(now))
