# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Submodules stay where they are, with the work in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from gitserver import git
from gitworld import write
from taking import ACTIONS, act, commit, refused, undone, work

from jupyter_acp.remote.local.fetch import fetch_target
from jupyter_acp.remote.refs import GitRemoteRef


@pytest.fixture
def world(git_world):
    return git_world


@pytest.mark.parametrize("action", ACTIONS)
async def test_submodules_stay_where_they_are(world, action):
    world.server.create("part", {"x": "1\n"})
    where = str(world.server.root / "part.git")
    git(world.home, "-c", "protocol.file.allow=always", "submodule", "-q", "add", where, "part")
    commit(world.home, {"README.md": "# With a part\n"})
    git(world.home, "push", "-q", "origin", "main")
    write(world.home, {"part/x": "changed inside\n"})
    result = await world.fetched({"README.md": "# Changed\n"})
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "part/x").read_text() == "changed inside\n"
    await undone(world, record)
    assert work(world.home) == before


def with_submodule(world):
    """Work of the user in a submodule that is in no commit anywhere."""
    world.server.create("part", {"x": "1\n"})
    where = str(world.server.root / "part.git")
    git(world.home, "-c", "protocol.file.allow=always", "submodule", "-q", "add", where, "part")
    commit(world.home, {"README.md": "# With a part\n"})
    git(world.home, "push", "-q", "origin", "main")
    write(world.home, {"part/x": "changed inside\n", "part/new": "new inside\n"})


def instead(world, path, content, sent=None):
    """Let an agent replace a submodule by something else."""
    sent = sent or world.sent()
    work = world.root / "replacing"
    git(world.root, "clone", "-q", str(world.bare), str(work))
    git(work, "fetch", "-q", "origin", sent.revision)
    git(work, "checkout", "-q", sent.revision)
    git(work, "rm", "-q", "--cached", "part")
    shutil.rmtree(work / "part", ignore_errors=True)
    write(work, {path: content})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Another part")
    git(work, "push", "-q", "-f", "origin", "HEAD:refs/heads/acp/replaced")
    revision = git(work, "rev-parse", "HEAD")
    return GitRemoteRef(url=world.url, branch="acp/replaced", revision=revision)


async def fetched(world, target, sent=None):
    async with world.isolated() as isolated:
        return await fetch_target(
            isolated, target, sent=sent or world.sent(), session="session-1", number=99
        )


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("content", ["a file now\n", Path("src")], ids=["file", "link"])
async def test_a_submodule_with_work_in_it_does_not_become_a_file(world, action, content):
    with_submodule(world)
    result = await fetched(world, instead(world, "part", content))
    await refused(world, action, result, "dirty", ["part/.git", "part/new", "part/x"])
    # What is not there cannot be lost.
    git(world.home, "submodule", "-q", "deinit", "-f", "part")
    before = work(world.home)
    record = await act(world, action, result)
    assert not (world.home / "part").is_dir() or (world.home / "part").is_symlink()
    await undone(world, record)
    assert work(world.home) == before


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_submodule_that_goes_leaves_its_files(world, action):
    with_submodule(world)
    result = await fetched(world, instead(world, "other", "o\n"))
    before = work(world.home)
    record = await act(world, action, result)
    assert git(world.home, "ls-files", "part") == ""
    assert (world.home / "part/x").read_text() == "changed inside\n"
    assert (world.home / "part/new").read_text() == "new inside\n"
    await undone(world, record)
    assert work(world.home) == before
