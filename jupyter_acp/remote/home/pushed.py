# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How much of what is checked out is on the remote, as far as that is known here."""

from __future__ import annotations

from dataclasses import dataclass, field

from .names import lines
from .repository import Head
from .settings import Remote
from .shadow import Shadow


@dataclass
class Known:
    """What is known of the repository elsewhere since it was last fetched from."""

    shadow: Shadow
    remote: Remote
    head: Head
    tips: dict[str, str] = field(default_factory=dict)
    unpushed: int = 0

    @classmethod
    async def of(cls, shadow: Shadow, remote: Remote, head: Head) -> Known:
        """Look at the references of a remote."""
        prefix = f"refs/remotes/{remote.name}/"
        refs = await shadow.repository.refs(prefix)
        tips = {name.removeprefix(prefix): tip for name, tip in refs.items()}
        tips.pop("HEAD", None)
        known = cls(shadow, remote, head, tips)
        known.unpushed = int(await known._walk("--count"))
        return known

    async def nearest(self) -> tuple[str, str] | None:
        """Return the branch and the revision there that are nearest to what is checked out."""
        head = self.head.revision
        assert head is not None
        upstream = self.shadow.settings.upstream(self.head.branch)
        if self.unpushed == 0:
            return await self._holding(head, upstream)
        if upstream in self.tips:
            tip = self.tips[upstream]
            base = await self.shadow.git.text("merge-base", head, tip, ok=(0, 1))
            if base:
                return upstream, base
        edges = (line[1:] for line in (await self._walk("--boundary")).split() if line[0] == "-")
        edge = next(edges, None)
        return await self._holding(edge, upstream) if edge else None

    async def _holding(self, revision: str, upstream: str | None) -> tuple[str, str] | None:
        """Return a branch there that has a revision: the best known one first."""
        default = await self.shadow.repository.git.text(
            "symbolic-ref", "-q", f"refs/remotes/{self.remote.name}/HEAD", ok=(0, 1, 128)
        )
        prefix = f"refs/remotes/{self.remote.name}/"
        wanted = (upstream, self.head.branch, default.removeprefix(prefix))
        holding = await self.shadow.repository.git.run(
            "for-each-ref", f"--contains={revision}", "--format=%(refname)", prefix
        )
        names = [name.removeprefix(prefix) for name in lines(holding)]
        names = [name for name in names if name in self.tips]
        name = next((name for name in wanted if name in names), names[0] if names else None)
        return (name, revision) if name else None

    async def _walk(self, *options: str) -> str:
        lines = [f"{self.head.revision}", *(f"^{tip}" for tip in self.tips.values())]
        printed = await self.shadow.git.run(
            "rev-list", "--ignore-missing", *options, "--stdin", input="\n".join(lines).encode()
        )
        return printed.decode().strip()
