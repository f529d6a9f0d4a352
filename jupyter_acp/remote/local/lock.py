# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A lock between processes, which is released when its process ends."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from pathlib import Path

_PAUSE = 0.02
"""Time between two attempts, in seconds: the system does not notify when a lock is free."""


class Lock:
    """A lock file, which one process at a time can hold."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def take(self) -> bool:
        """Acquire the lock if it is free; return True if that worked."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    async def wait(self, seconds: float) -> bool:
        """Acquire the lock as soon as it is free; return False after a timeout."""
        end = time.monotonic() + seconds
        while not self.take():
            if time.monotonic() > end:
                return False
            await asyncio.sleep(_PAUSE)
        return True

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)
