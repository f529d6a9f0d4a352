# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A bare repository of our own beside the user's, for as long as one piece of work takes.

It borrows the user's objects and looks at the user's files, but what a downloaded repository may
carry to run programs (hooks, filters, drivers, helpers, commands in `.git/config`) is not there.
Nothing is kept in it, so nothing in it can be out of date when the user's repository is cleaned up.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from ..git import Git, Report, Room
from ..refs import Policy, RefError
from .repository import Repository, RepositoryError
from .settings import Remote, Settings

PROMISED = "promised"
RECORDS = "records"
"""Where that is kept which can be undone."""

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
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.sparse",
    "index.version",
)
"""What of the repository's settings holds: how files look, never what is to be run."""

_LISTS = ("core.excludesfile", "core.attributesfile")
"""What names files that hold as well; a repository can name any file of this machine."""

_CONFIG = {
    # It would be looked for in the wrong place, and has nothing to win in a copy.
    "core.splitIndex": "false",
    "core.safecrlf": "false",
    "pack.packSizeLimit": "0",
}
_FEW = 100
"""Fewer new objects than this are stored one by one, as git itself does."""

_LONGEST_LIST = 1024 * 1024
_FORGOTTEN = 24 * 3600.0


class Shadow:
    """Runs git on the user's files as if the repository had come without any `.git/config`."""

    def __init__(self, repository: Repository, settings: Settings, place: Path, work: Path) -> None:
        self.repository = repository
        self.settings = settings
        self.records = place / RECORDS
        """Where that is kept which outlives this: what can be undone."""

        self.promised: Remote | None = None
        """Where that is which a partial clone left out; git knows it by a name of ours."""

        self.work = work
        self.git = repository.plain.at(work / "git", config=_CONFIG)

    @classmethod
    @asynccontextmanager
    async def of(cls, repository: Repository, cache: Path) -> AsyncIterator[Shadow]:
        """Make one below a folder of caches, and remove it after use."""
        place = _place(repository, cache)
        try:
            work = await asyncio.to_thread(_room, place)
        except OSError as error:
            raise RepositoryError(
                "noCache", f"Nothing can be written to {cache}: {error}."
            ) from None
        try:
            shadow = cls(repository, await repository.settings(), place, work)
            await shadow._make()
            yield shadow
        finally:
            shutil.rmtree(work, ignore_errors=True)

    @staticmethod
    def records_of(repository: Repository, cache: Path) -> Path:
        """Return where records are kept, also if there is no shadow."""
        return _place(repository, cache) / RECORDS

    @property
    def policy(self) -> Policy:
        """Where repositories may be."""
        return self.git.policy

    def on_files(self, index: Path) -> Git:
        """Return git on the user's files with an index of ours."""
        return self.git.at(self.git.git_dir, work_tree=self.repository.toplevel, index=index)

    async def copy_index(self) -> Path:
        """Return a copy of what is staged, up to date with the files."""
        copy = self.new_index()
        await asyncio.to_thread(self._copy_index, copy)
        await self.on_files(copy).run("update-index", "-q", "--refresh", ok=(0, 1))
        return copy

    def new_index(self) -> Path:
        """Return the path of an index that is not there yet."""
        return Path(tempfile.mkdtemp(prefix="index-", dir=self.work)) / "index"

    async def give(
        self,
        tips: Sequence[str],
        without: Sequence[str] = (),
        *,
        report: Report | None = None,
        room: Room | None = None,
    ) -> None:
        """Store in the user's repository what is new in ours, so that it does not need ours."""
        wanted = "".join(f"{tip}\n" for tip in [*tips, *(f"^{tip}" for tip in without)])
        name = await self.git.run(
            "pack-objects",
            "--revs",
            "--local",
            "--non-empty",
            "--delta-base-offset",
            "--progress" if report else "-q",
            str(self.work / "given"),
            input=wanted.encode(),
            report=report,
            room=room,
        )
        if not name:
            return
        pack = self.work / f"given-{name.decode().strip()}.pack"
        command = ("unpack-objects", "-q") if _count(pack) < _FEW else ("index-pack", "--stdin")
        await self.repository.git.run(*command, input=pack)

    async def _make(self) -> None:
        repository = self.repository
        kind = await repository.git.text("rev-parse", "--show-object-format")
        assert self.git.git_dir is not None
        place = self.git.git_dir
        await repository.plain.at().run(
            "init",
            "-q",
            "--bare",
            "--template=",
            "--initial-branch=main",
            f"--object-format={kind}",
            str(place),
        )
        await asyncio.to_thread(self._borrow, place)
        seen = Settings.of(await self.git.run("config", "--list", "-z", "--show-scope"))
        lines = [
            config_line(name, value)
            for name in _HARMLESS
            if (value := self.settings.own(name)) is not None
        ]
        lines += await asyncio.to_thread(self._own_lists, place)
        # What the user's own configuration says for repositories in this place, it says to us too.
        lines += [
            config_line(entry.name, entry.value)
            for entry in self.settings.users
            if entry not in seen.users
        ]
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

    def _own_lists(self, place: Path) -> list[str]:
        """Copy the lists that the repository's own settings name, and let them hold."""
        lines = []
        for name in _LISTS:
            copy = place / name
            value = self.settings.own(name)
            if value == "":
                # That is how one says that the user's own does not hold here.
                lines.append(config_line(name, ""))
            elif value is not None:
                # As git does: from the user's home, or from the top of the working tree.
                named = self.repository.toplevel / os.path.expanduser(value)
                if _copy_list(named, copy):
                    lines.append(config_line(name, str(copy)))
        return lines

    def _promised(self) -> list[str]:
        """Let what a partial clone left out be fetched from where it said, if that is allowed."""
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
        repository = self.repository
        if not repository.index.exists():
            return
        if not repository.index.is_file():
            raise RepositoryError("unusable", f"{repository.index} is not a file.")
        # With its time: git looks again at files that are as young as its index.
        shutil.copy2(repository.index, copy)
        assert self.git.git_dir is not None
        for part in repository.git_dir.glob("sharedindex.*"):
            if part.is_file():
                shutil.copy2(part, self.git.git_dir / part.name)


def _copy_list(source: Path, copy: Path) -> bool:
    """Copy a list if it is one: anything else than a file could keep us reading for ever."""
    with contextlib.suppress(OSError):
        if source.is_file() and source.stat().st_size <= _LONGEST_LIST:
            shutil.copyfile(source, copy)
            return True
    return False


def config_line(name: str, value: str) -> str:
    """Return a setting as git reads it."""
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


def _count(pack: Path) -> int:
    """Return how many objects there are in a pack, by its head."""
    with pack.open("rb") as file:
        return int.from_bytes(file.read(12)[8:], "big")


def _place(repository: Repository, cache: Path) -> Path:
    # Of the working tree and not of the repository: each has an index and a sparse checkout.
    return cache / hashlib.sha256(os.fsencode(repository.git_dir)).hexdigest()[:32]


def _room(place: Path) -> Path:
    """Return a new folder; what was left when a server ended in the middle is removed."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for work in place.glob("work-*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - work.stat().st_mtime > _FORGOTTEN:
                shutil.rmtree(work, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix="work-", dir=place))
