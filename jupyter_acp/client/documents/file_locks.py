# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Locks that make reading, changing and writing a file one uninterrupted step."""

from __future__ import annotations

import asyncio
from pathlib import Path
from weakref import WeakValueDictionary


class FileLocks:
    """A lock for each file that is being changed."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def of(self, path: Path) -> asyncio.Lock:
        """Return the lock of a file."""
        return self._locks.setdefault(path, asyncio.Lock())
