# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Take over what came back, as the server does, and look at what that leaves."""

from __future__ import annotations

import shutil
from contextlib import nullcontext

import pytest
from gitserver import git
from gitworld import run, state, untouched, write

from jupyter_acp.remote.local.checkout import checkout
from jupyter_acp.remote.local.fetch import fetch_target
from jupyter_acp.remote.local.merge import merge, pick
from jupyter_acp.remote.local.repository import RepositoryError
from jupyter_acp.remote.local.undo import undo
from jupyter_acp.remote.refs import GitRemoteRef

CHANGES = {"README.md": "# Changed\n", "gone.txt": None, "src/new.py": "n = 1\n"}


ACTIONS = ("checkout", "merge", "pick")


async def act(world, action, result, *, folder=None, name="taken/over", **options):
    async with world.isolated(folder) as isolated:
        if action == "checkout":
            return await checkout(isolated, result, name)
        return await {"merge": merge, "pick": pick}[action](isolated, result, **options)


async def undone(world, record, folder=None):
    async with world.isolated(folder) as isolated:
        return await undo(isolated, record.id)


async def refused(world, action, result, code, files=None, *, folder=None, **options):
    folder = folder or world.home
    before = work(folder)
    # Where git has begun to write, it knows the files of before by new times.
    nothing = nullcontext() if code == "failed" else untouched(folder)
    with nothing, pytest.raises(RepositoryError) as caught:
        await act(world, action, result, folder=folder, **options)
    assert caught.value.code == code, caught.value
    assert work(folder) == before
    if files is not None:
        assert list(caught.value.files) == files
    assert not (world.home / ".git" / "index.lock").exists()
    return str(caught.value)


def work(folder):
    """What a user sees, whatever bytes git's own files have."""
    found = state(folder)
    found.pop("index file")
    found.pop("data")
    return found


def status(folder):
    return run(folder, "status", "--porcelain", "-z").stdout.decode().split("\0")[:-1]


def commit(folder, files):
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Of the user")


MANY = {
    **{f"a{number}.txt": f"new {number}\n" for number in range(5)},
    "folder/b.txt": "new\n",
    "gone.txt": None,
    "middle.txt": "x" * 100_000,
    "new/deep/er/c.txt": "new\n",
    "src/a.py": None,
    "src/b.py": None,
    "src": "a file now\n",
    "zz.txt": "new\n",
}


async def many(world):
    """A result that changes a lot, the middle of which is large."""
    old = {name: f"old {name}\n" for name in ("a0.txt", "a1.txt", "a2.txt", "middle.txt", "zz.txt")}
    commit(world.home, old)
    git(world.home, "push", "-q", "origin", "main")
    work = world.root / "agent"
    git(world.root, "clone", "-q", str(world.bare), str(work))
    shutil.rmtree(work / "src")
    write(work, {name: text for name, text in MANY.items() if not name.startswith("src/")})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Many")
    git(work, "push", "-q", "origin", "HEAD:refs/heads/many")
    revision = git(work, "rev-parse", "HEAD")
    target = GitRemoteRef(url=world.url, branch="many", revision=revision)
    async with world.isolated() as isolated:
        return await fetch_target(isolated, target, sent=world.sent(), session="many", number=1)
