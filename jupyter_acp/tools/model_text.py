# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks, outputs and variables as text for a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from ..client.notebooks.output_text import cut, images_of, output_text, told_outputs
from ..client.notebooks.outputs import Ran, RanCell

CELL_OUTPUT_LIMIT = 2_000
"""Maximum length of an output when a notebook is read, in characters."""

RUN_OUTPUT_LIMIT = 20_000
"""Maximum length of an output of a run, in characters."""

NOTEBOOK_LIMIT = 80_000
IMAGES_LIMIT = 5
"""Maximum number of images in an answer."""

Content = list[dict[str, Any]]


def text(words: str) -> dict[str, Any]:
    """Return text content."""
    return {"type": "text", "text": words}


def json_text(value: Any) -> dict[str, Any]:
    """Return data as text content."""
    return text(json.dumps(value, ensure_ascii=False, indent=1))


def told_cells(
    cells: Iterable[tuple[int, dict[str, Any]]], active: str | None
) -> tuple[str, Content, int | None]:
    """Return cells as text, their images, and the index of the first that does not fit, or None."""
    parts: list[str] = []
    images: Content = []
    size = 0
    for index, cell in cells:
        words = _cell(index, cell, active)
        size += len(words)
        if size > NOTEBOOK_LIMIT and parts:
            return "\n".join(parts), images[:IMAGES_LIMIT], index
        parts.append(words)
        images += images_of(cell.get("outputs") or [])
    return "\n".join(parts), images[:IMAGES_LIMIT], None


def told_run(ran: Ran, what: str, limit: int = RUN_OUTPUT_LIMIT) -> Content:
    """Return the result of a run as text and images."""
    count = f" [{ran.execution_count}]" if ran.execution_count is not None else ""
    how = {
        "ok": "ran",
        "error": "failed",
        "aborted": "was not run to its end",
        "timeout": "was stopped",
    }[ran.status]
    words = [f"{what}{count} {how}." + (f" {ran.note}" if ran.note else "")]
    shown = told_outputs(ran.outputs, limit)
    if shown or ran.status in ("ok", "error"):
        words.append(shown or "It printed nothing and returned nothing.")
    return [text("\n".join(words)), *images_of(ran.outputs)[:IMAGES_LIMIT]]


def told_runs(runs: list[RanCell], left: int) -> Content:
    """Return the results of several runs, with long outputs for the last one only."""
    said: Content = []
    for each in runs:
        limit = RUN_OUTPUT_LIMIT if each is runs[-1] else CELL_OUTPUT_LIMIT
        said += told_run(each.ran, f"Cell {each.id} (index {each.index})", limit)
    words = [block["text"] for block in said if block["type"] == "text"]
    if left:
        words.append(f"{left} more cells were not run.")
    images = [block for block in said if block["type"] == "image"]
    return [text("\n\n".join(words)), *images[-IMAGES_LIMIT:]]


def told_in_full(outputs: list[dict[str, Any]], start: int, length: int) -> Content:
    """Return outputs uncut, or the requested part of their text."""
    whole = "\n".join(filter(None, (output_text(each, sys.maxsize) for each in outputs)))
    part = whole[start : start + length]
    end = start + len(part)
    if len(part) < len(whole):
        part += f"\n[Characters {start:,} to {end:,} of {len(whole):,}."
        part += f" Read on with start={end}.]" if end < len(whole) else "]"
    return [text(part or "There is no text in it."), *images_of(outputs)[:IMAGES_LIMIT]]


def told_variables(found: dict[str, Any]) -> str:
    """Return variables as text, one per line."""
    lines = [
        f"{entry['name']}: {entry['type']}"
        + (f" [{entry['shape']}]" if entry.get("shape") else "")
        + f" = {entry['value']}"
        for entry in found["variables"]
    ]
    if found["more"]:
        lines.append(f"… and {found['more']} more.")
    if found["imports"]:
        names = (
            name if name == module else f"{module} as {name}"
            for name, module in found["imports"].items()
        )
        lines.append(f"Imported modules: {', '.join(names)}")
    return "\n".join(lines) or "There are no variables yet."


def _cell(index: int, cell: dict[str, Any], active: str | None) -> str:
    about = [f'index="{index}"', f'id="{cell["id"]}"', f'type="{cell["cell_type"]}"']
    if cell.get("execution_count") is not None:
        about.append(f'execution_count="{cell["execution_count"]}"')
    if cell["id"] == active:
        about.append('active="true"')
    words = f"<cell {' '.join(about)}>\n{cell['source']}\n</cell>"
    shown = told_outputs(cell.get("outputs") or [], CELL_OUTPUT_LIMIT)
    return f"{words}\n<output>\n{cut(shown, 3 * CELL_OUTPUT_LIMIT)}\n</output>" if shown else words
