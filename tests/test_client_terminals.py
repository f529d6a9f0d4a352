# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`terminal/*` as an agent meets it."""

from __future__ import annotations

import asyncio
import json
import sys

import psutil


async def call(window, session, method, **params):
    await window.prompt(session, ["request", f"terminal/{method}", params])
    return json.loads(window.texts()[-1])


async def create(window, session, command, *args, **params):
    result = await call(window, session, "create", command=command, args=list(args), **params)
    return result["terminalId"]


def lives(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def python(code):
    return sys.executable, "-c", code


async def test_a_command_from_start_to_release(window, tmp_path):
    session = await window.new(tmp_path)
    code = "import os; print(os.getcwd(), os.environ['COLOUR'])"
    env = [{"name": "COLOUR", "value": "blue"}]
    id = await create(window, session, *python(code), env=env)
    status = await call(window, session, "wait_for_exit", terminalId=id)
    assert status == {"exitCode": 0, "signal": None}
    output = await call(window, session, "output", terminalId=id)
    assert output["output"].split() == [str(tmp_path.resolve()), "blue"]
    assert output["truncated"] is False and output["exitStatus"] == status
    assert await call(window, session, "release", terminalId=id) == {}
    gone = await call(window, session, "output", terminalId=id)
    assert gone["code"] == -32002
    (shown,) = window.of("_jupyter/terminal/output")
    assert shown["params"]["terminalId"] == id and "blue" in shown["params"]["data"]
    (ended,) = window.of("_jupyter/terminal/exit")
    assert ended["params"]["exitStatus"] == status


async def test_a_whole_shell_line_as_the_command(window, tmp_path):
    session = await window.new(tmp_path)
    id = await create(window, session, "echo one && echo two | tr a-z A-Z; exit 3")
    assert (await call(window, session, "wait_for_exit", terminalId=id))["exitCode"] == 3
    assert (await call(window, session, "output", terminalId=id))["output"] == "one\nTWO\n"


async def test_output_is_shown_while_it_comes(window, tmp_path):
    session = await window.new(tmp_path)
    code = "import time; print('first', flush=True); time.sleep(1); print('second')"
    id = await create(window, session, *python(code))
    await window.wait(lambda m: m.get("method") == "_jupyter/terminal/output")
    assert not window.of("_jupyter/terminal/exit")
    await call(window, session, "wait_for_exit", terminalId=id)
    assert "".join(m["params"]["data"] for m in window.of("_jupyter/terminal/output")) == (
        "first\nsecond\n"
    )


async def test_kill_ends_what_it_started_and_keeps_the_output(window, tmp_path):
    session = await window.new(tmp_path)
    code = (
        "import subprocess, sys, time;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'],"
        " start_new_session=True); print(child.pid, flush=True); time.sleep(1000)"
    )
    id = await create(window, session, *python(code))
    shown = await window.wait(lambda m: m.get("method") == "_jupyter/terminal/output")
    child = int(shown["params"]["data"])
    assert psutil.pid_exists(child)
    await call(window, session, "kill", terminalId=id)
    output = await call(window, session, "output", terminalId=id)
    assert output["exitStatus"]["signal"] == "SIGTERM" and output["output"] == f"{child}\n"
    assert not psutil.pid_exists(child) or not lives(psutil.Process(child))


async def test_output_is_cut_at_a_character_from_the_front(window, tmp_path):
    session = await window.new(tmp_path)
    id = await create(window, session, *python("print('é' * 1000, end='')"), outputByteLimit=101)
    await call(window, session, "wait_for_exit", terminalId=id)
    output = await call(window, session, "output", terminalId=id)
    assert output == {
        "output": "é" * 50,
        "truncated": True,
        "exitStatus": {"exitCode": 0, "signal": None},
    }


async def test_bad_requests_say_why(window, tmp_path):
    session = await window.new(tmp_path)
    nothing = await call(window, session, "create", command="no-such-program")
    assert "could not be started" in nothing["message"]
    outside = await call(window, session, "create", command="ls", cwd="/")
    assert "outside the folders" in outside["message"]
    assert (await call(window, session, "create", command=""))["code"] == -32602
    other = await window.new(tmp_path)
    id = await create(window, session, *python("input()"))
    assert (await call(window, other, "output", terminalId=id))["code"] == -32002


async def test_no_more_than_fifty_at_once_and_none_after_the_session(window, tmp_path):
    session = await window.new(tmp_path)
    for _ in range(50):
        await create(window, session, "sleep", "1000")
    refused = await call(window, session, "create", command="sleep", args=["1000"])
    assert "50 terminals" in refused["message"]
    mine = [p for p in psutil.Process().children() if p.name() == "sleep" and lives(p)]
    assert len(mine) == 50
    await window.result("session/close", {"sessionId": session})
    for _ in range(100):
        if not any(lives(process) for process in mine):
            break
        await asyncio.sleep(0.1)
    assert not any(lives(process) for process in mine)


async def test_the_servers_secrets_are_not_in_its_environment(window, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_TOKEN", "very-secret")
    session = await window.new(tmp_path)
    id = await create(window, session, "env")
    await call(window, session, "wait_for_exit", terminalId=id)
    output = (await call(window, session, "output", terminalId=id))["output"]
    assert "PATH=" in output and "very-secret" not in output
