# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A result is merged, checked out or picked: completely, or not at all."""

from __future__ import annotations

import pytest
from gitserver import git
from gitworld import files_of, healthy
from taking import ACTIONS, CHANGES, MANY, act, commit, many, refused, status, undone, work

from jupyter_acp.remote.local.results import discard


@pytest.fixture
def world(git_world):
    return git_world


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
    assert record.after.branch == "taken/over"
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


@pytest.mark.parametrize("action", ["merge", "pick"])
async def test_a_conflict_is_explained(world, action):
    result = await world.fetched({**CHANGES, "src/a.py": "a = 2\n"})
    commit(world.home, {"src/a.py": "a = 3\n", "gone.txt": "still here\n"})
    words = await refused(world, action, result, "conflict", ["gone.txt", "src/a.py"])
    assert "gone.txt, src/a.py" in words


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
