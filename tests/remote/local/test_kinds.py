# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Results are taken over in repositories and files of every kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitserver import git
from gitworld import files_of, healthy, write
from taking import ACTIONS, CHANGES, act, commit, refused, status, undone, work

from jupyter_acp.remote.local.fetch import fetch_target
from jupyter_acp.remote.refs import GitRemoteRef


@pytest.fixture
def world(git_world):
    return git_world


@pytest.mark.parametrize("action", ACTIONS)
async def test_names_modes_and_links(world, action):
    commit(world.home, {"a": "1\n", "b": ("1\n",), "link": Path("a"), "was link": Path("b")})
    git(world.home, "push", "-q", "origin", "main")
    files = {
        "a": ("1\n",),
        "b": "1\n",
        "link": Path("b"),
        "was link": "no link\n",
        "is link": Path("nowhere"),
        "with space": "1",
        "new\nline": "2",
        "-dash": "3",
        "latin-\udce9": "4",
        '"quoted"\t': "5",
        "d/*": "6",
    }
    result = await world.fetched(files)
    before = work(world.home)
    record = await act(world, action, result)
    assert os.access(world.home / "a", os.X_OK) and not os.access(world.home / "b", os.X_OK)
    assert os.readlink(world.home / "link") == "b"
    assert (world.home / "was link").read_text() == "no link\n"
    assert (world.home / "latin-\udce9").read_text() == "4"
    assert set(files) <= set(files_of(world.home))
    await undone(world, record)
    assert work(world.home) == before
    write(world.home, {"latin-\udce9": "mine"})
    words = await refused(world, action, result, "dirty", ["latin-\udce9"])
    assert "latin-\\xe9" in words
    words.encode()


@pytest.mark.parametrize("action", ACTIONS)
async def test_line_ends(world, action):
    git(world.home, "config", "core.autocrlf", "true")
    write(world.home, {"src/a.py": None})
    git(world.home, "checkout", "src/a.py")
    result = await world.fetched({"src/a.py": "a = 2\n", "new": "1\n"})
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "src/a.py").read_bytes() == b"a = 2\r\n"
    assert (world.home / "new").read_bytes() == b"1\r\n"
    if action != "pick":
        assert status(world.home) == []
    await undone(world, record)
    assert work(world.home) == before


async def test_a_linked_working_tree(world, tmp_path):
    side = tmp_path / "side"
    git(world.home, "worktree", "add", "-q", "-b", "side", str(side), "main")
    write(world.home, {"README.md": "mine\n"})
    result = await world.fetched(CHANGES, folder=side)
    for action in ACTIONS:
        before, home = work(side), files_of(world.home)
        record = await act(world, action, result, folder=side)
        assert (side / "README.md").read_text() == "# Changed\n"
        assert git(world.home, "rev-parse", "main") == result.sent
        assert files_of(world.home) == home
        await undone(world, record, side)
        assert work(side) == before
    assert git(side, "rev-parse", "HEAD") == result.sent


@pytest.mark.parametrize("sparse", ["false", "true"])
@pytest.mark.parametrize("action", ACTIONS)
async def test_a_sparse_checkout_stays_sparse(world, action, sparse):
    commit(world.home, {"docs/a": "1\n"})
    git(world.home, "push", "-q", "origin", "main")
    git(world.home, "config", "index.sparse", sparse)
    git(world.home, "sparse-checkout", "set", "--cone", "src")
    result = await world.fetched({"docs/a": "2\n", "docs/b": "2\n", "src/a.py": "a = 2\n"})
    before = work(world.home)
    record = await act(world, action, result)
    assert not (world.home / "docs").exists()
    assert (world.home / "src/a.py").read_text() == "a = 2\n"
    assert git(world.home, "show", ":docs/b") == "2"
    if action != "pick":
        assert status(world.home) == []
    healthy(world.home)
    await undone(world, record)
    assert work(world.home) == before


@pytest.mark.parametrize("action", ACTIONS)
async def test_an_index_in_two_parts(world, action):
    git(world.home, "config", "core.splitIndex", "true")
    git(world.home, "update-index", "--split-index")
    result = await world.fetched(CHANGES)
    before = work(world.home)
    record = await act(world, action, result)
    assert "README.md" in git(world.home, "ls-files")
    await undone(world, record)
    assert work(world.home) == before
    healthy(world.home)


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_partial_clone(world, action, tmp_path):
    git(world.bare, "config", "uploadpack.allowFilter", "true")
    commit(world.home, {"docs/a": "1\n" * 100})
    git(world.home, "push", "-q", "origin", "main")
    partial = world.clone(tmp_path / "partial", "--filter=blob:none", "--sparse")
    result = await world.fetched({"docs/a": "1\n" * 99, "README.md": "# New\n"}, folder=partial)
    commit(partial, {"mine": "1\n"})
    before = work(partial)
    record = await act(world, action, result, folder=partial)
    assert (partial / "README.md").read_text() == "# New\n"
    healthy(partial)
    await undone(world, record, partial)
    assert work(partial) == before
    healthy(partial)


async def test_a_repository_of_the_longer_hashes(world, tmp_path):
    long, bare = tmp_path / "long", tmp_path / "srv" / "long.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "--object-format=sha256", str(bare))
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", str(long))
    git(long, "remote", "add", "origin", world.server.url("long"))
    commit(long, {"a": "1\n", "b": "1\n"})
    git(long, "push", "-q", str(bare), "main")
    url, revision = world.server.url("long"), git(long, "rev-parse", "HEAD")
    sent = GitRemoteRef(url=url, branch="main", revision=revision)
    git(tmp_path, "clone", "-q", str(bare), "agent")
    commit(tmp_path / "agent", {"a": "2\n", "c": "1\n"})
    git(tmp_path / "agent", "push", "-q", "origin", "HEAD:refs/heads/r")
    target = sent.model_copy(update={"branch": "r", "revision": git(bare, "rev-parse", "r")})
    async with world.isolated(long) as isolated:
        result = await fetch_target(isolated, target, sent=sent, session="s", number=1)
    commit(long, {"b": "2\n"})
    before = work(long)
    for action in ACTIONS:
        record = await act(world, action, result, folder=long)
        assert (long / "a").read_text() == "2\n"
        healthy(long)
        await undone(world, record, long)
        assert work(long) == before


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_change_right_after_is_seen(world, action):
    """Of the same length, in the same instant: the index must not be younger than the files."""
    result = await world.fetched({"README.md": "# Other\n"})
    for _ in range(5):
        record = await act(world, action, result)
        (world.home / "README.md").write_text("# Later\n")
        assert any(line[1] == "M" for line in status(world.home) if "README" in line)
        (world.home / "README.md").write_text("# Other\n")
        await undone(world, record)
