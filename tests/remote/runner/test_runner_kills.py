# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A runner that is killed, and a clone that is cancelled."""

from __future__ import annotations

import asyncio
import os
import signal

import psutil
from gitserver import git
from remoterunner import LOADS, ref_of, show, until


async def test_a_kill_in_the_middle_of_a_clone(start, server, tmp_path):
    server.create("big", {f"f{i}": os.urandom(20_000).hex() for i in range(50)})
    ref = ref_of(server, "big")
    server.delay = 0.02
    client = await start()
    asking = asyncio.ensure_future(client.new(ref))
    packs = tmp_path / "cache" / "mirrors"
    await until(lambda: list(packs.glob("*.git/objects/pack/tmp_*")))
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    server.delay = 0
    await client.process.stop()
    again = await start()
    session = (await again.new(ref))["sessionId"]
    assert (await again.prompt(session, ["write", "a", "1"]))["target"]


async def test_a_kill_in_the_middle_of_a_push(start, server, ref, tmp_path):
    hook = server.root / "p.git" / "hooks" / "post-receive"
    hook.parent.mkdir(exist_ok=True)
    mark = tmp_path / "received"
    hook.write_text(f"#!/bin/sh\ntouch {mark}\nsleep 5\n")
    hook.chmod(0o755)
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    asking = asyncio.ensure_future(client.prompt(session, ["write", "a", "1"]))
    await until(mark.exists)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    hook.unlink()
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    # It has arrived, though nobody was left to hear of it.
    target = (await again.prompt(session, ["chunk", "and?"]))["target"]
    assert target["branch"] == f"acp/{session}"
    assert show(server, "p", target["revision"], "a") == "1"
    later = (await again.prompt(session, ["write", "a", "2"]))["target"]
    assert later["branch"] == target["branch"]


async def test_a_kill_while_a_push_is_on_its_way(start, server, ref, tmp_path):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    server.intake = 0.2
    line = f"head -c 3000000 /dev/urandom > {client.cache / 'worktrees' / session / 'large'}"
    asking = asyncio.ensure_future(client.prompt(session, ["shell", line]))
    await until(server.receiving.is_set)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    server.intake = 0
    assert git(server.root / "p.git", "branch", "--list", "acp/*") == ""
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    target = (await again.prompt(session, ["chunk", "and?"]))["target"]
    size = git(server.root / "p.git", "cat-file", "-s", f"{target['revision']}:large")
    assert size == "3000000" and target["branch"] == f"acp/{session}"
    git(server.root / "p.git", "fsck", "--strict")


def is_git(process):
    """Whether it is a git that runs; one that ends while it is looked at does not."""
    try:
        return process.name() == "git"
    except psutil.Error:
        return False


async def test_a_clone_can_be_cancelled(start, server, tmp_path):
    server.create("big", {f"f{i}": os.urandom(20_000).hex() for i in range(50)})
    server.delay = 0.05
    client = await start()
    asking = asyncio.ensure_future(client.new(ref_of(server, "big")))
    await until(lambda: list((tmp_path / "cache").glob("mirrors/*.git/objects/pack/tmp_*")))
    asking.cancel()
    runner = psutil.Process(client.process.pid)
    await until(lambda: not any(is_git(each) for each in runner.children(True)))
    await until(lambda: not list((tmp_path / "cache").glob("sessions/*.json")))
