# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Work of the user that would be lost is named, and nothing is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitserver import git
from gitworld import healthy, run, untouched, write
from taking import ACTIONS, CHANGES, act, commit, refused, status, undone, work

from jupyter_acp.remote.local.push import push_scratch
from jupyter_acp.remote.local.repository import RepositoryError


@pytest.fixture
def world(git_world):
    return git_world


@pytest.mark.parametrize("action", ACTIONS)
async def test_other_work_of_the_user_is_left_alone(world, action):
    write(world.home, {"src/a.py": "staged\n", "untracked": "u\n", "src/c.py": "added\n"})
    git(world.home, "add", "src")
    write(world.home, {"src/a.py": "not staged\n", "src/b.py": None})
    mine = [" D src/b.py", "?? untracked", "A  src/c.py", "MM src/a.py"]
    assert sorted(status(world.home)) == mine
    result = await world.fetched(CHANGES)
    before = work(world.home)
    record = await act(world, action, result)
    assert set(mine) <= set(status(world.home))
    assert (world.home / "README.md").read_text() == "# Changed\n"
    assert (world.home / "src/a.py").read_text() == "not staged\n"
    assert git(world.home, "show", ":src/a.py") == "staged"
    # Also what the user goes on with elsewhere does not keep it from being undone.
    write(world.home, {"more": "m\n", "src/a.py": "even later\n"})
    await undone(world, record)
    write(world.home, {"more": None, "src/a.py": "not staged\n"})
    assert work(world.home) == before
    healthy(world.home)


MINE = {
    "changed": ({"README.md": "mine\n"}, ["README.md"]),
    "staged": ({"README.md": "mine\n"}, ["README.md"]),
    "staged and back": ({"README.md": "mine\n"}, ["README.md"]),
    "removed": ({"README.md": None}, ["README.md"]),
    "executable": ({"README.md": ("# Hello\n",)}, ["README.md"]),
    "changed where it is to go": ({"gone.txt": "mine\n"}, ["gone.txt"]),
    "new": ({"src/new.py": "mine\n"}, ["src/new.py"]),
    "new and the same": ({"src/new.py": "n = 1\n"}, ["src/new.py"]),
    "ignored": ({"src/new.py": "mine\n"}, ["src/new.py"]),
    "folder": (
        {"src/new.py/x": "mine\n", "src/new.py/y/z": "mine\n"},
        ["src/new.py/x", "src/new.py/y/z"],
    ),
    "ignored in a folder": ({"src/new.py/x": "mine\n"}, ["src/new.py/x"]),
    "link in a folder": ({"src/new.py/x": Path("/tmp")}, ["src/new.py/x"]),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", MINE)
async def test_work_that_would_be_lost_is_not(world, action, kind):
    result = await world.fetched(CHANGES)
    mine, named = MINE[kind]
    write(world.home, mine)
    if kind.startswith("ignored"):
        (world.home / ".git" / "info" / "exclude").write_text("new.py\nx\n")
    if kind.startswith("staged"):
        git(world.home, "add", "-A")
    if kind == "staged and back":
        write(world.home, {"README.md": "# Hello\n"})
    words = await refused(world, action, result, "dirty", named)
    assert all(name in words for name in named) and "stash" in words


@pytest.mark.parametrize("action", ACTIONS)
async def test_links_are_not_followed(world, action, tmp_path):
    result = await world.fetched({"docs/a.txt": "x\n"})
    (tmp_path / "outside").mkdir()
    write(world.home, {"docs": tmp_path / "outside"})
    await refused(world, action, result, "dirty", ["docs"])
    write(world.home, {"docs": None, "src/a.py": None, "src/b.py": None})
    (world.home / "src").rmdir()
    write(world.home, {"src": tmp_path / "outside"})
    result = await world.fetched({"src/a.py": "x\n", "src/b.py": None})
    await refused(world, action, result, "dirty")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("action", ACTIONS)
async def test_files_that_git_was_told_not_to_look_at(world, action):
    result = await world.fetched(CHANGES)
    git(world.home, "update-index", "--assume-unchanged", "README.md")
    write(world.home, {"README.md": "mine\n"})
    words = await refused(world, action, result, "dirty")
    assert "README.md" in words


@pytest.mark.parametrize("action", ACTIONS)
async def test_not_while_something_is_in_progress(world, action):
    result = await world.fetched(CHANGES)
    commit(world.home, {"src/a.py": "a = 3\n"})
    git(world.home, "checkout", "-q", "-b", "other", "HEAD~")
    commit(world.home, {"src/a.py": "a = 4\n"})
    for command, words in (
        ("merge", "a merge"),
        ("rebase", "a rebase"),
        ("cherry-pick", "a cherry-pick"),
    ):
        assert run(world.home, command, "main").returncode
        assert words in await refused(world, action, result, "inProgress")
        git(world.home, command, "--abort")
    # A conflict may also be left by a stash.
    git(world.home, "checkout", "-q", "main")
    write(world.home, {"src/b.py": "stashed\n"})
    git(world.home, "stash", "-q")
    commit(world.home, {"src/b.py": "b = 9\n"})
    assert run(world.home, "stash", "pop").returncode
    if action != "checkout":
        result = await world.fetched({"new": "1\n"}, sent=world.sent(result.sent))
    await refused(world, action, result, "unmerged")


@pytest.mark.parametrize("action", ACTIONS)
async def test_not_while_another_git_is_at_work(world, action):
    result = await world.fetched(CHANGES)
    lock = world.home / ".git" / "index.lock"
    lock.write_bytes(b"")
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await act(world, action, result)
    assert caught.value.code == "locked" and str(lock) in str(caught.value)
    assert lock.exists()


async def sent_as_it_is(world):
    """Changes that were never committed go to the session, and come back with its own."""
    write(world.home, {"README.md": "mine\n", "untracked": "u\n", "src/b.py": None})
    write(world.home, {"src/a.py": "staged\n", "gone.txt": "mine\n", "kept": "k\n"})
    git(world.home, "add", "src/a.py")
    async with world.isolated() as isolated:
        return await push_scratch(isolated, include_uncommitted=True)


async def test_what_was_committed_before_it_was_sent_can_be_taken_back_by_the_user(world):
    """Not to be confused with work that was sent: this was not."""
    first = world.sent()
    result = await world.fetched({"README.md": "theirs\n", "src/a.py": "theirs\n"}, first)
    commit(world.home, {"README.md": "# Hello\n\nmine\n", "gone.txt": "y\n"})
    write(world.home, {"README.md": "# Hello\n", "gone.txt": "x\n"})
    await refused(world, "checkout", result, "dirty", ["README.md", "gone.txt"])
    git(world.home, "checkout", "README.md")
    await refused(world, "merge", result, "conflict", ["README.md"])
    result = await world.fetched({"src/a.py": "theirs\n"}, first)
    await act(world, "merge", result)
    assert (world.home / "gone.txt").read_text() == "x\n"


@pytest.mark.parametrize("action", ACTIONS)
async def test_work_that_was_sent_without_a_commit_can_be_stashed(world, action):
    sent = await sent_as_it_is(world)
    result = await world.fetched({"README.md": "mine\nand theirs\n", "n": "1\n"}, sent)
    mine = ["README.md", "gone.txt", "kept", "src/a.py", "src/b.py", "untracked"]
    words = await refused(world, action, result, "dirty", mine)
    assert "the result contains it" in words
    git(world.home, "stash", "-u")
    await act(world, action, result)
    assert (world.home / "README.md").read_text() == "mine\nand theirs\n"
    assert (world.home / "untracked").read_text() == "u\n"
