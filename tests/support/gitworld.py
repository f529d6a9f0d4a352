# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A user with a clone, a server with the repository, and a session elsewhere that pushes to it."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from gitserver import IDENTITY, GitServer, git

from jupyter_acp.remote.git import Git
from jupyter_acp.remote.local.fetch import fetch_target
from jupyter_acp.remote.local.isolated import IsolatedRepository
from jupyter_acp.remote.local.repository import Repository
from jupyter_acp.remote.local.results import Result
from jupyter_acp.remote.refs import GitRemoteRef, Policy

POLICY = Policy(schemes=("https", "ssh", "http", "file"))
FILES = {"README.md": "# Hello\n", "src/a.py": "a = 1\n", "src/b.py": "b = 1\n", "gone.txt": "x\n"}


class World:
    """The user's clone is `home`; `Ada` works there."""

    def __init__(
        self, root: Path, server: GitServer, *, files: dict[str, str] | None = None
    ) -> None:
        self.root = root
        self.server = server
        self.cache = root / "cache"
        self.bare = server.create("project", files or FILES)
        self.home = root / "home"
        self.clone(self.home)
        self.git = Git(policy=POLICY, timeout=60)
        self.number = 0

    @property
    def url(self) -> str:
        return self.server.url("project")

    def clone(self, to: Path, *options: str) -> Path:
        git(self.root, "clone", "-q", *options, self.server.url("project", login=True), str(to))
        return to

    async def repository(self, folder: Path | None = None) -> Repository:
        return await Repository.find(folder or self.home, self.git)

    @asynccontextmanager
    async def isolated(self, folder: Path | None = None):
        async with IsolatedRepository.of(await self.repository(folder), self.cache) as isolated:
            yield isolated

    def sent(self, revision: str | None = None, branch: str = "main") -> GitRemoteRef:
        revision = revision or git(self.home, "rev-parse", "HEAD")
        return GitRemoteRef(url=self.url, branch=branch, revision=revision)

    def elsewhere(
        self, files: dict[str, Any], sent: GitRemoteRef | None = None, branch: str = "acp/result"
    ) -> GitRemoteRef:
        """Do the work of an agent on what it was sent, push it, and say where it is."""
        sent = sent or self.sent()
        self.number += 1
        work = self.root / f"elsewhere-{self.number}"
        git(self.root, "clone", "-q", str(self.bare), str(work))
        git(work, "checkout", "-q", sent.revision)
        write(work, files)
        git(work, "add", "-A", "-f")
        git(work, "commit", "-q", "--allow-empty", "-m", "Work of an agent\n\nWith a body.")
        git(work, "push", "-q", "-f", "origin", f"HEAD:refs/heads/{branch}")
        revision = git(work, "rev-parse", "HEAD")
        return GitRemoteRef(url=self.url, branch=branch, revision=revision)

    async def fetched(
        self, files: dict[str, Any], sent: GitRemoteRef | None = None, folder: Path | None = None
    ) -> Result:
        """Let an agent do some work, and fetch what it has made."""
        sent = sent or self.sent()
        target = self.elsewhere(files, sent)
        async with self.isolated(folder) as isolated:
            return await fetch_target(
                isolated, target, sent=sent, session="session-1", number=self.number
            )


def write(folder: Path, files: dict[str, Any]) -> None:
    """Write files: text, bytes, a link (Path), executable text (tuple), or nothing any more."""
    for name, content in files.items():
        path = folder / name
        if path.is_symlink() or path.is_file():
            path.unlink()
        if content is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.symlink_to(content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, tuple):
            path.write_text(content[0])
            path.chmod(0o755)
        else:
            path.write_text(content)


def run(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run git as a user would, whatever comes of it."""
    everything = {**os.environ, **IDENTITY, "GIT_TERMINAL_PROMPT": "0", **env}
    return subprocess.run(
        ["git", *args], cwd=folder, env=everything, capture_output=True, check=False, timeout=60
    )


def files_of(folder: Path) -> dict[str, Any]:
    """Everything in a working tree, byte by byte."""
    found: dict[str, Any] = {}
    for at, folders, names in os.walk(folder):
        if at == str(folder) and ".git" in folders:
            folders.remove(".git")
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        found.update({os.path.relpath(os.path.join(at, name), folder): "/" for name in folders})
        for name in (*names, *links):
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                found[os.path.relpath(path, folder)] = ("link", os.readlink(path))
            elif stat.S_ISREG(mode):
                data = Path(path).read_bytes()
                found[os.path.relpath(path, folder)] = (stat.S_IMODE(mode), data)
    return found


def state(folder: Path) -> dict[str, Any]:
    """Everything that must not change by itself: HEAD, references, index, files, settings."""
    git_dir = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    common = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    loose = {
        path.relative_to(common): path.stat().st_size
        for path in common.rglob("*")
        if path.is_file() and not {"objects", "logs"} & set(path.relative_to(common).parts)
    }
    return {
        "HEAD": (git_dir / "HEAD").read_text(),
        "refs": git(folder, "for-each-ref"),
        "index": run(folder, "ls-files", "-s", "-v", "-z").stdout,
        "index file": (git_dir / "index").read_bytes(),
        "files": files_of(folder),
        "data": loose,
    }


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Make sure that nothing is changed meanwhile."""
    before = state(folder)
    yield
    after = state(folder)
    for what, value in before.items():
        assert after[what] == value, what
    healthy(folder)


def healthy(folder: Path) -> None:
    """Make sure that git finds nothing wrong."""
    checked = run(folder, "fsck", "--strict", "--connectivity-only", "--no-dangling")
    assert checked.returncode == 0, checked.stderr
    wrong = [line for line in checked.stderr.splitlines() if not line.startswith(b"notice: ")]
    assert not wrong
