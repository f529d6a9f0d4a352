# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Staging an agent's changes, without nested repositories, which nobody else could fetch.

An agent creates a nested repository with a mere `git init` in some folder. `git add --all` fails if
it has no commit yet; else it stages only the hash of its commit, and runs git inside it with its
own settings.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from ..changes import NOTHING, SUBMODULE, Entry, enter, entries, stage, unstaged, untracked
from ..filenames import listed
from ..git import Git, GitError
from ..limits import Limits

REPOSITORY = "a repository of its own, whose files only a commit and a push of its own could bring"
SUBMODULES = "a submodule, which belongs to another repository"
RESERVED = "of a name that git keeps for itself"

_RESERVED = (".git", "git~1")


async def stage_all(git: Git, root: Path, limits: Limits) -> dict[str, str]:
    """Stage all changes within the limits; return the paths left out, with reasons."""
    lines = await entries(git)
    submodules = {line.path: line for line in lines if line.mode == SUBMODULE}
    left = {path: SUBMODULES for path in submodules if _has_files(root / path)}
    left |= await _put_back(git, submodules)
    others = await untracked(git)
    left |= {name.rstrip("/"): REPOSITORY for name in others if name.endswith("/")}
    left |= {name: RESERVED for name in others if _is_reserved(name)}
    changed = await unstaged(git)
    left |= {path: SUBMODULES for path in changed if path in submodules and (root / path).is_dir()}
    new = [name for name in others if not name.endswith("/") and name not in left]
    paths = [*(path for path in changed if path not in left), *new]
    if paths:
        every = {*(line.path for line in lines), *new} - submodules.keys()
        # Check before git copies the files: afterwards the disk may be full.
        files, size = await asyncio.to_thread(_sum, root, every)
        if words := limits.refusal(files, size):
            raise GitError(f"With what the agent has done, {words}")
        await stage(git, paths)
    return left


async def _put_back(git: Git, submodules: dict[str, Entry]) -> dict[str, str]:
    """Restore the submodules in the index that the agent has added or changed."""
    if not submodules:
        return {}
    known = {}
    for line in listed(await git.run("ls-tree", "-r", "-z", "--full-tree", "HEAD")):
        about, _, path = line.partition("\t")
        mode, _, object = about.split(" ")
        if mode == SUBMODULE:
            known[path] = object
    moved = [line for line in submodules.values() if known.get(line.path) != line.object]
    await enter(
        git,
        (
            line._replace(object=known[line.path])
            if line.path in known
            else Entry(NOTHING, "0" * len(line.object), "0", line.path)
            for line in moved
        ),
    )
    return {line.path: SUBMODULES if line.path in known else REPOSITORY for line in moved}


def _has_files(folder: Path) -> bool:
    """Return True if the folder of a submodule that was not fetched contains files."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return bool(names) and ".git" not in names


def _is_reserved(name: str) -> bool:
    return any(part.lower() in _RESERVED for part in name.split("/"))


def _sum(root: Path, paths: Iterable[str]) -> tuple[int, int]:
    """Return the number of existing files among the paths, and their total size."""
    files = size = 0
    for path in paths:
        try:
            found = os.lstat(root / path)
        except OSError:
            continue
        files += 1
        size += found.st_size
    return files, size
