# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""All or nothing: files, references and index of the user's repository change together.

git's own lock on the index is held meanwhile, so no other git comes in between. If a step fails,
those before it are taken back; if this server dies, the next one does it (`recovery`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from ..git import GitError
from .names import lines, some
from .owner import Owner
from .records import Move, Record, Records
from .repository import Repository, RepositoryError
from .saved import Saved
from .shadow import Shadow
from .working import Plan
from .written import take_back

T = TypeVar("T")

Restore = Callable[[Shadow, Records, Record], Awaitable[None]]

MARK = "jupyter-acp"
"""What a lock of ours begins with."""

_GOING_ON: set[str] = set()


@contextlib.contextmanager
def locked(repository: Repository, id: str) -> Iterator[None]:
    """Keep other programs from changing the working tree."""
    try:
        handle = os.open(repository.lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise RepositoryError(
            "locked",
            "Another git is at work in this repository. Try again when it is through. If there is "
            f"none, one has died: remove {repository.lock} and try again.",
        ) from None
    except OSError as error:
        raise RepositoryError(
            "locked", f"The repository cannot be changed: {error.strerror}."
        ) from None
    with os.fdopen(handle, "w") as file:
        json.dump([MARK, id, asdict(Owner.this())], file)
    _GOING_ON.add(id)
    try:
        yield
    finally:
        _GOING_ON.discard(id)
        repository.lock.unlink(missing_ok=True)


def is_going_on(id: str) -> bool:
    """Return whether something of this process holds the lock for a record."""
    return id in _GOING_ON


async def transact(
    shadow: Shadow,
    plan: Plan,
    record: Record,
    finishing: Callable[[], Awaitable[None]] | None = None,
) -> Record:
    """Carry out a plan and the moves of a record; nobody can stop it in the middle."""
    return await to_the_end(_transact(shadow, plan, record, finishing))


async def _transact(
    shadow: Shadow,
    plan: Plan,
    record: Record,
    finishing: Callable[[], Awaitable[None]] | None,
) -> Record:
    repository, records = shadow.repository, Records(shadow.records)
    try:
        record = await asyncio.to_thread(_save, repository, records, plan, record)
    except OSError as error:
        records.remove(record.id)
        raise RepositoryError(
            "noCopies", f"Your files could not be copied first, so nothing was done: {error}."
        ) from None
    try:
        await plan.carry_out()
        if finishing is not None:
            await finishing()
        for move in record.moves:
            await _make(repository, move)
        assert plan.git.index is not None
        await asyncio.to_thread(_install, repository, plan.git.index)
        done = replace(record, done=True)
        records.write(done)
    except BaseException as error:
        now = await roll_back(shadow, records, record)
        if isinstance(error, OSError):
            raise RepositoryError("failed", f"It did not work, and {now}: {error}.") from None
        if isinstance(error, GitError):
            raise RepositoryError("failed", f"It did not work, and {now}. {error}") from None
        raise
    records.prune()
    return done


async def roll_back(
    shadow: Shadow, records: Records, record: Record, restore: Restore | None = None
) -> str:
    """Let everything be as before a record, and say so; each step is taken back if it was made.

    What somebody has written to since is left, and the record with it. The index is what it was,
    unless there is another way to restore it.
    """
    repository = shadow.repository
    try:
        await (restore or _restore_index)(shadow, records, record)
        for move in reversed(list(record.moves)):
            if await _current(repository, move.ref) == move.new:
                await _make(repository, move.back)
        theirs = await take_back(shadow, records, record)
    except (OSError, GitError) as error:
        raise RepositoryError(
            "halfDone",
            f"It did not work, and could not be taken back: {error}. Copies of your files are in "
            f"{records.copies(record.id)}.",
        ) from None
    if not theirs and not records.replaced(record.id).exists():
        records.remove(record.id)
        return "all is as before"
    records.close(record.id)
    return (
        f"all is as before but for {some(theirs) or 'some files'}, written by somebody else "
        f"meanwhile (how it was before, and what had to make way, is in {records.folder(record.id)})"
    )


def _save(repository: Repository, records: Records, plan: Plan, record: Record) -> Record:
    records.folder(record.id).mkdir(mode=0o700, parents=True)
    if repository.index.exists():
        shutil.copy2(repository.index, records.index(record.id))
    saved = Saved.of(repository.toplevel, plan.paths, records.copies(record.id))
    record = replace(record, saved=saved, before=list(plan.before))
    records.write(record)
    return record


async def _make(repository: Repository, move: Move) -> None:
    git, message = repository.git, ("-m", move.message)
    if move.ref == "HEAD" and move.new is not None and move.new.startswith("refs/"):
        await git.run("symbolic-ref", *message, "HEAD", move.new)
    elif move.ref == "HEAD" and move.new is not None:
        await git.run("update-ref", "--no-deref", *message, "HEAD", move.new)
    elif move.new is None:
        await git.run("update-ref", *message, "-d", move.ref, move.old or "")
    else:
        nothing = "0" * len(move.new)
        await git.run("update-ref", *message, move.ref, move.new, move.old or nothing)


async def _current(repository: Repository, ref: str) -> str | None:
    if ref == "HEAD":
        attached = await repository.git.run("symbolic-ref", "-q", "HEAD", ok=(0, 1))
        return "".join(lines(attached)) or await repository.resolve("HEAD")
    return await repository.resolve(ref)


def _install(repository: Repository, index: Path) -> None:
    """Let an index be the user's."""
    # As old as the lock: no file that was written since then is taken for unchanged unseen.
    since = repository.lock.stat().st_mtime_ns
    replace_index(repository, index, since)


async def _restore_index(shadow: Shadow, records: Records, record: Record) -> None:
    repository, kept = shadow.repository, records.index(record.id)
    if not kept.exists():
        repository.index.unlink(missing_ok=True)
    elif kept.read_bytes() != repository.index.read_bytes():
        await asyncio.to_thread(replace_index, repository, kept, kept.stat().st_mtime_ns)


def replace_index(repository: Repository, index: Path, time: int) -> None:
    """Let an index be the user's, as old as is said."""
    new = repository.git_dir / "index.jupyter-acp"
    try:
        shutil.copyfile(index, new)
        if repository.index.exists():
            shutil.copymode(repository.index, new)
        os.utime(new, ns=(time, time))
        new.replace(repository.index)
    finally:
        new.unlink(missing_ok=True)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Wait for something that must not be left half done, whoever loses patience."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        raise
