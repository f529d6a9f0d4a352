# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Mirrors: local bare repositories, one per remote repository, shared by its sessions."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

from ..git import NO_LFS, Git, GitError, Report, Room
from ..limits import Limits
from ..refs import GitRemoteRef, public_url

_CONFIG = {
    # Keep packs: thousands of small files are slow to write and to read.
    "fetch.unpackLimit": "1",
    # Several sessions write here, each for a short time.
    "core.filesRefLockTimeout": "10000",
    "core.packedRefsTimeout": "10000",
}
_GC = {
    "gc.auto": "6700",
    "gc.autoDetach": "false",
    # Only the cache removes worktrees, together with their sessions.
    "gc.worktreePruneExpire": "never",
}
"""Settings for `git gc --auto`, with git's default threshold."""


class Mirror:
    """The mirror of one remote repository."""

    def __init__(self, folder: Path, git: Git) -> None:
        self.folder = folder
        self.git = git.at(folder, config={**NO_LFS, **_CONFIG})
        self._plain = git
        self._settings = folder.with_suffix(".config")
        """A copy of the original settings: agents can change those in the folder."""

    @staticmethod
    def name(ref: GitRemoteRef) -> str:
        """Return the folder name of the mirror for a repository."""
        # A mirror has either SHA-1 or SHA-256 revisions.
        key = f"{len(ref.revision)} {public_url(ref.url)}"
        return hashlib.sha256(key.encode()).hexdigest()[:32] + ".git"

    def reset(self) -> None:
        """Restore the settings of the mirror, which agents can change for all other sessions."""
        config = self.folder / "config"
        with contextlib.suppress(FileNotFoundError):
            wanted = self._settings.read_bytes()
            if config.read_bytes() != wanted:
                half = config.with_name(f"config.{uuid.uuid4().hex}.half")
                half.write_bytes(wanted)
                half.replace(config)
            (self.folder / "info" / "attributes").unlink(missing_ok=True)

    async def fetch(self, ref: GitRemoteRef, limits: Limits, report: Report | None) -> None:
        """Fetch a revision if it is missing."""
        if not self.folder.is_dir():
            await self._create(ref)
        self.reset()
        os.utime(self.folder)
        if not await self._has(ref.revision):
            await self._fetch_branch(ref, limits, report)
        if not await self._has(ref.revision):
            await self._fetch_revision(ref, limits, report)
        # A small pack can contain files that would fill the disk.
        if words := limits.refusal(*await measured(self.git, ref.revision)):
            raise GitError(words[0].upper() + words[1:])

    async def remove_unused(self) -> None:
        """Remove the mirror if no session uses it."""
        has_files = any((self.folder / "worktrees").glob("*"))
        if has_files or await self.git.text("for-each-ref", "refs/jupyter-acp/sessions"):
            return
        # Rename first: a folder removed in part would look like a mirror.
        half = self.folder.with_name(f"{uuid.uuid4().hex}.half")
        self.folder.rename(half)
        self._settings.unlink(missing_ok=True)
        await remove(half)

    async def _create(self, ref: GitRemoteRef) -> None:
        """Create an empty mirror, completely or not at all."""
        half = self.folder.with_name(f"{uuid.uuid4().hex}.half")
        format = "sha256" if len(ref.revision) == 64 else "sha1"
        try:
            await self._plain.run(
                "init", "--quiet", "--bare", "--template=", f"--object-format={format}", str(half)
            )
            shutil.copyfile(half / "config", self._settings)
            half.rename(self.folder)
        except OSError:
            # Another process may have created it meanwhile.
            if not self.folder.is_dir():
                raise
        finally:
            shutil.rmtree(half, ignore_errors=True)

    async def _fetch_branch(self, ref: GitRemoteRef, limits: Limits, report: Report | None) -> None:
        # A hash as name avoids conflicts: `a` may be replaced by `a/b` one day.
        name = hashlib.sha256(ref.branch.encode()).hexdigest()[:32]
        refspec = f"+refs/heads/{ref.branch}:refs/jupyter-acp/branches/{name}"
        try:
            await self._fetch(ref.url, refspec, limits, report)
        except GitError:
            # Another process may have fetched it, and created the reference, meanwhile.
            if not await self._has(ref.revision):
                raise

    async def _fetch_revision(
        self, ref: GitRemoteRef, limits: Limits, report: Report | None
    ) -> None:
        """Fetch a revision by its hash: the branch may have been rewritten."""
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
        # Separate from the fetch, because it needs disk space for a second copy meanwhile.
        with contextlib.suppress(GitError):
            await self.git.at(self.folder, config=_GC).run("gc", "--auto", "--quiet")

    async def _has(self, revision: str) -> bool:
        return await self.git.succeeds("cat-file", "-e", f"{revision}^{{commit}}")


async def measured(git: Git, revision: str) -> tuple[int, int]:
    """Return the number of files at a revision, and their total size in bytes."""
    printed = await git.run("ls-tree", "-r", "-l", "-z", "--full-tree", revision)
    entries = printed.split(b"\0")[:-1]
    sizes = (entry.split(b"\t", 1)[0].split()[3] for entry in entries)
    return len(entries), sum(int(size) for size in sizes if size.isdigit())


async def remove(folder: Path) -> None:
    """Remove a folder and its contents, including write-protected files."""
    await asyncio.to_thread(_remove, folder)


def _remove(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, onerror=_unprotect)


def _unprotect(function: Any, path: str, _: Any) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        function(path)
