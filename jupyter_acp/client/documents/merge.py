# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Three-way merges of texts and notebooks."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T", bound=Hashable)


class ConflictError(Exception):
    """Both sides changed the same part differently; the message names the part."""


class Edit(NamedTuple):
    """A replacement of a range of the base by one side."""

    start: int
    end: int
    items: Sequence[Any]


def merge_texts(base: str, ours: str, theirs: str, *, apart: bool = False) -> str:
    """Merge line by line; with `apart`, an insertion next to another change is a conflict, too."""
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
    merged = merge_sequences(*lines, what="line", apart=apart)
    text = "".join(merged)
    if text.splitlines(keepends=True) != merged:
        # A last line without a line end was joined with a line behind it: neither side wrote that.
        raise ConflictError(f"line {len(lines[0])}")
    return text


def merge_sequences(
    base: Sequence[T],
    ours: Sequence[T],
    theirs: Sequence[T],
    *,
    what: str,
    apart: bool = False,
) -> list[T]:
    """Merge two changed sequences; overlapping changes conflict unless they are equal."""
    merged: list[T] = []
    done = 0
    edits = sorted({*_edits(base, ours), *_edits(base, theirs)})
    for edit, following in itertools.pairwise(edits):
        if _meet(edit, following) or (apart and _touch(edit, following)):
            raise ConflictError(f"{what} {following.start + 1}")
    for edit in edits:
        merged += [*base[done : edit.start], *edit.items]
        done = edit.end
    return [*merged, *base[done:]]


def _edits(base: Sequence[T], side: Sequence[T]) -> list[Edit]:
    # Skip the common ends: they are most of the text, and SequenceMatcher is slow on differences.
    start = 0
    shorter = min(len(base), len(side))
    while start < shorter and base[start] == side[start]:
        start += 1
    rest = 0
    while rest < shorter - start and base[-1 - rest] == side[-1 - rest]:
        rest += 1
    old, new = base[start : len(base) - rest], side[start : len(side) - rest]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Edit(start + i1, start + i2, tuple(new[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _meet(first: Edit, second: Edit) -> bool:
    """Return True if two edits overlap; `first` must not start behind `second`."""
    if first.start == second.start:
        # An insertion before a range does not overlap with a change of the range.
        return (first.end == first.start) == (second.end == second.start)
    return second.start < first.end


def _touch(first: Edit, second: Edit) -> bool:
    """Return True if one of two edits is an insertion directly next to the other."""
    is_insertion = first.start == first.end or second.start == second.end
    return is_insertion and second.start <= first.end


# Notebooks


def merge_notebooks(
    base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> dict[str, Any]:
    """Merge cell by cell, by id; a part that only one side changed is taken from that side."""
    cells = [{cell["id"]: cell for cell in notebook["cells"]} for notebook in (base, ours, theirs)]
    order = merge_sequences(*[list(side) for side in cells], what="the order at cell")
    if len(set(order)) < len(order):
        raise ConflictError("cells that both sides moved")
    in_base, in_ours, in_theirs = cells
    merged = [_cell(id, in_base.get(id), in_ours.get(id), in_theirs.get(id)) for id in order]
    for id in in_base.keys() - set(order):
        # Deleted on one side: the other side must not have edited it.
        for left in (in_ours.get(id), in_theirs.get(id)):
            if left is not None and left["source"] != in_base[id]["source"]:
                raise ConflictError(f"cell {id}, deleted on one side")
    return {
        **_fields(base, ours, theirs, "the notebook", skip=("cells", "metadata")),
        "metadata": _fields(
            base["metadata"], ours["metadata"], theirs["metadata"], "the notebook's metadata"
        ),
        "cells": merged,
    }


def _cell(
    id: str,
    base: dict[str, Any] | None,
    ours: dict[str, Any] | None,
    theirs: dict[str, Any] | None,
) -> dict[str, Any]:
    if ours is None or theirs is None:
        cell = ours or theirs
        assert cell is not None
        return cell
    base = base or {}
    name = f"cell {id}"
    cell = _fields(base, ours, theirs, name, skip=("metadata", "outputs", "execution_count"))
    cell["metadata"] = _fields(
        base.get("metadata", {}), ours["metadata"], theirs["metadata"], f"the metadata of {name}"
    )
    if cell["cell_type"] == "code":
        # If our side has new outputs, they are the latest: only our side runs cells.
        ran = theirs if _results(ours) == _results(base) else ours
        cell.update(zip(("execution_count", "outputs"), _results(ran), strict=True))
        if "attachments" in cell:
            # One side added attachments, the other made it a code cell, which cannot have any.
            raise ConflictError(f"cell_type of {name}")
    return cell


def _results(cell: dict[str, Any]) -> tuple[Any, Any]:
    return cell.get("execution_count"), cell.get("outputs") or []


def _fields(
    base: dict[str, Any],
    ours: dict[str, Any],
    theirs: dict[str, Any],
    what: str,
    skip: tuple[str, ...] = (),
) -> dict[str, Any]:
    merged = {}
    for key in dict.fromkeys([*ours, *theirs]):
        if key in skip:
            continue
        was, mine, other = (side.get(key, _ABSENT) for side in (base, ours, theirs))
        if _same(mine, was) or _same(mine, other):
            value = other
        elif _same(other, was):
            value = mine
        else:
            raise ConflictError(what if key == "source" else f"{key} of {what}")
        if value is not _ABSENT:
            merged[key] = value
    return merged


def _same(one: Any, other: Any) -> bool:
    """Return True if two values are equal in JSON: there, true is not 1, and NaN equals NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one:
            if key not in other or not _same(one[key], other[key]):
                return False
        return len(one) == len(other)
    if isinstance(one, list) and isinstance(other, list):
        for item, its in zip(one, other, strict=False):
            if not _same(item, its):
                return False
        return len(one) == len(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other or (one != one and other != other))


_ABSENT = object()
