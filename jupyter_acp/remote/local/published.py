# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The commits of HEAD that are on the remote, as of the last fetch."""

from __future__ import annotations

from dataclasses import dataclass

from ..filenames import lines
from .isolated import IsolatedRepository
from .repository import Head
from .settings import Remote


@dataclass(frozen=True)
class Published:
    """The branches of a remote, and the number of commits of HEAD that are on none."""

    isolated: IsolatedRepository
    remote: Remote
    head: Head
    tips: dict[str, str]
    unpushed: int

    @classmethod
    async def of(cls, isolated: IsolatedRepository, remote: Remote, head: Head) -> Published:
        """Read the references of a remote."""
        prefix = f"refs/remotes/{remote.name}/"
        refs = await isolated.repository.refs(prefix)
        tips = {name.removeprefix(prefix): tip for name, tip in refs.items()}
        tips.pop("HEAD", None)
        count = await _walk(isolated, head, tips, "--count")
        return cls(isolated, remote, head, tips, int(count))

    async def nearest(self) -> tuple[str, str] | None:
        """Return the branch and the revision on the remote that are nearest to HEAD."""
        head = self.head.revision or ""
        upstream = self.isolated.settings.upstream(self.head.branch)
        if self.unpushed == 0:
            return await self._holding(head, upstream)
        if upstream in self.tips:
            tip = self.tips[upstream]
            if base := await self.isolated.git.text("merge-base", head, tip, ok=(0, 1)):
                return upstream, base
        walked = await _walk(self.isolated, self.head, self.tips, "--boundary")
        edge = next((line[1:] for line in walked.split() if line[0] == "-"), None)
        return await self._holding(edge, upstream) if edge else None

    async def _holding(self, revision: str, upstream: str | None) -> tuple[str, str] | None:
        """Return a branch of the remote that contains a revision; prefer the upstream branch."""
        git, prefix = self.isolated.repository.git, f"refs/remotes/{self.remote.name}/"
        default = await git.text("symbolic-ref", "-q", f"{prefix}HEAD", ok=(0, 1, 128))
        options = (f"--contains={revision}", "--format=%(refname)", prefix)
        holding = (
            name.removeprefix(prefix) for name in lines(await git.run("for-each-ref", *options))
        )
        names = [name for name in holding if name in self.tips]
        wanted = (upstream, self.head.branch, default.removeprefix(prefix), *names)
        name = next((name for name in wanted if name in names), None)
        return (name, revision) if name else None


async def _walk(isolated: IsolatedRepository, head: Head, tips: dict[str, str], option: str) -> str:
    ends = "\n".join([f"{head.revision}", *(f"^{tip}" for tip in tips.values())]).encode()
    printed = await isolated.git.run("rev-list", "--ignore-missing", option, "--stdin", input=ends)
    return printed.decode().strip()
