# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Differences between the user's files, the index and trees.

`git add` and `git status` run git inside submodules, with the submodule's own settings. The
commands used here do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .filenames import joined, listed
from .git import Git

NOTHING = "000000"
"""Mode of a path that does not exist."""

FOLDER = "040000"
SUBMODULE = "160000"
SYMLINK = "120000"

_MOST_ARGUMENTS = 500


class Step(NamedTuple):
    """The modes of one path in two trees."""

    path: str
    old_mode: str
    new_mode: str


class Entry(NamedTuple):
    """An entry of an index."""

    mode: str
    object: str
    stage: str
    path: str


async def changes(git: Git, revision: str) -> dict[str, str]:
    """Return the status letters of the tracked files that differ from a revision, staged or not."""
    options = ("-z", "--name-status", "--ignore-submodules=dirty")
    fields = listed(await git.run("diff-index", *options, revision))
    return dict(zip(fields[1::2], fields[::2], strict=True))


async def untracked(git: Git, *options: str) -> list[str]:
    """Return the files that git neither tracks nor ignores; folders end in `/`."""
    # Jupyter's checkpoints are not the user's work.
    excluded = ("--exclude-standard", "--exclude=.ipynb_checkpoints/")
    return listed(await git.run("ls-files", "-z", "--others", *excluded, *options))


async def untracked_at(git: Git, paths: Iterable[str]) -> list[str]:
    """Return untracked and ignored files in the top folders of the paths; folders end in `/`."""
    tops = sorted({path.partition("/")[0] for path in paths})
    if not tops:
        return []
    # Some file systems do not distinguish upper and lower case.
    only = [f":(top,literal,icase){top}" for top in tops] if len(tops) < _MOST_ARGUMENTS else []
    return listed(await git.run("ls-files", "-z", "--others", "--", *only))


async def staged(git: Git, tree: str) -> set[str]:
    """Return the files whose staged state differs from a tree."""
    return set(listed(await git.run("diff-index", "-z", "--cached", "--name-only", tree)))


async def unstaged(git: Git) -> list[str]:
    """Return the tracked files that differ from the index."""
    return listed(await git.run("diff-files", "-z", "--name-only", "--ignore-submodules=dirty"))


async def stage(git: Git, paths: Iterable[str]) -> None:
    """Stage files in their current state; missing files are staged as deleted."""
    options = ("-z", "--add", "--remove", "--replace", "--stdin")
    await git.run("update-index", *options, input=joined(paths))


async def entries(git: Git) -> list[Entry]:
    """Return all entries of the index."""
    found = []
    for line in listed(await git.run("ls-files", "-z", "--stage")):
        about, _, path = line.partition("\t")
        mode, object, stage = about.split(" ")
        found.append(Entry(mode, object, stage, path))
    return found


async def enter(git: Git, lines: Iterable[Entry]) -> None:
    """Write entries into the index; remove those with the mode `NOTHING`."""
    text = (f"{line.mode} {line.object} {line.stage}\t{line.path}" for line in lines)
    await git.run("update-index", "-z", "--index-info", input=joined(text))


async def steps(git: Git, old: str, new: str) -> list[Step]:
    """Return the differences between two trees."""
    fields = listed(await git.run("diff-tree", "-z", "-r", "--raw", "--no-renames", old, new))
    pairs = zip(fields[::2], fields[1::2], strict=True)
    return [Step(path, about[1:7], about[8:14]) for about, path in pairs]
