# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The state of a repository before a remote session: revision to send, local changes, problems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import Any

from ..changes import SUBMODULE, changes, entries, untracked
from ..filenames import listed, shown
from ..git import Git
from ..refs import GitRemoteRef, RefError, address_of, git_ref, public_url
from .interrupted import interrupted
from .isolated import IsolatedRepository
from .published import Published
from .repository import Head
from .settings import Remote

SHOWN_CHANGES = 200


async def inspect(isolated: IsolatedRepository) -> dict[str, Any]:
    """Inspect a repository without changing it and without network access.

    `ref` is the reference that can be sent without a push. `changeCount` is the number of files
    that are not committed, `newCount` the number of new ones among them. The user should know of
    the new ones before they are sent: they may be anything.
    """
    head = await isolated.repository.head()
    notes = _Notes(isolated)
    remote = notes.remote(head)
    found: dict[str, Any] = {
        "toplevel": shown(str(isolated.repository.toplevel)),
        "remote": shown(remote.name) if remote is not None else None,
        "url": _public(remote) if remote is not None else None,
        "branch": shown(head.branch) if head.branch else None,
        "revision": head.revision,
        "pushed": False,
        "unpushed": 0,
        "changes": [],
        "changeCount": 0,
        "newCount": 0,
        "ref": None,
    }
    await notes.state(head)
    if head.revision is not None:
        git = await isolated.on_copy()
        found.update(await _uncommitted(git, head.revision))
        await notes.contents(git)
    if remote is not None and head.revision is not None:
        published = await Published.of(isolated, remote, head)
        found.update(unpushed=published.unpushed, pushed=published.unpushed == 0)
        if not notes.blocked:
            ref = await notes.ref(published)
            found["ref"] = ref.public() if ref else None
    can_push = not notes.blocked
    return {**found, "canPush": can_push, "problems": notes.problems, "warnings": notes.warnings}


async def _uncommitted(git: Git, revision: str) -> dict[str, Any]:
    """Return the uncommitted changes: files, and folders with the number of their new files."""
    changed = await changes(git, revision)
    folders = await untracked(git, "--directory", "--no-empty-directory")
    # A nested repository is not part of this one.
    files = [path for path in await untracked(git) if not path.endswith("/")]
    counts = Counter(_within(path, set(folders)) for path in files)
    found = [(path, status, 1) for path, status in changed.items()]
    found += [(path, "?", counts[path]) for path in folders if counts[path]]
    return {
        "changes": [
            {"status": status, "path": shown(path), "files": count}
            for path, status, count in sorted(found)[:SHOWN_CHANGES]
        ],
        "changeCount": len(changed) + sum(counts.values()),
        "newCount": sum(counts.values()),
    }


def _within(path: str, folders: Collection[str]) -> str:
    """Return the name that lists a file: its own, or that of a folder."""
    ends = (end for end, sign in enumerate(path, 1) if sign == "/")
    return next((path[:end] for end in ends if path[:end] in folders), path)


class _Notes:
    """Collects problems and warnings: a code, a message, and whether it blocks the session."""

    def __init__(self, isolated: IsolatedRepository) -> None:
        self._isolated = isolated
        self.problems: list[dict[str, Any]] = []
        self.warnings: list[dict[str, Any]] = []

    @property
    def blocked(self) -> bool:
        return any(note["blocking"] for note in self.problems)

    def remote(self, head: Head) -> Remote | None:
        """Return the remote of the branch; note if there is none, or if it is not allowed."""
        settings = self._isolated.settings
        remote = settings.remote(head.branch)
        if remote is None:
            names = settings.remotes
            self._problem(
                "noRemote",
                f"The repository has several remotes ({', '.join(names)}), and it is not known "
                "which to use: set an upstream for the branch (git branch --set-upstream-to …)."
                if names
                else "The repository has no remote, so nobody elsewhere can get at it. Add one "
                "(git remote add origin …) and push to it.",
            )
            return None
        try:
            remote.check(self._isolated.policy)
        except RefError as error:
            words = str(error).removeprefix("remote.url: ")
            self._problem("urlRefused", f"The address of the remote {remote.name}: {words}.")
        return remote

    async def state(self, head: Head) -> None:
        """Note problems of the repository as a whole."""
        repository = self._isolated.repository
        if head.revision is None:
            self._problem("noCommits", "There is no commit yet. Make one (git commit) and push it.")
        elif head.branch is None:
            self._problem(
                "detached",
                "No branch is checked out (detached HEAD). The revision itself is sent, with the "
                "name of a branch of the remote that has it.",
                blocking=False,
            )
        if repository.going_on:
            self._problem(
                "inProgress",
                f"There is {repository.going_on} in progress. What comes back can only be taken "
                "in when it is finished or given up.",
                blocking=False,
            )
        if words := await interrupted(self._isolated):
            self._problem("halfDone", words, blocking=False)
        if repository.shallow:
            self._warn(
                "shallow",
                "The history of this clone is cut off (shallow). What is missing here is there on "
                "the remote; nothing has to be done.",
            )
        if repository.foreign:
            self._warn(
                "foreign",
                f"{repository.toplevel} belongs to another user of this machine. Nothing that it "
                "would run is run; make sure that the address is the one you expect.",
            )

    async def contents(self, git: Git) -> None:
        """Note the kinds of files that are not sent in their current state."""
        if any(entry.mode == SUBMODULE for entry in await entries(git)):
            self._warn(
                "submodules",
                "There are submodules. They are not fetched on the other side, and changes inside "
                "them are not sent.",
            )
        if await _uses(git, "lfs"):
            self._warn(
                "lfs",
                "There are large files kept by Git LFS. Only pointers to them travel, not what is "
                "in them.",
            )
        filters = [name for name in self._isolated.settings.foreign_filters if name != "lfs"]
        if used := [name for name in filters if await _uses(git, name)]:
            self._warn(
                "filters",
                f"The repository's own settings define filters ({', '.join(used)}). They are not "
                "run here, since anybody can have written them: files that they would change can "
                "seem changed, and travel as they are on disk.",
            )

    async def ref(self, published: Published) -> GitRemoteRef | None:
        """Return the reference that can be sent without a push; note the unpushed commits."""
        found = await published.nearest()
        if found is None:
            self._problem(
                "notPushed",
                "Nothing of this branch is known to be on the remote. Push it, or let it be pushed "
                "to a scratch branch.",
                blocking=False,
            )
            return None
        branch, revision = found
        if count := published.unpushed:
            self._warn(
                "unpushed",
                f"{count:,} {'commit is' if count == 1 else 'commits are'} not on the remote. "
                f"Without them the session begins at {revision[:12]} of {branch}.",
            )
        url = public_url(published.remote.address)
        try:
            return git_ref({"type": "git", "url": url, "branch": branch, "revision": revision})
        except RefError as error:
            self._problem("branchRefused", f"{branch!r} cannot be sent: {error}.")
            return None

    def _problem(self, code: str, message: str, *, blocking: bool = True) -> None:
        self.problems.append({"code": code, "message": shown(message), "blocking": blocking})

    def _warn(self, code: str, message: str) -> None:
        self.warnings.append({"code": code, "message": shown(message), "blocking": False})


async def _uses(git: Git, name: str) -> bool:
    """Return True if a tracked file uses a filter, or if git cannot search for its name."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        return True
    return bool(listed(await git.run("ls-files", "-z", f":(attr:filter={name})")))


def _public(remote: Remote) -> str | None:
    """Return the address to show, or None if it cannot be parsed."""
    try:
        address_of(remote.address)
    except RefError:
        return None
    return public_url(remote.address)
