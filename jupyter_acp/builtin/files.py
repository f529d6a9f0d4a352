# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The files in the session's folder: names, search and lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from . import notebook

MOST_FILES = 20_000
MOST_BYTES = 10_000_000
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})

_FILE_URI = re.compile(r"file:(?://(?:localhost)?)?(/[^?#]*)")


class Line(NamedTuple):
    """A line of a file, or of a cell of a notebook."""

    path: Path
    number: int
    text: str
    cell: int | None = None

    def place(self, folder: Path) -> str:
        """Return the place of the line as a text for the user."""
        cell = "" if self.cell is None else f" cell {self.cell}"
        return f"{shown(self.path, folder)}{cell}:{self.number}"


def from_uri(uri: str) -> Path | None:
    """Return the path of a `file:` URI, or None for any other resource."""
    found = _FILE_URI.match(uri)
    if found is None:
        return None
    return Path(unquote(found[1]))


def from_person(name: str, folder: Path) -> Path:
    """Return the path that a user typed: relative, with `~`, as `@mention` or `file:` URI."""
    return from_uri(name) or folder / Path(name.removeprefix("@")).expanduser()


def shown(path: Path, folder: Path) -> str:
    """Return a path, relative to the folder if it is inside."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def shown_uri(uri: str, folder: Path) -> str:
    """Return a `file:` URI as a path, and any other URI as it is."""
    path = from_uri(uri)
    return shown(path, folder) if path is not None else unquote(uri)


def walk(root: Path, suffixes: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the files below a folder, sorted, without hidden, linked and installed ones."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(n for n in folders if n not in SKIPPED and not n.startswith("."))
        for path in (Path(folder, name) for name in sorted(names) if not name.startswith(".")):
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MOST_FILES:
                return
            if not suffixes or path.name.lower().endswith(suffixes):
                yield path


def lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a text file; none if it is too large or not text."""
    try:
        data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else b"\0"
        text = "" if b"\0" in data else data.decode()
        is_notebook = path.suffix.lower() == notebook.SUFFIX
        cells = notebook.cells(text) if is_notebook and text else []
    except (OSError, ValueError):
        return
    parts = [(cell.number, cell.source) for cell in cells] if is_notebook else [(None, text)]
    for cell, source in parts:
        for number, line in enumerate(source.splitlines(), start=1):
            yield Line(path, number, line, cell)
