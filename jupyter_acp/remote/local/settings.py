# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The settings of git with their scopes: those of the user are trusted, a repository's are not."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..refs import Policy, RefError, address_of

NOBODY = ("Jupyter user", "jupyter-user@localhost")
"""The author of commits if git has no name and address of the user."""

_OWN = ("local", "worktree")
_FILTER = re.compile(r"filter\.(.+)\.(?:clean|smudge|process)", re.DOTALL)


class Setting(NamedTuple):
    """One entry of a git configuration."""

    scope: str
    name: str
    value: str


@dataclass(frozen=True)
class Remote:
    """A remote of a repository; its addresses may contain passwords and are never printed."""

    name: str
    url: str = field(repr=False)
    push_url: str = field(repr=False)
    real_url: str = field(repr=False)
    """The address after the user's rewriting rules (`insteadOf`)."""

    real_push_url: str = field(repr=False)

    @property
    def address(self) -> str:
        """The address for others, who do not have the user's rewriting rules."""
        try:
            address_of(self.url)
        except RefError:
            return self.real_url
        return self.url

    def check(self, policy: Policy) -> None:
        """Refuse addresses that are not allowed, before and after rewriting."""
        for url in (self.address, self.real_url):
            policy.check(url)

    def check_push(self, policy: Policy) -> None:
        """Refuse an address for pushing that is not allowed."""
        policy.check(self.real_push_url)


@dataclass(frozen=True)
class Settings:
    """All settings that apply in a repository; later entries override earlier ones."""

    entries: Sequence[Setting]

    @classmethod
    def of(cls, printed: bytes) -> Settings:
        """Parse the output of `git config --list -z --show-scope`."""
        fields = [os.fsdecode(field) for field in printed.split(b"\0")]
        entries = []
        for scope, pair in zip(fields[::2], fields[1::2], strict=False):
            name, newline, value = pair.partition("\n")
            entries.append(Setting(scope, name, value if newline else "true"))
        return cls(entries)

    def all(self, name: str) -> list[str]:
        """Return every value of a setting; names are in lower case, as git lists them."""
        return [entry.value for entry in self.entries if entry.name == name]

    def get(self, name: str) -> str | None:
        """Return the value that applies, or None."""
        values = self.all(name)
        return values[-1] if values else None

    def own(self, name: str) -> str | None:
        """Return the repository's own value, or None."""
        found = [e.value for e in self.entries if e.name == name and e.scope in _OWN]
        return found[-1] if found else None

    @property
    def users(self) -> list[Setting]:
        """The settings of the user and of the machine's administrator."""
        return [entry for entry in self.entries if entry.scope in ("system", "global")]

    @property
    def remotes(self) -> list[str]:
        """The names of the remotes."""
        found = (re.fullmatch(r"remote\.(.+)\.url", entry.name) for entry in self.entries)
        return list(dict.fromkeys(name[1] for name in found if name))

    @property
    def foreign_filters(self) -> list[str]:
        """The filters that only the repository defines."""
        trusted = {found[1] for entry in self.users if (found := _FILTER.fullmatch(entry.name))}
        own = {
            found[1]
            for entry in self.entries
            if entry.scope in _OWN and (found := _FILTER.fullmatch(entry.name))
        }
        return sorted(own - trusted)

    @property
    def identity(self) -> dict[str, str]:
        """The environment variables that give git the author and the committer."""
        name = self.get("user.name") or NOBODY[0]
        mail = self.get("user.email") or NOBODY[1]
        return {
            "GIT_AUTHOR_NAME": self.get("author.name") or name,
            "GIT_AUTHOR_EMAIL": self.get("author.email") or mail,
            "GIT_COMMITTER_NAME": self.get("committer.name") or name,
            "GIT_COMMITTER_EMAIL": self.get("committer.email") or mail,
        }

    def upstream(self, branch: str | None) -> str | None:
        """Return the name of a branch's upstream branch, or None."""
        merged = self.get(f"branch.{branch}.merge") if branch else None
        if merged is None or not merged.startswith("refs/heads/"):
            return None
        return merged.removeprefix("refs/heads/")

    def remote(self, branch: str | None) -> Remote | None:
        """Return the remote of a branch: the configured one, else `origin`, else the only one."""
        known = self.remotes
        told = self.get(f"branch.{branch}.remote") if branch else None
        name = next((name for name in (told, "origin") if name in known), None)
        if name is None and len(known) == 1:
            name = known[0]
        return self.named_remote(name) if name else None

    def named_remote(self, name: str) -> Remote:
        """Return the remote with this name."""
        url = self.all(f"remote.{name}.url")[0]
        pushed = self.all(f"remote.{name}.pushurl")
        return Remote(
            name,
            url,
            pushed[0] if pushed else url,
            self.rewritten(url),
            self.rewritten(pushed[0]) if pushed else self.rewritten(url, push=True),
        )

    def rewritten(self, url: str, *, push: bool = False) -> str:
        """Rewrite an address as git does, with the rules of the user only."""
        for name in ("pushinsteadof", "insteadof") if push else ("insteadof",):
            rules = [
                (entry.value, entry.name[len("url.") : -len(name) - 1])
                for entry in self.users
                if entry.name.startswith("url.") and entry.name.endswith(f".{name}")
            ]
            fitting = [rule for rule in rules if rule[0] and url.startswith(rule[0])]
            if fitting:
                short, long = max(fitting, key=lambda rule: len(rule[0]))
                return long + url[len(short) :]
        return url
