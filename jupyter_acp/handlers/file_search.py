# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files by a few letters of their names, in a folder of any size."""

from __future__ import annotations

import itertools
import os
from collections import deque
from typing import NamedTuple

LOOKED_AT = 50_000
"""How many files and folders are looked at before the search ends without the rest."""

_SKIPPED = {"node_modules", "__pycache__", "site-packages"}


class Found(NamedTuple):
    """Paths below the folder, the best first, and whether all of it was looked at."""

    paths: list[str]
    complete: bool


def find_files(root: str, query: str, limit: int) -> Found:
    """Return files whose path contains the letters; what is hidden is not looked at."""
    wanted = query.lower()
    matches: list[tuple[tuple[int, int, str], str]] = []
    folders = deque([""])
    looked_at = 0
    while folders and looked_at < LOOKED_AT:
        folder = folders.popleft()
        try:
            with os.scandir(os.path.join(root, folder)) as found:
                # Not more of one folder than of all of them.
                entries = [*itertools.islice(found, LOOKED_AT - looked_at)]
        except OSError:
            continue
        looked_at += len(entries)
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif wanted in path.lower() and entry.is_file():
                    matches.append((_rank(path.lower(), wanted), path))
            except OSError:
                # A link that leads to itself, or to where nobody may look: it hides no other file.
                continue
    matches.sort()
    complete = not folders and looked_at < LOOKED_AT
    return Found([path for _, path in matches[:limit]], complete)


def _rank(path: str, wanted: str) -> tuple[int, int, str]:
    """Order by how the name fits, then by how deep it is."""
    name = path.rpartition("/")[2]
    fit = 0 if name.startswith(wanted) else 1 if wanted in name else 2
    return fit, path.count("/"), path
