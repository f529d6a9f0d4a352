# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Locks between processes that the system lets go of when their holder dies."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

PAUSE = 0.02
"""How many seconds apart it is looked whether a lock is free: the system tells nobody."""


class Lock:
    """A file that is held by nobody, by one, or by several who share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def take(self, *, shared: bool = False) -> bool:
        """Hold it if it is free; return whether it is held."""
        if self._file is not None:
            return True
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
        if not _lock(file, shared=shared):
            os.close(file)
            return False
        self._file = file
        return True

    async def wait(self, seconds: float, *, shared: bool = False) -> bool:
        """Hold it as soon as it is free; return False if it is not in time."""
        end = time.monotonic() + seconds
        while not self.take(shared=shared):
            if time.monotonic() > end:
                return False
            await asyncio.sleep(PAUSE)
        return True

    def release(self) -> None:
        """Let others have it."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


if sys.platform == "win32":

    def _lock(file: int, *, shared: bool) -> bool:
        import msvcrt

        if shared:
            # There is no such lock; whoever clears up is kept out by those who work alone.
            return True
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _lock(file: int, *, shared: bool) -> bool:
        import fcntl

        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
