# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is in a result: commits, changed files and what is in them. Only objects are read, no files."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .files import SUBMODULE, SYMLINK
from .names import listed, meant, shown
from .results import Result
from .shadow import Shadow

MOST_COMMITS = 200
MOST_FILES = 1000
LONGEST_TEXT = 2_000_000
_LONGEST_BODY = 10_000
_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Commit:
    """One commit of a result."""

    revision: str
    author: str
    email: str
    date: str
    subject: str
    body: str


@dataclass(frozen=True)
class Commits:
    """The newest commits of a result, and how many there are."""

    commits: Sequence[Commit]
    total: int

    def public(self) -> dict[str, Any]:
        """Return what is shown."""
        return asdict(self)


@dataclass(frozen=True)
class File:
    """What became of one file: A(dded), M(odified), D(eleted), R(enamed), T(ype changed)."""

    status: str
    path: str
    old_path: str | None = None
    added: int | None = None
    removed: int | None = None
    binary: bool = False

    def public(self) -> dict[str, Any]:
        """Return what is shown."""
        return {
            "status": self.status,
            "path": shown(self.path),
            "oldPath": shown(self.old_path) if self.old_path is not None else None,
            "added": self.added,
            "removed": self.removed,
            "binary": self.binary,
        }


@dataclass(frozen=True)
class Files:
    """The changed files of a result, and how many there are."""

    files: Sequence[File]
    total: int

    def public(self) -> dict[str, Any]:
        """Return what is shown."""
        return {"files": [file.public() for file in self.files], "total": self.total}


@dataclass(frozen=True)
class Contents:
    """The text of a file, or the reason why there is none to show."""

    text: str | None
    reason: str | None = None
    message: str = ""

    def public(self) -> dict[str, Any]:
        """Return what is shown."""
        return asdict(self)


async def commits(shadow: Shadow, result: Result, most: int = MOST_COMMITS) -> Commits:
    """Return the commits of a result, newest first."""
    span = f"{result.base}..{result.revision}"
    total = int(await shadow.git.text("rev-list", "--count", span))
    printed = await shadow.git.run(
        "log",
        "-z",
        f"--max-count={most}",
        "--format=%H%x00%an%x00%ae%x00%aI%x00%s%x00%b",
        "--encoding=UTF-8",
        "--no-show-signature",
        "--no-notes",
        "--no-decorate",
        "--no-patch",
        span,
    )
    fields = printed.decode("utf-8", "replace").split("\0")
    found = [
        Commit(revision, author, email, date, subject, body.strip()[:_LONGEST_BODY])
        for revision, author, email, date, subject, body in zip(
            *(fields[at::6] for at in range(6)), strict=False
        )
    ]
    return Commits(found, total)


async def files(shadow: Shadow, result: Result, most: int = MOST_FILES) -> Files:
    """Return what a result changes; lines are counted where there are not too many files."""
    found = await _changed(shadow, result)
    if len(found) <= most:
        counts = await _counts(shadow, result)
        found = [_counted(file, counts.get(file.path)) for file in found]
    return Files(found[:most], len(found))


async def contents(shadow: Shadow, result: Result, path: str, *, before: bool = False) -> Contents:
    """Return what is in a file, by the name under which it was shown; `before`, what it was."""
    revision = result.base if before else result.revision
    # Half a character, which JSON can hold, is in no name.
    with contextlib.suppress(UnicodeEncodeError):
        for name in dict.fromkeys((path, meant(path))):
            if (entry := await _entry(shadow, revision, name)) is not None:
                return await _read(shadow, *entry)
    return Contents(None, "missing", "The file is not there.")


async def _entry(shadow: Shadow, revision: str, path: str) -> tuple[str, str] | None:
    """Return the mode and the object of a file in a revision."""
    if not path or "\0" in path:
        return None
    git = shadow.git.at(shadow.git.git_dir, env={"GIT_LITERAL_PATHSPECS": "1"})
    for line in listed(await git.run("ls-tree", "-z", revision, "--", path, ok=(0, 128))):
        about, _, name = line.partition("\t")
        mode, _, object = about.split(" ")
        if name == path:
            return mode, object
    return None


async def _read(shadow: Shadow, mode: str, object: str) -> Contents:
    if mode == SUBMODULE:
        return Contents(None, "submodule", f"A submodule, at {object[:12]}.")
    if mode == "040000":
        return Contents(None, "folder", "A folder.")
    size = int(await shadow.git.text("cat-file", "-s", object))
    if size > LONGEST_TEXT:
        return Contents(None, "large", f"{size / 1e6:,.1f} MB are too much to be shown.")
    data = await shadow.git.run("cat-file", "blob", object)
    if mode == SYMLINK:
        return Contents(None, "symlink", f"A link to {shown(os.fsdecode(data))}.")
    if data.startswith(_POINTER):
        return Contents(
            None, "lfs", "A large file that is kept by Git LFS; only a pointer is here."
        )
    return await asyncio.to_thread(_decoded, data)


def _decoded(data: bytes) -> Contents:
    binary = Contents(None, "binary", "Not a text.")
    if b"\0" in data:
        return binary
    try:
        return Contents(data.decode("utf-8"))
    except UnicodeDecodeError:
        return binary


async def _changed(shadow: Shadow, result: Result) -> list[File]:
    fields = iter(listed(await _diff(shadow, result, "--name-status")))
    found = []
    for status in fields:
        path = next(fields)
        old_path = None
        if status[0] in "RC":
            old_path, path = path, next(fields)
        found.append(File(status[0], path, old_path))
    return found


async def _counts(shadow: Shadow, result: Result) -> dict[str, tuple[str, str]]:
    """Return how many lines came and went; of a file that is no text, only dashes."""
    fields = iter((await _diff(shadow, result, "--numstat")).split(b"\0"))
    found = {}
    for field in fields:
        if not field:
            continue
        added, removed, path = field.split(b"\t", 2)
        if not path:
            # Renamed: the old name and the new one follow.
            next(fields)
            path = next(fields)
        found[os.fsdecode(path)] = (added.decode(), removed.decode())
    return found


async def _diff(shadow: Shadow, result: Result, how: str) -> bytes:
    options = ("-z", "-r", "-M", "--no-ext-diff", "--no-textconv", how)
    return await shadow.git.run("diff-tree", *options, result.base, result.revision)


def _counted(file: File, counts: tuple[str, str] | None) -> File:
    if counts is None:
        return file
    binary = counts[0] == "-"
    added, removed = (None, None) if binary else map(int, counts)
    return File(file.status, file.path, file.old_path, added, removed, binary)
