# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent's command among Jupyter's own terminals: listed, opened, typed into, shut down."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time

import psutil
import pytest
from commands import call, create, family, lives, python, run
from tornado.httpclient import HTTPClientError

from jupyter_acp.client.terminals.output import Output, plain
from jupyter_acp.client.terminals.pty import PtyCommand


@pytest.fixture
def terminal_config():
    """Traits of the server's terminals; a test overrides it."""
    return {}


@pytest.fixture
def jp_server_config(jp_server_config, terminal_config):
    server = jp_server_config["ServerApp"]
    extensions = {**server["jpserver_extensions"], "jupyter_server_terminals": True}
    return {
        **jp_server_config,
        "ServerApp": {**server, "jpserver_extensions": extensions},
        "TerminalManager": terminal_config,
    }


@pytest.fixture
def listed(jp_fetch):
    """Return the names in Jupyter's list of terminals."""

    async def fetch():
        response = await jp_fetch("api", "terminals")
        return [terminal["name"] for terminal in json.loads(response.body)]

    return fetch


class Tab:
    """A terminal in JupyterLab: what was sent to it."""

    def __init__(self, socket):
        self.socket = socket
        self.text = ""
        self.ended = False

    async def until(self, wanted):
        """Read until something is on the screen, or to the end."""
        while not self.ended and wanted not in self.text:
            message = await asyncio.wait_for(self.socket.read_message(), 20)
            kind, *rest = json.loads(message) if message else ("disconnect",)
            if kind == "stdout":
                self.text += rest[0]
            self.ended = kind == "disconnect"
        return self.text

    async def type(self, text):
        await self.socket.write_message(json.dumps(["stdin", text]))

    async def resize(self, rows, columns):
        await self.socket.write_message(json.dumps(["set_size", rows, columns]))


@pytest.fixture
def open_tab(jp_ws_fetch):
    """Open a terminal as JupyterLab does."""

    async def connect(name):
        return Tab(await jp_ws_fetch("terminals", "websocket", name))

    return connect


def name_of(window):
    return window.of("_jupyter/terminal/created")[-1]["params"]["name"]


async def test_it_is_listed_while_it_runs(window, tmp_path, listed):
    session = await window.new(tmp_path)
    first = await create(window, session, "sleep", "1000")
    one = name_of(window)
    # What the terminals' addresses allow.
    assert re.fullmatch(r"agent_\w+", one)
    second = await create(window, session, "sleep 1000; true")
    two = name_of(window)
    assert sorted(await listed()) == sorted([one, two])
    await call(window, session, "release", terminalId=first)
    assert await listed() == [two]
    await call(window, session, "kill", terminalId=second)
    assert await listed() == []
    third = await create(window, session, "true")
    await call(window, session, "wait_for_exit", terminalId=third)
    assert await listed() == []
    await create(window, session, "sleep", "1000")
    await window.result("session/close", {"sessionId": session})
    for _ in range(600):
        if not await listed():
            break
        await asyncio.sleep(0.05)
    assert await listed() == []


async def test_a_command_that_cannot_start_is_not_listed(window, tmp_path, listed):
    session = await window.new(tmp_path)
    before = psutil.Process().num_fds()
    for _ in range(3):
        await call(window, session, "create", command="no-such-program")
    assert await listed() == []
    # What the server has open for others comes and goes.
    for _ in range(600):
        if psutil.Process().num_fds() <= before:
            break
        await asyncio.sleep(0.05)
    assert psutil.Process().num_fds() <= before


async def test_a_tab_shows_what_was_printed_and_what_comes(window, tmp_path, open_tab):
    session = await window.new(tmp_path)
    code = "print('be\\x1b[31mfore', flush=True); name = input('who? '); print('hello', name)"
    id = await create(window, session, *python(code))
    await window.wait(lambda m: m.get("method") == "_jupyter/terminal/output")
    tab, other = await open_tab(name_of(window)), await open_tab(name_of(window))
    assert "be\x1b[31mfore\r\n" in await tab.until("who? ")
    await tab.type("Ada\r")
    assert "hello Ada\r\n" in await tab.until("nothing more")
    assert "hello Ada\r\n" in await other.until("nothing more")
    assert tab.ended and other.ended
    output = await call(window, session, "output", terminalId=id)
    assert output["output"] == "before\nwho? Ada\nhello Ada\n"
    assert output["exitStatus"]["exitCode"] == 0
    with pytest.raises(HTTPClientError):
        await open_tab(name_of(window))


async def test_control_c_in_the_tab_interrupts(window, tmp_path, open_tab):
    session = await window.new(tmp_path)
    id = await create(window, session, "echo ready; sleep 1000")
    tab = await open_tab(name_of(window))
    await tab.until("ready")
    await tab.type("\x03")
    status = await call(window, session, "wait_for_exit", terminalId=id)
    assert status == {"exitCode": None, "signal": "SIGINT"}


async def test_closing_the_tab_leaves_the_command_alone(window, tmp_path, open_tab, listed):
    session = await window.new(tmp_path)
    id = await create(window, session, "yes", outputByteLimit=100)
    name = name_of(window)
    for _ in range(5):
        tab = await open_tab(name)
        await tab.until("y\r\ny\r\n")
        # Without a word, as when a laptop is closed.
        tab.socket.stream.close()
    await asyncio.sleep(0.2)
    assert await listed() == [name]
    tab = await open_tab(name)
    tab.socket.stream.close()
    await call(window, session, "kill", terminalId=id)
    assert await listed() == []
    assert "y\ny\ny" in (await call(window, session, "output", terminalId=id))["output"][-10:]


async def test_it_has_the_size_of_its_tab(window, tmp_path, open_tab):
    session = await window.new(tmp_path)
    code = "import os; print(os.get_terminal_size()); input(); print(os.get_terminal_size())"
    id = await create(window, session, *python(code))
    tab = await open_tab(name_of(window))
    await tab.until("lines=30")
    await tab.resize(20, 77)
    await tab.type("\r")
    await call(window, session, "wait_for_exit", terminalId=id)
    output = (await call(window, session, "output", terminalId=id))["output"]
    assert "columns=120, lines=30" in output and "columns=77, lines=20" in output


async def test_shutting_it_down_ends_the_command(window, tmp_path, jp_fetch, listed, open_tab):
    session = await window.new(tmp_path)
    id, pids = await family(window, session)
    tab = await open_tab(name_of(window))
    waiting = asyncio.ensure_future(call(window, session, "wait_for_exit", terminalId=id))
    await asyncio.sleep(0.1)
    await jp_fetch("api", "terminals", name_of(window), method="DELETE")
    assert await listed() == []
    assert not any(lives(pid) for pid in pids)
    assert await waiting == {"exitCode": None, "signal": "SIGTERM"}
    await tab.until("nothing more")
    assert tab.ended


@pytest.mark.parametrize("terminal_config", [{"cull_inactive_timeout": 3, "cull_interval": 1}])
async def test_it_is_not_culled_while_the_agent_waits(window, tmp_path, jp_fetch, listed):
    session = await window.new(tmp_path)
    id = await create(window, session, "until [ -e enough ]; do sleep 0.1; done")
    users = json.loads((await jp_fetch("api", "terminals", method="POST", body="{}")).body)["name"]
    # The user's may be culled already.
    assert {name_of(window)} <= set(await listed()) <= {users, name_of(window)}
    waiting = asyncio.ensure_future(call(window, session, "wait_for_exit", terminalId=id))
    for _ in range(600):
        if users not in await listed():
            break
        await asyncio.sleep(0.05)
    # The user's is, which is the younger one; now it would be its turn.
    await asyncio.sleep(1.5)
    assert await listed() == [name_of(window)] and not waiting.done()
    (tmp_path / "enough").touch()
    assert (await waiting)["exitCode"] == 0


async def test_programs_find_a_terminal_without_pages(window, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "13")
    monkeypatch.setenv("GIT_PAGER", "less")
    session = await window.new(tmp_path)
    line = 'test -t 0 && test -t 1 && echo "$TERM $PAGER $GIT_PAGER:$COLUMNS"; tty </dev/tty'
    output = (await run(window, session, line))["output"].splitlines()
    assert output[0] == "xterm-256color cat cat:"
    assert output[1].startswith("/dev/")
    mine = [{"name": "PAGER", "value": ""}, {"name": "TERM", "value": "dumb"}]
    output = (await run(window, session, 'echo "$TERM $PAGER"', env=mine))["output"]
    assert output == "dumb \n"


async def test_the_agent_reads_text_and_windows_get_the_colours(window, tmp_path):
    session = await window.new(tmp_path)
    line = r"printf '\033[1;32mgreen\033[0m\n10%%\r50%%\r100%%\n\033]0;title\007end\r\n'"
    assert (await run(window, session, line))["output"] == "green\n100%\nend\r\n"
    shown = window.printed()
    assert shown.startswith("\x1b[1;32mgreen\x1b[0m\n")


async def test_a_command_that_closes_its_terminal_holds_nobody_up(window, acp, tmp_path):
    session = await window.new(tmp_path)
    closes = "trap '' HUP; echo on; exec </dev/null >/dev/null 2>&1"
    line = f"{closes}; until [ -e enough ]; do sleep 0.1; done"
    running = asyncio.ensure_future(run(window, session, line))
    terminals = (await acp.manager())._services._terminals._terminals

    def is_closed():
        return any(terminal._command._silent.is_set() for terminal in terminals.values())

    for _ in range(600):
        if is_closed():
            break
        await asyncio.sleep(0.05)
    # Who is held up for as long as the command lives cannot let it end.
    assert is_closed() and not running.done()
    (tmp_path / "enough").touch()
    output = await running
    assert output["output"] == "on\n" and output["exitStatus"]["exitCode"] == 0


async def test_what_nobody_reads_is_not_kept(window, tmp_path, jp_http_port, jp_auth_header):
    """A tab that takes nothing neither fills the memory nor stops the command."""
    session = await window.new(tmp_path)
    flood = "read go; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo 'last 'words; read more"
    id = await create(window, session, flood, outputByteLimit=1000)
    reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port, limit=1024)
    token = jp_auth_header["Authorization"]
    writer.write(
        (
            f"GET /a%40b/terminals/websocket/{name_of(window)} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: {token}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode()
    )
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    typed = json.dumps(["stdin", "\r"]).encode()
    masked = bytes([0x81, 0x80 | len(typed), 0, 0, 0, 0]) + typed
    before = psutil.Process().memory_info().rss
    writer.write(masked)
    for _ in range(600):
        await asyncio.sleep(0.1)
        output = await call(window, session, "output", terminalId=id)
        if "last words" in output["output"]:
            break
    assert "last words" in output["output"]
    assert psutil.Process().memory_info().rss - before < 32 * 1024 * 1024
    received = b""
    while b"last words" not in received:
        received = received[-100:] + await asyncio.wait_for(reader.read(1 << 20), 20)
    writer.close()


async def test_more_is_typed_than_is_read(window, tmp_path, open_tab, acp):
    session = await window.new(tmp_path)
    id = await create(window, session, "stty raw -echo; echo ready; sleep 1; wc -c")
    tab = await open_tab(name_of(window))
    await tab.until("ready")
    for _ in range(100):
        await tab.type("y" * 4096)
    await call(window, session, "kill", terminalId=id)
    output = await call(window, session, "output", terminalId=id)
    assert "ready" in output["output"]


async def test_without_a_terminal_to_be_had_it_runs_all_the_same(window, tmp_path, monkeypatch):
    def refuse():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "openpty", refuse)
    session = await window.new(tmp_path)
    assert (await run(window, session, "echo", "fine"))["output"] == "fine\n"
    assert name_of(window) is None


async def test_a_manager_of_another_kind_is_left_alone():
    assert await PtyCommand.start(None, Output(10), object()) is None


def test_plain_text():
    assert plain("a\x1b[31mb\x1b[0m\x1b(Bc\x1b=d") == "abcd"
    assert plain("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07") == "link"
    assert plain("1%\r2%\r\n3%\r") == "2%\r\n3%\r"
    assert plain("é\n") == "é\n"
    long = "x" * 10_000_000
    start = time.thread_time()
    assert plain(long + "\r" + long) == long
    assert time.thread_time() - start < 2
