# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the text of a file means to us: lines, or a notebook with cells."""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from .merge import merge_notebooks, merge_texts


class Format(Protocol):
    """How a file is read, written and merged; its value is what a window works on."""

    name: str

    def parse(self, text: str) -> Any:
        """Return the value of a text, or raise ValueError with the reason why it has none."""

    def text(self, value: Any) -> str:
        """Return the text of a value, as it is on disk."""

    def merge(self, base: Any, ours: Any, theirs: Any) -> Any:
        """Put two changes of one value together, or raise ConflictError."""


class Change(NamedTuple):
    """What became of a file: values of its format, None where there was no file."""

    format: Format
    before: Any
    after: Any


class TextFormat:
    """Lines of text."""

    name = "text"

    def parse(self, text: str) -> str:
        """Return it."""
        return text

    def text(self, value: str) -> str:
        """Return it."""
        return value

    def merge(self, base: str, ours: str, theirs: str) -> str:
        """Merge by lines."""
        return merge_texts(base, ours, theirs)


class NotebookFormat:
    """A notebook of format 4; agents and older files leave out the ids of cells."""

    name = "notebook"

    def parse(self, text: str) -> dict[str, Any]:
        """Read and validate it."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is not JSON: {error}") from None
        if not isinstance(value, dict) or not isinstance(value.get("nbformat"), int):
            raise ValueError("it is JSON, but no notebook: the field `nbformat` is missing")
        return self.of(value)

    def of(self, value: dict[str, Any], *, check: bool = True) -> dict[str, Any]:
        """Take a notebook that was JSON already, of whichever version; ours need no check."""
        import nbformat
        from nbformat.v4.rwbase import rejoin_lines

        try:
            notebook = nbformat.from_dict(value)
            if notebook.nbformat < 4:
                notebook = nbformat.convert(notebook, 4)
            elif notebook.nbformat > 4:
                raise ValueError(f"its format {notebook.nbformat} is not known here")
            value = json.loads(json.dumps(rejoin_lines(notebook)))
            value["cells"] = _distinct(_with_ids(value))
            if check:
                nbformat.validate(nbformat.from_dict(_written(named(value))))
        except (nbformat.ValidationError, ValueError) as error:
            reason = str(error).split("\n", 1)[0]
            raise ValueError(f"it is not a valid notebook: {reason}") from None
        except Exception as error:
            # What converts old notebooks takes them for good ones, and fails on others in any way.
            raise ValueError(f"it is not a valid notebook: {error!r}") from None
        return value

    def text(self, value: dict[str, Any]) -> str:
        """Write it as Jupyter does."""
        import nbformat

        return str(nbformat.v4.writes_json(nbformat.from_dict(_written(named(value))))) + "\n"

    def merge(
        self, base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
    ) -> dict[str, Any]:
        """Merge by cells."""
        ours = named(ours)
        base = named(base, ours)
        return merge_notebooks(base, ours, named(theirs, base))


TEXT = TextFormat()
NOTEBOOK = NotebookFormat()


def format_of(path: Path) -> Format:
    """Return the format of a file, by its name."""
    return NOTEBOOK if path.suffix == ".ipynb" else TEXT


def one_line_end(text: str) -> str:
    """Return a text as editors hold it, whichever way its lines end in the file."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def named(notebook: dict[str, Any], like: dict[str, Any] | None = None) -> dict[str, Any]:
    """Give every cell an id: that of the cell which it is in another version, else a new one."""
    if all("id" in cell for cell in notebook["cells"]):
        return notebook
    cells = [dict(cell) for cell in notebook["cells"]]
    taken = {cell.get("id") for cell in cells}
    for old, new in _pairs(like["cells"], cells) if like is not None else []:
        if "id" not in new and old["id"] not in taken:
            new["id"] = old["id"]
    for cell in cells:
        cell.setdefault("id", uuid.uuid4().hex[:8])
    return {**notebook, "cells": cells}


def _with_ids(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells, without what is no id where none was known: before format 4.5."""
    if notebook.get("nbformat_minor", 0) >= 5:
        return notebook["cells"]  # type: ignore[no-any-return]
    return [
        cell if _is_id(cell.get("id")) else {key: cell[key] for key in cell if key != "id"}
        for cell in notebook["cells"]
    ]


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", value) is not None


def _distinct(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tell cells apart that were copied with their ids, the same way in every version."""
    taken = {cell["id"] for cell in cells if "id" in cell}
    seen: Counter[Any] = Counter()
    distinct = []
    for cell in cells:
        id = new = cell.get("id")
        seen[id] += 1
        if id is not None and seen[id] > 1:
            while (new := f"{id}-{seen[id]}"[-64:]) in taken:
                seen[id] += 1
            taken.add(new)
        distinct.append({**cell, "id": new} if new != id else cell)
    return distinct


def _pairs(old: list[Any], new: list[Any]) -> list[tuple[Any, Any]]:
    """Return the cells of two versions that are the same: by what they say, else by their place."""
    before, now = ([(cell["cell_type"], cell["source"]) for cell in cells] for cells in (old, new))
    pairs: list[tuple[Any, Any]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1):
            pairs += zip(old[i1:i2], new[j1:j2], strict=True)
    return pairs


def _written(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return what goes to disk: before format 4.5, cells had no ids."""
    if notebook.get("nbformat_minor", 0) >= 5:
        return notebook
    cells = [{key: cell[key] for key in cell if key != "id"} for cell in notebook["cells"]]
    return {**notebook, "cells": cells}
