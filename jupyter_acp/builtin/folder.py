# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Reading a folder without end: a bounded walk that lets everything else go on meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import notebook

MOST_FILES = 20_000
MOST_BYTES = 1024 * 1024
MOST_NOTEBOOK_BYTES = 20 * 1024 * 1024
"""Notebooks may hold pictures; only the sources of their cells are read."""

SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True)
class Line:
    """A line of a file, or of a cell of a notebook."""

    path: Path
    number: int
    text: str
    cell: int | None = None

    def place(self, shown: str) -> str:
        """Return where it is, in words."""
        if self.cell is None:
            return f"{shown}:{self.number}"
        return f"{shown} cell {self.cell}:{self.number}"


async def files(root: Path, suffixes: tuple[str, ...] = ()) -> AsyncIterator[Path]:
    """Yield the files below a folder, sorted; hidden, linked and installed things are left out."""
    waiting = [root]
    count = 0
    while waiting:
        folders: list[Path] = []
        for entry in _entries(waiting.pop()):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    folders.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                count += 1
                if count > MOST_FILES:
                    return
                if not suffixes or entry.name.lower().endswith(suffixes):
                    yield Path(entry.path)
                await asyncio.sleep(0)
        waiting.extend(reversed(folders))


def lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a text file, or none of one that is too big or not text."""
    text = _text(path)
    if text is None:
        return
    if path.suffix.lower() != notebook.SUFFIX:
        for number, line in enumerate(text.splitlines(), start=1):
            yield Line(path, number, line)
        return
    try:
        found = notebook.cells(text)
    except notebook.NotebookError:
        return
    for cell in found:
        for number, line in enumerate(cell.source.splitlines(), start=1):
            yield Line(path, number, line, cell.number)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _text(path: Path) -> str | None:
    most = MOST_NOTEBOOK_BYTES if path.suffix.lower() == notebook.SUFFIX else MOST_BYTES
    try:
        if path.stat().st_size > most:
            return None
        data = path.read_bytes()
        return None if b"\0" in data else data.decode()
    except (OSError, UnicodeDecodeError):
        return None
