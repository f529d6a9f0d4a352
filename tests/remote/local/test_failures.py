# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What fails in the middle leaves everything as it was."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from gitserver import git
from gitworld import healthy, write
from taking import ACTIONS, CHANGES, act, commit, many, refused, undone, work

from jupyter_acp.remote.local import action as doing
from jupyter_acp.remote.local.fetch import fetch_target
from jupyter_acp.remote.local.repository import RepositoryError
from jupyter_acp.remote.local.working_tree import switch
from jupyter_acp.remote.refs import GitRemoteRef


@pytest.fixture
def world(git_world):
    return git_world


@pytest.mark.parametrize(
    ("action", "lock"), [("merge", "refs/heads/main.lock"), ("checkout", "HEAD.lock")]
)
async def test_a_reference_that_cannot_be_changed(world, action, lock):
    """The files are written by then, and written back."""
    result = await world.fetched(CHANGES)
    (world.home / ".git" / lock).write_bytes(b"")
    words = await refused(world, action, result, "failed")
    assert "all is as before" in words and lock in words
    (world.home / ".git" / lock).unlink()
    await act(world, action, result)


async def renamed(world):
    """A result that renames a folder, and leaves a link to it under the old name."""
    commit(world.home, {"src/deep/c.py": "c = 1\n"})
    git(world.home, "push", "-q", "origin", "main")
    work = world.root / "renaming"
    git(world.root, "clone", "-q", str(world.bare), str(work))
    git(work, "mv", "src", "lib")
    write(work, {"src": Path("lib")})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Renamed")
    git(work, "push", "-q", "origin", "HEAD:refs/heads/acp/renamed")
    revision = git(work, "rev-parse", "HEAD")
    target = GitRemoteRef(url=world.url, branch="acp/renamed", revision=revision)
    async with world.isolated() as isolated:
        return await fetch_target(isolated, target, sent=world.sent(), session="renamed", number=1)


@pytest.mark.parametrize(
    ("action", "lock"), [("merge", "refs/heads/main.lock"), ("checkout", "HEAD.lock")]
)
async def test_a_folder_that_became_a_link_comes_back(world, action, lock):
    """Seen through the link, everything is where it was; and then the link goes."""
    result = await renamed(world)
    (world.home / ".git" / lock).write_bytes(b"")
    words = await refused(world, action, result, "failed")
    assert "all is as before. git" in words
    (world.home / ".git" / lock).unlink()
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "src").is_symlink()
    await undone(world, record)
    assert work(world.home) == before


async def test_what_is_behind_a_link_is_not_copied(world, tmp_path):
    write(tmp_path, {"outside/secret": "s3cret\n", "outside/more/b": "b\n"})
    commit(world.home, {"d": tmp_path / "outside", "endless": Path("/dev")})
    git(world.home, "push", "-q", "origin", "main")
    target = {"d/secret": "theirs\n", "d/more/b": "theirs\n", "endless/zero": "theirs\n"}
    result = await world.fetched({"d": None, "endless": None, **target})
    before = work(world.home)
    (world.home / ".git" / "refs/heads/main.lock").write_bytes(b"")
    await refused(world, "merge", result, "failed")
    (world.home / ".git" / "refs/heads/main.lock").unlink()
    record = await act(world, "merge", result)
    assert (world.home / "d/secret").read_text() == "theirs\n"
    await undone(world, record)
    assert work(world.home) == before
    assert (tmp_path / "outside/secret").read_text() == "s3cret\n"


@pytest.mark.parametrize("action", ACTIONS)
async def test_what_is_saved_meanwhile_is_not_overwritten(world, action, monkeypatch):
    result = await many(world)
    before = work(world.home)
    mine = {"a0.txt": "saved\n", "new": "saved as well\n", "zz.txt": "and this\n"}

    async def saving(isolated, old, new):
        write(world.home, mine)
        await switch(isolated, old, new)

    monkeypatch.setattr(doing, "switch", saving)
    with pytest.raises(RepositoryError) as caught:
        await act(world, action, result)
    assert caught.value.code == "failed"
    after = work(world.home)
    assert {name: after["files"][name][1].decode() for name in mine} == mine
    write(world.home, {name: f"old {name}\n" for name in ("a0.txt", "zz.txt")} | {"new": None})
    assert work(world.home) == before
    healthy(world.home)


@pytest.mark.parametrize("action", ["merge", "checkout"])
async def test_line_ends_are_no_work_of_somebody_else(world, action):
    git(world.home, "config", "core.autocrlf", "true")
    write(world.home, {"README.md": None, "src/a.py": None})
    git(world.home, "checkout", "README.md", "src/a.py")
    attributes = {".gitattributes": "*.py text eol=lf\n", "src/.gitattributes": "a.py eol=crlf\n"}
    result = await world.fetched({"README.md": "# New\n", "src/a.py": "a = 2\n", **attributes})
    lock = {"merge": "refs/heads/main.lock", "checkout": "HEAD.lock"}[action]
    (world.home / ".git" / lock).write_bytes(b"")
    assert "all is as before. git" in await refused(world, action, result, "failed")


@contextmanager
def immutable(path):
    done = subprocess.run(["chattr", "+i", path], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("files cannot be made immutable here")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


@pytest.mark.skipif(not shutil.which("chattr"), reason="needs chattr")
@pytest.mark.parametrize("action", ACTIONS)
async def test_a_file_that_cannot_be_replaced(world, action):
    result = await many(world)
    with immutable(world.home / "middle.txt"):
        words = await refused(world, action, result, "failed")
    assert "middle.txt" in words
    await act(world, action, result)


@contextmanager
def no_file_larger_than(size):
    """Let git be killed when it writes more: in the middle of a file, in the middle of the files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("action", ACTIONS)
async def test_git_dies_in_the_middle(world, action):
    result = await many(world)
    before, lock = work(world.home), world.home / ".git" / "index.lock"
    with no_file_larger_than(50_000), pytest.raises(RepositoryError) as caught:
        await act(world, action, result)
    # Its lock is left by then, and might be another git's.
    words = str(caught.value)
    assert f"signal {signal.SIGXFSZ.value}" in words and f"remove {lock}" in words
    assert "run:" not in words and work(world.home) == before
    lock.unlink()
    await act(world, action, result)


@contextmanager
def small_disk(folder, size):
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    done = subprocess.run(["mount", *options], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(not shutil.which("mount"), reason="needs mount")
@pytest.mark.parametrize("action", ACTIONS)
async def test_a_disk_that_is_full_in_the_middle(world, action, tmp_path):
    await many(world)
    with small_disk(tmp_path / "small", 1024 * 1024) as disk:
        # Its objects are on the large disk, as are ours; the working tree is on the small one.
        git(disk, "clone", "-q", "--separate-git-dir", str(tmp_path / "data"), world.url, "home")
        home = disk / "home"
        revision = git(world.bare, "rev-parse", "many")
        target = GitRemoteRef(url=world.url, branch="many", revision=revision)
        async with world.isolated(home) as isolated:
            result = await fetch_target(isolated, target, sent=world.sent(), session="s", number=1)
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        (disk / "filling").write_bytes(b"x" * (free - 60_000))
        words = await refused(world, action, result, "failed", folder=home)
        assert "middle.txt" in words
        (disk / "filling").unlink()
        await act(world, action, result, folder=home)


@pytest.mark.parametrize("action", ACTIONS)
async def test_nobody_can_stop_it_in_the_middle(world, action, monkeypatch):
    result = await many(world)
    before, begun = work(world.home), asyncio.Event()

    async def slow(*args):
        begun.set()
        await asyncio.sleep(0.2)
        await switch(*args)

    monkeypatch.setattr(doing, "switch", slow)
    task = asyncio.ensure_future(act(world, action, result))
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (world.home / "middle.txt").stat().st_size == 100_000
    assert work(world.home) != before
    assert not (world.home / ".git" / "index.lock").exists()
    assert not list(world.cache.glob("*/work-*"))
    healthy(world.home)
