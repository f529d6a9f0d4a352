# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks as text: their cells for reading, and edits that leave everything else alone."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SUFFIX = ".ipynb"

_INDENT = re.compile(r"\A\{\r?\n([ \t]+)\"")


class NotebookError(ValueError):
    """The text is not a notebook that we can read."""


@dataclass(frozen=True)
class Cell:
    """A cell as a reader needs it."""

    number: int
    kind: str
    source: str
    count: int | None
    outputs: list[dict[str, Any]]

    @property
    def first_line(self) -> str:
        """Return the first line that says something."""
        return next((line.strip() for line in self.source.splitlines() if line.strip()), "")

    @property
    def errors(self) -> list[str]:
        """Return what went wrong when it ran."""
        return [
            f"{output.get('ename', 'Error')}: {output.get('evalue', '')}".rstrip(": ")
            for output in self.outputs
            if output.get("output_type") == "error"
        ]


def cells(text: str) -> list[Cell]:
    """Return the cells of a notebook."""
    return [
        Cell(
            number,
            str(cell.get("cell_type", "raw")),
            source_of(cell),
            cell.get("execution_count") if isinstance(cell.get("execution_count"), int) else None,
            [output for output in cell.get("outputs") or () if isinstance(output, dict)],
        )
        for number, cell in enumerate(_parse(text)["cells"], start=1)
    ]


def outputs_in_words(cell: Cell) -> str:
    """Return the kinds of output of a cell, such as `image/png, text`."""
    kinds: list[str] = []
    for output in cell.outputs:
        kind = output.get("output_type")
        data = output.get("data")
        if kind == "stream":
            kinds.append(str(output.get("name", "stream")))
        elif kind != "error" and isinstance(data, dict) and data:
            # The richest one is what the person sees; plain text is only its stand-in.
            rich = [mime for mime in data if mime != "text/plain"]
            kinds.append(rich[0] if rich else "text")
    return ", ".join(dict.fromkeys(kinds))


def replace(text: str, old: str, new: str) -> str:
    """Return the notebook with a text replaced in its cells, and only there."""
    return _edited(text, lambda _kind, source: source.replace(old, new))


def tidy(text: str, title: str) -> str:
    """Return the notebook with a title cell and without white space at the ends of code lines."""

    def strip(kind: str, source: str) -> str:
        return "\n".join(map(str.rstrip, source.split("\n"))) if kind == "code" else source

    tidied = _edited(text, strip)
    notebook = _parse(tidied)
    first = notebook["cells"][0] if notebook["cells"] else {}
    if first.get("cell_type") == "markdown" and source_of(first).lstrip().startswith("#"):
        return tidied
    cell: dict[str, Any] = {"cell_type": "markdown"}
    if (notebook.get("nbformat"), notebook.get("nbformat_minor", 0)) >= (4, 5):
        cell["id"] = uuid.uuid4().hex[:8]
    notebook["cells"].insert(0, {**cell, "metadata": {}, "source": [f"# {title}"]})
    return _dump(notebook, text)


def source_of(cell: dict[str, Any]) -> str:
    """Return the text of a cell, which files hold whole or in lines."""
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _edited(text: str, edit: Callable[[str, str], str]) -> str:
    notebook = _parse(text)
    changed = False
    for cell in notebook["cells"]:
        before = source_of(cell)
        after = edit(str(cell.get("cell_type")), before)
        if after != before:
            changed = True
            cell["source"] = (
                after.splitlines(keepends=True) if isinstance(cell["source"], list) else after
            )
    return _dump(notebook, text) if changed else text


def _parse(text: str) -> dict[str, Any]:
    try:
        notebook = json.loads(text)
    except ValueError as error:
        raise NotebookError(f"it is not JSON ({error})") from None
    found = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(found, list) or not all(isinstance(cell, dict) for cell in found):
        raise NotebookError("it has no list of cells (nbformat 4 or later)")
    return dict(notebook)


def _dump(notebook: dict[str, Any], like: str) -> str:
    """Return the text of a notebook, laid out like the one that it comes from."""
    match = _INDENT.match(like)
    text = json.dumps(notebook, ensure_ascii=False, indent=match[1] if match else None)
    return text + "\n" if like.endswith("\n") or match else text
