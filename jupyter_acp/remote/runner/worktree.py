# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The files of one session: what an agent has done to them is committed and pushed."""

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
"""How often, and how many seconds apart, git is tried that a command of the agent's keeps out."""

SUBJECT_LENGTH = 72
MOST_NAMES = 9


@dataclass(frozen=True)
class Author:
    """Who is said to have made a commit; with no name, whoever git says."""

    name: str = ""
    email: str = ""

    FALLBACK = ("Jupyter ACP", "jupyter-acp@localhost")

    @classmethod
    def of(cls, text: str) -> Author:
        """Return the author that a setting names, if it names one."""
        found = re.fullmatch(r"\s*([^<>\n]+?)\s*<([^<>\s]+)>\s*", text)
        if text and found is None:
            raise ValueError("author: must be a name and an address: 'Ada <ada@example.org>'.")
        return cls(found[1], found[2]) if found else cls()

    async def config(self, git: Git) -> dict[str, str]:
        """Return it as settings of git."""
        name, email = self.name, self.email
        if not name:
            name = await git.text("config", "--get", "user.name", ok=(0, 1)) or self.FALLBACK[0]
        if not email:
            email = await git.text("config", "--get", "user.email", ok=(0, 1)) or self.FALLBACK[1]
        return {"user.name": name, "user.email": email}


class Committed(NamedTuple):
    """What has become of the files after a turn."""

    head: str
    left: dict[str, str]
    """Which folders are not in it, and why; each is told once."""


class Worktree:
    """A folder with the files of a repository, for one session alone."""

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
        """Where what is done here goes, as long as nobody else has a branch of that name."""

        self.pushed: str | None = None
        """The last revision that is known to be there."""

        self._mirror = mirror
        self._limits = limits
        self._told: set[str] = set()

    @property
    def kept(self) -> str:
        """The name under which its last commit is kept, whatever becomes of the folder."""
        return f"refs/jupyter-acp/sessions/{self.session}"

    @property
    def own(self) -> str:
        """The branch that the agent finds itself on."""
        return f"refs/heads/acp/{self.session}"

    @property
    def admin(self) -> Path:
        """Where git keeps what it has to know of these files."""
        return self._mirror.folder / "worktrees" / self.session

    @property
    def is_empty(self) -> bool:
        """Whether there are no files, nor anything else."""
        return not self.path.is_dir() or not any(self.path.iterdir())

    @property
    def is_whole(self) -> bool:
        """Whether git finds all that it needs."""
        return all((self.admin / name).is_file() for name in ("HEAD", "commondir", "gitdir"))

    async def add(self, revision: str) -> None:
        """Have the files of a revision, where there are none."""
        await remove(self.admin)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Locked: an agent that takes away the file .git must not take the rest with it, which git
        # does not miss before some other session lets it clear up.
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
        """Let git know the files that are there again, as changes of a revision."""
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
        """Take away what keeps git out, left by commands that died with their session."""
        for name in ("index.lock", "HEAD.lock"):
            (self.admin / name).unlink(missing_ok=True)
        link = self.path / ".git"
        if not os.path.lexists(link):
            link.write_text(f"gitdir: {self.admin}\n", "utf-8")

    async def tip(self) -> str:
        """Return the last commit that was made here: ours, or one of the agent's on top of it."""
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
        """Return the revision that it is at."""
        return await self.git.text("rev-parse", "--verify", "HEAD^{commit}")

    async def commit(self, message: str, author: Author) -> Committed:
        """Commit whatever has changed; the revision is the same as before if nothing has."""
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
        """Do something as soon as no command of the agent's keeps git out, or none does any more."""
        for number in range(1, LOCK_TRIES + 1):
            try:
                await work()
                return
            except GitError as error:
                if ".lock': File exists" not in error.output or number == LOCK_TRIES:
                    raise
            await asyncio.sleep(LOCK_PAUSE)
            if number == LOCK_TRIES - 1:
                # The turn is over: what made it has most likely died.
                self.unlock()

    async def push(self, head: str, report: Report | None = None) -> GitRemoteRef | None:
        """Push what is not there yet, and return where it is; nothing if there is nothing new."""
        if head in (self.pushed, self.ref.revision):
            return None
        self._mirror.reset()
        # What the agent has committed itself was never looked at.
        if words := self._limits.refusal(*await measured(self.git, head)):
            raise GitError(f"With what the agent has done, {words}")
        for number in range(1, MOST_NAMES + 1):
            branch = self.branch if number == 1 else f"{self.branch}-{number}"
            if await self._push_to(branch, head, report):
                self.branch, self.pushed = branch, head
                return GitRemoteRef(url=public_url(self.ref.url), branch=branch, revision=head)
        raise GitError(f"There are branches {self.branch} to {branch} already.")

    async def _push_to(self, branch: str, head: str, report: Report | None) -> bool:
        """Push to a branch that is ours; return False if it is somebody else's."""
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
            # Pushed before by somebody who did not live to take note of it.
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
        """Whether what is on the branch is a part of what is to be pushed, beyond where it began."""
        is_known = await self.git.succeeds("cat-file", "-e", f"{there}^{{commit}}")
        return (
            is_known
            and there != self.ref.revision
            and await self.git.succeeds("merge-base", "--is-ancestor", there, head)
        )


def commit_message(prompt: str, agent: str, session: str) -> str:
    """Return what a commit is called: the first line of what was asked, and by whom it was done."""
    first = next((line.strip() for line in prompt.splitlines() if line.strip()), "")
    subject = " ".join("".join(c if c.isprintable() else " " for c in first).split())
    if len(subject) > SUBJECT_LENGTH:
        subject = subject[: SUBJECT_LENGTH - 1].rstrip() + "…"
    name = " ".join("".join(c if c.isprintable() else " " for c in agent).split())
    return f"{subject or 'Changes'}\n\nACP-Agent: {name}\nACP-Session: {session}\n"
