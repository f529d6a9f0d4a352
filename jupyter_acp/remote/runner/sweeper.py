# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Clears up the cache: what the dead have left, what is too old, and what is too much.

What was never brought back stays, whatever it takes: nobody else has it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from ..git import GitError, size_of
from .cache import Cache
from .folders import remove
from .locks import Lock
from .mirror import Mirror

DAY = 86400.0
INTERVAL = 3600.0
"""How many seconds apart it is looked for what has become too old or too much."""

_ID = re.compile(r"[0-9a-f]{32}")


class Sweeper:
    """Takes away what nobody works in; what cannot be taken away keeps nothing else from it."""

    def __init__(self, cache: Cache, log: logging.Logger) -> None:
        self._cache = cache
        self._log = log
        self.wanted = asyncio.Event()
        """Set whenever a session has ended: there may be something to clear up."""

        self._worktrees = cache.folder / "worktrees"
        self._mirrors = cache.folder / "mirrors"

    async def run(self) -> None:
        """Clear up now, from time to time, and whenever a session has ended."""
        while True:
            self.wanted.clear()
            await self.sweep()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.wanted.wait(), INTERVAL)

    async def sweep(self) -> None:
        """Do so once."""
        oldest = time.time() - self._cache.keeping.days * DAY
        for path in sorted(self._worktrees.glob("*")):
            if not self._cache.knows(path.name):
                await self._try(path, remove(path))
        for session in self._sessions():
            is_old = self._used(session) < oldest and not self._is_unsaved(session)
            if is_old or self._is_half(session):
                await self._try(session, self._delete(session))
        for path in self._mirrors.glob("*.half"):
            if _changed(path) < time.time() - self._cache.git.timeout:
                await self._try(path, remove(path))
        for mirror in self._all_mirrors():
            await self._try(mirror.folder, self._tidy(mirror, oldest))
        await self._shrink()

    async def _try(self, what: object, work: Awaitable[None]) -> None:
        try:
            await work
        except (OSError, GitError) as error:
            self._log.warning("%s could not be cleared up: %s", what, error)

    # What the dead have left, and what is too old

    async def _delete(self, session: str) -> None:
        with self._cache.free(session) as is_free:
            # Somebody may have begun with it meanwhile.
            if is_free:
                await self._cache.delete(session)

    async def _tidy(self, mirror: Mirror, oldest: float) -> None:
        on_it = self._on(mirror)
        if mirror.lock.take():
            try:
                mirror.sweep()
                for path in (mirror.folder / "worktrees").glob("*"):
                    if not self._cache.knows(path.name):
                        await remove(path)
                if mirror.used < oldest and not on_it:
                    await mirror.remove()
            finally:
                mirror.lock.release()
        if mirror.folder.is_dir():
            # Beside those who work here, who wait for it only if they want something new.
            lock = Lock(mirror.lock.path)
            if not lock.take(shared=True):
                return
            try:
                async with mirror.alone():
                    await mirror.tidy()
            finally:
                lock.release()

    # What is too much

    async def _shrink(self) -> None:
        """Take away files first, which can be had again; then whole repositories, the oldest first."""
        mirrors = {mirror: await _size(mirror.folder) for mirror in self._all_mirrors()}
        files = {session: await _size(self._worktrees / session) for session in self._sessions()}
        total = sum(mirrors.values()) + sum(files.values())
        for session in sorted(files, key=self._used):
            if total <= self._cache.keeping.size:
                return
            if files[session] and not self._is_unsaved(session):
                await self._try(session, self._close(session))
                total -= files[session] - await _size(self._worktrees / session)
        for mirror in sorted(mirrors, key=lambda mirror: mirror.used):
            if total <= self._cache.keeping.size:
                return
            await self._try(mirror.folder, self._evict(mirror))
            total -= mirrors[mirror] - await _size(mirror.folder)

    async def _close(self, session: str) -> None:
        with self._cache.free(session) as is_free:
            if is_free:
                await self._cache.close(session)

    async def _evict(self, mirror: Mirror) -> None:
        """Take away a repository and the sessions on it, if nobody works in any of them."""
        if any(self._is_unsaved(session) for session in self._on(mirror)):
            return
        if not mirror.lock.take():
            return
        try:
            for session in self._on(mirror):
                await remove(self._worktrees / session)
                self._cache.path(session).unlink(missing_ok=True)
            await mirror.remove()
        finally:
            mirror.lock.release()

    # What is known

    def _sessions(self) -> list[str]:
        paths = sorted((self._cache.folder / "sessions").glob("*.json"))
        return [path.stem for path in paths if _ID.fullmatch(path.stem)]

    def _all_mirrors(self) -> list[Mirror]:
        return [Mirror(path, self._cache.git) for path in sorted(self._mirrors.glob("*.git"))]

    def _on(self, mirror: Mirror) -> list[str]:
        name = mirror.folder.name
        return [each for each in self._sessions() if self._fact(each, "mirror") == name]

    def _fact(self, session: str, name: str) -> Any:
        with contextlib.suppress(GitError):
            return self._cache.known(session).get(name)
        return None

    def _is_half(self, session: str) -> bool:
        return bool(self._fact(session, "state") != "ready")

    def _is_unsaved(self, session: str) -> bool:
        return self._fact(session, "unsaved") is True

    def _used(self, session: str) -> float:
        return _changed(self._cache.path(session))


def _changed(path: Path) -> float:
    """Return when a file was changed; one that goes meanwhile is not old."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


async def _size(folder: Path) -> int:
    return await asyncio.get_running_loop().run_in_executor(None, size_of, folder)
