# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is different between the user's files, the index and a tree; told without running anything.

`git add` and `git status` look into submodules by starting git there, with the submodule's own
settings. What is used here does not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from ..git import Git
from .names import joined, listed

NOTHING = "000000"
"""The mode of what is not there."""

SUBMODULE = "160000"
SYMLINK = "120000"


class Change(NamedTuple):
    """What became of a file: A(dded), M(odified), D(eleted), T(ype changed), ?."""

    status: str
    path: str


class Step(NamedTuple):
    """What one path is in two trees."""

    path: str
    old_mode: str
    new_mode: str


class Entry(NamedTuple):
    """A line of an index."""

    mode: str
    object: str
    stage: str
    path: str


async def changes(git: Git, revision: str) -> list[Change]:
    """Return which tracked files are not as in a revision, staged or not."""
    fields = listed(
        await git.run("diff-index", "-z", "--name-status", "--ignore-submodules=dirty", revision)
    )
    return [Change(status, path) for status, path in zip(fields[::2], fields[1::2], strict=True)]


async def untracked(git: Git, *, folders: bool = False) -> list[str]:
    """Return which files git does not know and is not told to ignore; a folder's name ends in /."""
    # What Jupyter leaves beside notebooks is nobody's work.
    more = ["--exclude=.ipynb_checkpoints/"]
    more += ["--directory", "--no-empty-directory"] if folders else []
    return listed(await git.run("ls-files", "-z", "--others", "--exclude-standard", *more))


async def unstaged(git: Git) -> list[str]:
    """Return which tracked files are not as they are staged."""
    return listed(await git.run("diff-files", "-z", "--name-only", "--ignore-submodules=dirty"))


async def stage(git: Git, paths: Iterable[str]) -> None:
    """Take files into the index as they are, also those that are gone."""
    await git.run(
        "update-index", "-z", "--add", "--remove", "--replace", "--stdin", input=joined(paths)
    )


async def entries(git: Git) -> list[Entry]:
    """Return the whole index."""
    found = []
    for line in listed(await git.run("ls-files", "-z", "--stage")):
        about, _, path = line.partition("\t")
        mode, object, stage = about.split(" ")
        found.append(Entry(mode, object, stage, path))
    return found


async def enter(git: Git, lines: Iterable[Entry]) -> None:
    """Write lines into the index; those without a mode are taken out of it."""
    text = (f"{line.mode} {line.object} {line.stage}\t{line.path}" for line in lines)
    await git.run("update-index", "-z", "--index-info", input=joined(text))


async def steps(git: Git, old: str, new: str) -> list[Step]:
    """Return what is different between two trees."""
    fields = listed(await git.run("diff-tree", "-z", "-r", "--raw", "--no-renames", old, new))
    return [
        Step(path, *about.removeprefix(":").split(" ")[:2])
        for about, path in itertools.zip_longest(fields[::2], fields[1::2])
    ]
