# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Git on the user's files and objects, without the repository's own settings.

A downloaded repository can name programs for git to run: hooks, filters, drivers, helpers. Git has
no option that disables all of them, so it runs in an empty bare repository that borrows objects.
That one is removed after each operation, so its data is always current.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from ..git import Git
from ..refs import Policy, RefError
from .repository import Repository, RepositoryError
from .settings import Remote, Settings

PROMISED = "promised"

_HARMLESS = (
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.trustctime",
    "core.checkstat",
    "core.autocrlf",
    "core.eol",
    "core.bigfilethreshold",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.sparse",
    "index.version",
)
"""The repository's own settings that apply: they affect the format of files and run nothing."""

_LISTS = ("core.excludesfile", "core.attributesfile")
"""Settings that name a list of patterns, which may be any file on this machine."""

_CONFIG = {"core.splitIndex": "false", "core.safecrlf": "false", "pack.packSizeLimit": "0"}
_LONGEST_LIST = 1024 * 1024
_FORGOTTEN = 24 * 3600.0


class IsolatedRepository:
    """Runs git on the user's repository without its `.git/config`."""

    def __init__(self, repository: Repository, settings: Settings, place: Path, work: Path) -> None:
        self.repository = repository
        self.settings = settings
        self.place = place
        """Our folder for this working tree; it is kept after this object is closed."""

        self.work = work
        self.promised: Remote | None = None
        """The remote with the objects that a partial clone left out."""

        self.git = repository.plain.at(work / "git", config=_CONFIG)

    @classmethod
    @asynccontextmanager
    async def of(cls, repository: Repository, cache: Path) -> AsyncIterator[IsolatedRepository]:
        """Create an isolated repository in the cache, and remove it after use."""
        place = place_of(repository, cache)
        try:
            work = await asyncio.to_thread(_new_folder, place)
        except OSError as error:
            raise RepositoryError(
                "noCache", f"Nothing can be written to {cache}: {error}."
            ) from None
        try:
            isolated = cls(repository, await repository.settings(), place, work)
            await isolated._make(work / "git")
            yield isolated
        finally:
            shutil.rmtree(work, ignore_errors=True)

    @property
    def policy(self) -> Policy:
        """The policy for addresses of repositories."""
        return self.git.policy

    def storing(self, env: Mapping[str, str] | None = None) -> Git:
        """Return git that stores objects in the user's repository and obeys `.gitattributes`."""
        env = {**(env or {}), "GIT_OBJECT_DIRECTORY": str(self.repository.objects)}
        place, top = self.git.git_dir, self.repository.toplevel
        return self.git.at(place, work_tree=top, index=self.new_index(), env=env)

    async def tree(self, revision: str | None) -> str:
        """Return the tree of a commit."""
        return await self.git.text("rev-parse", "--verify", f"{revision}^{{tree}}")

    def on_files(self, index: Path | None = None) -> Git:
        """Return git on the user's files, with the user's index or another one."""
        index = index or self.repository.index
        return self.git.at(self.git.git_dir, work_tree=self.repository.toplevel, index=index)

    async def on_copy(self) -> Git:
        """Return git on the user's files, with a refreshed copy of the index."""
        copy = self.new_index()
        await asyncio.to_thread(self._copy_index, copy)
        git = self.on_files(copy)
        await git.run("update-index", "-q", "--refresh", ok=(0, 1))
        return git

    def new_index(self) -> Path:
        """Return the path of an index that does not exist yet."""
        return Path(tempfile.mkdtemp(prefix="index-", dir=self.work)) / "index"

    async def _make(self, place: Path) -> None:
        repository = self.repository
        kind = await repository.git.text("rev-parse", "--show-object-format")
        options = ("--bare", "--template=", "--initial-branch=main", f"--object-format={kind}")
        await repository.plain.at().run("init", "-q", *options, str(place))
        await asyncio.to_thread(self._borrow, place)
        seen = Settings.of(await self.git.run("config", "--list", "-z", "--show-scope")).users
        own = {name: self.settings.own(name) for name in _HARMLESS}
        lines = [config_line(name, value) for name, value in own.items() if value is not None]
        lines += await asyncio.to_thread(lambda: list(self._own_lists(place)))
        # The user's settings for repositories in that folder (includeIf) apply here, too.
        users = [entry for entry in self.settings.users if entry not in seen]
        lines += [config_line(entry.name, entry.value) for entry in users]
        lines += self._promised()
        with (place / "config").open("ab") as config:
            config.write(os.fsencode("".join(lines)))

    def _borrow(self, place: Path) -> None:
        repository = self.repository
        (place / "objects" / "info").mkdir(exist_ok=True)
        (place / "objects" / "info" / "alternates").write_bytes(_quoted_path(repository.objects))
        (place / "info").mkdir(exist_ok=True)
        for source, name in (
            (repository.common_dir, "info/exclude"),
            (repository.common_dir, "info/attributes"),
            (repository.git_dir, "info/sparse-checkout"),
            (repository.common_dir, "shallow"),
        ):
            _copy_list(source / name, place / name)
        for part in repository.git_dir.glob("sharedindex.*"):
            if part.is_file():
                shutil.copy2(part, place / part.name)

    def _own_lists(self, place: Path) -> Iterator[str]:
        """Copy the lists that the repository's own settings name; yield settings that use them."""
        for name in _LISTS:
            if (value := self.settings.own(name)) is None:
                continue
            # Like git: relative to the user's home or the top of the working tree.
            named = self.repository.toplevel / os.path.expanduser(value)
            if value == "":
                # An empty name turns the user's own list off.
                yield config_line(name, "")
            elif _copy_list(named, place / name):
                yield config_line(name, str(place / name))

    def _promised(self) -> list[str]:
        """Return settings to fetch what a partial clone left out, if its address is allowed."""
        settings = self.settings
        names = [settings.own("extensions.partialclone")]
        names += [name for name in settings.remotes if settings.own(f"remote.{name}.promisor")]
        name = next((name for name in names if name in settings.remotes), None)
        if name is None:
            return []
        remote = settings.named_remote(name)
        try:
            remote.check(self.policy)
        except RefError:
            return []
        self.promised = remote
        # Not in a file: the address may contain a password.
        values = {"url": remote.url, "promisor": "true", "partialclonefilter": "blob:none"}
        self.git.env["GIT_CONFIG_COUNT"] = str(len(values))
        for number, (key, value) in enumerate(values.items()):
            self.git.env[f"GIT_CONFIG_KEY_{number}"] = f"remote.{PROMISED}.{key}"
            self.git.env[f"GIT_CONFIG_VALUE_{number}"] = value
        return [
            config_line("core.repositoryformatversion", "1"),
            config_line("extensions.partialclone", PROMISED),
        ]

    def _copy_index(self, copy: Path) -> None:
        index = self.repository.index
        if index.exists() and not index.is_file():
            raise RepositoryError("unusable", f"{index} is not a file.")
        if index.exists():
            # Keep the time stamp: git rereads files that are as new as the index.
            shutil.copy2(index, copy)


def place_of(repository: Repository, cache: Path) -> Path:
    """Return our folder for a working tree; a repository can have several of them."""
    return cache / hashlib.sha256(os.fsencode(repository.git_dir)).hexdigest()[:32]


def config_line(name: str, value: str) -> str:
    """Return a setting in the format of git's configuration files."""
    section, _, rest = name.partition(".")
    middle, _, key = rest.rpartition(".")
    title = f'[{section} "{_escaped(middle)}"]' if middle else f"[{section}]"
    text = _escaped(value).replace("\n", "\\n").replace("\t", "\\t")
    return f'{title}\n\t{key} = "{text}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted_path(path: Path) -> bytes:
    text = os.fsencode(path)
    if b"\n" in text:
        text = b'"%s"' % text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return text + b"\n"


def _copy_list(source: Path, copy: Path) -> bool:
    """Copy a list if it is a small regular file: reading a device or a pipe may never end."""
    with contextlib.suppress(OSError):
        if source.is_file() and source.stat().st_size <= _LONGEST_LIST:
            shutil.copyfile(source, copy)
            return True
    return False


def _new_folder(place: Path) -> Path:
    """Create a folder; remove those that killed servers left more than a day ago."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for work in place.glob("work-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - work.stat().st_mtime > _FORGOTTEN:
                shutil.rmtree(work, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="work-", dir=place))
