# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The worktree of a session, in which the agent's changes are committed and pushed."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..git import Git, GitError, Report
from ..limits import Limits
from ..refs import GitRemoteRef, public_url
from .mirror import Mirror, measured, remove
from .staging import stage_all

LOCK_TRIES = 20
LOCK_PAUSE = 0.25
"""Number of attempts while a command of the agent locks git, and pause between them in seconds."""

SUBJECT_LENGTH = 72
MOST_NAMES = 9


@dataclass(frozen=True)
class Author:
    """The author of commits; without a name, git's configured user."""

    name: str = ""
    email: str = ""

    FALLBACK = ("Jupyter ACP", "jupyter-acp@localhost")

    @classmethod
    def of(cls, text: str) -> Author:
        """Parse the setting of the author, which may be empty."""
        found = re.fullmatch(r"\s*([^<>\n]+?)\s*<([^<>\s]+)>\s*", text)
        if text and found is None:
            raise ValueError("author: must be a name and an address: 'Ada <ada@example.org>'.")
        return cls(found[1], found[2]) if found else cls()

    async def config(self, git: Git) -> dict[str, str]:
        """Return the author as settings of git."""
        name, email = self.name, self.email
        if not name:
            name = await git.text("config", "--get", "user.name", ok=(0, 1)) or self.FALLBACK[0]
        if not email:
            email = await git.text("config", "--get", "user.email", ok=(0, 1)) or self.FALLBACK[1]
        return {"user.name": name, "user.email": email}


class Committed(NamedTuple):
    """The commit after a turn, and the paths left out of it."""

    head: str
    left: dict[str, str]
    """The paths left out, with reasons; each path is reported once."""


class Worktree:
    """A git worktree for one session."""

    def __init__(
        self,
        path: Path,
        git: Git,
        session: str,
        ref: GitRemoteRef,
        branch: str,
        mirror: Mirror,
        limits: Limits,
    ) -> None:
        self.path = path
        self.git = git
        self.session = session
        self.ref = ref
        self.branch = branch
        """The branch to push to; it gets a number if others use the name already."""

        self.pushed: str | None = None
        """The last revision known to be on that branch."""

        self._mirror = mirror
        self._limits = limits
        self._told: set[str] = set()

    @property
    def kept(self) -> str:
        """The reference that keeps the last commit, even if the folder is removed."""
        return f"refs/jupyter-acp/sessions/{self.session}"

    @property
    def own(self) -> str:
        """The branch that is checked out for the agent."""
        return f"refs/heads/acp/{self.session}"

    @property
    def admin(self) -> Path:
        """The folder of git's data about this worktree."""
        return self._mirror.folder / "worktrees" / self.session

    @property
    def is_empty(self) -> bool:
        """True if the folder is missing or empty."""
        return not self.path.is_dir() or not any(self.path.iterdir())

    @property
    def is_whole(self) -> bool:
        """True if git's data about this worktree is complete."""
        return all((self.admin / name).is_file() for name in ("HEAD", "commondir", "gitdir"))

    async def add(self, revision: str) -> None:
        """Create the worktree at a revision."""
        await remove(self.admin)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Locked: if an agent deletes the file .git, a clean-up of git in another session would
        # remove the data of this worktree.
        await self._mirror.git.run(
            "worktree",
            "add",
            "--quiet",
            "--force",
            "--lock",
            "-B",
            self.own.removeprefix("refs/heads/"),
            str(self.path),
            revision,
        )

    async def adopt(self, revision: str) -> None:
        """Recreate git's data for existing files, which become changes of a revision."""
        await remove(self.admin)
        self.admin.mkdir(parents=True)
        for name, text in (
            ("commondir", "../..\n"),
            ("gitdir", f"{self.path / '.git'}\n"),
            ("HEAD", f"ref: {self.own}\n"),
            ("locked", ""),
        ):
            (self.admin / name).write_text(text, "utf-8")
        await self.git.run("update-ref", self.own, revision)
        await self.git.run("read-tree", revision)
        await self.git.run("update-index", "-q", "--refresh", ok=(0, 1))

    def unlock(self) -> None:
        """Remove the lock files of killed commands, and restore the link to git's data."""
        for name in ("index.lock", "HEAD.lock"):
            (self.admin / name).unlink(missing_ok=True)
        link = self.path / ".git"
        if not os.path.lexists(link):
            link.write_text(f"gitdir: {self.admin}\n", "utf-8")

    async def tip(self) -> str:
        """Return the last commit of the session: ours, or a later one of the agent."""
        kept, own = [
            await self._mirror.git.text("rev-parse", "--verify", f"{name}^{{commit}}", ok=(0, 128))
            for name in (self.kept, self.own)
        ]
        base = kept or self.ref.revision
        if own and await self._mirror.git.succeeds("merge-base", "--is-ancestor", base, own):
            return own
        if not kept and not await self._mirror.git.succeeds("cat-file", "-e", base):
            raise GitError(f"What belongs to the session {self.session} is no longer here.")
        return base

    async def head(self) -> str:
        """Return the revision that is checked out."""
        return await self.git.text("rev-parse", "--verify", "HEAD^{commit}")

    async def commit(self, message: str, author: Author) -> Committed:
        """Commit all changes, if there are any; return the current commit."""
        self._mirror.reset()
        left: dict[str, str] = {}

        async def work() -> None:
            left.update(await stage_all(self.git, self.path, self._limits))
            if not await self.git.succeeds("diff-index", "--cached", "--quiet", "HEAD", "--"):
                await self._commit(message, author)

        await self._unlocked(work)
        head = await self.head()
        await self.git.run("update-ref", self.kept, head)
        new = {path: why for path, why in left.items() if path not in self._told}
        self._told |= new.keys()
        return Committed(head, new)

    async def _commit(self, message: str, author: Author) -> None:
        git = self.git.at(
            self.git.git_dir, work_tree=self.git.work_tree, config=await author.config(self.git)
        )
        await git.run(
            "commit",
            "--quiet",
            "--no-verify",
            "--cleanup=verbatim",
            "--allow-empty-message",
            "--file=-",
            input=message.encode("utf-8", "replace"),
        )

    async def _unlocked(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work as soon as git is not locked; remove stale lock files before the last attempt."""
        for number in range(1, LOCK_TRIES + 1):
            try:
                await work()
                return
            except GitError as error:
                if ".lock': File exists" not in error.output or number == LOCK_TRIES:
                    raise
            await asyncio.sleep(LOCK_PAUSE)
            if number == LOCK_TRIES - 1:
                # The turn is over, so the command with the lock has probably been killed.
                self.unlock()

    async def push(self, head: str, report: Report | None = None) -> GitRemoteRef | None:
        """Push the new commits and return a reference to them, or None if there are none."""
        if head in (self.pushed, self.ref.revision):
            return None
        self._mirror.reset()
        # The agent's own commits have not been checked yet.
        if words := self._limits.refusal(*await measured(self.git, head)):
            raise GitError(f"With what the agent has done, {words}")
        for number in range(1, MOST_NAMES + 1):
            branch = self.branch if number == 1 else f"{self.branch}-{number}"
            if await self._push_to(branch, head, report):
                self.branch, self.pushed = branch, head
                return GitRemoteRef(url=public_url(self.ref.url), branch=branch, revision=head)
        raise GitError(f"There are branches {self.branch} to {branch} already.")

    async def _push_to(self, branch: str, head: str, report: Report | None) -> bool:
        """Push to a branch; return False if somebody else uses it."""
        name = f"refs/heads/{branch}"
        try:
            await self._push(name, head, self.pushed or "", report)
        except GitError as error:
            if "stale info" not in error.output:
                raise
            there = (
                await self.git.text("ls-remote", "--end-of-options", self.ref.url, name)
            ).split()
            if not there or not await self._is_ours(there[0], head):
                if self.pushed is not None:
                    raise GitError(
                        f"Somebody else has changed the branch {branch} meanwhile. {error}"
                    ) from None
                return False
            # An earlier process pushed, but was killed before it noted that.
            if there[0] != head:
                await self._push(name, head, there[0], report)
        return True

    async def _push(self, name: str, head: str, expected: str, report: Report | None) -> None:
        await self.git.run(
            "push",
            "--progress",
            "--no-verify",
            f"--force-with-lease={name}:{expected}",
            "--end-of-options",
            self.ref.url,
            f"{head}:{name}",
            report=report,
        )

    async def _is_ours(self, there: str, head: str) -> bool:
        """Return True if the branch contains only commits of this session."""
        is_known = await self.git.succeeds("cat-file", "-e", f"{there}^{{commit}}")
        return (
            is_known
            and there != self.ref.revision
            and await self.git.succeeds("merge-base", "--is-ancestor", there, head)
        )


def commit_message(prompt: str, agent: str, session: str) -> str:
    """Return a commit message: the first line of the prompt, the agent and the session."""
    first = next((line.strip() for line in prompt.splitlines() if line.strip()), "")
    subject = " ".join("".join(c if c.isprintable() else " " for c in first).split())
    if len(subject) > SUBJECT_LENGTH:
        subject = subject[: SUBJECT_LENGTH - 1].rstrip() + "…"
    name = " ".join("".join(c if c.isprintable() else " " for c in agent).split())
    return f"{subject or 'Changes'}\n\nACP-Agent: {name}\nACP-Session: {session}\n"
