# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What came back is checked out, merged and picked: completely, or not at all; and undone."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from gitserver import git
from gitworld import files_of, healthy, run, state, untouched, write

from jupyter_acp.remote.home import owner, records, transaction
from jupyter_acp.remote.home.actions import checkout, merge, pick, undo
from jupyter_acp.remote.home.recovery import recover
from jupyter_acp.remote.home.repository import RepositoryError
from jupyter_acp.remote.home.results import discard, fetch_target
from jupyter_acp.remote.home.saved import Saved
from jupyter_acp.remote.home.scratch import push_scratch
from jupyter_acp.remote.home.working import Plan
from jupyter_acp.remote.refs import GitRemoteRef

CHANGES = {"README.md": "# Changed\n", "gone.txt": None, "src/new.py": "n = 1\n"}
ACTIONS = ("checkout", "merge", "pick")


@pytest.fixture
def world(git_world):
    return git_world


async def act(world, action, result, *, folder=None, name="taken/over", **options):
    async with world.shadow(folder) as shadow:
        if action == "checkout":
            return await checkout(shadow, result, name)
        return await {"merge": merge, "pick": pick}[action](shadow, result, **options)


async def undone(world, record, folder=None):
    async with world.shadow(folder) as shadow:
        return await undo(shadow, record.id)


async def refused(world, action, result, code, files=None, *, folder=None, **options):
    with untouched(folder or world.home), pytest.raises(RepositoryError) as caught:
        await act(world, action, result, folder=folder, **options)
    assert caught.value.code == code, caught.value
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


async def test_check_out_as_a_branch(world):
    result = await world.fetched(CHANGES)
    before = work(world.home)
    record = await act(world, "checkout", result)
    assert git(world.home, "symbolic-ref", "HEAD") == "refs/heads/taken/over"
    assert git(world.home, "rev-parse", "HEAD") == result.revision
    assert status(world.home) == []
    assert (world.home / "README.md").read_text() == "# Changed\n"
    assert not (world.home / "gone.txt").exists()
    assert git(world.home, "rev-parse", "main") == result.sent
    assert record.public()["branch"] == "taken/over"
    healthy(world.home)
    git(world.home, "checkout", "-q", "-")
    assert git(world.home, "symbolic-ref", "HEAD") == "refs/heads/main"
    git(world.home, "checkout", "-q", "-")
    await undone(world, record)
    assert work(world.home) == before
    healthy(world.home)


async def test_merge_by_fast_forward(world):
    result = await world.fetched(CHANGES)
    before = work(world.home)
    record = await act(world, "merge", result)
    assert git(world.home, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(world.home, "rev-parse", "main") == result.revision
    assert status(world.home) == []
    assert "Fast-forward" in git(world.home, "reflog", "-1", "HEAD")
    assert "fast-forward" in record.message
    healthy(world.home)
    await undone(world, record)
    assert work(world.home) == before


async def test_merge_with_a_commit(world):
    git(world.home, "config", "user.name", "Ada of this project")
    result = await world.fetched(CHANGES)
    commit(world.home, {"src/a.py": "a = 5\n"})
    head = git(world.home, "rev-parse", "HEAD")
    before = work(world.home)
    record = await act(world, "merge", result, message="Take it\n\nBecause.")
    assert git(world.home, "log", "-1", "--format=%P%n%B%n%an") == (
        f"{head} {result.revision}\nTake it\n\nBecause.\n\nAda of this project"
    )
    assert status(world.home) == []
    assert (world.home / "src/a.py").read_text() == "a = 5\n"
    assert (world.home / "README.md").read_text() == "# Changed\n"
    healthy(world.home)
    await undone(world, record)
    assert work(world.home) == before


async def test_pick_into_the_files(world):
    result = await world.fetched(CHANGES)
    commit(world.home, {"src/a.py": "a = 5\n"})
    head = git(world.home, "rev-parse", "HEAD")
    before = work(world.home)
    record = await act(world, "pick", result)
    assert git(world.home, "rev-parse", "HEAD") == head
    assert sorted(status(world.home)) == ["A  src/new.py", "D  gone.txt", "M  README.md"]
    assert (world.home / "src/a.py").read_text() == "a = 5\n"
    healthy(world.home)
    git(world.home, "gc", "-q", "--prune=now")
    healthy(world.home)
    await undone(world, record)
    assert work(world.home) == before


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


@pytest.mark.parametrize("action", ["merge", "pick"])
async def test_a_conflict_is_explained(world, action):
    result = await world.fetched({**CHANGES, "src/a.py": "a = 2\n"})
    commit(world.home, {"src/a.py": "a = 3\n", "gone.txt": "still here\n"})
    words = await refused(world, action, result, "conflict", ["gone.txt", "src/a.py"])
    assert "gone.txt, src/a.py" in words


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


@pytest.mark.parametrize("action", ACTIONS)
async def test_a_result_that_was_discarded(world, action):
    result = await world.fetched(CHANGES)
    await discard(await world.repository(), result)
    await refused(world, action, result, "gone")


@pytest.mark.parametrize("action", ["merge", "pick"])
async def test_what_is_here_already(world, action):
    result = await world.fetched(CHANGES)
    await act(world, "merge", result)
    await refused(world, action, result, "nothing")


async def test_names_of_branches(world, tmp_path):
    result = await world.fetched(CHANGES)
    git(world.home, "branch", "a/b")
    git(world.home, "worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    git(tmp_path / "side", "checkout", "-q", "--orphan", "unborn")
    for name, code in {
        "main": "branchExists",
        "a": "branchExists",
        "a/b/c": "branchExists",
        "unborn": "branchElsewhere",
        "-x": "badName",
        "a..b": "badName",
        "refs/heads/x": "badName",
        "": "badName",
    }.items():
        await refused(world, "checkout", result, code, name=name)


async def test_a_branch_that_is_also_checked_out_elsewhere(world, tmp_path):
    result = await world.fetched(CHANGES)
    git(world.home, "worktree", "add", "-q", "-f", str(tmp_path / "side"), "main")
    words = await refused(world, "merge", result, "branchElsewhere")
    assert str(tmp_path / "side") in words


async def test_a_detached_head(world):
    result = await world.fetched(CHANGES)
    git(world.home, "checkout", "-q", "--detach")
    await refused(world, "merge", result, "detached")
    before = work(world.home)
    for action in ("checkout", "pick"):
        record = await act(world, action, result)
        assert (world.home / "README.md").read_text() == "# Changed\n"
        await undone(world, record)
        assert work(world.home) == before


async def test_before_the_first_commit(world):
    result = await world.fetched(CHANGES)
    git(world.home, "checkout", "-q", "--orphan", "unborn")
    await refused(world, "pick", result, "noCommits")


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
    async with world.shadow() as shadow:
        return await fetch_target(shadow, target, sent=world.sent(), session="renamed", number=1)


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
    kept = [path for path in world.cache.glob("*/records/*/files/*") if not path.is_symlink()]
    assert not kept
    await undone(world, record)
    assert work(world.home) == before
    assert (tmp_path / "outside/secret").read_text() == "s3cret\n"


def saved_meanwhile(world, monkeypatch, files, when="before"):
    """Let somebody save files while git is about to write them, or has just done so."""
    carry_out = Plan.carry_out

    async def saving(self):
        if when == "before":
            write(world.home, files)
        await carry_out(self)
        if when == "after":
            write(world.home, files)
            raise OSError("As if something had gone wrong")

    monkeypatch.setattr(Plan, "carry_out", saving)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("action", ACTIONS)
async def test_what_is_saved_meanwhile_is_not_overwritten(world, action, when, monkeypatch):
    result = await many(world)
    before = work(world.home)
    mine = {"a0.txt": "saved\n", "zz.txt": "saved as well\n"}
    saved_meanwhile(world, monkeypatch, mine, when)
    with pytest.raises(RepositoryError) as caught:
        await act(world, action, result)
    assert caught.value.code == "failed"
    assert "as before but for a0.txt, zz.txt" in str(caught.value)
    after = work(world.home)
    assert {name: after["files"][name][1].decode() for name in mine} == mine
    # How they were is kept, and the place is told.
    (folder,) = world.cache.glob("*/records/*")
    assert str(folder) in str(caught.value)
    kept = {path.read_text() for path in (folder / "files").iterdir()}
    assert {"old a0.txt\n", "old zz.txt\n"} <= kept
    write(world.home, {name: f"old {name}\n" for name in mine})
    assert work(world.home) == before
    healthy(world.home)


async def test_what_is_saved_where_a_folder_was_is_put_aside(world, monkeypatch):
    result = await many(world)
    # The folder src is to be a file, and somebody writes to that.
    saved_meanwhile(world, monkeypatch, {"src": "saved\n"}, "after")
    before = work(world.home)
    with pytest.raises(RepositoryError) as caught:
        await act(world, "pick", result)
    assert "but for src" in str(caught.value)
    assert work(world.home) == before
    (kept,) = world.cache.glob("*/records/*/replaced/*")
    assert kept.read_text() == "saved\n"


async def test_what_is_saved_while_something_is_undone_is_not_overwritten(world, monkeypatch):
    git(world.home, "config", "core.autocrlf", "true")
    write(world.home, {"README.md": b"# Hello\n", "src/a.py": b"a = 1\n"})
    git(world.home, "add", "-A")
    result = await world.fetched({"README.md": "# New\n", "src/a.py": "a = 2\n"})
    record = await act(world, "merge", result)
    carry_out = Plan.carry_out

    async def saving(self):
        await carry_out(self)
        write(world.home, {"README.md": "saved\n"})

    monkeypatch.setattr(Plan, "carry_out", saving)
    again = await undone(world, record)
    assert "README.md" in again.message
    assert (world.home / "README.md").read_text() == "saved\n"
    assert (world.home / "src/a.py").read_bytes() == b"a = 1\n"
    assert status(world.home) == [" M README.md"]


@pytest.mark.parametrize("action", ["merge", "checkout"])
async def test_line_ends_are_no_work_of_somebody_else(world, action):
    git(world.home, "config", "core.autocrlf", "true")
    attributes = {".gitattributes": "*.py text eol=lf\n", "src/.gitattributes": "a.py eol=crlf\n"}
    result = await world.fetched({"README.md": "# New\n", "src/a.py": "a = 2\n", **attributes})
    lock = {"merge": "refs/heads/main.lock", "checkout": "HEAD.lock"}[action]
    (world.home / ".git" / lock).write_bytes(b"")
    assert "all is as before. git" in await refused(world, action, result, "failed")


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
    async with world.shadow() as shadow:
        return await fetch_target(shadow, target, sent=world.sent(), session="many", number=1)


@pytest.mark.parametrize("action", ACTIONS)
async def test_all_of_many(world, action):
    result = await many(world)
    before = work(world.home)
    record = await act(world, action, result)
    assert {name for name, file in files_of(world.home).items() if file != "/"} == {
        "README.md",
        *(name for name, text in MANY.items() if text is not None),
    }
    await undone(world, record)
    assert work(world.home) == before


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
    with no_file_larger_than(50_000):
        words = await refused(world, action, result, "failed")
    assert f"signal {signal.SIGXFSZ.value}" in words
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
        async with world.shadow(home) as shadow:
            result = await fetch_target(shadow, target, sent=world.sent(), session="s", number=1)
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        (disk / "filling").write_bytes(b"x" * (free - 60_000))
        words = await refused(world, action, result, "failed", folder=home)
        assert "middle.txt" in words
        (disk / "filling").unlink()
        await act(world, action, result, folder=home)


async def test_copies_that_cannot_be_made(world):
    result = await world.fetched(CHANGES)
    (place,) = world.cache.iterdir()
    (place / "records").write_text("in the way")
    await refused(world, "merge", result, "noCopies")


@pytest.mark.parametrize("action", ACTIONS)
async def test_nobody_can_stop_it_in_the_middle(world, action, monkeypatch):
    result = await many(world)
    before, begun = work(world.home), asyncio.Event()
    carry_out = Plan.carry_out

    async def slow(self):
        begun.set()
        await asyncio.sleep(0.2)
        await carry_out(self)

    monkeypatch.setattr(Plan, "carry_out", slow)
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


CRASH = """
import asyncio, os, signal, sys
from pathlib import Path
from gitworld import POLICY
from jupyter_acp.remote.home import actions, transaction
from jupyter_acp.remote.git import Git
from jupyter_acp.remote.home.repository import Repository
from jupyter_acp.remote.home.results import Result
from jupyter_acp.remote.home.shadow import Shadow
from jupyter_acp.remote.home.working import Plan

home, cache, action, where, result = sys.argv[1:]
die = lambda *args: os.kill(os.getpid(), signal.SIGKILL)

async def dying(*args, **options):
    die()

async def written(self):
    await carry_out(self)
    die()

carry_out = Plan.carry_out
write = transaction.Records.write
if where == "copied":
    Plan.carry_out = dying
elif where == "written":
    Plan.carry_out = written
elif where == "moved":
    transaction._install = die
elif where == "installed":
    transaction.Records.write = lambda self, record: die() if record.done else write(self, record)
elif where == "locked":
    actions.make_plan = dying

async def main():
    repository = await Repository.find(Path(home), Git(policy=POLICY))
    async with Shadow.of(repository, Path(cache)) as shadow:
        more = ("crashed",) if action == "checkout" else ()
        await getattr(actions, action)(shadow, Result.model_validate_json(result), *more)

asyncio.run(main())
"""


def crash(world, action, where, result):
    """Let a server die in the middle of something."""
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    arguments = [str(world.home), str(world.cache), action, where, result.model_dump_json()]
    done = subprocess.run(
        [sys.executable, "-c", CRASH, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert (world.home / ".git" / "index.lock").exists()


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("where", ["locked", "copied", "written", "moved", "installed"])
async def test_the_server_dies_in_the_middle(world, action, where):
    """Whoever comes next puts it right before anything else is done."""
    result = await many(world)
    before = work(world.home)
    crash(world, action, where, result)
    async with world.shadow() as shadow:
        assert await recover(shadow)
        assert not await recover(shadow)
    assert work(world.home) == before
    healthy(world.home)
    await act(world, action, result)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("where", ["copied", "written", "moved", "installed"])
async def test_the_server_dies_and_its_lock_is_removed_by_hand(world, action, where):
    """As git advises; what else is staged by then stays so."""
    result = await many(world)
    before = work(world.home)
    crash(world, action, where, result)
    (world.home / ".git" / "index.lock").unlink()
    git(world.home, "status")
    write(world.home, {"mine": "1\n"})
    git(world.home, "add", "mine")
    async with world.shadow() as shadow:
        assert await recover(shadow)
        assert not await recover(shadow)
    assert git(world.home, "show", ":mine") == "1"
    git(world.home, "rm", "-qf", "mine")
    assert work(world.home) == before
    assert not list(world.cache.glob("*/records/*"))
    healthy(world.home)
    await act(world, action, result)


@pytest.mark.parametrize("has_lock", [True, False])
async def test_only_one_of_several_puts_it_right(world, has_lock):
    result = await many(world)
    before = work(world.home)
    crash(world, "merge", "moved", result)
    if not has_lock:
        (world.home / ".git" / "index.lock").unlink()

    async def again():
        async with world.shadow() as shadow:
            return await recover(shadow)

    told = await asyncio.gather(*(again() for _ in range(4)))
    assert sorted(map(len, told)) == [0, 0, 0, 1]
    assert work(world.home) == before


async def test_what_the_user_made_of_it_after_a_crash_is_left(world):
    result = await many(world)
    crash(world, "merge", "written", result)
    (world.home / ".git" / "index.lock").unlink()
    git(world.home, "add", "-A")
    git(world.home, "commit", "-qm", "All of this is mine now")
    with untouched(world.home):
        async with world.shadow() as shadow:
            (words,) = await recover(shadow)
            assert not await recover(shadow)
    (folder,) = world.cache.glob("*/records/*/files")
    assert "left as it is" in words and str(folder) in words


@pytest.mark.parametrize("has_lock", [True, False])
async def test_a_server_on_another_machine_may_live(world, monkeypatch, has_lock):
    result = await many(world)
    before = work(world.home)
    crash(world, "merge", "written", result)
    lock = world.home / ".git" / "index.lock"
    if not has_lock:
        lock.unlink()
    monkeypatch.setattr(owner.socket, "gethostname", lambda: "another")
    with untouched(world.home):
        async with world.shadow() as shadow:
            assert not await recover(shadow)
    # But not for ever: a container that is started anew has another name.
    monkeypatch.setattr(owner, "_LONGEST", -1.0)
    async with world.shadow() as shadow:
        assert await recover(shadow)
    assert work(world.home) == before


async def test_what_could_not_be_taken_back_is_tried_again(world, monkeypatch):
    result = await many(world)
    before = work(world.home)
    main = world.home / ".git" / "refs/heads/main.lock"
    main.write_bytes(b"")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Saved, "put_back", full)
        with pytest.raises(RepositoryError) as caught:
            await act(world, "merge", result)
    assert caught.value.code == "halfDone"
    main.unlink()
    async with world.shadow() as shadow:
        assert await recover(shadow)
    assert work(world.home) == before


async def test_what_was_written_after_a_crash_is_kept(world):
    result = await many(world)
    crash(world, "pick", "written", result)
    write(world.home, {"a0.txt": "of the user\n"})
    async with world.shadow() as shadow:
        assert await recover(shadow)
    assert (world.home / "a0.txt").read_text() == "of the user\n"
    assert (world.home / "a1.txt").read_text() == "old a1.txt\n"
    kept = {path.read_text() for path in world.cache.glob("*/records/*/files/*")}
    assert "old a0.txt\n" in kept


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[]",
        "7",
        '["jupyter-acp", "../..", {"pid": 1, "since": 0, "host": ""}]',
        '["jupyter-acp", "00000000000000000000000000000000", [1]]',
        "\0" * 2000,
    ],
    ids=range(7),
)
async def test_a_lock_that_is_not_ours_is_left(world, content):
    (world.home / ".git" / "index.lock").write_text(content)
    async with world.shadow() as shadow:
        assert not await recover(shadow)
    assert (world.home / ".git" / "index.lock").read_text() == content


async def test_a_record_that_cannot_be_written_at_the_end(world, monkeypatch):
    result = await many(world)
    written = records.Records.write

    def write_once(self, record):
        if record.done:
            raise OSError(28, "No space left on device")
        written(self, record)

    monkeypatch.setattr(records.Records, "write", write_once)
    for action in ACTIONS:
        await refused(world, action, result, "failed")


async def test_a_lock_of_a_server_that_lives_is_not_taken(world):
    result = await world.fetched(CHANGES)
    repository = await world.repository()
    with transaction.locked(repository, "0" * 32):
        async with world.shadow() as shadow:
            assert not await recover(shadow)
            with pytest.raises(RepositoryError, match="Another git"):
                await pick(shadow, result)
    await act(world, "pick", result)


CHANGED_SINCE = {
    "committed": lambda home: git(home, "commit", "-q", "--allow-empty", "-m", "More"),
    "written": lambda home: write(home, {"README.md": "later\n"}),
    "removed": lambda home: write(home, {"src/new.py": None}),
    "made anew": lambda home: write(home, {"gone.txt": "later\n"}),
    "staged": lambda home: (
        write(home, {"README.md": "later\n"}),
        git(home, "add", "README.md"),
        write(home, {"README.md": "# Changed\n"}),
    ),
    "unstaged": lambda home: git(home, "rm", "-q", "--cached", "README.md", "-f"),
    "elsewhere": lambda home: git(home, "checkout", "-q", "-b", "later"),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("since", CHANGED_SINCE)
async def test_nothing_is_undone_that_was_changed_since(world, action, since):
    result = await world.fetched(CHANGES)
    record = await act(world, action, result)
    CHANGED_SINCE[since](world.home)
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await undone(world, record)
    assert caught.value.code == "changedSince"


async def test_only_what_was_done_can_be_undone_and_only_once(world):
    result = await world.fetched(CHANGES)
    record = await act(world, "pick", result)
    await undone(world, record)
    for id in (record.id, "0" * 32, "../../home", ""):
        with untouched(world.home), pytest.raises(RepositoryError) as caught:
            async with world.shadow() as shadow:
                await undo(shadow, id)
        assert caught.value.code == "unknownRecord"
    assert not list(world.cache.glob("*/records/*"))


async def test_an_undo_that_fails_half_way_is_undone_itself(world):
    result = await many(world)
    record = await act(world, "merge", result)
    (world.home / ".git" / "refs/heads/main.lock").write_bytes(b"")
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await undone(world, record)
    assert caught.value.code == "failed"
    (world.home / ".git" / "refs/heads/main.lock").unlink()
    await undone(world, record)
    assert (world.home / "src" / "a.py").exists()


async def test_only_the_last_can_be_undone(world, monkeypatch):
    monkeypatch.setattr(records, "KEPT", 2)
    done = []
    for number in range(3):
        done.append(await act(world, "pick", await world.fetched({"n": f"{number}\n"})))
        git(world.home, "commit", "-qm", "Picked")
        git(world.home, "push", "-q", "origin", "main")
    assert len(list(world.cache.glob("*/records/*"))) == 2
    git(world.home, "reset", "-q", "--soft", "HEAD~")
    await undone(world, done[2])
    assert (world.home / "n").read_text() == "1\n"


async def test_copies_are_not_kept_for_ever(world, monkeypatch):
    done = []
    for number in range(4):
        done.append(await act(world, "pick", await world.fetched({"n": f"{number}\n" * 100})))
        git(world.home, "commit", "-qm", "Picked")
        git(world.home, "push", "-q", "origin", "main")
    (folder,) = world.cache.glob("*/records")
    (folder / ("f" * 32)).mkdir()
    (folder / done[1].id / "replaced").mkdir()
    (folder / done[2].id / "open").touch()
    for age, names in {
        29: [done[0].id, done[1].id],
        2: ["f" * 32],
        31: [done[2].id],
    }.items():
        for name in names:
            os.utime(folder / name, (time.time() - age * 86400,) * 2)
    records.prune_all(world.cache)
    assert {path.name for path in folder.iterdir()} == {record.id for record in done}
    # The largest, but never the latest.
    monkeypatch.setattr(records, "LARGEST", 10)
    records.prune_all(world.cache)
    assert {path.name for path in folder.iterdir()} == {record.id for record in done[1:]}
    os.utime(folder / done[1].id, (1, 1))
    os.utime(folder / done[3].id, (1, 1))
    records.prune_all(world.cache)
    assert [path.name for path in folder.iterdir()] == [done[2].id]


async def sent_as_it_is(world):
    """Changes that were never committed go to the session, and come back with its own."""
    write(world.home, {"README.md": "mine\n", "untracked": "u\n", "src/b.py": None})
    write(world.home, {"src/a.py": "staged\n", "gone.txt": "mine\n", "kept": "k\n"})
    git(world.home, "add", "src/a.py")
    async with world.shadow() as shadow:
        return await push_scratch(shadow, include_uncommitted=True)


@pytest.mark.parametrize("action", ACTIONS)
async def test_work_that_was_sent_is_not_in_the_way_of_what_comes_back(world, action):
    sent = await sent_as_it_is(world)
    result = await world.fetched(
        {
            "README.md": "mine\nand theirs\n",
            "untracked": None,
            "n": "1\n",
            # As it is in the last commit.
            "gone.txt": "x\n",
        },
        sent,
    )
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "README.md").read_text() == "mine\nand theirs\n"
    assert not (world.home / "untracked").exists()
    assert (world.home / "gone.txt").read_text() == "x\n"
    assert (world.home / "kept").read_text() == "k\n"
    assert (world.home / "src" / "a.py").read_text() == "staged\n"
    if action != "pick":
        assert status(world.home) == []
    healthy(world.home)
    await undone(world, record)
    assert work(world.home) == before
    healthy(world.home)


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
async def test_work_that_went_on_after_it_was_sent_is_in_the_way(world, action):
    sent = await sent_as_it_is(world)
    result = await world.fetched({"n": "1\n"}, sent)
    write(world.home, {"README.md": "mine, later\n", "n": "mine\n"})
    await refused(world, action, result, "dirty", ["README.md", "n"])
    write(world.home, {"README.md": "mine\n", "n": None, "src/a.py": "only staged\n"})
    git(world.home, "add", "src/a.py")
    write(world.home, {"src/a.py": "staged\n"})
    await refused(world, action, result, "dirty", ["src/a.py"])


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
    # This one was written by a tool that does not care; git takes it for unchanged.
    write(world.home, {"README.md": b"# Hello\n"})
    git(world.home, "add", "README.md")
    assert status(world.home) == []
    result = await world.fetched({"src/a.py": "a = 2\n", "new": "1\n", "README.md": "# New\n"})
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "src/a.py").read_bytes() == b"a = 2\r\n"
    assert (world.home / "new").read_bytes() == b"1\r\n"
    if action != "pick":
        assert status(world.home) == []
    await undone(world, record)
    assert work(world.home) == before
    assert (world.home / "README.md").read_bytes() == b"# Hello\n"
    assert status(world.home) == []


@pytest.mark.parametrize("action", ACTIONS)
async def test_what_a_filter_keeps_out_of_the_repository_comes_back(world, action):
    """Outputs of a notebook, say: they are on disk only, and a copy is all that there is of them."""
    git(world.home, "config", "filter.strip.clean", "grep -v output")
    commit(world.home, {".gitattributes": "*.nb filter=strip\n", "a.nb": "cell\noutput\n"})
    git(world.home, "push", "-q", "origin", "main")
    assert git(world.home, "show", "HEAD:a.nb") == "cell"
    os.utime(world.home / "a.nb", (1, 1))
    git(world.home, "update-index", "--refresh")
    result = await world.fetched({"a.nb": "cell\nmore\n"})
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "a.nb").read_text() == "cell\nmore\n"
    await undone(world, record)
    assert work(world.home) == before
    assert status(world.home) == []


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
    async with world.shadow(long) as shadow:
        result = await fetch_target(shadow, target, sent=sent, session="s", number=1)
    commit(long, {"b": "2\n"})
    before = work(long)
    for action in ACTIONS:
        record = await act(world, action, result, folder=long)
        assert (long / "a").read_text() == "2\n"
        healthy(long)
        await undone(world, record, long)
        assert work(long) == before


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
    async with world.shadow() as shadow:
        return await fetch_target(
            shadow, target, sent=sent or world.sent(), session="session-1", number=99
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
async def test_a_submodule_that_was_sent_uncommitted_does_not_become_a_file(world, action):
    commit(world.home, {"part": "a file as yet\n"})
    git(world.home, "push", "-q", "origin", "main")
    write(world.home, {"part": None})
    git(world.home, "rm", "-q", "--cached", "part")
    world.server.create("part", {"x": "1\n"})
    where = str(world.server.root / "part.git")
    git(world.home, "-c", "protocol.file.allow=always", "submodule", "-q", "add", where, "part")
    async with world.shadow() as shadow:
        sent = await push_scratch(shadow, include_uncommitted=True)
    result = await fetched(world, instead(world, "part", "a file again\n", sent), sent)
    write(world.home, {"part/new": "new inside\n"})
    await refused(world, action, result, "dirty", ["part/.git", "part/new", "part/x"])


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


@pytest.mark.parametrize("action", ACTIONS)
async def test_empty_folders_come_back(world, action):
    result = await world.fetched({"src/new": "1\n"})
    (world.home / "src/new/empty/inside").mkdir(parents=True)
    before = work(world.home)
    record = await act(world, action, result)
    assert (world.home / "src/new").read_text() == "1\n"
    await undone(world, record)
    assert work(world.home) == before


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
