# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One at a time: what reads a file, changes it and writes it must not be interrupted by another."""

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
