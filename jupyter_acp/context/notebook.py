# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A notebook in a few words: its outline, the cell that the user is in, and what has failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..tools.words import cut, images_of, told_outputs
from .block import Section

OUTLINE_LINE = 80
"""How much of a cell's first line is in the outline, in characters."""

IMAGES = 2
"""How many pictures go along: the last outputs of the cell that the user is in."""

# Which part of the whole block each section may take.
_ACTIVE, _FAILED, _AROUND, _OUTLINE = 0.38, 0.22, 0.2, 0.2
_BEFORE, _AFTER = 2, 1
"""How many code cells around one that has failed are told."""


@dataclass(frozen=True)
class View:
    """A notebook as the user sees it."""

    name: str
    path: str
    language: str
    cells: Sequence[dict[str, Any]]
    active: str | None
    """The id of the cell that the user is in, if that is shared."""

    selected: str
    """The text that is selected in it."""


def sections(view: View, limit: int) -> tuple[list[Section], list[dict[str, Any]]]:
    """Return what to tell of it in about `limit` characters, and the cells that are told in full."""
    cells = view.cells
    active = next((at for at, cell in enumerate(cells) if cell["id"] == view.active), None)
    failed = [at for at, cell in enumerate(cells) if has_failed(cell)]
    if active in failed:
        # The user asks about what is in front of them.
        failed = [active]
    failed = failed[-1:]
    found = [Section("outline", _outline(view, active, int(limit * _OUTLINE)))]
    whole: list[int] = []
    if active is not None:
        words, is_whole = _cell(view, active, int(limit * _ACTIVE))
        selected = cut(view.selected, int(limit * _FAILED))
        if selected:
            words += f"\nSelected in it:\n{fenced(selected)}"
        images = images_of(cells[active].get("outputs") or [])[-IMAGES:]
        found.append(Section("active", f"The user is in {words}", images))
        whole += [active] if is_whole else []
    for at in failed:
        if at != active:
            words, is_whole = _cell(view, at, int(limit * _FAILED))
            found.append(Section("failed", f"The last cell that has failed is {words}"))
            whole += [at] if is_whole else []
        around = [near for near in _around(cells, at) if near != active]
        told = [_cell(view, near, int(limit * _AROUND / len(around))) for near in around]
        if told:
            text = "\n".join(f"Near the cell that has failed: {words}" for words, _ in told)
            found.append(Section("around", text))
            whole += [near for near, (_, is_whole) in zip(around, told, strict=True) if is_whole]
    return found, [cells[at] for at in whole]


def has_failed(cell: dict[str, Any]) -> bool:
    """Whether the last run of a cell ended in an error."""
    return any(output.get("output_type") == "error" for output in cell.get("outputs") or [])


def fenced(text: str, language: str = "") -> str:
    """Return text in a fence that it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _around(cells: Sequence[dict[str, Any]], at: int) -> list[int]:
    """Return the code cells that may have to do with a failure."""
    code = [n for n, cell in enumerate(cells) if cell["cell_type"] == "code" and cell["source"]]
    before = [n for n in code if n < at][-_BEFORE:]
    after = [n for n in code if n > at][:_AFTER]
    return before + after


def _cell(view: View, at: int, limit: int) -> tuple[str, bool]:
    """Return a cell with what it printed, and whether its source is told in full."""
    cell = view.cells[at]
    kind, source = cell["cell_type"], cell["source"]
    shown = cut(source, max(limit * 2 // 3, 80))
    outputs = cell.get("outputs") or []
    printed = cut(told_outputs(outputs, limit), max(limit - len(shown), 80))
    state = ""
    if kind == "code":
        state = ", failed" if has_failed(cell) else ", was run" if _was_run(cell) else ", not run"
    words = f"cell {at + 1} (id {cell['id']}, {kind}{state}):\n"
    words += fenced(shown, view.language if kind == "code" else "")
    if printed:
        words += f"\nIts output: {_quoted(printed)}"
    return words, shown == source


def _quoted(text: str) -> str:
    """Return an output as it is read most easily: most are one short line."""
    is_short = len(text) <= OUTLINE_LINE and "\n" not in text and "`" not in text
    return f"`{text}`" if is_short else f"\n{fenced(text)}"


def _was_run(cell: dict[str, Any]) -> bool:
    return cell.get("execution_count") is not None or bool(cell.get("outputs"))


def _outline(view: View, active: int | None, limit: int) -> str:
    lines = [_line(at, cell, is_active=at == active) for at, cell in enumerate(view.cells)]
    head = f"Cells of {view.name} (number, id, kind, state, first line):"
    return "\n".join([head, *_folded(lines, active, limit)])


def _line(at: int, cell: dict[str, Any], *, is_active: bool) -> str:
    state = cell["cell_type"]
    if cell["cell_type"] == "code":
        count = cell.get("execution_count")
        state += f" [{count}]" if count is not None else " not run" if not _was_run(cell) else ""
        state += " failed" if has_failed(cell) else ""
    first = next((line for line in cell["source"].splitlines() if line.strip()), "")
    first = first if len(first) <= OUTLINE_LINE else f"{first[:OUTLINE_LINE]}…"
    mark = " (the user is here)" if is_active else ""
    return f"{at + 1} {cell['id']} {state}{mark}: {first}"


def _folded(lines: list[str], active: int | None, limit: int) -> list[str]:
    """Leave out lines from the middle of what is too long, but not around the user."""
    if sum(map(len, lines)) + len(lines) <= limit:
        return lines
    near = range(max((active or 0) - 1, 0), min((active or 0) + 2, len(lines)))
    kept = set(near) if active is not None else set()
    size = sum(len(lines[at]) for at in kept)
    # From both ends, in turn.
    for turn in range(len(lines)):
        at = turn // 2 if turn % 2 == 0 else len(lines) - 1 - turn // 2
        if at not in kept:
            size += len(lines[at]) + 1
            if size > limit:
                break
            kept.add(at)
    found: list[str] = []
    left_out = 0
    for at, line in enumerate([*lines, ""]):
        if at in kept or at == len(lines):
            if left_out:
                found.append(f"… {left_out} cells are left out here; read_notebook has them …")
            left_out = 0
            found += [line] if line else []
        else:
            left_out += 1
    return found
