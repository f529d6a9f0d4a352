# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks: the content of their cells, and edits that keep everything else unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

SUFFIX = ".ipynb"

_INDENT = re.compile(r"\A\{\r?\n([ \t]+)\"")


class Cell(NamedTuple):
    """The content of a cell."""

    number: int
    kind: str
    source: str
    order: int | None
    outputs: list[dict[str, Any]]

    def in_words(self) -> str:
        """Return the first line, the kinds of outputs and the errors of the cell as a text."""
        first = next((line.strip() for line in self.source.splitlines() if line.strip()), "")
        count = f" [{self.order}]" if self.order is not None else ""
        kinds = dict.fromkeys(filter(None, map(_kind, self.outputs)))
        outputs = f" → {', '.join(kinds)}" if kinds else ""
        errors = "".join(f" → **{error}**" for error in self.errors)
        return f"{self.number}. {self.kind}{count} `{first[:80] or '(empty)'}`{outputs}{errors}\n"

    @property
    def errors(self) -> list[str]:
        """The errors in the cell's outputs."""
        return [
            f"{output.get('ename', 'Error')}: {output.get('evalue', '')}".rstrip(": ")
            for output in self.outputs
            if output.get("output_type") == "error"
        ]


def cells(text: str) -> list[Cell]:
    """Return the cells of a notebook; raise a `ValueError` if it is invalid."""
    return [
        Cell(
            number,
            str(cell.get("cell_type", "raw")),
            _source(cell),
            cell.get("execution_count"),
            [output for output in cell.get("outputs") or () if isinstance(output, dict)],
        )
        for number, cell in enumerate(_parse(text)["cells"], start=1)
    ]


def edited(text: str, edit: Callable[[str, bool], str]) -> str:
    """Return the notebook with edited cells; `edit` gets a text, and True for Markdown."""
    notebook = _parse(text)
    is_changed = False
    for cell in notebook["cells"]:
        before = _source(cell)
        after = edit(before, cell.get("cell_type") == "markdown")
        if after != before:
            is_changed = True
            is_list = isinstance(cell["source"], list)
            cell["source"] = after.splitlines(keepends=True) if is_list else after
    if not is_changed:
        return text
    indent = _INDENT.match(text)
    new = json.dumps(notebook, ensure_ascii=False, indent=indent[1] if indent else None)
    return new + "\n" if text.endswith("\n") else new


def _kind(output: dict[str, Any]) -> str:
    data = output.get("data")
    if output.get("output_type") == "stream":
        return str(output.get("name", "stream"))
    if not isinstance(data, dict) or not data:
        return ""
    # Editors show the richest type; plain text is only its fallback.
    return next((mime for mime in data if mime != "text/plain"), "text")


def _source(cell: dict[str, Any]) -> str:
    """Return the text of a cell, which is stored as one text or as a list of lines."""
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _parse(text: str) -> dict[str, Any]:
    notebook = json.loads(text)
    found = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(found, list) or not all(isinstance(cell, dict) for cell in found):
        raise ValueError("it has no list of cells (nbformat 4 or later)")
    return dict(notebook)
