# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What we have written into the user's files, told from what somebody has written there since.

Nobody keeps a document from being saved while git is at work, so before anything is taken back it is
looked at. What git wrote is written once more, beside: only so are line ends and filters the same.
"""

from __future__ import annotations

import asyncio
import stat
import tempfile
from collections.abc import Collection
from pathlib import Path

from ..git import GitError
from .files import SUBMODULE, enter, entries
from .records import Record, Records
from .saved import is_file, mode_of, same_content
from .shadow import Shadow

_CHUNK = 1024 * 1024


async def take_back(shadow: Shadow, records: Records, record: Record) -> Collection[str]:
    """Let files be what they were before a record; return those that somebody has written to since."""
    # What is undone was put back from its copies.
    earlier = records.find(record.undoes) if record.undoes else None
    return await _put_back(shadow, records, record, record, earlier)


async def put_back(
    shadow: Shadow, records: Records, record: Record, undoing: Record
) -> Collection[str]:
    """Let files be what they were before a record, byte by byte, when git has written them."""
    return await _put_back(shadow, records, record, undoing, None)


async def _put_back(
    shadow: Shadow, records: Records, record: Record, doing: Record, earlier: Record | None
) -> Collection[str]:
    toplevel, saved = shadow.repository.toplevel, record.saved
    copies = records.copies(record.id)
    changed = await asyncio.to_thread(saved.changed, toplevel, copies)
    written, is_whole = await _written(shadow, doing.new, changed)

    def is_ours(path: str) -> bool | None:
        if earlier is not None and earlier.saved.holds(toplevel, path, records.copies(earlier.id)):
            return True
        if is_file(mode_of(written, path)) and _begins(toplevel / path, written / path):
            return True
        return False if is_whole else None

    return await asyncio.to_thread(
        saved.put_back, toplevel, copies, records.replaced(doing.id), is_ours
    )


async def _written(shadow: Shadow, tree: str, paths: Collection[str]) -> tuple[Path, bool]:
    """Write some files of a tree into a folder of ours, as git does; return whether that was possible."""
    folder = Path(tempfile.mkdtemp(prefix="written-", dir=shadow.work))
    wanted = set(paths)
    if not any(is_file(mode_of(shadow.repository.toplevel, path)) for path in wanted):
        return folder, True
    whole, part = (shadow.git.at(shadow.git.git_dir, index=shadow.new_index()) for _ in range(2))
    there = shadow.git.at(shadow.git.git_dir, work_tree=folder, index=shadow.new_index())
    try:
        await whole.run("read-tree", tree)
        lines = [
            entry
            for entry in await entries(whole)
            # How they are written is told by attributes, wherever those are.
            if (entry.path in wanted or entry.path.rpartition("/")[2] == ".gitattributes")
            and entry.mode != SUBMODULE
        ]
        await enter(part, lines)
        some = await part.text("write-tree")
        await there.run("read-tree", "-m", "-u", "--no-sparse-checkout", some)
    except GitError:
        return folder, False
    return folder, True


def _begins(path: Path, whole: Path) -> bool:
    """Return whether a file is what git wrote, or as much of it as it came to before it ended."""
    if not (stat.S_ISREG(path.lstat().st_mode) and stat.S_ISREG(whole.lstat().st_mode)):
        return same_content(path, whole)
    with path.open("rb") as one, whole.open("rb") as other:
        while data := one.read(_CHUNK):
            if data != other.read(len(data)):
                return False
    return True
