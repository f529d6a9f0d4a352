# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The last action is undone as long as nothing was done since."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gitserver import git
from gitworld import untouched, write
from taking import ACTIONS, CHANGES, act, many, refused, undone, work

from jupyter_acp.remote.local.repository import RepositoryError


@pytest.fixture
def world(git_world):
    return git_world


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
            await undone(world, replace(record, id=id))
        assert caught.value.code == "unknownRecord"


async def test_an_undo_that_fails_half_way_is_undone_itself(world):
    result = await many(world)
    record = await act(world, "merge", result)
    before = work(world.home)
    (world.home / ".git" / "refs/heads/main.lock").write_bytes(b"")
    with pytest.raises(RepositoryError) as caught:
        await undone(world, record)
    assert caught.value.code == "failed" and work(world.home) == before
    (world.home / ".git" / "refs/heads/main.lock").unlink()
    await undone(world, record)
    assert (world.home / "src" / "a.py").exists()


async def test_only_the_last_can_be_undone(world):
    first = await act(world, "merge", await world.fetched({"a": "1\n"}))
    git(world.home, "push", "-q", "origin", "main")
    result = await world.fetched({"a": "2\n"})
    before = work(world.home)
    second = await act(world, "merge", result)
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await undone(world, first)
    assert caught.value.code == "unknownRecord" and "only the last" in str(caught.value)
    await undone(world, second)
    assert work(world.home) == before
    with untouched(world.home), pytest.raises(RepositoryError):
        await undone(world, first)


async def test_an_action_that_was_refused_does_not_count(world):
    record = await act(world, "merge", await world.fetched(CHANGES))
    write(world.home, {"mine": "1\n"})
    await refused(world, "pick", await world.fetched({"mine": "2\n"}), "dirty", ["mine"])
    await undone(world, record)
    assert git(world.home, "rev-parse", "HEAD") != record.after.revision
