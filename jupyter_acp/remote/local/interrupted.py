# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Actions that a killed server did not finish: the user gets the command that goes back."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

from ..changes import changes, staged, untracked_at
from ..filenames import joined, some
from .isolated import IsolatedRepository, place_of
from .lock import Lock
from .record import Action, Records
from .repository import Repository
from .working_tree import written


def action_lock(place: Path) -> Lock:
    """Return the lock for actions in a working tree; it is released when its process ends."""
    return Lock(place / "action.lock")


def may_be_interrupted(repository: Repository, cache: Path) -> bool:
    """Return True if a note of an unfinished action exists."""
    return Records(place_of(repository, cache)).begun is not None


async def interrupted(isolated: IsolatedRepository) -> str | None:
    """Return a message about an interrupted action; None if there is none, or if one is running."""
    lock = action_lock(isolated.place)
    if not await asyncio.to_thread(lock.take):
        return None
    try:
        return await what_is_left(isolated)
    finally:
        lock.release()


async def what_is_left(isolated: IsolatedRepository) -> str | None:
    """Return a message about the interrupted action, or None; the caller holds the lock."""
    repository, records = isolated.repository, Records(isolated.place)
    action = records.begun
    if action is None:
        return None
    # Otherwise only the note is left, or the user has continued from there.
    if await repository.head() == action.before:
        command = await _way_back(isolated, action)
        lock = repository.lock if repository.lock.exists() else None
        if command or lock:
            return _words(repository, action, lock, command)
    records.give_up()
    return None


def _words(repository: Repository, action: Action, lock: Path | None, command: str) -> str:
    branch = f" of {action.before.branch}" if action.before.branch else ""
    steps = [f"remove {lock} if no git is running"] if lock else []
    steps += [f"run: {command}"] if command else []
    return (
        f"In {repository.toplevel}, “{action.kind}” was interrupted and is half done. The tip{branch} "
        f"from before is {action.before.revision}. To go back, {', then '.join(steps)}"
    )


async def _way_back(isolated: IsolatedRepository, action: Action) -> str:
    """Return the command that goes back, or an empty string if the files are as before.

    The action changed only files without uncommitted changes, so going back loses no work.
    """
    git = await isolated.on_copy()
    paths = {step.path for step in await written(isolated, action.old, action.new)}
    left = paths & {*await changes(git, action.old), *await untracked_at(git, paths)}
    if not left:
        return ""
    here = f"git -C {shlex.quote(str(isolated.repository.toplevel))}"
    if paths & await staged(git, action.old):
        return f"{here} read-tree -m -u {action.new} {action.old}"
    # Git was killed in the middle: the index is old, and some files are new.
    names = isolated.place / "half-done"
    await asyncio.to_thread(names.write_bytes, joined(sorted(left)))
    return (
        f"{here} --literal-pathspecs stash push --all "
        f"--pathspec-from-file={shlex.quote(str(names))} --pathspec-file-nul "
        f"(it puts {some(left)} aside)"
    )
