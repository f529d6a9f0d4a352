# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a person should know before a session is sent elsewhere: what goes, what stays, what is wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..git import Git
from ..refs import GitRemoteRef, RefError, address_of, git_ref, public_url
from .files import SUBMODULE, changes, entries, untracked
from .names import listed, shown
from .pushed import Known
from .repository import Head
from .settings import Remote
from .shadow import Shadow

SHOWN_CHANGES = 200


@dataclass(frozen=True)
class Note:
    """Something to know, and what to do about it."""

    code: str
    message: str
    blocking: bool = False

    def public(self) -> dict[str, Any]:
        """Return what is shown."""
        return {"code": self.code, "message": shown(self.message), "blocking": self.blocking}


class Uncommitted(NamedTuple):
    """What is not committed: a file, or a folder that git does not know, with the number of its files."""

    status: str
    path: str
    files: int = 1

    def public(self) -> dict[str, Any]:
        """Return what is shown."""
        return {"status": self.status, "path": shown(self.path), "files": self.files}


@dataclass(frozen=True)
class Description:
    """A repository as it stands; `ref` is what can be sent without pushing anything."""

    toplevel: str
    remote: str | None = None
    url: str | None = None
    branch: str | None = None
    revision: str | None = None
    unpushed: int = 0
    pushed: bool = False
    changes: Sequence[Uncommitted] = ()
    change_count: int = 0
    """How many files are not as they were committed, or new."""

    new_count: int = 0
    """How many of them are new: they may be anything, and whoever sends them should know."""

    ref: GitRemoteRef | None = None
    problems: Sequence[Note] = ()
    warnings: Sequence[Note] = ()

    @property
    def can_push(self) -> bool:
        """Whether work can be sent by way of a scratch branch."""
        return not any(note.blocking for note in self.problems)

    def public(self) -> dict[str, Any]:
        """Return what may be shown: addresses have no passwords, names are text."""
        return {
            "toplevel": shown(self.toplevel),
            "remote": shown(self.remote) if self.remote else None,
            "url": self.url,
            "branch": shown(self.branch) if self.branch else None,
            "revision": self.revision,
            "pushed": self.pushed,
            "unpushed": self.unpushed,
            "changes": [change.public() for change in self.changes],
            "changeCount": self.change_count,
            "newCount": self.new_count,
            "ref": self.ref.public() if self.ref else None,
            "canPush": self.can_push,
            "problems": [note.public() for note in self.problems],
            "warnings": [note.public() for note in self.warnings],
        }


async def describe(shadow: Shadow) -> Description:
    """Look at a repository; nothing in it is touched, and nothing is asked of the network."""
    repository = shadow.repository
    head = await repository.head()
    notes = _Notes(shadow)
    remote = notes.remote(head)
    fields: dict[str, Any] = {
        "toplevel": str(repository.toplevel),
        "branch": head.branch,
        "revision": head.revision,
    }
    if remote is not None:
        fields["remote"] = remote.name
        fields["url"] = _public(remote)
    notes.state(head)
    if head.revision is not None:
        git = shadow.on_files(await shadow.copy_index())
        found = [Uncommitted(*change) for change in await changes(git, head.revision)]
        new = await _new(git)
        fields["new_count"] = sum(each.files for each in new)
        fields["change_count"] = len(found) + fields["new_count"]
        found += new
        fields["changes"] = sorted(found, key=lambda change: change.path)[:SHOWN_CHANGES]
        await notes.contents(git)
    if remote is not None and head.revision is not None:
        known = await Known.of(shadow, remote, head)
        fields["unpushed"] = known.unpushed
        fields["pushed"] = known.unpushed == 0
        if not notes.blocked:
            fields["ref"] = await notes.ref(remote, known)
    return Description(**fields, problems=notes.problems, warnings=notes.warnings)


async def _new(git: Git) -> list[Uncommitted]:
    """Return what git does not know; a repository in a folder is not part of this one."""
    folders = await untracked(git, folders=True)
    files = [path for path in await untracked(git) if not path.endswith("/")]
    named = set(folders)
    counts = Counter(_within(path, named) for path in files)
    return [Uncommitted("?", path, counts[path]) for path in folders if counts[path]]


def _within(path: str, folders: Collection[str]) -> str:
    """Return under which name a file is listed: its own, or that of a folder."""
    ends = (end for end, sign in enumerate(path, 1) if sign == "/")
    return next((path[:end] for end in ends if path[:end] in folders), path)


class _Notes:
    """Collects what is wrong, and what is worth knowing."""

    def __init__(self, shadow: Shadow) -> None:
        self._shadow = shadow
        self.problems: list[Note] = []
        self.warnings: list[Note] = []

    @property
    def blocked(self) -> bool:
        return any(note.blocking for note in self.problems)

    def remote(self, head: Head) -> Remote | None:
        """Return where the branch goes; say so if that is nowhere, or not allowed."""
        settings = self._shadow.settings
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
            remote.check(self._shadow.policy)
        except RefError as error:
            words = str(error).removeprefix("remote.url: ")
            self._problem("urlRefused", f"The address of the remote {remote.name}: {words}.")
        return remote

    def state(self, head: Head) -> None:
        """Say what is unusual about the repository as a whole."""
        repository = self._shadow.repository
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
        """Say what of the files does not travel as it is here."""
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
        used = [name for name in self._shadow.settings.foreign_filters if await _uses(git, name)]
        if used := [name for name in used if name != "lfs"]:
            self._warn(
                "filters",
                f"The repository's own settings define filters ({', '.join(used)}). They are not "
                "run here, since anybody can have written them: files that they would change can "
                "seem changed, and travel as they are on disk.",
            )

    async def ref(self, remote: Remote, known: Known) -> GitRemoteRef | None:
        """Return what can be sent as it is, and say how far it is from what is here."""
        found = await known.nearest()
        if found is None:
            self._problem(
                "notPushed",
                "Nothing of this branch is known to be on the remote. Push it, or let it be pushed "
                "to a scratch branch.",
                blocking=False,
            )
            return None
        branch, revision = found
        if known.unpushed:
            self._warn(
                "unpushed",
                f"{known.unpushed:,} {'commit is' if known.unpushed == 1 else 'commits are'} not "
                f"on the remote. Without them the session begins at {revision[:12]} of {branch}.",
            )
        try:
            return git_ref(
                {
                    "type": "git",
                    "url": public_url(remote.address),
                    "branch": branch,
                    "revision": revision,
                }
            )
        except RefError as error:
            self._problem("branchRefused", f"{branch!r} cannot be sent: {error}.")
            return None

    def _problem(self, code: str, message: str, *, blocking: bool = True) -> None:
        self.problems.append(Note(code, message, blocking))

    def _warn(self, code: str, message: str) -> None:
        self.warnings.append(Note(code, message))


async def _uses(git: Git, name: str) -> bool:
    """Return whether a tracked file goes through a filter; if that cannot be asked, one might."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        return True
    return bool(listed(await git.run("ls-files", "-z", f":(attr:filter={name})")))


def _public(remote: Remote) -> str | None:
    """Return an address that can be shown; of one that cannot be read, nothing is."""
    try:
        address_of(remote.address)
    except RefError:
        return None
    return public_url(remote.address)
