# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Where repositories and the files of sessions are kept, for how long, and who clears up.

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
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..git import NO_LFS, Git, GitError, Report, size_of
from ..limits import Limits
from ..refs import GitRemoteRef, check_branch
from .locks import Lock
from .mirror import Mirror
from .worktree import Worktree

DAY = 86400.0
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
        self._git = git
        self._limits = limits or Limits()
        self._keeping = keeping or Keeping()
        self._branch = branch
        self._locks: dict[str, Lock] = {}
        self._used: dict[str, str] = {}
        self._in_use: dict[str, Lock] = {}
        """The repositories that sessions of this process work on."""

    # Sessions

    async def begin(self, session: str, ref: GitRemoteRef, report: Report | None) -> Worktree:
        """Have the files of a revision in a folder of their own; all of that or nothing."""
        self._hold(session)
        mirror = self._mirror(Mirror.name(ref), session)
        try:
            self._save(session, mirror=mirror.folder.name, remote=ref.public(), state="starting")
            await mirror.fetch(ref, self._limits, report)
            worktree = self._worktree(session, mirror, ref)
            await self._add(worktree, mirror, ref.revision)
            self.note(worktree, state="ready")
        except BaseException:
            await asyncio.shield(self.delete(session))
            raise
        return worktree

    async def fork(self, source: str, session: str) -> Worktree:
        """Have a copy of the files as they were last committed."""
        known = self._known(source)
        mirror = self._mirror(known["mirror"], session)
        kept = f"refs/jupyter-acp/sessions/{source}"
        revision = known["remote"]["revision"]
        with contextlib.suppress(GitError):
            revision = await mirror.git.text("rev-parse", "--verify", f"{kept}^{{commit}}")
        ref = GitRemoteRef(**{**known["remote"], "revision": revision})
        return await self.begin(session, ref, None)

    async def find(self, session: str) -> Worktree:
        """Return the files of an earlier session, as they were left if they are still there."""
        known = self._known(session)
        self._hold(session)
        mirror = self._mirror(known["mirror"], session)
        ref = GitRemoteRef(**known["remote"])
        worktree = self._worktree(session, mirror, ref)
        worktree.branch = known.get("branch", worktree.branch)
        worktree.pushed = known.get("pushed")
        assert worktree.git.git_dir is not None
        if not (worktree.path.is_dir() and worktree.git.git_dir.is_dir()):
            kept = await mirror.git.text("rev-parse", "--verify", worktree.kept, ok=(0, 128))
            if not kept and not await mirror.git.succeeds("cat-file", "-e", ref.revision):
                raise GitError(f"What belongs to the session {session} is no longer here.")
            await self._add(worktree, mirror, kept or ref.revision)
        else:
            # Of a command that did not live to take it away; nobody else works here.
            (worktree.git.git_dir / "index.lock").unlink(missing_ok=True)
        self.note(worktree, state="ready")
        return worktree

    def knows(self, session: Any) -> bool:
        """Whether a session is one of these."""
        is_id = isinstance(session, str) and _ID.fullmatch(session) is not None
        return is_id and self._path(session).is_file()

    def note(self, worktree: Worktree, **facts: Any) -> None:
        """Remember what has to be known to go on."""
        known = self._known(worktree.session)
        known.update(branch=worktree.branch, pushed=worktree.pushed, **facts)
        self._save(worktree.session, **known)

    def fact(self, session: str, name: str) -> Any:
        """Return what was remembered."""
        return self._known(session).get(name)

    async def close(self, session: str) -> None:
        """Take away the files of a session; what was committed is kept, to go on from."""
        await self._clear(session)
        self._release(session)

    async def delete(self, session: str) -> None:
        """Forget a session."""
        mirror = await self._clear(session)
        if mirror is not None and mirror.folder.is_dir():
            for name in (f"refs/jupyter-acp/sessions/{session}", f"refs/heads/acp/{session}"):
                with contextlib.suppress(GitError):
                    await mirror.git.run("update-ref", "-d", name)
        self._path(session).unlink(missing_ok=True)
        self._path(session).with_suffix(".lock").unlink(missing_ok=True)
        self._release(session)

    async def _clear(self, session: str) -> Mirror | None:
        await _remove(self.folder / "worktrees" / session)
        if not self.knows(session):
            return None
        mirror = self._mirror(self._known(session)["mirror"], session)
        with contextlib.suppress(GitError):
            await mirror.git.run("worktree", "prune")
        return mirror

    async def _add(self, worktree: Worktree, mirror: Mirror, revision: str) -> None:
        await _remove(worktree.path)
        await mirror.git.run("worktree", "prune")
        worktree.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        await mirror.git.run(
            "worktree",
            "add",
            "--quiet",
            "--force",
            "-B",
            f"acp/{worktree.session}",
            str(worktree.path),
            revision,
        )

    def _worktree(self, session: str, mirror: Mirror, ref: GitRemoteRef) -> Worktree:
        path = self.folder / "worktrees" / session
        git = self._git.at(mirror.folder / "worktrees" / session, work_tree=path, config=NO_LFS)
        branch = check_branch(self._branch.format(session=session))
        return Worktree(path, git, session, ref, branch, self._limits)

    def _mirror(self, name: str, session: str) -> Mirror:
        """Return a repository that nobody takes away as long as the session is worked in."""
        mirror = Mirror(self.folder / "mirrors" / name, self._git)
        if not self._in_use.setdefault(name, mirror.lock).take(shared=True):
            raise GitError("The repository is just being cleared away here. Try again.")
        self._used[session] = name
        return mirror

    def _hold(self, session: str) -> None:
        lock = self._locks.setdefault(session, Lock(self._path(session).with_suffix(".lock")))
        if not lock.take():
            raise GitError("Somebody else works in this session.")

    def _release(self, session: str) -> None:
        if lock := self._locks.pop(session, None):
            lock.release()
        name = self._used.pop(session, None)
        if name is not None and name not in self._used.values():
            self._in_use.pop(name).release()

    def _path(self, session: str) -> Path:
        return self.folder / "sessions" / f"{session}.json"

    def _known(self, session: str) -> dict[str, Any]:
        try:
            known = json.loads(self._path(session).read_text("utf-8"))
        except (OSError, ValueError):
            raise GitError(f"There is no session {session} here.") from None
        return known if isinstance(known, dict) else {}

    def _save(self, session: str, **known: Any) -> None:
        path = self._path(session)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        half = path.with_suffix(f".{os.getpid()}.half")
        half.write_text(json.dumps(known), "utf-8")
        half.replace(path)

    # Clearing up

    async def sweep(self) -> None:
        """Take away what is left of others that have died, and what is too old or too much."""
        oldest = time.time() - self._keeping.days * DAY
        for path in sorted((self.folder / "worktrees").glob("*")):
            if not self.knows(path.name):
                await _remove(path)
        for path in sorted((self.folder / "sessions").glob("*.json")):
            session = path.stem
            if not _ID.fullmatch(session):
                continue
            is_half = self._is_half(session)
            if (is_half or path.stat().st_mtime < oldest) and self._is_nobodys(session):
                await self.delete(session)
        for path in (self.folder / "mirrors").glob("*.half"):
            if path.stat().st_mtime < time.time() - self._git.timeout:
                await _remove(path)
        await self._sweep_mirrors(oldest)

    async def _sweep_mirrors(self, oldest: float) -> None:
        found = [Mirror(path, self._git) for path in (self.folder / "mirrors").glob("*.git")]
        sizes = {mirror: await _in_thread(size_of, mirror.folder) for mirror in found}
        total = sum(sizes.values())
        used = {self._mirror_of(path.stem) for path in (self.folder / "sessions").glob("*.json")}
        for mirror in sorted(found, key=lambda mirror: mirror.used):
            is_old = mirror.used < oldest and mirror.folder.name not in used
            if not mirror.lock.take():
                continue
            try:
                mirror.sweep()
                if is_old or total > self._keeping.size:
                    total -= sizes[mirror]
                    await self._evict(mirror.folder)
            finally:
                mirror.lock.release()

    async def _evict(self, mirror: Path) -> None:
        """Take away a repository and the sessions on it that nobody works in."""
        for path in list((self.folder / "sessions").glob("*.json")):
            if self._mirror_of(path.stem) == mirror.name:
                await _remove(self.folder / "worktrees" / path.stem)
                path.unlink(missing_ok=True)
        await _remove(mirror)

    def _mirror_of(self, session: str) -> str:
        with contextlib.suppress(GitError):
            return str(self._known(session).get("mirror", ""))
        return ""

    def _is_half(self, session: str) -> bool:
        with contextlib.suppress(GitError):
            return self._known(session).get("state") != "ready"
        return True

    def _is_nobodys(self, session: str) -> bool:
        """Whether whoever had a session is gone."""
        if session in self._locks:
            return False
        lock = Lock(self._path(session).with_suffix(".lock"))
        is_free = lock.take()
        lock.release()
        return is_free


async def _remove(folder: Path) -> None:
    """Take away a folder with all that is in it, also what may not be written to."""
    await _in_thread(_remove_now, folder)


def _remove_now(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, onerror=_unprotect)


def _unprotect(function: Any, path: str, _: Any) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        function(path)


async def _in_thread(work: Any, *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, work, *args)
