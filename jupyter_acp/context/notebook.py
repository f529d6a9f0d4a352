# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Context of a notebook: its outline, the active cell, and what has failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..client.notebooks.output_text import images_of, told_outputs
from .block import Section
from .parts import SHORT, Part, divided, plain, quote

IMAGES = 2
"""Maximum number of images: the last outputs of the active cell."""

# Shares of the room for each part, and of a cell's room for what is not its source.
_FAILED, _AROUND, _OUTLINE = 0.16, 0.12, 0.16
_SELECTED, _OUTPUT = 0.25, 0.35
_BEFORE, _AFTER = 2, 1
"""Numbers of code cells before and after a failed one."""

_LEFT_OUT = "… {count} cells are left out here; read_notebook has them …"
_FOLDS = 2 * len(_LEFT_OUT)
"""Room for the notes about omitted cells before and behind the active one."""


@dataclass(frozen=True)
class View:
    """A notebook as the user sees it."""

    name: str
    language: str
    cells: Sequence[dict[str, Any]]
    active: str | None
    """Id of the active cell, if the user shares it."""

    selected: str
    """Selected text in the active cell."""


def parts(view: View) -> list[Part]:
    """Return the parts for a notebook, the most important first."""
    cells = view.cells
    active = next((at for at, cell in enumerate(cells) if cell["id"] == view.active), None)
    failed = next((at for at in range(len(cells) - 1, -1, -1) if has_failed(cells[at])), None)
    if active is not None and has_failed(cells[active]):
        # The user probably asks about the active cell.
        failed = active
    found: list[Part] = []
    if active is not None:
        images = images_of(cells[active].get("outputs") or [])[-IMAGES:]
        found.append(_cell(view, active, "The user is in", Section("active", images=images)))
    if failed is None:
        words = plain(f"No cell of {view.name} has failed.")
        found.append(Part(words, _FAILED, Section("failed", is_end=True)))
    else:
        if failed != active:
            lead = "The last cell that has failed is"
            found.append(_cell(view, failed, lead, Section("failed"), _FAILED))
        around = [at for at in _around(cells, failed) if at != active]
        for at in around:
            near, share = Section(f"near {cells[at]['id']}"), _AROUND / len(around)
            found.append(_cell(view, at, "Near the cell that has failed:", near, share))
    outline = Section("outline")
    return [*found, Part(lambda room: _outline(view, active, room), _OUTLINE, outline)]


def has_failed(cell: dict[str, Any]) -> bool:
    """Return True if the last run of a cell ended in an error."""
    return any(output.get("output_type") == "error" for output in cell.get("outputs") or [])


def _around(cells: Sequence[dict[str, Any]], at: int) -> list[int]:
    """Return the indexes of the code cells around a failed one."""
    code = [n for n, cell in enumerate(cells) if cell["cell_type"] == "code" and cell["source"]]
    before = [n for n in code if n < at][-_BEFORE:]
    after = [n for n in code if n > at][:_AFTER]
    return before + after


def _cell(view: View, at: int, lead: str, section: Section, share: float = 0) -> Part:
    """Return the part for a cell with its outputs and, if it is active, the selection."""
    cell = view.cells[at]
    kind, outputs = cell["cell_type"], cell.get("outputs") or []
    state = ""
    if kind == "code":
        state = ", failed" if has_failed(cell) else ", was run" if _was_run(cell) else ", not run"
    label = f"{lead} cell {at + 1} (id {cell['id']}, {kind}{state}):"
    language = {"code": view.language, "markdown": "markdown"}.get(kind, "")

    def tell(room: int) -> str:
        told = [Part(quote(label, cell["source"], language))]
        if cell["id"] == view.active and view.selected:
            told.append(Part(quote("Selected in it:", view.selected, language), _SELECTED))
        if printed := told_outputs(outputs, room):
            told.append(Part(quote("Its output:", printed), _OUTPUT))
        texts = divided(told, room)
        return "\n".join(filter(None, texts)) if texts[0] else ""

    return Part(tell, share, section, cell)


def _was_run(cell: dict[str, Any]) -> bool:
    return cell.get("execution_count") is not None or bool(cell.get("outputs"))


def _outline(view: View, active: int | None, room: int) -> str:
    lines = [_line(at, cell, is_active=at == active) for at, cell in enumerate(view.cells)]
    head = f"Cells of {view.name} (number, id, kind, state, first line):"
    text = "\n".join([head, *_folded(lines, active, room - len(head) - 1)])
    return text if len(text) <= room else ""


def _line(at: int, cell: dict[str, Any], *, is_active: bool) -> str:
    state = cell["cell_type"]
    if cell["cell_type"] == "code":
        count = cell.get("execution_count")
        state += f" [{count}]" if count is not None else " not run" if not _was_run(cell) else ""
        state += " failed" if has_failed(cell) else ""
    first = next((line for line in cell["source"].splitlines() if line.strip()), "")
    first = first if len(first) <= SHORT else f"{first[:SHORT]}…"
    mark = " (the user is here)" if is_active else ""
    return f"{at + 1} {cell['id']} {state}{mark}: {first}"


def _folded(lines: list[str], active: int | None, room: int) -> list[str]:
    """Omit lines from the middle of a long outline, but not around the active cell."""
    if sum(map(len, lines)) + len(lines) <= room:
        return lines
    kept: set[int] = set() if active is None else {active}
    left = room - _FOLDS - sum(len(lines[at]) + 1 for at in kept)
    for at in _by_interest(len(lines), active):
        if at not in kept:
            left -= len(lines[at]) + 1
            if left < 0:
                break
            kept.add(at)
    found: list[str] = []
    left_out = 0
    for at, line in enumerate([*lines, ""]):
        if at in kept or at == len(lines):
            if left_out:
                found.append(_LEFT_OUT.format(count=left_out))
            left_out = 0
            found += [line] if line else []
        else:
            left_out += 1
    return found


def _by_interest(count: int, active: int | None) -> Iterator[int]:
    """Yield the indexes around the active cell, and then those from both ends, alternating."""
    if active is not None:
        yield from range(max(active - 1, 0), min(active + 2, count))
    for turn in range(count):
        yield turn // 2 if turn % 2 == 0 else count - 1 - turn // 2
