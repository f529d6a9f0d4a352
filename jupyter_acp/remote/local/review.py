# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The content of a result: commits and changed files, read from git's objects only."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any

from ..changes import FOLDER, SUBMODULE, SYMLINK
from ..filenames import listed, meant, shown
from .isolated import IsolatedRepository
from .results import Result

MOST_COMMITS = 200
MOST_FILES = 1000
LONGEST_TEXT = 2_000_000
_LONGEST_BODY = 10_000
_COMMIT = {
    "revision": "%H",
    "author": "%an",
    "email": "%ae",
    "date": "%aI",
    "subject": "%s",
    "body": "%b",
}
_POINTER = b"version https://git-lfs.github.com/spec/"


async def commits(
    isolated: IsolatedRepository, result: Result, most: int = MOST_COMMITS
) -> dict[str, Any]:
    """Return the newest commits of a result, newest first, and the total number."""
    span = f"{result.base}..{result.revision}"
    printed = await isolated.git.run(
        "log",
        "-z",
        f"--max-count={most}",
        f"--format={'%x00'.join(_COMMIT.values())}",
        "--encoding=UTF-8",
        "--no-show-signature",
        "--no-notes",
        "--no-decorate",
        "--no-patch",
        span,
    )
    fields = printed.decode("utf-8", "replace").split("\0")
    rows = zip(*(fields[at :: len(_COMMIT)] for at in range(len(_COMMIT))), strict=False)
    found = [dict(zip(_COMMIT, row, strict=True)) for row in rows]
    for commit in found:
        commit["body"] = commit["body"].strip()[:_LONGEST_BODY]
    total = int(await isolated.git.text("rev-list", "--count", span))
    return {"commits": found, "total": total}


async def files(
    isolated: IsolatedRepository, result: Result, most: int = MOST_FILES
) -> dict[str, Any]:
    """Return the changed files of a result, and their total number.

    The status is A(dded), M(odified), D(eleted), R(enamed) or T(ype changed). Lines are counted if
    there are not too many files.
    """
    found: dict[str, dict[str, Any]] = {}
    fields = iter(listed(await _diff(isolated, result, "--name-status")))
    for status in fields:
        old = next(fields) if status[0] in "RC" else None
        path = next(fields)
        found[path] = {
            "status": status[0],
            "path": shown(path),
            "oldPath": shown(old) if old is not None else None,
            "added": None,
            "removed": None,
            "binary": False,
        }
    if len(found) <= most:
        for path, (added, removed) in (await _counts(isolated, result)).items():
            if added == "-":
                found[path]["binary"] = True
            else:
                found[path].update(added=int(added), removed=int(removed))
    return {"files": list(found.values())[:most], "total": len(found)}


async def contents(
    isolated: IsolatedRepository, result: Result, path: str, *, before: bool = False
) -> dict[str, str | None]:
    """Return the text of a file, found by its shown name, or the reason why there is none."""
    revision = result.base if before else result.revision
    # JSON can contain half of a surrogate pair, which no file name has.
    with contextlib.suppress(UnicodeEncodeError):
        for name in dict.fromkeys((path, meant(path))):
            if (entry := await _entry(isolated, revision, name)) is not None:
                return await _read(isolated, *entry)
    return _no_text("missing", "The file is not there.")


async def _entry(isolated: IsolatedRepository, revision: str, path: str) -> tuple[str, str] | None:
    """Return the mode and the object of a file in a revision."""
    if not path or "\0" in path:
        return None
    git = isolated.git.at(isolated.git.git_dir, env={"GIT_LITERAL_PATHSPECS": "1"})
    for line in listed(await git.run("ls-tree", "-z", revision, "--", path, ok=(0, 128))):
        about, _, name = line.partition("\t")
        mode, _, object = about.split(" ")
        if name == path:
            return mode, object
    return None


async def _read(isolated: IsolatedRepository, mode: str, object: str) -> dict[str, str | None]:
    if mode == SUBMODULE:
        return _no_text("submodule", f"A submodule, at {object[:12]}.")
    if mode == FOLDER:
        return _no_text("folder", "A folder.")
    size = int(await isolated.git.text("cat-file", "-s", object))
    if size > LONGEST_TEXT:
        return _no_text("large", f"{size / 1e6:,.1f} MB are too much to be shown.")
    data = await isolated.git.run("cat-file", "blob", object)
    if mode == SYMLINK:
        return _no_text("symlink", f"A link to {shown(os.fsdecode(data))}.")
    if data.startswith(_POINTER):
        words = "A large file that is kept by Git LFS; only a pointer is here."
        return _no_text("lfs", words)
    return await asyncio.to_thread(_decoded, data)


def _decoded(data: bytes) -> dict[str, str | None]:
    with contextlib.suppress(UnicodeDecodeError):
        if b"\0" not in data:
            return {"text": data.decode("utf-8"), "reason": None, "message": ""}
    return _no_text("binary", "Not a text.")


def _no_text(reason: str, message: str) -> dict[str, str | None]:
    return {"text": None, "reason": reason, "message": message}


async def _counts(isolated: IsolatedRepository, result: Result) -> dict[str, tuple[str, str]]:
    """Return the numbers of added and removed lines per file; dashes for binary files."""
    fields = iter(listed(await _diff(isolated, result, "--numstat")))
    found = {}
    for field in fields:
        added, removed, path = field.split("\t", 2)
        if not path:
            # Renamed: the old name and the new one follow.
            next(fields)
            path = next(fields)
        found[path] = (added, removed)
    return found


async def _diff(isolated: IsolatedRepository, result: Result, how: str) -> bytes:
    options = ("-z", "-r", "-M", "--no-ext-diff", "--no-textconv", how)
    return await isolated.git.run("diff-tree", *options, result.base, result.revision)
