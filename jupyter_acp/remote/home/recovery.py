# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a server has begun that did not live to finish it: taken back by the next one.

Its lock may be gone by then: git itself advises to remove it by hand. So it is the records that are
asked, and what the user has done since is not touched.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

from ..git import Git
from .files import NOTHING, Entry, enter, entries
from .owner import Owner, take
from .records import Record, Records, is_id
from .repository import Repository, RepositoryError
from .shadow import Shadow
from .transaction import MARK, is_going_on, locked, replace_index, roll_back, to_the_end

_TRIES, _PAUSE = 300, 0.1


def is_needed(repository: Repository, cache: Path) -> bool:
    """Return whether there may be something to be taken back, without a look at it."""
    return _is_needed(repository, Shadow.records_of(repository, cache))


async def recover(shadow: Shadow) -> list[str]:
    """Take back what was left half done, and say what has become of it."""
    if not await asyncio.to_thread(_is_needed, shadow.repository, shadow.records):
        return []
    # Others may have come across the same, in this server and beside it.
    turn = shadow.records.parent / "recovering"
    for _ in range(_TRIES):
        if take(turn):
            break
        await asyncio.sleep(_PAUSE)
    else:
        raise RepositoryError(
            "locked", "Something that was left half done is being put right. Try again in a while."
        )
    try:
        return await _recover_all(shadow)
    finally:
        turn.unlink(missing_ok=True)


async def _recover_all(shadow: Shadow) -> list[str]:
    repository, records = shadow.repository, Records(shadow.records)
    id = await asyncio.to_thread(_left_by, repository.lock)
    left = await asyncio.to_thread(_left, shadow.records)
    told = []
    for record in left:
        if record.id == id:
            # Under its lock nobody can have done anything else.
            words = await to_the_end(roll_back(shadow, records, record))
            told.append(f"{_begun(repository, record)}. It was taken back, and {words}.")
    if id is not None:
        repository.lock.unlink(missing_ok=True)
        told = told or [f"{repository.lock} was left behind, and is removed."]
    for record in left:
        if record.id != id:
            with locked(repository, record.id):
                told.append(await to_the_end(_recover(shadow, records, record)))
    return told


async def _recover(shadow: Shadow, records: Records, record: Record) -> str:
    """Take back what has lost its lock, unless the user went on from there."""
    repository = shadow.repository
    begun = _begun(repository, record)
    if repository.going_on or await repository.head() not in (record.head, record.after):
        records.close(record.id)
        return (
            f"{begun}. Something else was done there since, so everything is left as it is. Copies "
            f"of the files as they were are in {records.copies(record.id)}."
        )
    words = await roll_back(shadow, records, record, _restore_lines)
    return f"{begun}. It was taken back, and {words}."


async def _restore_lines(shadow: Shadow, records: Records, record: Record) -> None:
    """Let that be staged as before which is staged as the record wanted it, and nothing else."""
    repository, kept = shadow.repository, shadow.new_index()
    if records.index(record.id).exists():
        await asyncio.to_thread(shutil.copy2, records.index(record.id), kept)
    copy = await shadow.copy_index()
    git = shadow.on_files(copy)
    wanted = shadow.on_files(shadow.new_index())
    await wanted.run("read-tree", record.new)
    now, new, before = (
        await _staged(git),
        await _staged(wanted),
        await _staged(shadow.on_files(kept)),
    )
    lines = [
        before.get(path) or Entry(NOTHING, "0" * len(record.new), "0", path)
        for path in record.saved.copies
        if now.get(path) == new.get(path) != before.get(path)
    ]
    if lines:
        await enter(git, lines)
        await asyncio.to_thread(replace_index, repository, copy, repository.lock.stat().st_mtime_ns)


async def _staged(git: Git) -> dict[str, Entry]:
    return {entry.path: entry for entry in await entries(git)}


def _is_needed(repository: Repository, folder: Path) -> bool:
    return _left_by(repository.lock) is not None or bool(_left(folder))


def _begun(repository: Repository, record: Record) -> str:
    return f"In {repository.toplevel}, a server ended in the middle of “{record.action}”"


def _left(folder: Path) -> list[Record]:
    """Return what nobody goes on with."""
    found = []
    for record in Records(folder).open:
        mine = record.owner == Owner.this()
        if record.done:
            Records(folder).close(record.id)
        elif not is_going_on(record.id) if mine else record.owner.is_gone(record.time):
            found.append(record)
    return found


def _left_by(lock: Path) -> str | None:
    """Return what a lock of ours was for, if who took it is gone."""
    try:
        if not lock.is_file() or lock.stat().st_size > 1000:
            return None
        mark, id, owner = json.loads(lock.read_text())
        if mark != MARK or not is_id(id) or not Owner(**owner).is_gone(lock.stat().st_mtime):
            return None
    except (OSError, ValueError, TypeError, RepositoryError):
        return None
    return id
