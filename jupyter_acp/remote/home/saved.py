# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Copies of files that are about to be changed, so that they can be put back byte by byte.

git could write them anew from its objects, but not with what its settings here do not say: line
ends, or outputs that a filter takes out of notebooks.

No link is followed on the way to a file: what is behind it has a name of its own, or is not part of
the repository at all.
"""

from __future__ import annotations

import contextlib
import errno
import filecmp
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .names import with_parents

IsOurs = Callable[[str], bool | None]
"""Says of a path whether what is there was written by us, and by nobody since; None if it cannot."""


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
            at, mode = toplevel / path, mode_of(toplevel, path)
            saved.copies[path] = number if is_file(mode) else None
            if is_file(mode):
                copy_file(at, folder / str(number))
            elif is_folder(mode):
                saved.folders.extend(_empty_folders(toplevel, path))
        saved.new_folders.extend(
            path for path in with_parents(saved.copies) if not is_folder(mode_of(toplevel, path))
        )
        return saved

    def changed(self, toplevel: Path, folder: Path) -> list[str]:
        """Return which paths are not what they were."""
        return [path for path in self.copies if not self._is_back(toplevel, path, folder)]

    def put_back(
        self, toplevel: Path, folder: Path, replaced: Path, is_ours: IsOurs
    ) -> Collection[str]:
        """Let the paths be what they were, but for those that somebody else has written to since.

        Those are returned. What of them stands where a folder has to be, and what may be theirs or
        ours, is kept in another folder.
        """
        changed = self.changed(toplevel, folder)
        here = {path: is_ours(path) for path in changed if is_file(mode_of(toplevel, path))}
        theirs = {path for path, ours in here.items() if ours is False}
        wanted = [path for path in changed if path not in theirs and self.copies[path] is not None]
        # First what is in the way, which also makes room on a disk that is full.
        for path, ours in here.items():
            if ours:
                (toplevel / path).unlink()
            elif ours is None:
                _put_aside(toplevel / path, replaced)
        for path in sorted(with_parents(path.rpartition("/")[0] for path in wanted)):
            if is_file(mode_of(toplevel, path)):
                theirs.add(path)
                _put_aside(toplevel / path, replaced)
        for path in sorted(self.new_folders, reverse=True):
            if is_folder(mode_of(toplevel, path)):
                with contextlib.suppress(OSError):
                    (toplevel / path).rmdir()
        for path in self.folders:
            if not any(is_file(mode_of(toplevel, each)) for each in with_parents([path])):
                (toplevel / path).mkdir(parents=True, exist_ok=True)
        for path in wanted:
            if mode_of(toplevel, path) is not None:
                # A folder that is not empty, since somebody has put something into it.
                theirs.add(path)
                continue
            (toplevel / path).parent.mkdir(parents=True, exist_ok=True)
            copy_file(folder / str(self.copies[path]), toplevel / path)
        return theirs

    def holds(self, toplevel: Path, path: str, folder: Path) -> bool:
        """Return whether a path has in it what it had, whoever may read it."""
        copy = self.copies.get(path)
        return copy is not None and same_content(toplevel / path, folder / str(copy))

    def _is_back(self, toplevel: Path, path: str, folder: Path) -> bool:
        copy, mode = self.copies[path], mode_of(toplevel, path)
        if copy is None or not is_file(mode):
            return copy is None and not is_file(mode)
        kept = folder / str(copy)
        return mode == kept.lstat().st_mode and same_content(toplevel / path, kept)


def mode_of(toplevel: Path, path: str) -> int | None:
    """Return what is at a path, or nothing; behind a link there is nothing."""
    mode = None
    parts = path.split("/")
    for length in range(1, len(parts) + 1):
        if mode is not None and not stat.S_ISDIR(mode):
            return None
        try:
            mode = toplevel.joinpath(*parts[:length]).lstat().st_mode
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return None
            raise
    return mode


def is_file(mode: int | None) -> bool:
    """Return whether there is anything but a folder."""
    return mode is not None and not stat.S_ISDIR(mode)


def is_folder(mode: int | None) -> bool:
    """Return whether there is a folder, and no link to one."""
    return mode is not None and stat.S_ISDIR(mode)


def same_content(one: Path, other: Path) -> bool:
    """Return whether two are the same link, or files with the same in them."""
    kinds = {stat.S_IFMT(path.lstat().st_mode) for path in (one, other)}
    if kinds == {stat.S_IFLNK}:
        return one.readlink() == other.readlink()
    return kinds == {stat.S_IFREG} and filecmp.cmp(one, other, shallow=False)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file or a link; of anything else there may be no end."""
    mode = source.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise OSError(errno.EINVAL, "Neither a file nor a link", str(source))
    shutil.copy2(source, target, follow_symlinks=False)


def _put_aside(path: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    copy_file(path, folder / f"{len(os.listdir(folder))}-{path.name}")
    path.unlink()


def _empty_folders(toplevel: Path, path: str) -> list[str]:
    """Return a folder and all below it if there is nothing in them, which is when git removes them."""
    found = []
    for at, folders, names in os.walk(toplevel / path):
        if names or any((Path(at) / name).is_symlink() for name in folders):
            return []
        found.append(os.path.relpath(at, toplevel))
    return found
