# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Where repositories and the files of sessions are kept, and who works with them.

mirrors/NAME.git       a bare repository, shared
worktrees/SESSION/     the files of a session
sessions/SESSION.json  what has to be known to find them again
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from ..git import NO_LFS, Git, GitError, Report
from ..limits import Limits
from ..refs import GitRemoteRef, check_branch
from .folders import remove
from .locks import Lock
from .mirror import Mirror
from .worktree import Worktree

PATIENCE = 30.0
"""How long a session waits for whoever clears up a repository, in seconds."""

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Keeping:
    """For how long, and how much."""

    days: float = 30.0
    size: int = 20_000_000_000


class Cache:
    """All of it."""

    def __init__(
        self,
        folder: Path,
        git: Git,
        *,
        limits: Limits | None = None,
        keeping: Keeping | None = None,
        branch: str = "acp/{session}",
    ) -> None:
        self.folder = folder
        self.git = git
        self.keeping = keeping or Keeping()
        self._limits = limits or Limits()
        self._branch = branch
        self._locks: dict[str, Lock] = {}
        self._in_use: dict[str, Lock] = {}
        """Keeps the repositories that sessions of this process work on from being cleared away."""

        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Keeps those of this process apart, to whom the locks of a session are one and the same."""

    # Sessions

    async def begin(self, session: str, ref: GitRemoteRef, report: Report | None) -> Worktree:
        """Have the files of a revision in a folder of their own; all of that or nothing."""
        self._hold(session)
        try:
            mirror = await self._mirror(Mirror.name(ref), session)
            self._save(session, mirror=mirror.folder.name, remote=ref.public(), state="starting")
            worktree = self._worktree(session, mirror, ref)
            async with mirror.alone():
                await mirror.fetch(ref, self._limits, report)
                await worktree.add(ref.revision)
            self.note(worktree, state="ready")
        except BaseException:
            await asyncio.shield(self.delete(session))
            raise
        return worktree

    async def fork(self, source: str, session: str) -> Worktree:
        """Have a copy of the files as they were last committed."""
        known = self.known(source)
        mirror = Mirror(self.folder / "mirrors" / known["mirror"], self.git)
        kept = f"refs/jupyter-acp/sessions/{source}"
        revision = known["remote"]["revision"]
        with contextlib.suppress(GitError):
            revision = await mirror.git.text("rev-parse", "--verify", f"{kept}^{{commit}}")
        ref = GitRemoteRef(**{**known["remote"], "revision": revision})
        return await self.begin(session, ref, None)

    async def find(self, session: str) -> Worktree:
        """Return the files of an earlier session, as they were left if they are still there."""
        async with self._turn(session):
            return await self._find(session)

    async def _find(self, session: str) -> Worktree:
        known = self.known(session)
        was_held = session in self._locks
        self._hold(session)
        try:
            mirror = await self._mirror(known["mirror"], session)
            worktree = self._worktree(session, mirror, GitRemoteRef(**known["remote"]))
            worktree.branch = known.get("branch", worktree.branch)
            worktree.pushed = known.get("pushed")
            if worktree.is_empty:
                async with mirror.alone():
                    await worktree.add(await worktree.tip())
            elif not worktree.is_whole:
                # What lies there is somebody's work, though git knows nothing of it any more.
                await worktree.adopt(await worktree.tip())
            worktree.unlock()
            self.note(worktree, state="ready")
        except BaseException:
            if not was_held:
                self.release(session)
            raise
        return worktree

    def knows(self, session: Any) -> bool:
        """Whether a session is one of these."""
        is_id = isinstance(session, str) and _ID.fullmatch(session) is not None
        return is_id and self.path(session).is_file()

    def note(self, worktree: Worktree, **facts: Any) -> None:
        """Remember what has to be known to go on."""
        known = self.known(worktree.session)
        known.update(branch=worktree.branch, pushed=worktree.pushed, **facts)
        self._save(worktree.session, **known)

    def known(self, session: str) -> dict[str, Any]:
        """Return what was remembered."""
        try:
            known = json.loads(self.path(session).read_text("utf-8"))
        except (OSError, ValueError):
            raise GitError(f"There is no session {session} here.") from None
        return known if isinstance(known, dict) else {}

    def path(self, session: str) -> Path:
        """Return the file that this is in."""
        return self.folder / "sessions" / f"{session}.json"

    async def close(self, session: str) -> None:
        """Take away the files of a session; what was committed is kept, to go on from."""
        async with self._turn(session):
            self._hold(session)
            try:
                await self._clear(session)
            finally:
                self.release(session)

    async def delete(self, session: str) -> None:
        """Forget a session."""
        async with self._turn(session):
            self._hold(session)
            try:
                await self._forget(session)
            finally:
                self.release(session)

    @contextlib.contextmanager
    def free(self, session: str) -> Iterator[bool]:
        """Keep others from a session that nobody works in; tell whether that is so."""
        if session in self._locks:
            yield False
            return
        try:
            self._hold(session)
        except GitError:
            yield False
            return
        try:
            yield True
        finally:
            self.release(session)

    async def _forget(self, session: str) -> None:
        mirror = await self._clear(session)
        if mirror is not None and mirror.folder.is_dir():
            for name in (f"refs/jupyter-acp/sessions/{session}", f"refs/heads/acp/{session}"):
                with contextlib.suppress(GitError):
                    await mirror.git.run("update-ref", "-d", name)
        self.path(session).unlink(missing_ok=True)
        self.path(session).with_suffix(".lock").unlink(missing_ok=True)

    async def _clear(self, session: str) -> Mirror | None:
        await remove(self.folder / "worktrees" / session)
        try:
            name = self.known(session)["mirror"]
        except (GitError, KeyError):
            # It has never begun, or what was known of it cannot be read.
            return None
        mirror = await self._mirror(name, session)
        # Only our own: what git takes for left over may be what another session works in.
        await remove(mirror.folder / "worktrees" / session)
        return mirror

    def _worktree(self, session: str, mirror: Mirror, ref: GitRemoteRef) -> Worktree:
        path = self.folder / "worktrees" / session
        git = self.git.at(mirror.folder / "worktrees" / session, work_tree=path, config=NO_LFS)
        branch = check_branch(self._branch.format(session=session))
        return Worktree(path, git, session, ref, branch, mirror, self._limits)

    async def _mirror(self, name: str, session: str) -> Mirror:
        """Return a repository that nobody takes away as long as the session is worked in."""
        mirror = Mirror(self.folder / "mirrors" / name, self.git)
        lock = self._in_use.setdefault(session, mirror.lock)
        if not await lock.wait(PATIENCE, shared=True):
            raise GitError("The repository is just being cleared away here. Try again.")
        return mirror

    def _turn(self, session: str) -> asyncio.Lock:
        return self._turns.setdefault(session, asyncio.Lock())

    def _hold(self, session: str) -> None:
        lock = self._locks.setdefault(session, Lock(self.path(session).with_suffix(".lock")))
        if not lock.take():
            del self._locks[session]
            raise GitError("Somebody else works in this session.")

    def release(self, session: str) -> None:
        """Let others work in a session; its files stay."""
        for locks in (self._locks, self._in_use):
            if lock := locks.pop(session, None):
                lock.release()

    def _save(self, session: str, **known: Any) -> None:
        path = self.path(session)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        half = path.with_suffix(f".{os.getpid()}.half")
        half.write_text(json.dumps(known), "utf-8")
        half.replace(path)
