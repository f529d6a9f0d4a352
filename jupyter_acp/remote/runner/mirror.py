# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A repository of others as it is kept here: bare, in a cache, and shared by all sessions on it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from ..git import NO_LFS, Git, GitError, Report, Room
from ..limits import Limits
from ..refs import GitRemoteRef, public_url
from .folders import remove
from .locks import Lock
from .measure import measured

MOST_LOOSE = 2000
MOST_PACKS = 20
"""How many objects and packs may lie about before they are put together."""

_CONFIG = {
    # What is fetched stays in one piece: thousands of small files are slow to write and to read.
    "fetch.unpackLimit": "1",
    # Several sessions write here; each is done in no time.
    "core.filesRefLockTimeout": "10000",
    "core.packedRefsTimeout": "10000",
}


class Mirror:
    """One of them."""

    def __init__(self, folder: Path, git: Git) -> None:
        self.folder = folder
        self.git = git.at(folder, config={**NO_LFS, **_CONFIG})
        self._plain = git
        self.lock = Lock(folder.with_suffix(".lock"))
        """Held by whoever works on a session here, together; and alone by whoever clears up."""

        self._settings = folder.with_suffix(".config")
        """As git has made them: those in the folder are every agent's to change."""

    @staticmethod
    def name(ref: GitRemoteRef) -> str:
        """Return the name of the folder for a repository."""
        # Of both kinds of revisions there can be one each.
        key = f"{len(ref.revision)} {public_url(ref.url)}"
        return hashlib.sha256(key.encode()).hexdigest()[:32] + ".git"

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be the only one who fetches, or adds a folder: git does not expect two to do so at once."""
        lock = Lock(self.folder.with_suffix(".work"))
        if not await lock.wait(self._plain.timeout):
            raise GitError("Another session is still busy fetching this repository. Try again.")
        try:
            self.reset()
            yield
        finally:
            lock.release()

    def reset(self) -> None:
        """Undo what an agent has set for the whole repository, and so for all other sessions."""
        config = self.folder / "config"
        with contextlib.suppress(FileNotFoundError):
            wanted = self._settings.read_bytes()
            if config.read_bytes() != wanted:
                half = config.with_name(f"config.{uuid.uuid4().hex}.half")
                half.write_bytes(wanted)
                half.replace(config)
            (self.folder / "info" / "attributes").unlink(missing_ok=True)

    async def fetch(self, ref: GitRemoteRef, limits: Limits, report: Report | None) -> None:
        """Have a revision here; ask for it only if it is not here yet."""
        if not self.folder.is_dir():
            await self._create(ref)
        if not await self._has(ref.revision):
            await self._fetch_branch(ref, limits, report)
        if not await self._has(ref.revision):
            await self._fetch_revision(ref, limits, report)
        # What would fill the disk is refused, however small it is when packed.
        if words := limits.refusal(*await measured(self.git, ref.revision)):
            raise GitError(words[0].upper() + words[1:])
        os.utime(self.lock.path)

    @property
    def used(self) -> float:
        """When it was last asked for something."""
        try:
            return self.lock.path.stat().st_mtime
        except OSError:
            return 0.0

    async def _create(self, ref: GitRemoteRef) -> None:
        """Make an empty one, or none: half of one would be taken for whole."""
        half = self.folder.with_name(f"{self.folder.name}.{uuid.uuid4().hex}.half")
        try:
            await self._plain.run(
                "init",
                "--quiet",
                "--bare",
                "--template=",
                f"--object-format={'sha256' if len(ref.revision) == 64 else 'sha1'}",
                str(half),
            )
            shutil.copyfile(half / "config", self._settings)
            half.rename(self.folder)
        finally:
            shutil.rmtree(half, ignore_errors=True)

    async def _fetch_branch(self, ref: GitRemoteRef, limits: Limits, report: Report | None) -> None:
        # By a name that no other can stand in the way of: where `a` was, there may be `a/b` one day.
        name = hashlib.sha256(ref.branch.encode()).hexdigest()[:32]
        refspec = f"+refs/heads/{ref.branch}:refs/jupyter-acp/branches/{name}"
        await self._fetch(ref.url, refspec, limits, report)

    async def _fetch_revision(
        self, ref: GitRemoteRef, limits: Limits, report: Report | None
    ) -> None:
        """Ask for the revision itself: the branch may have been moved, or rewritten."""
        try:
            await self._fetch(
                ref.url, f"{ref.revision}:refs/jupyter-acp/revisions/{ref.revision}", limits, report
            )
        except GitError as error:
            raise GitError(
                f"The branch {ref.branch} of {public_url(ref.url)} does not contain the revision "
                f"{ref.revision[:12]}. Push it first. ({error})"
            ) from None

    async def _fetch(self, url: str, refspec: str, limits: Limits, report: Report | None) -> None:
        await self.git.run(
            "fetch",
            "--progress",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--end-of-options",
            url,
            refspec,
            report=report,
            room=Room(self.folder, limits.size),
        )

    async def _has(self, revision: str) -> bool:
        return await self.git.succeeds("cat-file", "-e", f"{revision}^{{commit}}")

    async def tidy(self) -> None:
        """Pack what is scattered, if git finds that worth it; what others just make is not touched."""
        config = {
            "gc.auto": str(MOST_LOOSE),
            "gc.autoPackLimit": str(MOST_PACKS),
            "gc.autoDetach": "false",
            # Files are taken away with their sessions, and by nobody else.
            "gc.worktreePruneExpire": "never",
        }
        await self.git.at(self.folder, config=config).run("gc", "--auto", "--quiet")

    async def remove(self) -> None:
        """Take it away, or none of it: half of one would be taken for whole."""
        half = self.folder.with_name(f"{self.folder.name}.{uuid.uuid4().hex}.half")
        self.folder.rename(half)
        self._settings.unlink(missing_ok=True)
        await remove(half)

    def sweep(self) -> None:
        """Throw away what a fetch has left that did not end; only whoever is alone here may."""
        for left in (self.folder / "objects" / "pack").glob("tmp_*"):
            left.unlink(missing_ok=True)
        for left in (self.folder / "objects").glob("tmp_*"):
            shutil.rmtree(left, ignore_errors=True)
