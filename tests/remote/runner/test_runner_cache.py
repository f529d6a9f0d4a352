# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is kept on this machine, and what ages out."""

from __future__ import annotations

import os
import shutil
import time

import pytest
from gitserver import git
from remoterunner import LOADS, ref_of, show

from jupyter_acp.remote.git import Git, GitError
from jupyter_acp.remote.options import RemoteOptions
from jupyter_acp.remote.refs import GitRemoteRef
from jupyter_acp.remote.runner import mirror
from jupyter_acp.remote.runner.cache import Cache
from jupyter_acp.remote.runner.worktree import Author
from jupyter_acp.rpc import RpcError


async def test_a_cache_that_cannot_be_used_holds_nothing(start, ref):
    client = await start()
    client.cache.mkdir(exist_ok=True)
    (client.cache / "mirrors").write_text("not a folder")
    with pytest.raises(RpcError):
        await client.new(ref)
    assert list(client.cache.glob("sessions/*")) == []
    (client.cache / "mirrors").unlink()
    assert await client.new(ref)


def age(cache):
    """Let everything be as if nobody had used it for long."""
    long_ago = time.time() - 40 * 86400
    for path in (*cache.glob("sessions/*"), *cache.glob("mirrors/*")):
        os.utime(path, (long_ago, long_ago))


def kept(cache):
    """Return how much there is of each kind."""
    kinds = ("mirrors", "worktrees", "sessions")
    return [len(list(cache.glob(f"{kind}/*"))) for kind in kinds]


async def test_old_sessions_and_repositories_go(start, server, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.stop()
    (client.cache / "mirrors" / "left.half").mkdir()
    await (await start()).stop()
    assert kept(client.cache) == [3, 1, 1]
    age(client.cache)
    await start()
    assert kept(client.cache) == [0, 0, 0]


async def test_old_work_that_was_never_brought_back_stays(start, server, ref):
    server.refuse_pushes("p")
    client = await start(options=LOADS)
    session, closed = [(await client.new(ref))["sessionId"] for _ in range(2)]
    for each in (session, closed):
        await client.prompt(each, ["write", "a", "1"])
    await client.ask("session/close", sessionId=closed)
    await client.stop()
    # Nor is anything taken from a session of which nothing is known any more.
    (client.cache / "sessions" / f"{session}.json").rename(client.cache / "known")
    (client.cache / "sessions" / f"{session}.json").write_text("{")
    age(client.cache)
    again = await start(options=LOADS)
    assert kept(client.cache) == [2, 1, 2]
    (client.cache / "known").rename(client.cache / "sessions" / f"{session}.json")
    server.accept_pushes("p")
    for each in (session, closed):
        await again.ask("session/load", sessionId=each, cwd="/nowhere", mcpServers=[])
        target = (await again.prompt(each, ["chunk", "x"]))["target"]
        assert show(server, "p", target["revision"], "a") == "1"


async def test_an_old_session_that_somebody_works_in_stays(start, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    age(client.cache)
    await start()
    assert (await client.prompt(session, ["write", "a", "1"]))["target"]


@pytest.fixture
def cache(tmp_path):
    options = RemoteOptions(cache=tmp_path / "cache", schemes=("http",))
    return Cache(Git(policy=options.policy), options)


async def test_git_puts_together_what_is_scattered(cache, server, monkeypatch):
    monkeypatch.setitem(mirror._GC, "gc.autoPackLimit", "2")
    work = server.root / ".work-p"
    packs = []
    for number in range(5):
        (work / "a").write_text(f"{number}")
        git(work, "add", "-A")
        git(work, "commit", "-qm", "Another one")
        git(work, "push", "-q", "origin", "main")
        worktree = await cache.begin(f"{number}" * 32, GitRemoteRef(**ref_of(server, "p")), None)
        packs.append(len(list(cache.folder.glob("mirrors/*.git/objects/pack/*.pack"))))
    assert max(packs) <= 3
    (worktree.path / "b").write_text("1")
    assert (await worktree.commit("More", Author())).head != worktree.ref.revision


async def test_a_repository_that_is_gone_takes_no_session_with_it_unsaid(cache, ref):
    session = "5" * 32
    await cache.begin(session, GitRemoteRef(**ref), None)
    await cache.close(session)
    shutil.rmtree(cache.folder / "mirrors")
    with pytest.raises(GitError):
        await cache.find(session)
    assert await cache.begin("6" * 32, GitRemoteRef(**ref), None)
