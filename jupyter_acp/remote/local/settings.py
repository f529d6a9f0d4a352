# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The configuration of git, and who has made it: the user is trusted, a repository is not."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..refs import Policy, RefError, address_of

NOBODY = ("Jupyter user", "jupyter-user@localhost")
"""The author of commits where git has not been told who the user is."""

_OWN = ("local", "worktree")
_FILTER = re.compile(r"filter\.(.+)\.(?:clean|smudge|process)", re.DOTALL)


class Setting(NamedTuple):
    """One line of a configuration."""

    scope: str
    name: str
    value: str


@dataclass(frozen=True)
class Remote:
    """A repository elsewhere; its addresses may hold passwords, so none is ever printed."""

    name: str
    url: str = field(repr=False)
    push_url: str = field(repr=False)
    real_url: str = field(repr=False)
    """The address that git goes to by the rules of the user's own configuration."""

    real_push_url: str = field(repr=False)

    @property
    def address(self) -> str:
        """The address for others: not one that only this user's git understands."""
        try:
            address_of(self.url)
        except RefError:
            return self.real_url
        return self.url

    def check(self, policy: Policy) -> None:
        """Refuse what is not allowed here, by whatever name it goes."""
        for url in (self.address, self.real_url):
            policy.check(url)

    def check_push(self, policy: Policy) -> None:
        """Refuse to push where it is not allowed."""
        policy.check(self.real_push_url)


@dataclass(frozen=True)
class Settings:
    """All settings that hold in a repository, the later ones before the earlier ones."""

    entries: Sequence[Setting]

    @classmethod
    def of(cls, printed: bytes) -> Settings:
        """Take what `git config --list -z --show-scope` prints."""
        fields = [os.fsdecode(field) for field in printed.split(b"\0")]
        entries = []
        for scope, pair in zip(fields[::2], fields[1::2], strict=False):
            name, newline, value = pair.partition("\n")
            entries.append(Setting(scope, name, value if newline else "true"))
        return cls(entries)

    def all(self, name: str) -> list[str]:
        """Return every value of a setting; names are as git lists them, in small letters."""
        return [entry.value for entry in self.entries if entry.name == name]

    def get(self, name: str) -> str | None:
        """Return the value that holds."""
        values = self.all(name)
        return values[-1] if values else None

    def own(self, name: str) -> str | None:
        """Return the value that the repository itself gives."""
        found = [e.value for e in self.entries if e.name == name and e.scope in _OWN]
        return found[-1] if found else None

    @property
    def users(self) -> list[Setting]:
        """The settings of the user, and of whoever runs the machine."""
        return [entry for entry in self.entries if entry.scope in ("system", "global")]

    @property
    def remotes(self) -> list[str]:
        """The names of the repositories elsewhere."""
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
        """Return the variables that tell git who writes a commit."""
        name = self.get("user.name") or NOBODY[0]
        mail = self.get("user.email") or NOBODY[1]
        return {
            "GIT_AUTHOR_NAME": self.get("author.name") or name,
            "GIT_AUTHOR_EMAIL": self.get("author.email") or mail,
            "GIT_COMMITTER_NAME": self.get("committer.name") or name,
            "GIT_COMMITTER_EMAIL": self.get("committer.email") or mail,
        }

    def upstream(self, branch: str | None) -> str | None:
        """Return the name that a branch has in the repository elsewhere."""
        merged = self.get(f"branch.{branch}.merge") if branch else None
        if merged is None or not merged.startswith("refs/heads/"):
            return None
        return merged.removeprefix("refs/heads/")

    def remote(self, branch: str | None) -> Remote | None:
        """Return where a branch goes: where it is told to, else `origin`, else the only place."""
        known = self.remotes
        told = self.get(f"branch.{branch}.remote") if branch else None
        name = next((name for name in (told, "origin") if name in known), None)
        if name is None and len(known) == 1:
            name = known[0]
        return self.named_remote(name) if name else None

    def named_remote(self, name: str) -> Remote:
        """Return what is known of a repository elsewhere."""
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
        """Return what git makes of an address, by the rules of the user and not the repository's."""
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
