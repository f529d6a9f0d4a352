# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`jupyter-acp tool`, as an agent calls it from its shell."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from mcpclient import ASK, decide
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from jupyter_acp.tools import cli, socket_paths
from jupyter_acp.tools.cli import ADMIT, program, program_path

PLOT = """
from IPython.display import Image, display
import base64
display(Image(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkQPgPAAEGAQFNpgVcAAAAAElFTkSuQmCC"
)))
"""
FREE = [{"kind": "run", "decision": "allow"}, {"kind": "terminal", "decision": "ask"}]


@pytest.fixture
def acp_config():
    return {"permissions": {"*": FREE[:1]}}


@pytest.fixture
def notebook(root):
    cells = [new_code_cell("x = 'é'", id="one"), new_markdown_cell("# Hello", id="two")]
    path = root / "n.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    return path


async def start(*args, **options):
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        program_path(), "tool", *args, stdin=pipe, stdout=pipe, stderr=pipe, **options
    )


async def run(*args, given=b"", **options):
    """Return how it ended, and what it printed."""
    process = await start(*args, **options)
    printed, errors = await asyncio.wait_for(process.communicate(given), 100)
    return process.returncode, printed.decode(), errors.decode()


async def done(*args, **options):
    status, printed, errors = await run(*args, **options)
    assert status == 0 and errors == "", errors
    return printed


async def test_the_program_is_the_one_that_is_installed():
    assert program() == [program_path()]
    assert Path(program_path()).parent == Path(sys.executable).parent
    help = await done("--help")
    for word in ("read_notebook", "--list", "exit status", "<<'END'", "may be asked"):
        assert word in help
    jupyter = Path(sys.executable).with_name("jupyter")
    env = {**os.environ, "PATH": f"{jupyter.parent}{os.pathsep}{os.environ['PATH']}"}
    told = await asyncio.create_subprocess_exec(
        jupyter, "acp", "tool", "--help", env=env, stdout=asyncio.subprocess.PIPE
    )
    assert (await told.communicate())[0].decode() == help


async def test_reading_and_changing(session, notebook):
    ours = ("--session", session)
    listed = await done(*ours, "--list")
    assert "\n\nedit_cell\n  Replace the source" in listed
    assert "    source (string, needed): The new source" in listed
    assert "    type ('code' or 'markdown' or 'raw', \"code\" if left out)" in listed
    one = await done(*ours, "--list", "run_cell")
    assert one.startswith("run_cell\n  Run one code cell") and "edit_cell\n" not in one
    told = await done(*ours, "read_notebook", "--json", '{"path": "n.ipynb"}')
    assert "x = 'é'" in told and "2 cells" in told
    assert told == await done(*ours, "read_notebook", "--json", "-", given=b'{"path": "n.ipynb"}')
    # Whatever the locale of the agent is.
    env = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert told == await done(*ours, "read_notebook", "--json", '{"path": "n.ipynb"}', env=env)
    change = {"path": "n.ipynb", "cell_id": "one", "source": 'x = "it\'s"\n'}
    assert "has its new source" in await done(*ours, "edit_cell", "--json", json.dumps(change))
    assert json.loads(notebook.read_text())["cells"][0]["source"] == ['x = "it\'s"\n']


def read(path):
    return path.read_bytes()


def mode(path):
    return path.stat().st_mode & 0o777


async def test_running_and_images(session, notebook, tmp_path):
    ours = ("--session", session, "run_code", "--json")
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    told = await done(*ours, json.dumps({"path": "n.ipynb", "code": PLOT}), env=env)
    (made,) = tmp_path.glob("jupyter-acp-*/*.png")
    assert f"[image/png: {made}]" in told
    assert read(made).startswith(b"\x89PNG") and mode(made.parent) == 0o700
    wrong = json.dumps({"path": "n.ipynb", "code": "raise ValueError('no luck')"})
    status, printed, errors = await run(*ours, wrong)
    assert status == 1 and printed == "" and "ValueError: no luck" in errors


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        ([], 2, "name a tool"),
        (["fly"], 1, "There is no tool fly"),
        (["--list", "fly"], 1, "There is no tool fly"),
        (["read_notebook", "--json", "{"], 2, "is not JSON"),
        (["read_notebook", "--json", "[]"], 2, "must be an object"),
        (["read_notebook", "--json", '{"start": -1}'], 1, "start"),
        (["read_notebook", "--sess", "x"], 2, "--sess"),
    ],
)
async def test_what_is_wrong_is_said(session, args, status, words):
    ended, printed, errors = await run("--session", session, *args)
    assert ended == status and printed == "" and words in errors


async def test_a_session_that_is_not_there(window, session):
    assert (await run("list_kernels"))[0] == 2
    for id in ("nonsense", "", "a\nb", "é", session + "x", session.upper() + "x"):
        status, printed, errors = await run("--session", id, "list_kernels")
        assert status == 3 and printed == "" and "has a session" in errors
    await window.result("session/close", {"sessionId": session})
    status, _, errors = await run("--session", session, "list_kernels")
    assert status == 3 and repr(session) in errors


async def test_the_user_is_asked_as_ever(window, root, notebook, acp):
    (await acp.manager()).services._permissions._admin = {}
    session = await window.new(root)
    asked = ("--session", session, "run_code", "--json", '{"path": "n.ipynb", "code": "6 * 7"}')
    running = asyncio.ensure_future(run(*asked))
    question = await decide(window, "deny")
    assert "6 * 7" in json.dumps(question)
    status, _, errors = await running
    assert status == 1 and "the user said no" in errors
    running = asyncio.ensure_future(run(*asked))
    await decide(window, "allow", len(window.received))
    status, printed, errors = await running
    assert status == 0 and "42" in printed


async def test_who_ends_it_ends_what_it_runs(session, root, notebook):
    code = "import time; open('begun', 'w').close(); time.sleep(300)"
    call = json.dumps({"path": "n.ipynb", "code": code})
    process = await start("--session", session, "run_code", "--json", call)
    while not (root / "begun").exists():
        await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 130 and errors == b""
    # The kernel has been interrupted, or it would be busy for minutes.
    again = json.dumps({"path": "n.ipynb", "code": "1 + 1"})
    assert "2" in await done("--session", session, "run_code", "--json", again)


class TestTerminals:
    """One thing is asked once."""

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {}}

    async def create(self, window, session, command, **more):
        """Let the agent run a command; return the output, or the error."""
        await window.prompt(
            session,
            ["request", "terminal/create", {"command": command, **more}],
        )
        return json.loads(window.texts()[-1])

    async def test_our_own_program_needs_no_card(self, window, session, notebook):
        line = f'{shlex.join(program())} tool --session {session} read_notebook --json \'{{"path": "n.ipynb"}}\''
        terminal = (await self.create(window, session, line))["terminalId"]
        await window.prompt(
            session,
            ["request", "terminal/wait_for_exit", {"terminalId": terminal}],
            ["request", "terminal/output", {"terminalId": terminal}],
        )
        output = json.loads(window.texts()[-1])
        assert "2 cells" in output["output"] and output["exitStatus"]["exitCode"] == 0
        assert not window.of(ASK)

    async def test_what_it_runs_does(self, window, session, notebook):
        call = '{"path": "n.ipynb", "code": "6 * 7"}'
        args = ["tool", "--session", session, "run_code", "--json", call]
        terminal = (await self.create(window, session, program_path(), args=args))["terminalId"]
        question = await decide(window, "allow")
        assert "6 * 7" in json.dumps(question) and program_path() not in json.dumps(question)
        await window.prompt(
            session,
            ["request", "terminal/wait_for_exit", {"terminalId": terminal}],
            ["request", "terminal/output", {"terminalId": terminal}],
        )
        assert "42" in json.loads(window.texts()[-1])["output"]
        assert len(window.of(ASK)) == 1

    async def test_anything_more_is_a_command(self, window, root, session):
        other = await window.new(root)
        ours = f"{shlex.join(program())} tool --session {session} list_kernels"
        for line in (f"{ours}; true", f"{ours} > x", ours.replace(session, other)):
            seen = len(window.received)
            turn = asyncio.ensure_future(self.create(window, session, line))
            question = await decide(window, "deny", seen)
            assert line in question["toolCall"]["title"]
            assert "user said no" in (await turn)["message"]

    async def test_a_rule_against_terminals_holds(self, window, session, acp):
        rules = [{"kind": "terminal", "decision": "deny"}]
        await window.notify("_jupyter/settings/update", {"rules": {"*": rules}})
        line = f"{shlex.join(program())} tool --session {session} list_kernels"
        assert "a rule of the user" in (await self.create(window, session, line))["message"]


class TestPackage:
    """Where the installer has put no program of ours anywhere."""

    @pytest.fixture(autouse=True)
    def no_program(self, monkeypatch):
        monkeypatch.setattr(cli, "program_path", lambda: "")

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {}}

    async def test_it_needs_no_card_either(self, window, session, notebook, acp):
        line = (await acp.manager()).services._tools.command(session)
        assert line.endswith(f" -I -m jupyter_acp tool --session {session}")
        create = TestTerminals().create
        terminal = (await create(window, session, f"{line} list_kernels"))["terminalId"]
        await window.prompt(
            session,
            ["request", "terminal/wait_for_exit", {"terminalId": terminal}],
            ["request", "terminal/output", {"terminalId": terminal}],
        )
        output = json.loads(window.texts()[-1])
        assert "python3" in output["output"] and output["exitStatus"]["exitCode"] == 0
        assert not window.of(ASK)


class TestOff:
    """Without tools there is nothing that would ask."""

    @pytest.fixture
    def acp_config(self):
        return {"tools": False, "permissions": {}}

    async def test_the_program_is_a_command_as_any_other(self, window, session):
        create = TestTerminals().create
        line = f"{shlex.join(program())} tool --session {session} list_kernels"
        turn = asyncio.ensure_future(create(window, session, line))
        await decide(window, "deny")
        assert "user said no" in (await turn)["message"]


@pytest.fixture
def lure():
    """A folder where a socket is looked for, that anybody could have made."""
    folder = Path(tempfile.mkdtemp(prefix=socket_paths.prefix(), dir="/tmp"))
    yield folder
    folder.rmdir()


def test_sockets_of_others_are_passed_over(lure):
    path = str(lure / socket_paths.SOCKET)
    assert path in socket_paths.sockets()
    lure.chmod(0o755)
    assert path not in socket_paths.sockets()
    lure.chmod(0o700)
    if os.getuid() == 0:
        os.chown(lure, 65534, -1)
        assert path not in socket_paths.sockets()
        os.chown(lure, 0, -1)
    link = lure.with_name(f"{lure.name}-link")
    link.symlink_to(lure)
    try:
        assert (
            path in socket_paths.sockets()
            and str(link / socket_paths.SOCKET) not in socket_paths.sockets()
        )
    finally:
        link.unlink()


def test_the_account_says_where_sockets_are_whatever_home_an_agent_sets(tmp_path, monkeypatch):
    account = tmp_path / "account"
    entry = SimpleNamespace(pw_dir=str(account))
    monkeypatch.setattr("pwd.getpwuid", lambda uid: entry)
    data = "Library/Jupyter" if sys.platform == "darwin" else ".local/share/jupyter"
    folder = account / data / "runtime" / f"{socket_paths.prefix()}1"
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    assert str(folder / socket_paths.SOCKET) in socket_paths.sockets()


async def test_sockets_where_nobody_answers_are_passed_over(session, lure):
    assert "list_kernels" in await done("--session", session, "--list")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_another_user_gets_nothing(session, acp, caplog):
    tools = (await acp.manager()).services._tools
    path = Path(tools._address)
    # As if the folder and the socket were open to everybody.
    for each in (path, *path.parents):
        if each.is_relative_to("/tmp") and each != Path("/tmp"):
            each.chmod(0o777 if each == path else 0o755)
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        's.sendall(sys.argv[2].encode() + b\'\\n{"jsonrpc":"2.0","id":1,"method":"ping"}\\n\');'
        "print(s.recv(1000))"
    )
    ticket = tools._accesses[session].ticket
    for first, user, answered in (
        (ADMIT.decode() + session, 65534, False),
        (ticket, 65534, False),
        (ADMIT.decode() + session, None, True),
        (ticket, None, True),
    ):
        process = await asyncio.create_subprocess_exec(
            "/usr/bin/env", "python3", "-c", code, str(path), first,
            user=user, cwd="/", stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        printed, _ = await asyncio.wait_for(process.communicate(), 60)
        assert (b"result" in printed) == answered, (first, user, printed)
    assert "it is of the user 65534" in caplog.text


def test_it_starts_fast():
    code = (
        "import sys; from jupyter_acp.__main__ import main; import jupyter_acp.tools.cli;"
        "from jupyter_acp.tools.socket_paths import sockets; sockets();"
        "print(len(sys.modules), [m for m in ('asyncio', 'pydantic', 'traitlets', 'tornado', 'orjson',"
        "'jupyter_server', 'importlib.metadata') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, heavy = shown.stdout.split(" ", 1)
    assert int(count) < 200 and heavy.strip() == "[]", shown.stdout
