# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks as they were when read, and their cells by id."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...rpc import RpcError, invalid_params
from ...rpc.errors import NOT_FOUND

CellType = Literal["code", "markdown", "raw"]


@dataclass(frozen=True)
class Notebook:
    """A notebook as it was when read; every cell has an id."""

    path: Path
    content: dict[str, Any]
    live: Any
    """The open document, if a window has it open."""

    text: str | None
    """Text of the file, if no window has it open."""

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells, from top to bottom."""
        cells: list[dict[str, Any]] = self.content["cells"]
        return cells

    @property
    def language(self) -> str:
        """Programming language from the metadata, empty if not given."""
        metadata = self.content["metadata"]
        info, kernel = metadata.get("language_info") or {}, metadata.get("kernelspec") or {}
        return str(info.get("name") or kernel.get("language") or "")

    def index(self, cell: str) -> int:
        """Return the index of a cell; if there is none, raise an error that lists the ids."""
        return index_of(self.cells, cell, self.path)

    def place(self, named: str) -> int:
        """Return the index of a cell that is given by its id or its index."""
        is_index = named.isdecimal() and len(named) < 10 and int(named) < len(self.cells)
        if is_index and all(cell["id"] != named for cell in self.cells):
            return int(named)
        return self.index(named)

    def to_run(self, first: str | None, last: str | None) -> list[int]:
        """Return the indexes of the non-empty code cells from `first` to `last`."""
        begin = 0 if first is None else self.place(first)
        end = len(self.cells) - 1 if last is None else self.place(last)
        if begin > end:
            raise invalid_params("`first` comes behind `last` in the notebook: name them in order.")
        found = [
            index
            for index in range(begin, end + 1)
            if self.cells[index]["cell_type"] == "code" and self.cells[index]["source"].strip()
        ]
        if not found:
            raise invalid_params(f"There is no code to run in these cells of {self.path}.")
        return found


def new_notebook(metadata: dict[str, Any], cells: list[tuple[CellType, str]]) -> dict[str, Any]:
    """Return the content of a new notebook."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": metadata,
        "cells": [new_cell(kind, source) for kind, source in cells],
    }


def new_cell(kind: CellType, source: str) -> dict[str, Any]:
    """Return a new cell."""
    cell = {"id": uuid.uuid4().hex[:8], "cell_type": kind, "metadata": {}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def index_of(cells: list[dict[str, Any]], cell_id: str, path: Path) -> int:
    """Return the index of a cell; if there is none, raise an error that lists the ids."""
    ids = [cell["id"] for cell in cells]
    if cell_id not in ids:
        raise RpcError(
            NOT_FOUND,
            f"There is no cell {cell_id!r} in {path}; read the notebook again. Its cells are: "
            f"{', '.join(ids[:100]) or 'none'}.",
        )
    return ids.index(cell_id)


def with_ids(notebook: dict[str, Any]) -> dict[str, Any]:
    """Add ids to cells of older notebooks; the ids depend on the content, so they are stable."""
    if all("id" in cell for cell in notebook["cells"]):
        return notebook
    counts: Counter[tuple[str, str]] = Counter()
    taken = {cell.get("id") for cell in notebook["cells"]}
    cells = []
    for cell in notebook["cells"]:
        if "id" not in cell:
            key = (cell["cell_type"], cell["source"])
            counts[key] += 1
            name = digest(f"{key}{counts[key]}").hex()[:8]
            while name in taken:
                name += "x"
            taken.add(name)
            cell = {**cell, "id": name}
        cells.append(cell)
    return {**notebook, "cells": cells}


def digest(text: str) -> bytes:
    """Return a hash of a source."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
