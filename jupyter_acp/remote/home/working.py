# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The user's files, taken from one tree to another: what has to change, and what is in the way.

Work that was sent to the session is part of what came back, so a file that is still as it was sent
is not in the way, though it has never been committed here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..git import Git, GitError
from .files import NOTHING, SUBMODULE, Entry, Step, changes, enter, entries, stage, steps
from .names import listed, some, with_parents
from .repository import RepositoryError
from .shadow import Shadow


@dataclass(frozen=True)
class Session:
    """Uncommitted work that was sent, and the revision that came of it."""

    sent: str
    came: str


@dataclass(frozen=True)
class Plan:
    """How to get from here to there."""

    git: Git
    """On the user's files, with a copy of the index that will be the index."""

    old: str
    new: str
    paths: Collection[str]
    """What will be written, removed or added."""

    before: Collection[Entry] = ()
    """How that was staged which is not as in the last commit; without a mode if it was not."""

    async def carry_out(self) -> None:
        """Write the files; if this fails, some are written and some are not."""
        await self.git.run("read-tree", "-m", "-u", self.old, self.new)


async def make_plan(
    shadow: Shadow,
    old: str,
    new: str,
    *,
    session: Session | None = None,
    also: Collection[str] = (),
) -> Plan:
    """Return the way from one tree to another, or say which of the user's files are in it.

    What a session was sent may be overwritten; `also` are more paths that must be as in the old tree.
    """
    git = shadow.on_files(await shadow.copy_index())
    if await git.run("ls-files", "-z", "--unmerged"):
        raise RepositoryError(
            "unmerged", "There are files with conflicts. Resolve them, or give the merge up, first."
        )
    wanted = await steps(git, old, new)
    paths = {step.path for step in wanted} | set(also)
    tracked = {entry.path for entry in await entries(git)}
    added = {step.path for step in wanted if step.old_mode == NOTHING} | (set(also) - tracked)
    # git leaves the files of a folder that becomes a submodule alone, and those of one that was.
    kept = {step.path for step in wanted if step.new_mode == SUBMODULE}
    changed = {path for _, path in await changes(git, old)}
    around = with_parents(paths)
    local = {
        path for path in changed if path in around or with_parents([path]) & paths
    } | await asyncio.to_thread(_unknown, shadow, added | _emptied(wanted), tracked, kept)
    plan = Plan(git, old, new, paths)
    back: set[str] = set()
    if session is not None:
        # What was sent, and is taken back: it is in neither tree.
        back = {step.path for step in await steps(git, session.sent, session.came)} - paths
        back = (back & changed) | await asyncio.to_thread(_unknown, shadow, back - tracked, tracked)
    if local or back:
        plan = await _past_sent(shadow, plan, local, back, session)
        emptied = _emptied(await steps(git, plan.old, plan.new))
        _refuse(await asyncio.to_thread(_unknown, shadow, emptied, tracked))
    try:
        await plan.git.run("read-tree", "-m", "-u", "-n", plan.old, plan.new)
    except GitError as error:
        raise RepositoryError(
            "dirty", f"Your files do not allow it. Nothing was changed. git said: {error.output}"
        ) from None
    return plan


async def _past_sent(
    shadow: Shadow, plan: Plan, local: set[str], back: set[str], session: Session | None
) -> Plan:
    """Return the way from the files as they are, if that is how they were sent."""
    mine, sent = local, set()
    if session is not None:
        with contextlib.suppress(GitError):
            # What is staged, but neither committed nor sent, is nowhere else.
            other = await _staged(plan.git, plan.old) & await _staged(plan.git, session.sent)
            probe = await _copied(shadow, plan.git)
            await stage(probe, local | back)
            other |= await _staged(probe, session.sent)
            # A repository in a folder is never sent, whatever its files are like.
            other |= {path for path in local if ".git" in path.split("/")}
            mine, sent = local & other, back - other
    _refuse(mine)
    known = local | sent
    git = await _copied(shadow, plan.git)
    await stage(git, known)
    scratch = shadow.on_files(shadow.new_index())
    await scratch.run("read-tree", plan.old)
    await enter(scratch, await _lines(plan, git, known))
    old = await scratch.text("write-tree")
    paths = {step.path for step in await steps(git, old, plan.new)}
    before = await _lines(plan, plan.git, known)
    return Plan(git, old, plan.new, paths | known | set(plan.paths), before)


def _refuse(mine: Collection[str]) -> None:
    if mine:
        raise RepositoryError(
            "dirty",
            f"These files have changes of yours that would be lost: {some(mine)}. Commit them, "
            "stash them (git stash -u) or move them away. Nothing was changed.",
            sorted(mine),
        )


def _emptied(wanted: Iterable[Step]) -> set[str]:
    """Return which submodules become files: git removes all that is in them, and asks nobody."""
    return {
        step.path
        for step in wanted
        if step.old_mode == SUBMODULE and step.new_mode not in (SUBMODULE, NOTHING)
    }


async def _copied(shadow: Shadow, git: Git) -> Git:
    copy = shadow.new_index()
    assert git.index is not None
    if git.index.exists():
        await asyncio.to_thread(shutil.copy2, git.index, copy)
    return shadow.on_files(copy)


async def _staged(git: Git, tree: str) -> set[str]:
    """Return what is staged otherwise than it is in a tree."""
    return set(listed(await git.run("diff-index", "-z", "--cached", "--name-only", tree)))


async def _lines(plan: Plan, git: Git, paths: Collection[str]) -> list[Entry]:
    """Return how paths are staged, also those that are not."""
    found = {entry.path: entry for entry in await entries(git) if entry.path in paths}
    nothing = "0" * len(plan.old)
    return [found.get(path) or Entry(NOTHING, nothing, "0", path) for path in sorted(paths)]


def _unknown(
    shadow: Shadow, added: Iterable[str], tracked: Collection[str], kept: Collection[str] = ()
) -> set[str]:
    """Return what is where files are to be added and is not tracked: git would not always ask.

    What is inside of folders that are `kept` is not in the way.
    """
    toplevel = shadow.repository.toplevel
    same = str.casefold if _folds(shadow) else str
    known = {same(name) for name in tracked}
    found: set[str] = set()
    for path in added:
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            name = "/".join(parts[:length])
            try:
                mode = (toplevel / name).lstat().st_mode
            except OSError:
                break
            if not stat.S_ISDIR(mode):
                if same(name) not in known:
                    found.add(name)
                break
        else:
            if path not in kept:
                found.update(name for name in _inside(toplevel, path) if same(name) not in known)
    return found


def _inside(toplevel: Path, folder: str) -> Iterable[str]:
    """Return what is in a folder: everything but folders; a repository's own data are one thing."""
    for at, folders, names in os.walk(toplevel / folder):
        if ".git" in folders:
            folders.remove(".git")
            names.append(".git")
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        for name in (*names, *links):
            yield os.path.relpath(os.path.join(at, name), toplevel).replace(os.sep, "/")


def _folds(shadow: Shadow) -> bool:
    """Return whether names of files differ in more than the size of their letters."""
    return (shadow.settings.get("core.ignorecase") or "").lower() in ("true", "1", "yes", "on")
