# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Search for files by a part of their paths, in a folder of any size."""

from __future__ import annotations

import itertools
import os
from collections import deque
from typing import NamedTuple

LOOKED_AT = 50_000
"""Maximum number of files and folders that a search visits."""

_SKIPPED = {"node_modules", "__pycache__", "site-packages"}


class Found(NamedTuple):
    """Paths relative to the folder, best match first, and whether the search was complete."""

    paths: list[str]
    complete: bool


def find_files(root: str, query: str, limit: int) -> Found:
    """Return files whose path contains the query; skip hidden files and folders."""
    wanted = query.lower()
    matches: list[tuple[tuple[int, int, str], str]] = []
    folders = deque([""])
    looked_at = 0
    while folders and looked_at < LOOKED_AT:
        folder = folders.popleft()
        try:
            with os.scandir(os.path.join(root, folder)) as found:
                # One huge folder counts towards the same limit.
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
                # A circular link or one to a folder without permission: skip only this entry.
                continue
    matches.sort()
    complete = not folders and looked_at < LOOKED_AT
    return Found([path for _, path in matches[:limit]], complete)


def _rank(path: str, wanted: str) -> tuple[int, int, str]:
    """Return a sort key: first by the match in the name, then by the depth of the path."""
    name = path.rpartition("/")[2]
    fit = 0 if name.startswith(wanted) else 1 if wanted in name else 2
    return fit, path.count("/"), path
