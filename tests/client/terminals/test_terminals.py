# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`terminal/*` as an agent meets it: the same with Jupyter's terminals and without."""

from __future__ import annotations

import asyncio
import time

import psutil
import pytest
from commands import FAMILY, call, create, family, lives, python, run

from jupyter_acp.client.terminals import service


@pytest.fixture(params=["jupyter", "pipes"])
def kind(request):
    """Where commands run."""
    return request.param


@pytest.fixture
def jp_server_config(jp_server_config, kind):
    server = jp_server_config["ServerApp"]
    extensions = {**server["jpserver_extensions"], "jupyter_server_terminals": True}
    enabled = {"jpserver_extensions": extensions, "terminals_enabled": kind == "jupyter"}
    return {**jp_server_config, "ServerApp": {**server, **enabled}}


async def dead(*pids, seconds=30):
    """Wait for the end of processes."""
    end = time.monotonic() + seconds
    while any(lives(pid) for pid in pids):
        assert time.monotonic() < end, f"alive: {[pid for pid in pids if lives(pid)]}"
        await asyncio.sleep(0.05)


"""A command with a child, and with one that left its group."""


class Pulse:
    """Measures what the event loop takes of the processor for one thing before others have a turn.

    Not how long that takes: this is also up to a machine with much else to do.
    """

    async def __aenter__(self):
        self.busiest = 0.0
        self._task = asyncio.ensure_future(self._beat())
        return self

    async def __aexit__(self, *_):
        self._task.cancel()

    async def _beat(self):
        while True:
            used = time.thread_time()
            await asyncio.sleep(0.01)
            self.busiest = max(self.busiest, time.thread_time() - used)


async def test_a_command_from_start_to_release(window, tmp_path, kind):
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
    (created,) = window.of("_jupyter/terminal/created")
    assert (
        created["params"]["terminalId"] == id
        and code.split(";")[0] in (created["params"]["command"])
    )
    assert created["params"]["cwd"] == str(tmp_path.resolve())
    assert (created["params"]["name"] is None) == (kind == "pipes")
    assert {m["params"]["terminalId"] for m in window.of("_jupyter/terminal/output")} == {id}
    assert "blue" in window.printed()
    (ended,) = window.of("_jupyter/terminal/exit")
    assert ended["params"]["exitStatus"] == status


async def test_the_transcript_keeps_the_output_after_release(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    id = await create(window, session, "echo", "still here")
    await call(window, session, "wait_for_exit", terminalId=id)
    await call(window, session, "release", terminalId=id)
    later = await acp_connect()
    await later.attach(session)
    await later.wait(lambda m: m.get("method") == "_jupyter/terminal/exit")
    assert later.printed() == "still here\n"


async def test_a_whole_shell_line_as_the_command(window, tmp_path):
    session = await window.new(tmp_path)
    id = await create(window, session, "echo one && echo two | tr a-z A-Z; exit 3")
    assert (await call(window, session, "wait_for_exit", terminalId=id))["exitCode"] == 3
    assert (await call(window, session, "output", terminalId=id))["output"] == "one\nTWO\n"


async def test_output_is_shown_while_it_comes(window, tmp_path):
    session = await window.new(tmp_path)
    code = (
        "import os, time; print('first', flush=True)\n"
        "while not os.path.exists('seen'): time.sleep(0.05)\nprint('second')"
    )
    id = await create(window, session, *python(code))
    await window.wait(lambda m: m.get("method") == "_jupyter/terminal/output")
    assert not window.of("_jupyter/terminal/exit")
    (tmp_path / "seen").touch()
    await call(window, session, "wait_for_exit", terminalId=id)
    assert window.printed() == "first\nsecond\n"


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


async def test_another_folder_inside(window, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    session = await window.new(tmp_path)
    assert (await run(window, session, "pwd", cwd=str(inner)))["output"] == f"{inner.resolve()}\n"


async def test_both_outputs_come_in_order(window, tmp_path):
    session = await window.new(tmp_path)
    output = await run(window, session, "echo one; echo two >&2; echo three")
    assert output["output"] == "one\ntwo\nthree\n"


async def test_nothing_is_lost_of_what_is_printed_at_once_or_last(window, tmp_path):
    session = await window.new(tmp_path)
    expected = "".join(f"{number}\n" for number in range(1, 20001))
    for _ in range(10):
        assert (await run(window, session, "seq", "20000"))["output"] == expected


async def test_a_signal_is_told(window, tmp_path):
    session = await window.new(tmp_path)
    output = await run(window, session, "kill -9 $$")
    assert output["exitStatus"] == {"exitCode": None, "signal": "SIGKILL"}


async def test_kill_ends_what_it_started_and_keeps_the_output(window, tmp_path):
    session = await window.new(tmp_path)
    id, pids = await family(window, session)
    await call(window, session, "kill", terminalId=id)
    assert not any(lives(pid) for pid in pids)
    output = await call(window, session, "output", terminalId=id)
    assert output["exitStatus"]["signal"] == "SIGTERM"
    assert output["output"].split()[:3] == [str(pid) for pid in pids]


async def test_release_ends_it(window, tmp_path):
    session = await window.new(tmp_path)
    id, pids = await family(window, session)
    await call(window, session, "release", terminalId=id)
    assert not any(lives(pid) for pid in pids)


async def test_the_end_of_a_session_ends_everything(window, tmp_path):
    session, other = await window.new(tmp_path), await window.new(tmp_path)
    _, mine = await family(window, session)
    _, others = await family(window, other)
    await window.result("session/close", {"sessionId": session})
    await dead(*mine)
    assert all(lives(pid) for pid in others)


async def test_the_end_of_the_agent_ends_everything(window, tmp_path):
    session = await window.new(tmp_path)
    _, pids = await family(window, session)
    await window.prompt(session, ["exit", 3])
    await dead(*pids)


async def test_the_end_of_the_server_ends_everything(window, acp, tmp_path):
    session = await window.new(tmp_path)
    _, pids = await family(window, session)
    await acp.stop_extension()
    assert not any(lives(pid) for pid in pids)


async def test_a_sudden_end_of_the_server_ends_everything(window, acp, tmp_path):
    session = await window.new(tmp_path)
    _, pids = await family(window, session)
    (await acp.manager()).close_now()
    await dead(*pids)


async def test_what_is_never_released_is_forgotten_with_all_that_it_started(
    window, tmp_path, monkeypatch
):
    monkeypatch.setattr(service, "KEPT_PER_SESSION", 1)
    session = await window.new(tmp_path)
    code = FAMILY.rpartition(";")[0]
    first = await create(window, session, *python(code))
    await call(window, session, "wait_for_exit", terminalId=first)
    output = await call(window, session, "output", terminalId=first)
    stray = int(output["output"].split()[2])
    assert lives(stray)
    for _ in range(2):
        await run(window, session, "true")
    await dead(stray)
    assert (await call(window, session, "output", terminalId=first))["code"] == -32002


async def test_bad_requests_say_why(window, tmp_path):
    session = await window.new(tmp_path)
    nothing = await call(window, session, "create", command="no-such-program")
    assert "could not be started" in nothing["message"]
    nowhere = await call(window, session, "create", command="ls", cwd=str(tmp_path / "none"))
    assert "could not be started" in nowhere["message"]
    outside = await call(window, session, "create", command="ls", cwd="/")
    assert "outside the folders" in outside["message"]
    assert (await call(window, session, "create", command=""))["code"] == -32602
    assert not window.of("_jupyter/terminal/created")
    other = await window.new(tmp_path)
    id = await create(window, session, *python("input()"))
    assert (await call(window, other, "output", terminalId=id))["code"] == -32002


def is_sleep(process):
    try:
        return process.name() == "sleep"
    except psutil.Error:
        return False


async def test_no_more_than_fifty_at_once_and_none_after_the_session(window, tmp_path):
    session = await window.new(tmp_path)
    for _ in range(50):
        await create(window, session, "sleep", "1000")
    refused = await call(window, session, "create", command="sleep", args=["1000"])
    assert "50 terminals" in refused["message"]
    mine = [p.pid for p in psutil.Process().children() if is_sleep(p) and lives(p.pid)]
    assert len(mine) == 50
    async with Pulse() as pulse:
        await window.result("session/close", {"sessionId": session})
        await dead(*mine)
    assert pulse.busiest < 1


async def test_the_servers_secrets_are_not_in_its_environment(window, tmp_path, monkeypatch):
    for name in ("JUPYTER_TOKEN", "JPY_API_TOKEN", "JUPYTERHUB_API_TOKEN"):
        monkeypatch.setenv(name, "very-secret")
    session = await window.new(tmp_path)
    output = (await run(window, session, "env"))["output"]
    assert "PATH=" in output and "very-secret" not in output
    assert "JUPYTER_SERVER_URL" not in output


@pytest.mark.timeout(300)
async def test_a_flood_passes_through_little_memory(window, tmp_path):
    session = await window.new(tmp_path)
    server = psutil.Process()
    await run(window, session, "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end")
    before = server.memory_info().rss
    async with Pulse() as pulse:
        output = await run(
            window,
            session,
            "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo end",
            outputByteLimit=1000,
        )
    assert output["truncated"] and output["exitStatus"]["exitCode"] == 0
    assert output["output"] == "x" * 995 + "\nend\n"
    assert server.memory_info().rss - before < 32 * 1024 * 1024
    assert pulse.busiest < 0.5
    last = window.of("_jupyter/terminal/output")[-1]["params"]
    assert last["truncated"] is True
