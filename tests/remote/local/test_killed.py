# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A server that is killed in the middle: the next one names what is left, and the way back."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from gitserver import IDENTITY, git
from gitworld import healthy, untouched, write
from taking import ACTIONS, CHANGES, act, many, status, undone, work

from jupyter_acp.remote.local.inspection import inspect
from jupyter_acp.remote.local.interrupted import action_lock, interrupted, may_be_interrupted
from jupyter_acp.remote.local.repository import RepositoryError

CRASH = """
import asyncio, os, resource, signal, subprocess, sys
from pathlib import Path
from gitworld import POLICY
from jupyter_acp.remote.git import Git, GitError
from jupyter_acp.remote.local import action as doing
from jupyter_acp.remote.local.checkout import checkout
from jupyter_acp.remote.local.isolated import IsolatedRepository
from jupyter_acp.remote.local.merge import merge, pick
from jupyter_acp.remote.local.record import Move, Records
from jupyter_acp.remote.local.repository import Repository
from jupyter_acp.remote.local.results import Result
from jupyter_acp.remote.local.undo import undo

home, cache, action, where, result = sys.argv[1:]
die = lambda *args: os.kill(os.getpid(), signal.SIGKILL)

async def dying(*args):
    die()

async def writing(isolated, old, new):
    # Git is killed, too: in the middle of a file, in the middle of the files.
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        await isolated.on_files().run("read-tree", "-m", "-u", old, new)
    except GitError:
        die()

if where == "noted":
    doing.switch = dying
elif where == "writing":
    doing.switch = writing
elif where == "written":
    Move.make = dying
    if action == "pick":
        Records.finish = die
elif where == "moved":
    Records.finish = die

async def main():
    repository = await Repository.find(Path(home), Git(policy=POLICY))
    async with IsolatedRepository.of(repository, Path(cache)) as isolated:
        if action == "undo":
            return await undo(isolated, result)
        more = ("crashed",) if action == "checkout" else ()
        await globals()[action](isolated, Result.model_validate_json(result), *more)

asyncio.run(main())
"""


@pytest.fixture
def world(git_world):
    return git_world


def crash(world, action, where, result):
    """Let a server die in the middle of something."""
    path = os.pathsep.join(sys.path)
    given = result if isinstance(result, str) else result.model_dump_json()
    arguments = [str(world.home), str(world.cache), action, where, given]
    done = subprocess.run(
        [sys.executable, "-c", CRASH, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def without_empty_folders(found):
    """Git keeps none; a stash is another reference."""
    found["files"] = {path: file for path, file in found["files"].items() if file != "/"}
    found["refs"] = [line for line in found["refs"].splitlines() if "refs/heads/main" in line]
    return found


async def told(world):
    async with world.isolated() as isolated:
        return await interrupted(isolated)


def go_back(world, words):
    """Do what the words say."""
    lock = world.home / ".git" / "index.lock"
    if f"remove {lock}" in words:
        lock.unlink()
    command = re.search(r"run: (git .*?)( \(|$)", words)[1]
    subprocess.run(shlex.split(command), env={**os.environ, **IDENTITY}, check=True)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("where", ["writing", "written"])
async def test_the_tip_and_the_way_back_are_named(world, action, where):
    result = await many(world)
    write(world.home, {"README.md": "mine\n", "new one.txt": "1\n", "staged.txt": "staged\n"})
    git(world.home, "add", "staged.txt")
    before = work(world.home)
    crash(world, action, where, result)
    with untouched(world.home):
        words = await told(world)
        assert words == await told(world)
        with pytest.raises(RepositoryError) as caught:
            await act(world, action, result, name="again")
    assert (caught.value.code, str(caught.value)) == ("halfDone", words)
    async with world.isolated() as isolated:
        problems = (await inspect(isolated))["problems"]
    assert [(note["code"], note["message"]) for note in problems] == [("halfDone", words)]
    assert git(world.home, "rev-parse", "HEAD") in words and str(world.home) in words
    assert ("index.lock" in words) == (where == "writing")
    go_back(world, words)
    assert not await told(world)
    assert without_empty_folders(work(world.home)) == without_empty_folders(before)
    healthy(world.home)
    await act(world, action, result, name="again")


@pytest.mark.parametrize("action", ACTIONS)
async def test_nothing_is_told_if_nothing_was_touched(world, action):
    result = await world.fetched(CHANGES)
    with untouched(world.home):
        crash(world, action, "noted", result)
        assert may_be_interrupted(await world.repository(), world.cache)
        assert not await told(world)
    assert not may_be_interrupted(await world.repository(), world.cache)
    await act(world, action, result)


@pytest.mark.parametrize("action", ["merge", "checkout"])
async def test_nothing_is_told_if_all_was_done(world, action):
    result = await world.fetched(CHANGES)
    crash(world, action, "moved", result)
    assert not await told(world)
    assert git(world.home, "rev-parse", "HEAD") == result.revision
    assert status(world.home) == []


async def test_an_undo_is_no_other_action(world):
    result = await world.fetched(CHANGES)
    record = await act(world, "merge", result)
    before = work(world.home)
    crash(world, "undo", "written", record.id)
    words = await told(world)
    assert "“undo”" in words and result.revision in words
    go_back(world, words)
    assert work(world.home) == before
    await undone(world, record)
    assert git(world.home, "rev-parse", "HEAD") == result.sent


async def test_a_lock_alone_is_named(world):
    result = await world.fetched(CHANGES)
    crash(world, "merge", "noted", result)
    lock = world.home / ".git" / "index.lock"
    lock.write_bytes(b"")
    words = await told(world)
    assert f"remove {lock}" in words and "run:" not in words
    lock.unlink()
    assert not await told(world)


async def test_what_was_written_after_a_crash_is_not_in_the_way_back(world):
    result = await many(world)
    crash(world, "pick", "writing", result)
    write(world.home, {"a0.txt": "of the user\n"})
    go_back(world, await told(world))
    assert (world.home / "a0.txt").read_text() == "of the user\n"
    assert (world.home / "a1.txt").read_text() == "old a1.txt\n"
    assert status(world.home) == [" M a0.txt"]


async def test_what_the_user_made_of_it_is_no_crash_any_more(world):
    result = await many(world)
    crash(world, "merge", "written", result)
    git(world.home, "commit", "-qm", "All of this is mine now")
    with untouched(world.home):
        assert not await told(world)


async def test_what_is_still_going_on_is_no_crash(world):
    result = await many(world)
    crash(world, "merge", "written", result)
    async with world.isolated() as isolated:
        lock = action_lock(isolated.place)
        assert lock.take()
        assert not await interrupted(isolated)
        lock.release()
        assert await interrupted(isolated)


@pytest.mark.parametrize("content", ["", "{}", "[]", "7", '{"kind": "merge"}', "\0" * 2000])
async def test_a_note_that_makes_no_sense_is_none(world, content):
    result = await world.fetched(CHANGES)
    async with world.isolated() as isolated:
        (isolated.place / "begun.json").write_text(content)
        (isolated.place / "last.json").write_text(content)
        assert not await interrupted(isolated)
    await undone(world, await act(world, "merge", result))
