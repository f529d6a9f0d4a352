# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An action that a killed server did not finish: named, with the way back, and left to the user."""

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
    """Return the lock that whoever does something in a working tree holds; it dies with its holder."""
    return Lock(place / "action.lock")


def may_be_interrupted(repository: Repository, cache: Path) -> bool:
    """Return whether a note of an unfinished action exists."""
    return Records(place_of(repository, cache)).begun is not None


async def interrupted(isolated: IsolatedRepository) -> str | None:
    """Return in words what a killed server has left; nothing if an action is still going on."""
    lock = action_lock(isolated.place)
    if not await asyncio.to_thread(lock.take):
        return None
    try:
        return await what_is_left(isolated)
    finally:
        lock.release()


async def what_is_left(isolated: IsolatedRepository) -> str | None:
    """Return what is left of the unfinished action, for whoever holds the lock."""
    repository, records = isolated.repository, Records(isolated.place)
    action = records.begun
    if action is None:
        return None
    # Otherwise it was finished but for the note, or the user has gone on from there.
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
    """Return the command that goes back, or nothing if the files are as they were.

    All files that the action changes were as committed before, so it loses nothing of the user's.
    """
    git = await isolated.on_copy()
    paths = {step.path for step in await written(isolated, action.old, action.new)}
    left = paths & {*await changes(git, action.old), *await untracked_at(git, paths)}
    if not left:
        return ""
    here = f"git -C {shlex.quote(str(isolated.repository.toplevel))}"
    if paths & await staged(git, action.old):
        return f"{here} read-tree -m -u {action.new} {action.old}"
    # Git was killed in the middle: its index is the old one, and some files are the new ones.
    names = isolated.place / "half-done"
    await asyncio.to_thread(names.write_bytes, joined(sorted(left)))
    return (
        f"{here} --literal-pathspecs stash push --all "
        f"--pathspec-from-file={shlex.quote(str(names))} --pathspec-file-nul "
        f"(it puts {some(left)} aside)"
    )
