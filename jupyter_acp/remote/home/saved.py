# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Copies of files that are about to be changed, so that they can be put back byte by byte.

git could write them anew from its objects, but not with what its settings here do not say: line
ends, or outputs that a filter takes out of notebooks.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .names import with_parents


@dataclass(frozen=True)
class Saved:
    """What some paths were: the number of a copy, or none where there was no file."""

    copies: dict[str, int | None] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    """Which folders had no files in them, and may go."""

    new_folders: list[str] = field(default_factory=list)
    """Which folders were not there, and may come."""

    @classmethod
    def of(cls, toplevel: Path, paths: Iterable[str], folder: Path) -> Saved:
        """Copy what is at some paths into a folder."""
        folder.mkdir(parents=True)
        saved = cls()
        for number, path in enumerate(sorted(set(paths))):
            at = toplevel / path
            saved.copies[path] = number if _is_file(at) else None
            if _is_file(at):
                shutil.copy2(at, folder / str(number), follow_symlinks=False)
            elif _is_folder(at):
                saved.folders.extend(_empty_folders(toplevel, path))
        saved.new_folders.extend(
            path for path in with_parents(saved.copies) if not _is_folder(toplevel / path)
        )
        return saved

    def put_back(self, toplevel: Path, folder: Path, replaced: Path | None = None) -> None:
        """Let the paths be what they were; what is there instead can be kept in another folder."""
        changed = [path for path in self.copies if not self._is_back(toplevel, path, folder)]
        # First what is in the way, which also makes room on a disk that is full.
        for number, path in enumerate(changed):
            if _is_file(toplevel / path):
                if replaced is not None:
                    replaced.mkdir(exist_ok=True)
                    shutil.copy2(toplevel / path, replaced / str(number), follow_symlinks=False)
                (toplevel / path).unlink()
        for path in sorted(self.new_folders, reverse=True):
            if _is_folder(toplevel / path):
                with contextlib.suppress(OSError):
                    (toplevel / path).rmdir()
        for path in self.folders:
            (toplevel / path).mkdir(parents=True, exist_ok=True)
        for path in changed:
            copy = self.copies[path]
            if copy is not None:
                (toplevel / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(folder / str(copy), toplevel / path, follow_symlinks=False)

    def _is_back(self, toplevel: Path, path: str, folder: Path) -> bool:
        copy, at = self.copies[path], toplevel / path
        if copy is None:
            return not _is_file(at)
        return _is_file(at) and _same(at, folder / str(copy))


def _same(one: Path, other: Path) -> bool:
    modes = one.lstat().st_mode, other.lstat().st_mode
    if modes[0] != modes[1]:
        return False
    if stat.S_ISLNK(modes[0]):
        return one.readlink() == other.readlink()
    return filecmp.cmp(one, other, shallow=False)


def _is_file(path: Path) -> bool:
    """Return whether there is anything but a folder."""
    return os.path.lexists(path) and not _is_folder(path)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _empty_folders(toplevel: Path, path: str) -> list[str]:
    """Return a folder and all below it if there is nothing in them, which is when git removes them."""
    found = []
    for at, folders, names in os.walk(toplevel / path):
        if names or any((Path(at) / name).is_symlink() for name in folders):
            return []
        found.append(os.path.relpath(at, toplevel))
    return found
