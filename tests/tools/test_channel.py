# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The way from an agent's tools to the server: who gets it, and who gets through."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest
from acpclient import is_state, scripted
from mcpclient import connected, servers

from jupyter_acp.tools import channel
from jupyter_acp.tools.channel import SHIM, Channel, free_name
from jupyter_acp.tools.shim import TICKET
from jupyter_acp.tools.socket_paths import SOCKET

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def acp_agents():
    resumes = {"sessionCapabilities": {"resume": {}}}
    return {
        "scripted": scripted(),
        "resumes": scripted(capabilities=resumes),
        "loads": scripted(capabilities={"loadSession": True}),
    }


@pytest.fixture
def session(window, jp_root_dir, jp_asyncio_loop):
    return jp_asyncio_loop.run_until_complete(window.new(jp_root_dir))


def ticket(entry):
    (variable,) = entry["env"]
    assert variable["name"] == TICKET
    return variable["value"]


def address(entry):
    return Path(entry["args"][-1])


def start(entry, secret=None, stdin=subprocess.PIPE):
    """Start what an agent would start."""
    return subprocess.Popen(
        [entry["command"], *entry["args"]],
        env={TICKET: secret or ticket(entry)},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


async def ended(process):
    """Wait for the end of a process, without standing in its way."""
    loop = asyncio.get_running_loop()
    return await asyncio.wait_for(loop.run_in_executor(None, process.communicate), 60)


async def answer(process):
    """Ask something and return the answer; empty if there is none."""
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    loop = asyncio.get_running_loop()
    return await asyncio.wait_for(loop.run_in_executor(None, process.stdout.readline), 60)


async def test_what_the_agent_is_given(window, session, acp):
    (entry,) = await servers(window, session)
    assert entry["name"] == "jupyter" and "type" not in entry
    assert entry["command"] == sys.executable and entry["args"][-2] == str(SHIM)
    assert len(ticket(entry)) >= 43
    mode = stat.S_IMODE(address(entry).stat().st_mode)
    assert stat.S_ISSOCK(address(entry).stat().st_mode) and mode == 0o600
    folder = address(entry).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and folder.stat().st_uid == os.getuid()
    assert os.listdir(folder) == [SOCKET]
    await acp.stop_extension()
    assert not folder.exists()


async def test_no_port_is_opened(window, jp_root_dir):
    def listening():
        return {
            (c.laddr, c.type)
            for c in psutil.Process().net_connections("inet")
            if c.status == psutil.CONN_LISTEN or c.type == socket.SOCK_DGRAM
        }

    before = listening()
    session = await window.new(jp_root_dir)
    (entry,) = await servers(window, session)
    async with connected(entry) as mcp:
        await mcp.json("list_kernels")
        assert not listening() - before


async def test_servers_of_the_user_stay_as_they_are(window, jp_root_dir, acp):
    mine = {"name": "mine", "command": "/bin/true", "args": [], "env": []}
    params = {"cwd": str(jp_root_dir), "mcpServers": [mine]}
    session = (await window.result("session/new", params))["sessionId"]
    first, second = await servers(window, session)
    assert first == mine and second["name"] == "jupyter"
    params["mcpServers"] = [{**mine, "name": "jupyter"}]
    session = (await window.result("session/new", params))["sessionId"]
    first, second = await servers(window, session)
    assert first == params["mcpServers"][0] and second["name"] == "jupyteracp"
    tools = (await acp.manager()).services._tools
    assert tools.name_in(session) == "jupyteracp" and tools.name_in("another") is None
    async with connected(second) as mcp:
        await mcp.json("list_kernels")
    await window.result("session/close", {"sessionId": session})
    assert tools.name_in(session) is None


@pytest.mark.parametrize(
    ("others", "name"),
    [
        ([], "jupyter"),
        (["Jupyter"], "jupyteracp"),
        (["jupyter", "jupyteracp"], "jupyteracp2"),
        (["jupyter", "JUPYTERACP", "jupyteracp2"], "jupyteracp3"),
        # An agent may say jupyter_run_cell for our run_cell, and for its cell.
        (["jupyter_run"], "jupyteracp"),
        (["mcp.jupyter"], "jupyteracp"),
        (["jupyterlab", "my-jupyter", ""], "jupyter"),
        (["jupyter-acp"], "jupyteracp"),
        (["mcp"], "jupyter"),
    ],
)
def test_no_server_of_the_session_has_the_name_of_ours(others, name):
    assert free_name([{"name": other} for other in others] + [{}, "odd"]) == name


@pytest.mark.parametrize("agent", ["scripted", "resumes", "loads"])
async def test_an_agent_that_comes_back_gets_a_new_ticket(window, jp_root_dir, agent):
    session = await window.new(jp_root_dir, agent)
    (entry,) = await servers(window, session)
    shim = start(entry)
    assert b"result" in await answer(shim)
    await window.start_prompt(session, ["exit", 3])
    await window.wait(is_state("disconnected"))
    # What belonged to the agent that is gone ends, whether or not it notices.
    await asyncio.get_running_loop().run_in_executor(None, shim.wait, 60)
    assert (await ended(shim))[0] == b""
    (again,) = await servers(window, session)
    assert again["args"] == entry["args"] and ticket(again) != ticket(entry)
    old = start(entry)
    assert await answer(old) == b""
    await ended(old)
    new = start(again)
    assert b"result" in await answer(new)
    await ended(new)


def notices(window):
    return [m["params"]["message"] for m in window.of("_jupyter/session/notice")]


async def test_an_agent_that_leaves_its_tools_alone_is_told_of_once(window, jp_root_dir):
    session = await window.new(jp_root_dir)
    await window.prompt(session, ["chunk", "hello"])
    await window.wait(lambda m: "did not start the MCP server" in str(m))
    await window.prompt(session, ["chunk", "again"])
    await window.prompt(session, ["chunk", "and again"])
    assert len(notices(window)) == 1


async def test_an_agent_that_starts_its_tools_is_not_told_of(window, jp_root_dir):
    session = await window.new(jp_root_dir)
    # As most do: while a turn runs.
    turn = await window.start_prompt(session, ["mcp"], ["until_cancel"])
    await window.wait(lambda m: TICKET in str(m))
    (entry,) = json.loads(window.texts()[-1])
    shim = start(entry)
    assert b"result" in await answer(shim)
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    await window.prompt(session, ["chunk", "again"])
    assert notices(window) == []
    await ended(shim)


async def test_the_built_in_agent_needs_no_tools(window, jp_root_dir):
    session = await window.new(jp_root_dir, "builtin")
    block = {"type": "text", "text": "hello"}
    for _ in range(2):
        await window.result("session/prompt", {"sessionId": session, "prompt": [block]})
    assert notices(window) == []


async def test_each_session_has_its_own(window, jp_root_dir, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    sessions = [await window.new(jp_root_dir), await window.new(other)]
    entries = [(await servers(window, session))[0] for session in sessions]
    assert ticket(entries[0]) != ticket(entries[1])
    # Bound to the session, and so to its folder.
    for entry, folder in zip(entries, (jp_root_dir, other), strict=True):
        async with connected(entry) as mcp:
            said = await mcp.refused("read_notebook", path="n.ipynb")
            assert f"There is no file {folder.resolve()}" in said
    await window.result("session/close", {"sessionId": sessions[0]})
    closed = start(entries[0])
    assert await answer(closed) == b""
    _, errors = await ended(closed)
    assert b"the session has ended" in errors
    async with connected(entries[1]) as mcp:
        await mcp.json("list_kernels")


@pytest.mark.parametrize("wrong", ["nonsense", "", "ä" * 40, "x" * 200_000])
async def test_without_the_ticket_nothing_is_said(window, session, wrong):
    (entry,) = await servers(window, session)
    reader, writer = await asyncio.open_unix_connection(str(address(entry)))
    writer.write(wrong.encode() + b"\n" + json.dumps(HELLO).encode() + b"\n")
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    shim = start(entry)
    assert b"result" in await answer(shim), "the right one must still open it"
    await ended(shim)


async def test_a_connection_that_says_nothing_is_closed(window, session, monkeypatch):
    monkeypatch.setattr(channel, "TICKET_WAIT", 0.2)
    (entry,) = await servers(window, session)
    reader, writer = await asyncio.open_unix_connection(str(address(entry)))
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


async def test_the_ticket_is_told_to_nobody_else(
    window, acp, jp_root_dir, tmp_path, jp_fetch, caplog, capfd
):
    caplog.set_level(logging.DEBUG)
    session = await window.new(jp_root_dir, "loads")
    await window.prompt(session, ["chunk", "hello"])
    manager = await acp.manager()
    secret = manager.services._tools._accesses[session].ticket
    entry = {
        "command": sys.executable,
        "args": ["-I", "-S", str(SHIM), manager.services._tools._address],
        "env": [{"name": TICKET, "value": secret}],
    }
    async with connected(entry) as mcp:
        await mcp.json("list_kernels")
    bad = start(entry, secret[:-1])
    assert await answer(bad) == b""
    await ended(bad)
    told = [json.dumps(window.received)]
    for path in ("sessions", f"sessions/{session}", f"sessions/{session}/messages", "agents"):
        told.append((await jp_fetch("acp", *path.split("/"))).body.decode())
    await window.attach(session)
    await window.result("session/load", {"sessionId": session, "cwd": "/", "mcpServers": []})
    told.append(json.dumps(window.received))
    await acp.stop_extension()
    for file in tmp_path.rglob("journal.sqlite*"):
        told.append(file.read_bytes().decode("latin-1"))
    captured = capfd.readouterr()
    told += [caplog.text, captured.out, captured.err]
    assert len(told) > 8 and not [text for text in told if secret in text]


async def test_what_ends_the_shim(window, session, acp):
    (entry,) = await servers(window, session)
    by_agent, by_server, by_signal = start(entry), start(entry), start(entry)
    for shim in (by_agent, by_server, by_signal):
        assert b"result" in await answer(shim)
    by_agent.stdin.close()
    by_agent.stdin = None
    await ended(by_agent)
    assert by_agent.returncode == 0
    by_signal.terminate()
    await ended(by_signal)
    await acp.stop_extension()
    await asyncio.get_running_loop().run_in_executor(None, by_server.wait, 60)
    late = start(entry)
    _, errors = await ended(late)
    assert late.returncode == 1
    assert b"The Jupyter server cannot be reached" in errors and errors.count(b"\n") == 1
    for shim in (by_agent, by_server, by_signal, late):
        for pipe in (shim.stdin, shim.stdout, shim.stderr):
            if pipe is not None:
                pipe.close()


async def test_a_terminal_that_goes_away_ends_the_shim(window, session):
    (entry,) = await servers(window, session)
    ours, theirs = os.openpty()
    shim = start(entry, stdin=theirs)
    os.close(theirs)
    os.write(ours, json.dumps(HELLO).encode() + b"\n")
    loop = asyncio.get_running_loop()
    said = await asyncio.wait_for(loop.run_in_executor(None, shim.stdout.readline), 20)
    assert b"result" in said
    os.close(ours)
    try:
        await loop.run_in_executor(None, shim.wait, 60)
    finally:
        shim.kill()
        shim.communicate()
    assert shim.returncode == 0


async def test_lines_of_any_length_pass(window, session, root):
    cells = [{"cell_type": "raw", "id": "a", "metadata": {}, "source": ""}]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (root / "n.ipynb").write_text(json.dumps(notebook))
    (entry,) = await servers(window, session)
    async with connected(entry) as mcp:
        # There is no such cell, and the answer names it.
        said = await mcp.refused("delete_cell", path="n.ipynb", cell_id="x" * 3_000_000)
        assert len(said) > 3_000_000


async def test_two_servers_do_not_know_each_other(tmp_path, window, session):
    class View:
        id, cwd = "s", "/"

    async def serve(view, reader, writer):
        writer.write(b"welcome\n")

    log = logging.getLogger("test")
    other = Channel(str(tmp_path / "runtime"), serve, log)
    (theirs,) = await other.servers(View(), [])
    (ours,) = await servers(window, session)
    try:
        assert address(theirs) != address(ours)
        for here, there in ((ours, theirs), (theirs, ours)):
            shim = start(here, ticket(there))
            assert await answer(shim) == b""
            await ended(shim)
        shim = start(theirs)
        assert await answer(shim) == b"welcome\n"
        await ended(shim)
    finally:
        await other.close()


async def make_channel(folder, greeting=b"welcome\n"):
    class View:
        id, cwd = "s", "/"

    async def serve(view, reader, writer):
        writer.write(greeting)
        await writer.drain()

    made = Channel(str(folder), serve, logging.getLogger("test"))
    return made, (await made.servers(View(), []))[0]


@pytest.fixture
def short_path():
    """A folder for sockets, whose paths are no longer than a hundred characters."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


async def test_what_a_crash_left_behind_is_removed(short_path, jp_asyncio_loop):
    first, entry = await make_channel(short_path)
    folder = address(entry).parent
    prefix = folder.name.split("-")[:2]
    pid = next(pid for pid in range(4_000_000, 1, -1) if not psutil.pid_exists(pid))
    stale = short_path / "-".join([*prefix, str(pid), "abc"])
    stale.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale / SOCKET))
    foreign = short_path / f"acp-000000-{pid}-abc"
    foreign.mkdir()
    second, other = await make_channel(short_path)
    assert not stale.exists()
    assert foreign.exists(), "it may be that of another machine"
    assert folder.exists(), "one that is in use must stay"
    assert address(other).parent != folder
    await first.close()
    await second.close()
    assert {path.name for path in short_path.iterdir()} == {foreign.name}


async def test_a_path_that_is_too_long_or_cannot_be_written(tmp_path, jp_asyncio_loop):
    long = tmp_path / ("x" * 120)
    for folder in (long, Path("/proc/nowhere")):
        made, entry = await make_channel(folder)
        assert folder not in address(entry).parents
        assert stat.S_IMODE(address(entry).parent.stat().st_mode) == 0o700
        shim = start(entry)
        assert await answer(shim) == b"welcome\n"
        await ended(shim)
        await made.close()
        assert not address(entry).parent.exists()
    assert list(long.iterdir()) == []


async def test_no_socket_at_all_means_no_tools(tmp_path, jp_asyncio_loop, monkeypatch):
    def fail(_):
        raise OSError("no")

    monkeypatch.setattr(channel, "_bind", fail)
    made = Channel(str(tmp_path), None, logging.getLogger("test"))
    assert await made.servers(None, ["x"]) == ["x"]


class TestOff:
    """An administrator may want none of it."""

    @pytest.fixture
    def acp_config(self):
        return {"tools": False}

    async def test_nothing_is_given(self, window, session):
        assert await servers(window, session) == []


def test_nothing_heavy_is_loaded_before_it_is_needed():
    code = (
        "import sys, jupyter_acp.app, jupyter_acp.tools.channel, jupyter_acp.tools.toolbox;"
        "print([name for name in ('mcp', 'anyio', 'starlette') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout.strip() in ("[]", "['anyio']"), shown
    code = (
        f"import sys; exec(open({str(SHIM)!r}).read(), {{'__name__': 'shim'}});"
        "print(len(sys.modules), 'asyncio' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    count, has_asyncio = shown.stdout.split()
    assert int(count) < 60 and has_asyncio == "False", "an agent waits for it: it must be quick"
