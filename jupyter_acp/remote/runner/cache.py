# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The files that the runner keeps on this machine for remote sessions.

mirrors/NAME.git       a bare repository, shared by sessions
worktrees/SESSION/     the files of a session
sessions/SESSION.json  the facts about a session
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from ..git import NO_LFS, Git, GitError, Report
from ..options import RemoteOptions
from ..refs import GitRemoteRef, check_branch
from .mirror import Mirror, remove
from .owner import Owner
from .worktree import Worktree

DAY = 86400.0

_ID = re.compile(r"[0-9a-f]{32}")


class Cache:
    """The mirrors, worktrees and session files in one folder."""

    def __init__(self, git: Git, options: RemoteOptions) -> None:
        self.folder = options.cache
        self._git = git
        self._options = options
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One lock per session and per mirror: git does not support simultaneous creation."""

    async def begin(self, session: str, ref: GitRemoteRef, report: Report | None) -> Worktree:
        """Create the worktree of a session at a revision, completely or not at all."""
        mirror = self._mirror(Mirror.name(ref))
        self._save(session, mirror=mirror.folder.name, remote=ref.public(), owner=_this())
        worktree = self._worktree(session, mirror, ref)
        try:
            async with self._alone(mirror.folder.name):
                await mirror.fetch(ref, self._options.limits, report)
                await worktree.add(ref.revision)
            self.note(worktree)
        except BaseException:
            await asyncio.shield(self.delete(session))
            raise
        return worktree

    async def fork(self, source: str, session: str) -> Worktree:
        """Create a worktree for a fork, at the last commit of the source session."""
        known = self.known(source)
        kept = f"refs/jupyter-acp/sessions/{source}^{{commit}}"
        revision = known["remote"]["revision"]
        with contextlib.suppress(GitError):
            revision = await self._mirror(known["mirror"]).git.text("rev-parse", "--verify", kept)
        ref = GitRemoteRef(**{**known["remote"], "revision": revision})
        return await self.begin(session, ref, None)

    async def find(self, session: str) -> Worktree:
        """Return the worktree of an earlier session; restore it if it is missing."""
        async with self._alone(session):
            known = self._free(session)
            mirror = self._mirror(known["mirror"])
            worktree = self._worktree(session, mirror, GitRemoteRef(**known["remote"]))
            worktree.branch = known.get("branch", worktree.branch)
            worktree.pushed = known.get("pushed")
            if worktree.is_empty:
                async with self._alone(mirror.folder.name):
                    mirror.reset()
                    await worktree.add(await worktree.tip())
            elif not worktree.is_whole:
                # Keep the files, which may be the only copy of the work, though git's data is lost.
                await worktree.adopt(await worktree.tip())
            worktree.unlock()
            self.note(worktree, owner=_this())
        return worktree

    async def close(self, session: str) -> None:
        """Remove the worktree of a session; its commits are kept, to continue from them."""
        async with self._alone(session):
            await self._clear(session)
            self.release(session)

    async def delete(self, session: str) -> None:
        """Delete a session with its files and commits."""
        async with self._alone(session):
            mirror = await self._clear(session)
            if mirror.folder.is_dir():
                for name in (f"refs/jupyter-acp/sessions/{session}", f"refs/heads/acp/{session}"):
                    with contextlib.suppress(GitError):
                        await mirror.git.run("update-ref", "-d", name)
            self.path(session).unlink(missing_ok=True)

    async def age_out(self) -> None:
        """Remove old sessions and unused mirrors; called before the first session begins."""
        oldest = time.time() - self._options.keep_days * DAY
        mirrors = [path for path in self.folder.glob("mirrors/*") if _used(path) < oldest]
        for path in self.folder.glob("sessions/*.json"):
            with contextlib.suppress(GitError, OSError):
                # Keep work that has not been pushed.
                if _used(path) < oldest and not self.known(path.stem).get("unsaved"):
                    await self.delete(path.stem)
        for folder in mirrors:
            with contextlib.suppress(GitError, OSError):
                if folder.suffix == ".half":
                    # The process that created or removed it was killed.
                    await remove(folder)
                elif folder.suffix == ".git":
                    await Mirror(folder, self._git).remove_unused()

    # The facts about sessions

    def knows(self, session: Any) -> bool:
        """Return True if the id is that of a session in this cache."""
        is_id = isinstance(session, str) and _ID.fullmatch(session) is not None
        return is_id and self.path(session).is_file()

    def note(self, worktree: Worktree, **facts: Any) -> None:
        """Save facts about a session, in addition to the earlier ones."""
        known = self.known(worktree.session)
        known.update(branch=worktree.branch, pushed=worktree.pushed, **facts)
        self._save(worktree.session, **known)

    def known(self, session: str) -> dict[str, Any]:
        """Return the saved facts about a session, or raise a `GitError`."""
        try:
            known = dict(json.loads(self.path(session).read_text("utf-8")))
            return {"mirror": known["mirror"], "remote": known["remote"], **known}
        except (OSError, ValueError, TypeError, KeyError):
            raise GitError(f"There is no session {session} here.") from None

    def path(self, session: str) -> Path:
        """Return the file with the facts about a session."""
        return self.folder / "sessions" / f"{session}.json"

    def release(self, session: str) -> None:
        """Allow other processes to use a session; its files stay."""
        with contextlib.suppress(GitError):
            self._save(session, **{**self.known(session), "owner": None})

    def _free(self, session: str) -> dict[str, Any]:
        """Return the facts about a session; raise a `GitError` if another process uses it."""
        known = self.known(session)
        owner = known.get("owner")
        # A restarted container has a new host name, so an owner on another host has ended.
        if owner not in (None, _this()) and not Owner(**owner).is_gone(begun=0):
            raise GitError("Somebody else works in this session.")
        return known

    async def _clear(self, session: str) -> Mirror:
        mirror = self._mirror(self._free(session)["mirror"])
        await remove(self.folder / "worktrees" / session)
        # Not `git worktree prune`, which may remove the data of other sessions.
        await remove(mirror.folder / "worktrees" / session)
        return mirror

    def _worktree(self, session: str, mirror: Mirror, ref: GitRemoteRef) -> Worktree:
        path = self.folder / "worktrees" / session
        git = self._git.at(mirror.folder / "worktrees" / session, work_tree=path, config=NO_LFS)
        branch = check_branch(self._options.branch.format(session=session))
        return Worktree(path, git, session, ref, branch, mirror, self._options.limits)

    def _mirror(self, name: str) -> Mirror:
        return Mirror(self.folder / "mirrors" / name, self._git)

    def _alone(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    def _save(self, session: str, **known: Any) -> None:
        path = self.path(session)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        half = path.with_suffix(f".{os.getpid()}.half")
        half.write_text(json.dumps(known), "utf-8")
        half.replace(path)


def _this() -> dict[str, Any]:
    return asdict(Owner.this())


def _used(path: Path) -> float:
    return path.lstat().st_mtime
