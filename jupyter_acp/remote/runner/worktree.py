# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The files of one session: what an agent has done to them is committed and pushed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..git import Git, GitError, Report
from ..limits import Limits
from ..refs import GitRemoteRef, public_url
from .measure import measured
from .staging import stage_all
from .stale import is_held, lock_in

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
        limits: Limits | None = None,
    ) -> None:
        self.path = path
        self.git = git
        self.session = session
        self.ref = ref
        self.branch = branch
        """Where what is done here goes, as long as nobody else has a branch of that name."""

        self.pushed: str | None = None
        """The last revision that is known to be there."""

        self._limits = limits or Limits()
        self._told: set[str] = set()

    @property
    def kept(self) -> str:
        """The name under which its last commit is kept, whatever becomes of the folder."""
        return f"refs/jupyter-acp/sessions/{self.session}"

    async def head(self) -> str:
        """Return the revision that it is at."""
        return await self.git.text("rev-parse", "--verify", "HEAD^{commit}")

    async def commit(self, message: str, author: Author) -> Committed:
        """Commit whatever has changed; the revision is the same as before if nothing has."""
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
        assert self.git.git_dir is not None
        for number in range(LOCK_TRIES + 1):
            try:
                await work()
                return
            except GitError as error:
                lock = lock_in(error.output, self.git.git_dir)
                if lock is None:
                    raise
                loop = asyncio.get_running_loop()
                if number < LOCK_TRIES:
                    await asyncio.sleep(LOCK_PAUSE)
                elif await loop.run_in_executor(None, is_held, lock, self.path):
                    raise
                else:
                    lock.unlink(missing_ok=True)
        await work()

    async def push(self, head: str, report: Report | None = None) -> GitRemoteRef | None:
        """Push what is not there yet, and return where it is; nothing if there is nothing new."""
        if head in (self.pushed, self.ref.revision):
            return None
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
