# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What sessions on repositories elsewhere keep on this machine.

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
    """All of it."""

    def __init__(self, git: Git, options: RemoteOptions) -> None:
        self.folder = options.cache
        self._git = git
        self._options = options
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One for each session and each mirror: git does not expect two to begin at once."""

    async def begin(self, session: str, ref: GitRemoteRef, report: Report | None) -> Worktree:
        """Have the files of a revision in a folder of their own; all of that or nothing."""
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
        """Have a copy of the files as they were last committed."""
        known = self.known(source)
        kept = f"refs/jupyter-acp/sessions/{source}^{{commit}}"
        revision = known["remote"]["revision"]
        with contextlib.suppress(GitError):
            revision = await self._mirror(known["mirror"]).git.text("rev-parse", "--verify", kept)
        ref = GitRemoteRef(**{**known["remote"], "revision": revision})
        return await self.begin(session, ref, None)

    async def find(self, session: str) -> Worktree:
        """Return the files of an earlier session, as they were left if they are still there."""
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
                # What lies there is somebody's work, though git knows nothing of it any more.
                await worktree.adopt(await worktree.tip())
            worktree.unlock()
            self.note(worktree, owner=_this())
        return worktree

    async def close(self, session: str) -> None:
        """Take away the files of a session; what was committed is kept, to go on from."""
        async with self._alone(session):
            await self._clear(session)
            self.release(session)

    async def delete(self, session: str) -> None:
        """Forget a session."""
        async with self._alone(session):
            mirror = await self._clear(session)
            if mirror.folder.is_dir():
                for name in (f"refs/jupyter-acp/sessions/{session}", f"refs/heads/acp/{session}"):
                    with contextlib.suppress(GitError):
                        await mirror.git.run("update-ref", "-d", name)
            self.path(session).unlink(missing_ok=True)

    async def age_out(self) -> None:
        """Take away what nobody has used for long, before the first session of this process begins."""
        oldest = time.time() - self._options.keep_days * DAY
        mirrors = [path for path in self.folder.glob("mirrors/*") if _used(path) < oldest]
        for path in self.folder.glob("sessions/*.json"):
            with contextlib.suppress(GitError, OSError):
                # Work that is nowhere else stays.
                if _used(path) < oldest and not self.known(path.stem).get("unsaved"):
                    await self.delete(path.stem)
        for folder in mirrors:
            with contextlib.suppress(GitError, OSError):
                if folder.suffix == ".half":
                    # Whoever made it, or was removing it, died.
                    await remove(folder)
                elif folder.suffix == ".git":
                    await Mirror(folder, self._git).remove_unused()

    # What is known of a session

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
            known = dict(json.loads(self.path(session).read_text("utf-8")))
            return {"mirror": known["mirror"], "remote": known["remote"], **known}
        except (OSError, ValueError, TypeError, KeyError):
            raise GitError(f"There is no session {session} here.") from None

    def path(self, session: str) -> Path:
        """Return the file that this is in."""
        return self.folder / "sessions" / f"{session}.json"

    def release(self, session: str) -> None:
        """Let others work in a session; its files stay."""
        with contextlib.suppress(GitError):
            self._save(session, **{**self.known(session), "owner": None})

    def _free(self, session: str) -> dict[str, Any]:
        """Return what is known of a session, unless another process works in it."""
        known = self.known(session)
        owner = known.get("owner")
        # A container that was started anew has another name: who is not of this host is gone.
        if owner not in (None, _this()) and not Owner(**owner).is_gone(begun=0):
            raise GitError("Somebody else works in this session.")
        return known

    async def _clear(self, session: str) -> Mirror:
        mirror = self._mirror(self._free(session)["mirror"])
        await remove(self.folder / "worktrees" / session)
        # Only our own: what git takes for left over may be what another session works in.
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
