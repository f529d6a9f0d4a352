# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions beside each other, forked, closed, and gone on with."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal

import pytest
from gitserver import git
from remoterunner import HELLO, LOADS, ref_of, show, until

from jupyter_acp.rpc import RpcError


async def test_a_fork_begins_where_the_other_is(start, server, ref):
    client = await start(options={"capabilities": {"sessionCapabilities": {"fork": {}}}})
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    fork = (await client.ask("session/fork", sessionId=session, cwd="/nowhere"))["sessionId"]
    assert fork != session
    target = (await client.prompt(fork, ["write", "b", "2"]))["target"]
    assert target["branch"] == f"acp/{fork}"
    assert show(server, "p", target["revision"], "a") == "1"
    assert "target" not in await client.prompt(session, ["chunk", "x"])


async def test_a_fork_that_fails_leaves_nothing(start, ref):
    options = {"capabilities": {"sessionCapabilities": {"fork": {}}}, "refuse": ["session/fork"]}
    client = await start(options=options)
    session = (await client.new(ref))["sessionId"]
    with pytest.raises(RpcError):
        await client.ask("session/fork", sessionId=session, cwd="/nowhere")
    assert [path.name for path in client.cache.glob("worktrees/*")] == [session]
    assert [path.stem for path in client.cache.glob("sessions/*.json")] == [session]


async def test_two_sessions_on_one_repository_at_once(start, server, ref, tmp_path):
    client = await start()
    one, two = [(await client.new(ref))["sessionId"] for _ in range(2)]
    first = await client.prompt(one, ["write", "a", "1"])
    second = await client.prompt(two, ["write", "a", "2"])
    assert show(server, "p", first["target"]["revision"], "a") == "1"
    assert show(server, "p", second["target"]["revision"], "a") == "2"
    assert len(list((tmp_path / "cache" / "mirrors").glob("*.git"))) == 1
    # The second one had nothing to fetch.
    assert sum("git-upload-pack" in each for each in server.requests if "POST" in each) <= 2


@pytest.mark.parametrize("processes", [1, 2])
async def test_many_sessions_begin_and_end_at_once(start, server, tmp_path, processes):
    clients = [await start() for _ in range(processes)]
    for number in range(3):
        # The first time they all want to clone it, then they all find it.
        name = f"q{number // 2}"
        if number % 2 == 0:
            server.create(name, HELLO)
        ref = ref_of(server, name)
        opened = [(client, client.new(ref)) for client in clients * (6 // processes)]
        results = await asyncio.gather(*(new for _, new in opened), return_exceptions=True)
        assert [each for each in results if isinstance(each, BaseException)] == []
        sessions = [each["sessionId"] for each in results]
        assert len(set(sessions)) == len(opened)
        work = [
            *(
                client.ask("session/close", sessionId=id)
                for (client, _), id in zip(opened[::2], sessions[::2], strict=True)
            ),
            *(client.new(ref) for client in clients),
            *(
                client.prompt(id, ["write", "a", id])
                for (client, _), id in zip(opened[1::2], sessions[1::2], strict=True)
            ),
        ]
        done = await asyncio.gather(*work, return_exceptions=True)
        assert [each for each in done if isinstance(each, BaseException)] == []
        for id, answer in zip(sessions[1::2], done[-len(sessions[1::2]) :], strict=True):
            assert show(server, name, answer["target"]["revision"], "a") == id


async def test_a_session_is_resumed_where_it_was(start, server, ref):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    first = (await client.prompt(session, ["write", "a", "1"]))["target"]
    # Half-way through the next turn everything dies.
    asking = asyncio.ensure_future(client.prompt(session, ["write", "b", "2"], ["sleep", 100]))
    path = client.cache / "worktrees" / session / "b"
    await until(path.exists)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    second = (await again.prompt(session, ["write", "c", "3"]))["target"]
    assert second["branch"] == first["branch"]
    for name, text in (("a", "1"), ("b", "2"), ("c", "3")):
        assert show(server, "p", second["revision"], name) == text


async def test_a_session_whose_folder_is_gone_goes_on_from_its_last_commit(start, server, ref):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.ask("session/close", sessionId=session)
    assert list(client.cache.glob("worktrees/*")) == []
    await client.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    target = (await client.prompt(session, ["write", "b", "2"]))["target"]
    assert show(server, "p", target["revision"], "a") == "1"
    await client.ask("session/delete", sessionId=session)
    assert list(client.cache.glob("sessions/*")) == []


async def test_what_was_never_committed_outlives_a_close(start, server, ref, tmp_path):
    client = await start(files=3, options=LOADS)
    killed, full = [(await client.new(ref))["sessionId"] for _ in range(2)]
    await client.prompt(full, ["write", "b", "1"], ["write", "c", "1"])
    await client.ask("session/close", sessionId=full)
    asking = asyncio.ensure_future(client.prompt(killed, ["write", "b", "2"], ["sleep", 100]))
    await until((client.cache / "worktrees" / killed / "b").exists)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    again = await start(options=LOADS)
    # It is committed if it can be; then its files can go.
    await again.ask("session/close", sessionId=killed)
    assert [path.name for path in client.cache.glob("worktrees/*")] == [full]
    for session, text in ((killed, "2"), (full, "1")):
        await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
        target = (await again.prompt(session, ["chunk", "and?"]))["target"]
        assert show(server, "p", target["revision"], "b") == text
        await again.ask("session/close", sessionId=session)
    assert list(client.cache.glob("worktrees/*")) == []


@pytest.mark.parametrize("lost", ["link", "all that git knows"])
async def test_files_that_git_has_lost_sight_of_are_not_lost(start, server, ref, tmp_path, lost):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    where = client.cache / "worktrees" / session
    steps = [["write", "b", "2"], ["write", "hello.py", "3"], ["shell", f"rm {where}/.git"]]
    asking = asyncio.ensure_future(client.prompt(session, *steps, ["sleep", 100]))
    await until(lambda: (where / "b").exists() and not (where / ".git").exists())
    # Whatever others do meanwhile, by way of git or not.
    other = await start(options=LOADS)
    theirs = (await other.new(ref))["sessionId"]
    tidy = (
        f"cd {client.cache / 'worktrees' / theirs} && git worktree prune && git gc -q --prune=now"
    )
    await other.prompt(theirs, ["shell", tidy], ["write", "x", "1"])
    await other.ask("session/close", sessionId=theirs)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    if lost != "link":
        (admin,) = client.cache.glob(f"mirrors/*.git/worktrees/{session}")
        shutil.rmtree(admin)
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    assert (where / "b").read_text() == "2"
    line = f"cd {where} && git status --porcelain > {tmp_path / 'status'}"
    target = (await again.prompt(session, ["shell", line]))["target"]
    assert (tmp_path / "status").read_text() == " M hello.py\n?? b\n"
    changed = git(
        server.root / "p.git", "diff", "--name-status", ref["revision"], target["revision"]
    )
    assert changed.split("\n") == ["A\ta", "A\tb", "M\thello.py"]


async def test_a_branch_in_whose_place_there_is_a_folder_of_branches(start, server, ref):
    work = server.root / ".work-p"
    client = await start()
    for name, old in (("feature", ""), ("feature/x", "feature"), ("feature", "feature/x")):
        if old:
            git(work, "push", "-q", "origin", f":{old}")
        git(work, "commit", "-q", "--allow-empty", "-m", name)
        git(work, "push", "-q", "origin", f"HEAD:refs/heads/{name}")
        revision = git(work, "rev-parse", "HEAD")
        assert await client.new({**ref, "branch": name, "revision": revision})


STUBBORN = {
    "fails": {"refuse": ["session/close", "session/delete"]},
    "is slow": {"ignore": ["session/close", "session/delete"]},
    "is nice": {},
}


@pytest.mark.parametrize("how", STUBBORN)
async def test_files_go_with_their_session_whatever_the_agent_says(start, ref, how):
    can = {"sessionCapabilities": {"close": {}, "delete": {}}}
    client = await start(options={"capabilities": can, **STUBBORN[how]})
    one, two, three = [(await client.new(ref))["sessionId"] for _ in range(3)]
    await client.prompt(one, ["write", "a", "1"])
    await client.ask("session/close", sessionId=one)
    assert {path.name for path in client.cache.glob("worktrees/*")} == {two, three}
    await client.ask("session/delete", sessionId=two)
    assert {path.name for path in client.cache.glob("worktrees/*")} == {three}
    assert {path.name for path in client.cache.glob("mirrors/*.git/worktrees/*")} == {three}
    if how == "is nice":
        await client.prompt(three, ["ended"])
        told = [method for method, _ in json.loads(client.said().split("]]")[0] + "]]")]
        assert told == ["session/close", "session/delete"]


async def test_a_session_goes_on_in_its_files_with_an_agent_that_remembers_nothing(
    start, server, ref
):
    server.refuse_pushes("p")
    client = await start()
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.stop()
    server.accept_pushes("p")
    again = await start()
    meta = {"jupyter-acp": {"continues": session}}
    assert (await again.new(ref, _meta=meta))["sessionId"] == session
    target = (await again.prompt(session, ["write", "b", "2"]))["target"]
    assert target["branch"] == f"acp/{session}"
    assert show(server, "p", target["revision"], "a") == "1"
    # One that is worked in, or is on another repository, is not gone on with.
    assert (await again.new(ref, _meta=meta))["sessionId"] != session
    server.create("other", HELLO)
    await again.ask("session/close", sessionId=session)
    other = await again.new(ref_of(server, "other"), _meta=meta)
    assert other["sessionId"] != session
    # Nor is one of which nothing is left.
    await again.stop()
    shutil.rmtree(again.cache / "mirrors")
    assert (await (await start()).new(ref, _meta=meta))["sessionId"] != session


async def test_a_session_that_somebody_works_in_is_nobody_elses(start, ref):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    other = await start(options=LOADS)
    with pytest.raises(RpcError, match="Somebody else works in this session"):
        await other.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    assert list(client.cache.glob("worktrees/*"))
