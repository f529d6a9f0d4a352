# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Switching the user's files and index from one tree to another, with `git read-tree -m -u`.

Git checks every file before it writes the first one, but it overwrites ignored files and files in
the folder of a submodule. This module checks for those.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from ..changes import NOTHING, SUBMODULE, Step, changes, entries, steps, unstaged, untracked_at
from ..filenames import joined, some, with_parents
from ..git import Git, GitError
from .isolated import IsolatedRepository
from .repository import RepositoryError


async def check_free(isolated: IsolatedRepository, old: str, new: str) -> None:
    """Refuse a switch that would lose the user's work, and name the files."""
    git = await isolated.on_copy()
    if await git.run("ls-files", "-z", "--unmerged"):
        raise RepositoryError(
            "unmerged", "There are files with conflicts. Resolve them, or give the merge up, first."
        )
    wanted = await steps(git, old, new)
    paths = {step.path for step in wanted}
    around = with_parents(paths)
    mine = {
        path for path in await changes(git, old) if path in around or with_parents([path]) & paths
    }
    mine |= await _in_the_way(git, wanted)
    mine |= await asyncio.to_thread(_full_submodules, isolated.repository.toplevel, wanted)
    if mine:
        raise RepositoryError(
            "dirty",
            f"These files have changes of yours that would be lost: {some(mine)}. Commit them, "
            "stash them (git stash -u) or move them away. Nothing was changed.",
            sorted(mine),
        )
    try:
        await git.run("read-tree", "-m", "-u", "-n", old, new)
    except GitError as error:
        raise RepositoryError(
            "dirty", f"Your files do not allow it. Nothing was changed. git said: {error.output}"
        ) from None


async def switch(isolated: IsolatedRepository, old: str, new: str) -> None:
    """Write files and index, or restore them; the caller has called `check_free`."""
    git = isolated.on_files()
    await git.run("update-index", "-q", "--refresh", ok=(0, 1))
    try:
        await git.run("read-tree", "-m", "-u", old, new)
    except GitError:
        # The caller checks whether everything is restored.
        with contextlib.suppress(GitError, OSError):
            await _put_back(isolated, old, new)
        raise


async def _in_the_way(git: Git, wanted: Sequence[Step]) -> set[str]:
    """Return untracked or ignored files at paths where files are to be added."""
    kinds = {step.path: step.new_mode for step in wanted if step.old_mode == NOTHING}
    known = {entry.path for entry in await entries(git)}
    kinds = {path: kind for path, kind in kinds.items() if path not in known}
    around = with_parents(kinds)
    found = set()
    for path in await untracked_at(git, kinds):
        name = path.rstrip("/")
        # Git keeps the files of a folder that becomes a submodule.
        is_kept = path != name and kinds.get(name) == SUBMODULE
        inside = (kinds.get(folder, SUBMODULE) for folder in with_parents([name]))
        if (name in around and not is_kept) or any(kind != SUBMODULE for kind in inside):
            found.add(name)
    return found


def _full_submodules(toplevel: Path, wanted: Sequence[Step]) -> set[str]:
    """Return the files in submodules that become files: git would remove them."""
    found: set[str] = set()
    for step in wanted:
        if step.old_mode == SUBMODULE and step.new_mode not in (SUBMODULE, NOTHING):
            with contextlib.suppress(OSError):
                found.update(f"{step.path}/{name}" for name in os.listdir(toplevel / step.path))
    return found


async def written(isolated: IsolatedRepository, old: str, new: str) -> list[Step]:
    """Return the steps of a switch, done or not, except for files that others have written."""
    git = isolated.on_files(isolated.new_index())
    await git.run("read-tree", new)
    await git.run("update-index", "-q", "--refresh", ok=(0, 1))
    foreign = {path for path in await unstaged(git) if not await _is_begun(git, new, path)}
    return [step for step in await steps(git, old, new) if step.path not in foreign]


async def _put_back(isolated: IsolatedRepository, old: str, new: str) -> None:
    """Restore the files that git wrote before it failed; keep those that others have written."""
    git = await isolated.on_copy()
    ours = await written(isolated, old, new)
    back = await asyncio.to_thread(_cleared, isolated.repository.toplevel, ours)
    await git.run("checkout-index", "-f", "-q", "-z", "--stdin", input=joined(back))


async def _is_begun(git: Git, tree: str, path: str) -> bool:
    """Return True if git has removed a file, or has written it only in part."""
    assert git.work_tree is not None
    mode = await asyncio.to_thread(_mode, git.work_tree, path)
    if mode is None or not stat.S_ISREG(mode):
        return mode is None
    try:
        whole = await git.run("cat-file", "--filters", f"{tree}:{path}")
        return whole.startswith(await asyncio.to_thread((git.work_tree / path).read_bytes))
    except (OSError, GitError):
        return False


def _mode(toplevel: Path, path: str) -> int | None:
    """Return the mode of a file, or None; a file below a symlink is not in the repository."""
    if any((toplevel / folder).is_symlink() for folder in with_parents([path]) - {path}):
        return None
    try:
        return (toplevel / path).lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _cleared(toplevel: Path, wanted: Sequence[Step]) -> list[str]:
    """Remove the added files, and return the others, which have to be written again."""
    added = {step.path for step in wanted if step.old_mode == NOTHING}
    for path in added:
        with contextlib.suppress(OSError):
            if _mode(toplevel, path) is not None:
                (toplevel / path).unlink()
    for folder in sorted(with_parents(added) - added, reverse=True):
        with contextlib.suppress(OSError):
            if _mode(toplevel, folder) is not None:
                (toplevel / folder).rmdir()
    return [
        step.path
        for step in wanted
        if step.path not in added
        # If a file that git removed exists again, somebody else has created it.
        and (step.new_mode != NOTHING or _mode(toplevel, step.path) is None)
    ]
