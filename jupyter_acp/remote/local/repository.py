# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The user's own repository: its folders, references, settings, and unfinished operations.

The user may have downloaded it with its `.git`. So git only reads and writes references, settings
and objects here, which runs no programs; an `IsolatedRepository` does everything that reads files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..filenames import lines, shown
from ..git import Git, GitError
from .settings import Settings

OLDEST_GIT = (2, 38)
"""The first version that can merge without a working tree."""

_GOING_ON = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}


class RepositoryError(GitError):
    """An operation that a repository does not allow, with a code for programs and file names."""

    def __init__(self, code: str, message: str, files: Sequence[str] = ()) -> None:
        super().__init__(shown(message))
        self.code = code
        self.files = tuple(files)

    def public(self) -> dict[str, Any]:
        """Return the error as windows get it."""
        files = [shown(name) for name in self.files]
        return {"code": self.code, "message": str(self), "files": files}


@dataclass(frozen=True)
class Head:
    """The commit that is checked out; revision or branch is None if there is none."""

    revision: str | None
    branch: str | None

    @property
    def name(self) -> str:
        """The name in git's reflog."""
        return self.branch or self.revision or "HEAD"


@dataclass(frozen=True)
class Repository:
    """A working tree and its repository."""

    toplevel: Path
    git_dir: Path
    """The git folder of this working tree; each working tree of a repository has its own."""

    common_dir: Path
    plain: Git
    """Git without a folder."""

    git: Git
    """Git on the repository's references, settings and objects, but not on files."""

    @classmethod
    async def find(cls, folder: Path, git: Git) -> Repository:
        """Return the repository of a folder, or raise a `RepositoryError`."""
        await _check_version(git)
        folder = await asyncio.to_thread(folder.resolve)
        if not await asyncio.to_thread(os.path.isdir, folder):
            raise RepositoryError("noFolder", f"There is no folder {folder}.")
        git_dir = await _git_dir(folder, git)
        if git_dir is None:
            raise RepositoryError(
                "notRepository",
                f"{folder} is not in a git repository. Make one (git init), connect it to a remote "
                "(git remote add origin …) and push it, or clone one.",
            )
        toplevel = next((at for at in (folder, *folder.parents) if _has(at, ".git")), None)
        inside = git_dir in (folder, *folder.parents)
        if inside or toplevel is None or await _git_dir(toplevel, git) != git_dir:
            raise RepositoryError(
                "bare",
                f"{folder} is inside a repository's own data, or in a bare repository: it has no "
                "files to work on. Choose a folder with a working tree.",
            )
        # The repository's settings name the server for missing objects: fetch none.
        here = git.at(
            git_dir,
            work_tree=toplevel,
            env={"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"},
        )
        common = _path(await here.run("rev-parse", "--path-format=absolute", "--git-common-dir"))
        found = cls(toplevel, git_dir, common.resolve(), git, here)
        await found._check_place()
        return found

    @property
    def index(self) -> Path:
        """The index of this working tree."""
        return self.git_dir / "index"

    @property
    def lock(self) -> Path:
        """Git's own lock against simultaneous changes of the working tree."""
        return self.git_dir / "index.lock"

    @property
    def objects(self) -> Path:
        """The folder of git's objects."""
        return self.common_dir / "objects"

    @property
    def foreign(self) -> bool:
        """True if the repository belongs to another user of this machine."""
        return hasattr(os, "geteuid") and self.git_dir.stat().st_uid != os.geteuid()

    @property
    def shallow(self) -> bool:
        """True if the repository is a shallow clone."""
        return _has(self.common_dir, "shallow")

    @property
    def going_on(self) -> str | None:
        """The name of an unfinished git operation, such as a merge."""
        return next((words for name, words in _GOING_ON.items() if _has(self.git_dir, name)), None)

    async def settings(self) -> Settings:
        """Return all settings that apply in this repository."""
        return Settings.of(await self.git.run("config", "--list", "-z", "--show-scope"))

    async def head(self) -> Head:
        """Return what is checked out."""
        branch = "".join(lines(await self.git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))))
        revision = await self.git.text("rev-parse", "-q", "--verify", "HEAD^{commit}", ok=(0, 1))
        return Head(revision or None, branch.removeprefix("refs/heads/") or None)

    async def refs(self, prefix: str) -> dict[str, str]:
        """Return the references below a prefix, with their revisions."""
        printed = await self.git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        pairs = (line.split(" ", 1) for line in lines(printed))
        return {name: revision for revision, name in pairs}

    async def resolve(self, ref: str) -> str | None:
        """Return the revision of a reference, or None."""
        return await self.git.text("rev-parse", "-q", "--verify", ref, ok=(0, 1)) or None

    async def elsewhere(self, branch: str) -> str | None:
        """Return another working tree that has a branch checked out, or None."""
        printed = await self.git.run("worktree", "list", "--porcelain", "-z")
        here = _identity(self.toplevel)
        for number, block in enumerate(os.fsdecode(printed).split("\0\0")):
            fields = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
            if fields.get("branch") != f"refs/heads/{branch}":
                continue
            # The first is the main one, for which git may print another folder.
            is_main = number == 0 and self.git_dir == self.common_dir
            if not is_main and _identity(Path(fields["worktree"])) != here:
                return fields["worktree"]
        return None

    async def _check_place(self) -> None:
        """Refuse a repository that names another folder as its working tree."""
        said = (await self.settings()).own("core.worktree")
        if said is not None and (self.git_dir / said).resolve() != self.toplevel.resolve():
            raise RepositoryError(
                "elsewhere",
                f"The repository in {self.toplevel} says that its files are in another folder "
                "(core.worktree). That is not followed; remove the setting to use it here.",
            )


async def _check_version(git: Git) -> None:
    printed = await git.text("--version")
    found = re.search(r"(\d+)\.(\d+)", printed)
    if found is not None and (int(found[1]), int(found[2])) < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        raise RepositoryError("oldGit", f"git {wanted} or newer is needed; here is {printed}.")


async def _git_dir(folder: Path, git: Git) -> Path | None:
    """Return the git folder of a folder, even if another user owns it: no settings apply."""
    asked = git.at(work_tree=folder, config={"safe.directory": "*"})
    try:
        return _path(await asked.run("rev-parse", "--absolute-git-dir")).resolve()
    except GitError as error:
        if "not a git repository" in error.output:
            return None
        raise RepositoryError(
            "unusable", f"git cannot use the repository of {folder}: {error.output or error}"
        ) from None


def _path(printed: bytes) -> Path:
    return Path(os.fsdecode(printed[:-1] if printed.endswith(b"\n") else printed))


def _has(folder: Path, name: str) -> bool:
    return os.path.lexists(folder / name)


def _identity(folder: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = folder.stat()
        return found.st_dev, found.st_ino
    return None
