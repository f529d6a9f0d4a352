# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Formats of files: lines of text, or a notebook with cells."""

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
    """Parses, writes and merges files of a kind; a value is what a window works on."""

    name: str

    def parse(self, text: str) -> Any:
        """Return the value of a text, or raise ValueError with the reason."""

    def text(self, value: Any) -> str:
        """Return the text of a value, as stored on disk."""

    def merge(self, base: Any, ours: Any, theirs: Any) -> Any:
        """Merge two changes of the same base, or raise ConflictError."""


class Change(NamedTuple):
    """A change of a file: values of its format, None where there is no file."""

    format: Format
    before: Any
    after: Any


class TextFormat:
    """Lines of text."""

    name = "text"

    def parse(self, text: str) -> str:
        """Return the text unchanged."""
        return text

    def text(self, value: str) -> str:
        """Return the text unchanged."""
        return value

    def merge(self, base: str, ours: str, theirs: str) -> str:
        """Merge line by line."""
        return merge_texts(base, ours, theirs)


class NotebookFormat:
    """A notebook of format 4; cells from agents and older files may have no ids."""

    name = "notebook"

    def parse(self, text: str) -> dict[str, Any]:
        """Parse and validate a notebook."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is not JSON: {error}") from None
        if not isinstance(value, dict) or not isinstance(value.get("nbformat"), int):
            raise ValueError("it is JSON, but no notebook: the field `nbformat` is missing")
        return self.of(value)

    def of(self, value: dict[str, Any], *, check: bool = True) -> dict[str, Any]:
        """Convert parsed JSON of any notebook version; without `check`, skip the validation."""
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
            # The conversion of old notebooks may raise any error on invalid input.
            raise ValueError(f"it is not a valid notebook: {error!r}") from None
        return value

    def text(self, value: dict[str, Any]) -> str:
        """Return the text as Jupyter writes it."""
        import nbformat

        return str(nbformat.v4.writes_json(nbformat.from_dict(_written(named(value))))) + "\n"

    def merge(
        self, base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
    ) -> dict[str, Any]:
        """Merge cell by cell."""
        ours = named(ours)
        base = named(base, ours)
        return merge_notebooks(base, ours, named(theirs, base))


TEXT = TextFormat()
NOTEBOOK = NotebookFormat()


def format_of(path: Path) -> Format:
    """Return the format of a file, by its name."""
    return NOTEBOOK if path.suffix == ".ipynb" else TEXT


def one_line_end(text: str) -> str:
    """Return a text with LF line ends only, as editors keep it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def named(notebook: dict[str, Any], like: dict[str, Any] | None = None) -> dict[str, Any]:
    """Give every cell an id: that of the matching cell in `like`, else a new one."""
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
    """Return the cells without invalid ids, which are possible before format 4.5."""
    if notebook.get("nbformat_minor", 0) >= 5:
        return notebook["cells"]  # type: ignore[no-any-return]
    return [
        cell if _is_id(cell.get("id")) else {key: cell[key] for key in cell if key != "id"}
        for cell in notebook["cells"]
    ]


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", value) is not None


def _distinct(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make duplicate cell ids unique, in the same way for every version of the notebook."""
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
    """Return the matching cells of two versions: by content, else by position."""
    before, now = ([(cell["cell_type"], cell["source"]) for cell in cells] for cells in (old, new))
    pairs: list[tuple[Any, Any]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1):
            pairs += zip(old[i1:i2], new[j1:j2], strict=True)
    return pairs


def _written(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook as stored on disk: before format 4.5, cells have no ids."""
    if notebook.get("nbformat_minor", 0) >= 5:
        return notebook
    cells = [{key: cell[key] for key in cell if key != "id"} for cell in notebook["cells"]]
    return {**notebook, "cells": cells}
