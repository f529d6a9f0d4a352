# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools that run code, with real kernels of two languages."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from uuid import uuid4

import nbformat
import pytest
from mcpclient import ASK, connected, decide, servers
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from page import Page

from jupyter_acp.client.notebooks import kernels
from jupyter_acp.sessions.health import Anew
from jupyter_acp.tools import mcp as server
from jupyter_acp.tools.model_text import RUN_OUTPUT_LIMIT

SHOW_IMAGE = """
from IPython.display import Image, display
import base64
display(Image(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)))
"""
LONG = "import time; open('begun', 'w').close(); time.sleep(100)"
SLEEP = """
import os, time
open("begun", "w").close()
while not os.path.exists("enough"):
    time.sleep(0.05)
slept = "well"
"""
STUBBORN = """
import os, time
while True:
    try:
        if os.path.exists("enough"):
            break
        time.sleep(0.1)
    except KeyboardInterrupt:
        pass
"""
ALLOW = [{"kind": "run", "decision": "allow"}, {"kind": "terminal", "decision": "allow"}]


@pytest.fixture
def acp_config():
    return {"permissions": {"*": ALLOW}}


@pytest.fixture
def bash_kernel(jp_data_dir):
    folder = jp_data_dir / "kernels" / "bash"
    folder.mkdir(parents=True)
    argv = [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Bash", "language": "bash"}
    (folder / "kernel.json").write_text(json.dumps(spec))


@pytest.fixture
def interrupts(jp_serverapp, monkeypatch):
    """The kernels that were interrupted."""
    interrupted = []
    interrupt = jp_serverapp.kernel_manager.interrupt_kernel

    def spy(kernel):
        interrupted.append(kernel)
        return interrupt(kernel)

    monkeypatch.setattr(jp_serverapp.kernel_manager, "interrupt_kernel", spy)
    return interrupted


@pytest.fixture
def talks(monkeypatch):
    """The conversations with kernels that were free for them."""
    talks = []
    begin = kernels.Conversation.begin

    async def spy(talk, *args):
        await begin(talk, *args)
        talks.append(talk)

    monkeypatch.setattr(kernels.Conversation, "begin", spy)
    return talks


@pytest.fixture
def noted(monkeypatch):
    """The code that kernels were heard to begin with while a window was to run a cell."""
    noted = []
    note = kernels.Conversation._note

    def spy(talk, message, code):
        note(talk, message, code)
        noted.append(message["content"].get("code"))

    monkeypatch.setattr(kernels.Conversation, "_note", spy)
    return noted


@pytest.fixture
def entry(window, root, jp_asyncio_loop):
    session = jp_asyncio_loop.run_until_complete(window.new(root))
    (entry,) = jp_asyncio_loop.run_until_complete(servers(window, session))
    return entry


def make(path, *texts, kernel=None):
    cells = [new_code_cell(text, id=f"c{number}") for number, text in enumerate(texts)]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}} if kernel else {}
    path.write_text(nbformat.writes(new_notebook(cells=cells, metadata=metadata)))
    return path


async def kernel_of(serverapp, name):
    sessions = await serverapp.session_manager.list_sessions()
    (found,) = [s["kernel"]["id"] for s in sessions if s["path"] == name]
    return found


async def execute(serverapp, code):
    """Run code as the user does; return the reply."""
    manager = serverapp.kernel_manager.get_kernel(await kernel_of(serverapp, "n.ipynb"))
    client = manager.client()
    # Each window has a name of its own; a kernel answers the last who came with the same.
    client.session.session = uuid4().hex
    client.start_channels()
    try:
        request = client.execute(code)
        while True:
            reply = await client.get_shell_msg(timeout=100)
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]
    finally:
        client.stop_channels()


def queueing(serverapp):
    """A window that runs what it is asked to, after what the kernel is at."""

    async def run(params):
        if params["cellId"] is None:
            await serverapp.session_manager.create_session(
                path=params["path"], name=params["path"], type="notebook", kernel_name="python3"
            )
            return {"status": "ok"}
        reply = await execute(serverapp, params["source"])
        return {
            "status": reply["status"],
            "executionCount": reply.get("execution_count"),
            "outputs": [],
        }

    return run


async def until(condition):
    for _ in range(1200):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to that")


async def begun(root):
    """Wait until a kernel has begun with what leaves a file behind when it does."""
    await until((root / "begun").exists)


async def at_it(talks):
    """Wait until the server has heard that a kernel has begun with what it was asked last."""
    await until(lambda: bool(talks) and talks[-1].started)


def enough(root):
    """Let what a kernel is at come to its end."""
    (root / "enough").touch()


async def test_cells_of_a_closed_notebook(entry, root):
    path = make(root / "n.ipynb", "x = 6\nprint('six', x)\nx * 7", "1 / 0", SHOW_IMAGE)
    async with connected(entry) as mcp:
        told = await mcp.text("run_cell", path="n.ipynb", cell_id="c0")
        assert told.startswith("Cell c0 [1] ran.\n") and "six 6" in told and "42" in told
        told = await mcp.refused("run_cell", path="n.ipynb", cell_id="c1")
        assert "Cell c1 [2] failed." in told and "ZeroDivisionError: division by zero" in told
        assert "\x1b" not in told
        result = await mcp.call("run_cell", path="n.ipynb", cell_id="c2")
        assert [b.mime_type for b in result.content if b.type == "image"] == ["image/png"]
        saved = nbformat.read(path, as_version=4)
        nbformat.validate(saved)
        assert [cell.execution_count for cell in saved.cells] == [1, 2, 3]
        assert saved.cells[0].outputs[0].text == "six 6\n"
        assert saved.cells[0].outputs[1].data["text/plain"] == "42"
        assert saved.cells[1].outputs[0].ename == "ZeroDivisionError"
        # The kernel is the notebook's own, and goes on.
        assert "6" in await mcp.text("run_code", path="n.ipynb", code="x")
        # Jupyter itself hears a moment later that it is idle.
        while "Kernel python3: idle" not in (
            told := await mcp.text("read_notebook", path="n.ipynb", count=1)
        ):
            assert "Kernel python3: busy" in told
        kernels = await mcp.json("list_kernels")
        (kernel,) = kernels["running"]
        assert kernel["notebooks"] == [str(path)] and kernel["language"] == "python"
        assert "python3" in kernels["installed"]


async def test_what_cannot_be_run(entry, root):
    path = make(root / "n.ipynb", "1")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_markdown_cell("# Text", id="text"))
    path.write_text(nbformat.writes(notebook))
    make(root / "odd.ipynb", "1", kernel="cobol")
    async with connected(entry) as mcp:
        assert "markdown cell" in await mcp.refused("run_cell", path="n.ipynb", cell_id="text")
        assert "no cell" in await mcp.refused("run_cell", path="n.ipynb", cell_id="nope")
        assert "nothing to run" in await mcp.refused("run_code", path="n.ipynb", code="  ")
        told = await mcp.refused("run_cell", path="odd.ipynb", cell_id="c0")
        assert "'cobol'" in told and "python3" in told
        assert "No kernel runs" in await mcp.refused("read_variables", path="n.ipynb")


async def test_code_that_reads_input_is_told_that_nobody_types(entry, root):
    make(root / "n.ipynb")
    async with connected(entry) as mcp:
        told = await mcp.refused("run_code", path="n.ipynb", code="input('name? ')")
        assert "StdinNotImplementedError" in told


async def test_time_that_runs_out(entry, root, jp_serverapp):
    make(root / "n.ipynb", "import time\nprint('begun', flush=True)\ntime.sleep(100)")
    async with connected(entry) as mcp:
        # Its time is not that in which the kernel starts.
        await mcp.text("run_code", path="n.ipynb", code="1", timeout=100)
        told = await mcp.refused("run_cell", path="n.ipynb", cell_id="c0", timeout=6)
        assert "longer than 6 s and was interrupted" in told
        assert "begun" in told and "KeyboardInterrupt" in told
        assert "2" in await mcp.text("run_code", path="n.ipynb", code="1 + 1", timeout=60)
        told = await mcp.refused("run_code", path="n.ipynb", code=STUBBORN, timeout=5)
        assert "does not react" in told
        enough(root)


async def test_a_run_that_the_agent_cancels_is_interrupted(entry, root, jp_serverapp, talks):
    make(root / "n.ipynb")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="done = 'no'")
        code = f"try:\n    {LONG}\nexcept KeyboardInterrupt:\n    done = 'yes'"
        calling = asyncio.ensure_future(mcp.text("run_code", path="n.ipynb", code=code))
        await begun(root)
        await at_it(talks)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert "yes" in await mcp.text("run_code", path="n.ipynb", code="done", timeout=60)


async def test_a_run_of_an_agent_that_leaves_is_interrupted(entry, root, jp_serverapp, talks):
    make(root / "n.ipynb")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="1")
        calling = asyncio.ensure_future(mcp.call("run_code", path="n.ipynb", code=LONG))
        await begun(root)
        await at_it(talks)
    await asyncio.gather(calling, return_exceptions=True)
    kernel = jp_serverapp.kernel_manager.get_kernel(await kernel_of(jp_serverapp, "n.ipynb"))
    await until(lambda: kernel.execution_state == "idle")


async def test_what_the_user_runs_is_never_interrupted(entry, root, jp_serverapp):
    make(root / "n.ipynb")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="1")
        manager = jp_serverapp.kernel_manager.get_kernel(await kernel_of(jp_serverapp, "n.ipynb"))
        user = manager.client()
        user.start_channels()
        user.execute(SLEEP)
        await begun(root)
        await until(lambda: manager.execution_state == "busy")
        told = await mcp.refused("run_code", path="n.ipynb", code="slept = 'badly'", timeout=2)
        assert "busy with something else; nothing was run" in told
        assert "busy" in await mcp.text("read_notebook", path="n.ipynb")
        # Given time, it waits for its turn.
        calling = asyncio.ensure_future(
            mcp.text("run_code", path="n.ipynb", code="slept", timeout=60)
        )
        await asyncio.sleep(0.5)
        assert not calling.done()
        enough(root)
        assert "well" in await calling
        user.stop_channels()


async def test_two_at_a_time_wait_for_each_other(entry, root):
    make(root / "n.ipynb")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="import time")
        told = await asyncio.gather(
            *(
                mcp.text("run_code", path="n.ipynb", code=f"time.sleep(1); 'no. {n}'", timeout=100)
                for n in range(3)
            )
        )
        assert [f"no. {n}" in told[n] for n in range(3)] == [True] * 3, told


async def test_progress_is_told_while_it_runs(entry, root, monkeypatch):
    make(root / "n.ipynb")
    heard = []

    async def hear(progress, total, message):
        heard.append(progress)

    async with connected(entry) as mcp:
        monkeypatch.setattr(server, "PROGRESS", 0.2)
        await mcp.client.call_tool(
            "run_code",
            {"path": "n.ipynb", "code": "import time; time.sleep(3)"},
            progress_callback=hear,
        )
    assert len(heard) > 2 and heard == sorted(heard)


async def test_a_flood_of_output_is_cut(entry, root):
    path = make(root / "n.ipynb", "for n in range(200_000):\n    print(n, 'x' * 80)")
    async with connected(entry) as mcp:
        told = await mcp.text("run_cell", path="n.ipynb", cell_id="c0")
        assert len(told) < 2 * RUN_OUTPUT_LIMIT and "left out" in told
        assert told.split("\n")[1].startswith("0 xxx")
    saved = nbformat.read(path, as_version=4)
    assert path.stat().st_size < 10_000_000
    assert saved.cells[0].outputs[0].text.endswith("[The rest of the output was dropped.]\n")


async def test_outputs_that_change_while_it_runs(entry, root):
    code = """
from IPython.display import clear_output, display
handle = display("one", display_id=True)
handle.update("two")
print("gone"); clear_output(wait=True); print("kept", end="\\r"); print("bar")
_ = display("three", display_id="d"); _ = display("four", display_id="d", update=True)
"""
    path = make(root / "n.ipynb", code)
    async with connected(entry) as mcp:
        told = await mcp.text("run_cell", path="n.ipynb", cell_id="c0")
    assert "gone" not in told and "one" not in told and "kept" not in told and "bar" in told
    assert "'four'" in told and "'three'" not in told
    assert len(nbformat.read(path, as_version=4).cells[0].outputs) == 2


async def test_variables(entry, root):
    make(root / "n.ipynb")
    code = """
import json, sys as system
number = 42
text = "y" * 1000
numbers = list(range(1000))
table = {"a": [1, 2], "b": None}
def f(a, b=1): pass
class Thing:
    def __repr__(self): raise ValueError("no")
thing = Thing()
class Array:
    shape = (3, 4); dtype = "float64"; size = 12
array = Array()
_hidden = 1
"""
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code=code)
        before = await mcp.text("run_code", path="n.ipynb", code="print(sorted(globals()))")
        told = (await mcp.text("read_variables", path="n.ipynb")).split("\n")
        found = dict(line.split(": ", 1) for line in told)
        assert found["number"] == "int = 42"
        assert found["text"].startswith("str [1000] = 'yyy") and len(found["text"]) < 200
        assert found["numbers"] == "list [1000] = [0, 1, 2, 3, 4, 5, ...]"
        assert found["table"] == "dict [2] = {'a': [1, 2], 'b': None}"
        assert found["f"] == "function = f(a, b=1)"
        assert found["Thing"] == "type = class Thing"
        assert found["thing"].startswith("Thing = ")
        assert found["array"] == "Array [3x4] = dtype float64"
        assert found["Imported modules"] == "json, sys as system"
        assert not {"_hidden", "In", "exit", "get_ipython", "open"} & set(found)
        # Nothing of it is left behind: no name, no entry of the history, no number.
        after = await mcp.text("run_code", path="n.ipynb", code="print(sorted(globals()))")
        assert set(after.split()) ^ set(before.split()) == set()
        count = "print(get_ipython().execution_count, len(In), _, Out)"
        assert "1 1  {}" in await mcp.text("run_code", path="n.ipynb", code=count)


async def test_another_language(entry, root, bash_kernel):
    path = make(root / "shell.ipynb", "name=world; echo hello $name", kernel="bash")
    async with connected(entry) as mcp:
        assert "hello world" in await mcp.text("run_cell", path="shell.ipynb", cell_id="c0")
        told = await mcp.text("run_code", path="shell.ipynb", code="echo again $name")
        assert "again world" in told
        told = await mcp.refused("read_variables", path="shell.ipynb")
        assert "speaks bash" in told and "run_code" in told
        (kernel,) = (await mcp.json("list_kernels"))["running"]
        assert kernel["language"] == "bash"
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].text.strip() == "hello world"


async def test_a_kernel_that_dies(entry, root):
    make(root / "n.ipynb")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="1")
        told = await mcp.refused(
            "run_code", path="n.ipynb", code="import os; os._exit(1)", timeout=30
        )
        assert "restarted or has ended" in told


async def test_a_kernel_that_is_started_again_before_anybody_looks(
    entry, root, jp_serverapp, monkeypatch
):
    make(root / "n.ipynb")
    look, check = asyncio.Event(), kernels.Conversation._check_alive

    async def late(talk):
        await look.wait()
        await check(talk)

    look.set()
    monkeypatch.setattr(kernels.Conversation, "_check_alive", late)
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="1")
        calling = asyncio.ensure_future(
            mcp.refused("run_code", path="n.ipynb", code=LONG, timeout=30)
        )
        await begun(root)
        look.clear()
        kernel = await kernel_of(jp_serverapp, "n.ipynb")
        await jp_serverapp.kernel_manager.restart_kernel(kernel, now=True)
        look.set()
        assert "restarted or has ended" in await calling


async def test_several_cells_of_a_closed_notebook(entry, root):
    path = make(root / "n.ipynb", "x = 1", "", "print('two', x)", "1 / 0", "print('never')")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(1, new_markdown_cell("# Text", id="text"))
    path.write_text(nbformat.writes(notebook))
    async with connected(entry) as mcp:
        told = await mcp.refused("run_cells", path="n.ipynb")
        assert "Cell c0 (index 0) [1] ran." in told and "Cell c2 (index 3) [2] ran.\ntwo 1" in told
        assert "Cell c3 (index 4) [3] failed." in told and "ZeroDivisionError" in told
        assert "1 more cells were not run." in told and "never" not in told
        counts = [cell.get("execution_count") for cell in nbformat.read(path, as_version=4).cells]
        assert counts == [1, None, None, 2, 3, None]
        # From here, up to here, only this.
        assert "never" in await mcp.text("run_cells", path="n.ipynb", first="c4")
        told = await mcp.text("run_cells", path="n.ipynb", last=3)
        assert told.count("ran.") == 2 and "index 3" in told
        told = await mcp.text("run_cells", path="n.ipynb", first="c2", last="c2")
        assert told.count("ran.") == 1 and "two 1" in told
        assert "in order" in await mcp.refused("run_cells", path="n.ipynb", first=3, last=0)
        assert "no cell 'nope'" in await mcp.refused("run_cells", path="n.ipynb", first="nope")
        assert "no code" in await mcp.refused("run_cells", path="n.ipynb", first=1, last=2)


async def test_several_cells_share_their_time(entry, root):
    make(root / "n.ipynb", "import time; time.sleep(3)", "time.sleep(300)", "print('never')")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="1")
        told = await mcp.refused("run_cells", path="n.ipynb", timeout=8)
        assert "Cell c0 (index 0) [1] ran." in told
        # What the first has left of the eight.
        seconds = float(re.search(r"longer than ([\d.]+) s and was interrupted", told)[1])
        assert seconds <= 5
        assert "KeyboardInterrupt" in told and "1 more cells were not run." in told


async def test_a_kernel_is_restarted(entry, root, window, jp_serverapp):
    make(root / "n.ipynb", "x = 1")
    async with connected(entry) as mcp:
        assert "No kernel runs" in await mcp.refused("restart_kernel", path="n.ipynb")
        await mcp.text("run_code", path="n.ipynb", code="x = 1")
        kernel = await kernel_of(jp_serverapp, "n.ipynb")
        # A rule for running says nothing about that.
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused("restart_kernel", path="n.ipynb"))
        question = (await decide(window, "deny", start))["toolCall"]
        assert question["title"] == "Restart the kernel of n.ipynb"
        assert "variables are lost" in question["content"][0]["content"]["text"]
        assert "the user said no" in await calling
        assert "1" in await mcp.text("run_code", path="n.ipynb", code="x")
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("restart_kernel", path="n.ipynb"))
        await decide(window, "allow", start)
        assert "is back" in await calling
        assert await kernel_of(jp_serverapp, "n.ipynb") == kernel
        assert "no variables" in await mcp.text("read_variables", path="n.ipynb")


async def test_a_kernel_that_is_busy_is_restarted(entry, root, window, jp_serverapp):
    make(root / "n.ipynb", "x = 1")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="1")
        users = asyncio.ensure_future(execute(jp_serverapp, STUBBORN))
        manager = jp_serverapp.kernel_manager.get_kernel(await kernel_of(jp_serverapp, "n.ipynb"))
        await until(lambda: manager.execution_state == "busy")
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("restart_kernel", path="n.ipynb"))
        question = await decide(window, "allow", start)
        assert "The kernel is busy" in question["toolCall"]["content"][0]["content"]["text"]
        assert "is back" in await calling
        assert "2" in await mcp.text("run_code", path="n.ipynb", code="1 + 1")
        users.cancel()


async def test_what_the_agent_runs_is_interrupted_without_a_question(
    entry, root, window, interrupts, talks
):
    make(root / "n.ipynb", "x = 1")
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="x = 5")
        assert "nothing to interrupt" in await mcp.text("interrupt_kernel", path="n.ipynb")
        assert interrupts == []
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused("run_code", path="n.ipynb", code=LONG))
        await begun(root)
        await at_it(talks)
        assert "It was interrupted." in await mcp.text("interrupt_kernel", path="n.ipynb")
        assert "KeyboardInterrupt" in await calling
        assert not [m for m in window.received[start:] if m.get("method") == ASK]
        assert len(interrupts) == 1
        assert "5" in await mcp.text("run_code", path="n.ipynb", code="x")


async def test_what_others_run_is_interrupted_after_a_question(
    entry, root, window, jp_serverapp, interrupts, talks
):
    make(root / "n.ipynb", "x = 1")
    (other,) = await servers(window, await window.new(root))
    async with connected(entry) as mcp, connected(other) as another:
        await mcp.text("run_code", path="n.ipynb", code="1")
        users = asyncio.ensure_future(execute(jp_serverapp, LONG))
        manager = jp_serverapp.kernel_manager.get_kernel(await kernel_of(jp_serverapp, "n.ipynb"))
        await until(lambda: manager.execution_state == "busy")
        await begun(root)
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused("interrupt_kernel", path="n.ipynb"))
        question = (await decide(window, "deny", start))["toolCall"]
        assert question["title"] == "Interrupt what you run in the kernel of n.ipynb"
        assert "the user said no" in await calling and interrupts == []
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("interrupt_kernel", path="n.ipynb"))
        await decide(window, "allow", start)
        assert "It was interrupted." in await calling
        assert (await users)["ename"] == "KeyboardInterrupt"

        (root / "begun").unlink()
        running = asyncio.ensure_future(another.refused("run_code", path="n.ipynb", code=LONG))
        await begun(root)
        await at_it(talks)
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("interrupt_kernel", path="n.ipynb"))
        question = (await decide(window, "allow", start))["toolCall"]
        assert question["title"] == "Interrupt what another session runs in the kernel of n.ipynb"
        assert "It was interrupted." in await calling
        assert "KeyboardInterrupt" in await running


async def test_what_has_ended_before_the_answer_is_not_what_is_interrupted(
    entry, root, window, jp_serverapp, interrupts, talks
):
    make(root / "n.ipynb", "x = 1")
    (other,) = await servers(window, await window.new(root))
    async with connected(entry) as mcp, connected(other) as another:
        await mcp.text("run_code", path="n.ipynb", code="1")
        manager = jp_serverapp.kernel_manager.get_kernel(await kernel_of(jp_serverapp, "n.ipynb"))
        talks.clear()
        running = asyncio.ensure_future(another.text("run_code", path="n.ipynb", code=SLEEP))
        await begun(root)
        await at_it(talks)
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused("interrupt_kernel", path="n.ipynb"))
        await window.wait(lambda m: m.get("method") == ASK, start)
        enough(root)
        await running
        (root / "enough").unlink()
        (root / "begun").unlink()
        # The same kernel is busy again, with what nobody was asked about.
        users = asyncio.ensure_future(execute(jp_serverapp, SLEEP))
        await begun(root)
        await decide(window, "allow", start)
        assert "has ended meanwhile" in await calling
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("interrupt_kernel", path="n.ipynb"))
        await window.wait(lambda m: m.get("method") == ASK, start)
        enough(root)
        assert (await users)["status"] == "ok"
        await until(lambda: manager.execution_state == "idle")
        await decide(window, "allow", start)
        assert "nothing to interrupt" in await calling
    assert interrupts == []


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_rule_for_restarting(entry, root, window, jp_serverapp, decision):
    make(root / "n.ipynb", "x = 1")
    rules = {"*": [{"kind": "restart", "decision": decision}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    await window.result("session/list", {})
    async with connected(entry) as mcp:
        await mcp.text("run_code", path="n.ipynb", code="x = 1")
        start = len(window.received)
        if decision == "deny":
            told = await mcp.refused("restart_kernel", path="n.ipynb")
            assert "a rule of the user does not allow it" in told
            assert "1" in await mcp.text("run_code", path="n.ipynb", code="x")
        else:
            assert "is back" in await mcp.text("restart_kernel", path="n.ipynb")
            assert "no variables" in await mcp.text("read_variables", path="n.ipynb")
        assert not [m for m in window.received[start:] if m.get("method") == ASK]


@pytest.mark.parametrize(
    ("first", "last", "title"),
    [
        (None, None, "Run all cells of n.ipynb"),
        (1, 1, "Run cell 2 of n.ipynb"),
        ("c0", "c1", "Run cells 1 to 2 of n.ipynb"),
        ("c1", None, "Run cells 2 to 3 of n.ipynb"),
    ],
)
async def test_cells_are_counted_as_people_do(entry, root, window, first, last, title):
    make(root / "n.ipynb", "x = 1", "x = 2", "x = 3")
    given = {name: at for name, at in (("first", first), ("last", last)) if at is not None}
    async with connected(entry) as mcp:
        await mcp.text("run_cells", path="n.ipynb", **given)
    assert {m["params"]["title"] for m in window.of("_jupyter/tool")} == {title}


class TestAsked:
    """Without a rule, the user is asked."""

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {}}

    async def test_before_anything_is_run(self, entry, root, window, jp_serverapp):
        path = make(root / "n.ipynb", "x = 1\n```")
        async with connected(entry) as mcp:
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("run_cell", path="n.ipynb", cell_id="c0"))
            question = await decide(window, "deny", start)
            assert "the user said no" in await calling
            assert not await jp_serverapp.session_manager.list_sessions()
            call = question["toolCall"]
            assert call["title"] == "Run cell 1 of n.ipynb" and call["kind"] == "execute"
            assert call["rawInput"] == {"path": str(path), "code": "x = 1\n```"}
            assert call["content"][0]["content"]["text"] == "````\nx = 1\n```\n````"
            # What may be run changes: no rule to be kept beyond the session is offered.
            assert "rule" not in question["_meta"]["jupyter-acp"]

    async def test_always_is_for_the_notebook_and_the_session(self, entry, root, window):
        make(root / "n.ipynb", "x = 1")
        make(root / "other.ipynb", "x = 1")
        async with connected(entry) as mcp:
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.text("run_code", path="n.ipynb", code="1 + 1"))
            await decide(window, "always", start)
            await calling
            start = len(window.received)
            await mcp.text("run_code", path="n.ipynb", code="3")
            await mcp.text("run_cell", path="n.ipynb", cell_id="c0")
            await mcp.text("run_cells", path="n.ipynb")
            assert not [m for m in window.received[start:] if m.get("method") == ASK]
            calling = asyncio.ensure_future(mcp.refused("run_code", path="other.ipynb", code="3"))
            await decide(window, "deny", start)
            await calling
            # All but the restart, whose answer is for that one time.
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("restart_kernel", path="n.ipynb"))
            question = await decide(window, "deny", start)
            await calling
            assert question["toolCall"]["title"] == "Restart the kernel of n.ipynb"
            assert [each["kind"] for each in question["options"]] == ["allow_once", "reject_once"]

    @pytest.mark.parametrize("how", ["dies", "is abandoned"])
    async def test_always_outlives_the_agent_and_not_the_session(self, root, window, acp, how):
        make(root / "n.ipynb", "x = 1")
        session = await window.new(root)

        async def run(answer=None):
            """Run something; return whether that was asked."""
            (entry,) = await servers(window, session)
            async with connected(entry) as mcp:
                start = len(window.received)
                calling = asyncio.ensure_future(mcp.text("run_code", path="n.ipynb", code="1"))
                if answer is not None:
                    await decide(window, answer, start)
                await calling
            return bool([m for m in window.received[start:] if m.get("method") == ASK])

        assert await run("always")
        assert not await run()
        if how == "dies":
            await window.prompt(session, ["exit", 3])
        else:
            (await acp.manager()).get(session).agent_session.abandon(Anew("It is stuck"))
        assert not await run()
        await window.result("session/close", {"sessionId": session})
        assert await run("allow")

    async def test_what_is_not_asked_is_the_users_choice(self, entry, root, window):
        make(root / "n.ipynb", "x = 1")
        async with connected(entry) as mcp:
            await window.notify("_jupyter/settings/update", {"defaults": {"run": "allow"}})
            await window.result("session/list", {})
            start = len(window.received)
            await mcp.text("run_cell", path="n.ipynb", cell_id="c0")
            await mcp.text("run_code", path="n.ipynb", code="2")
            assert not [m for m in window.received[start:] if m.get("method") == ASK]
            calling = asyncio.ensure_future(mcp.refused("restart_kernel", path="n.ipynb"))
            await decide(window, "deny", start)
            await calling
            chosen = {"run": "ask", "restart": "allow"}
            await window.notify("_jupyter/settings/update", {"defaults": chosen})
            await window.result("session/list", {})
            start = len(window.received)
            await mcp.text("restart_kernel", path="n.ipynb")
            assert not [m for m in window.received[start:] if m.get("method") == ASK]
            calling = asyncio.ensure_future(mcp.refused("run_code", path="n.ipynb", code="3"))
            await decide(window, "deny", start)
            await calling

    async def test_what_was_changed_meanwhile_is_not_run(self, entry, root, window, jp_serverapp):
        make(root / "n.ipynb", "harmless = 1")
        async with connected(entry) as mcp:
            await mcp.text("read_notebook", path="n.ipynb")
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("run_cell", path="n.ipynb", cell_id="c0"))
            await window.wait(lambda m: m.get("method") == ASK, start)
            await mcp.text("edit_cell", path="n.ipynb", cell_id="c0", source="harmful = 1")
            await decide(window, "allow", start)
            assert "was changed before it could run" in await calling
            assert not await jp_serverapp.session_manager.list_sessions()

    async def test_several_cells_are_asked_for_once(self, entry, root, window):
        make(root / "n.ipynb", "x = 1", "x = 2", "print(x)")
        async with connected(entry) as mcp:
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.text("run_cells", path="n.ipynb", first=1))
            question = (await decide(window, "allow", start))["toolCall"]
            assert "2" in await calling
            assert question["title"] == "Run cells 2 to 3 of n.ipynb"
            assert "rawInput" not in question
            assert [each["content"]["text"] for each in question["content"]] == [
                "Cell 2:\n\n```\nx = 2\n```",
                "Cell 3:\n\n```\nprint(x)\n```",
            ]
            asked = [m for m in window.received[start:] if m.get("method") == ASK]
            assert len(asked) == 1

    @pytest.mark.parametrize(
        ("metadata", "language"),
        [
            ({"kernelspec": {"name": "x", "display_name": "X", "language": "julia"}}, "julia"),
            ({"language_info": {"name": "c++"}}, "c++"),
            # No word of Markdown's: nothing but code may stand in the card.
            ({"language_info": {"name": "x\n```\nharmless"}}, ""),
        ],
    )
    async def test_code_is_shown_with_its_language(self, entry, root, window, metadata, language):
        cells = [new_code_cell("x", id="c0"), new_code_cell("```", id="c1")]
        notebook = new_notebook(cells=cells, metadata=metadata)
        (root / "n.ipynb").write_text(nbformat.writes(notebook))
        one, two = f"```{language}\nx\n```", f"````{language}\n```\n````"
        async with connected(entry) as mcp:
            for name, given, shown in (
                ("run_cell", {"cell_id": "c1"}, [two]),
                ("run_cells", {}, [f"Cell 1:\n\n{one}", f"Cell 2:\n\n{two}"]),
                ("run_code", {"code": "x"}, [one]),
            ):
                start = len(window.received)
                calling = asyncio.ensure_future(mcp.refused(name, path="n.ipynb", **given))
                content = (await decide(window, "deny", start))["toolCall"]["content"]
                await calling
                assert [each["content"]["text"] for each in content] == shown

    async def test_of_several_cells_one_that_was_changed_is_not_run(self, entry, root, window):
        make(root / "n.ipynb", "x = 1", "harmless = 1", "x = 3")
        async with connected(entry) as mcp:
            await mcp.text("read_notebook", path="n.ipynb")
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("run_cells", path="n.ipynb"))
            await window.wait(lambda m: m.get("method") == ASK, start)
            await mcp.text("edit_cell", path="n.ipynb", cell_id="c1", source="harmful = 1")
            await decide(window, "allow", start)
            told = await calling
            assert "Cell c0 (index 0) [1] ran." in told
            assert "Cell c1 was changed before it could run" in told
            assert "1 more cells were not run." in told
            found = await mcp.text("read_variables", path="n.ipynb")
            assert "x: int = 1" in found and "harm" not in found

    async def test_having_been_let_edit_is_not_having_been_let_run(
        self, entry, root, window, jp_serverapp
    ):
        path = make(root / "n.ipynb", "x = 1")
        session = (await window.result("session/list", {}))["sessions"][0]["sessionId"]
        call = {"toolCallId": "1", "title": "Edit", "rawInput": {"path": str(path)}}
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        ask = ["request", ASK, {"toolCall": call, "options": options}]
        start = len(window.received)
        turn = await window.start_prompt(session, ask, ["until_cancel"])
        await decide(window, "y", start)
        async with connected(entry) as mcp:
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("run_cell", path="n.ipynb", cell_id="c0"))
            await decide(window, "deny", start)
            await calling
        await window.notify("session/cancel", {"sessionId": session})
        await window.response(turn)

    async def test_nobody_is_asked_any_more_when_the_agent_gives_up(self, entry, root, window):
        make(root / "n.ipynb", "x = 1")
        async with connected(entry) as mcp:
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.call("run_code", path="n.ipynb", code="1"))
            question = await window.wait(lambda m: m.get("method") == ASK, start)
            calling.cancel()
            await window.wait(
                lambda m: (
                    m.get("method") == "_jupyter/permission_resolved"
                    and m["params"]["requestId"] == question["id"]
                ),
                start,
            )


class TestOpen:
    """Notebooks that are open in a window run there."""

    async def test_a_cell(self, entry, root, page):
        path = make(root / "n.ipynb", "x = 1")
        before = path.read_text()
        await page.open("n.ipynb")
        output = {"output_type": "stream", "name": "stdout", "text": "seen\n"}
        asked = []

        async def run(params):
            asked.append(params)
            return {"status": "ok", "executionCount": 5, "outputs": [output]}

        page.run = run
        async with connected(entry) as mcp:
            assert await mcp.text("run_cell", cell_id="c0") == "Cell c0 [5] ran.\nseen"
        # The kernel first, to hear from its beginning on what it is at.
        assert asked == [
            {"path": "n.ipynb", "cellId": None, "source": None},
            {"path": "n.ipynb", "cellId": "c0", "source": "x = 1"},
        ]
        # What came of it is the window's to keep.
        assert path.read_text() == before and page.writes == []

    async def test_several_cells(self, entry, root, page):
        make(root / "n.ipynb", "x = 1", "x = 2", "x = 3")
        await page.open("n.ipynb")
        asked = []

        async def run(params):
            asked.append((params["cellId"], params["source"]))
            return {"status": "error" if params["cellId"] == "c1" else "ok", "executionCount": 5}

        page.run = run
        async with connected(entry) as mcp:
            told = await mcp.refused("run_cells")
        assert [each for each in asked if each[0]] == [("c0", "x = 1"), ("c1", "x = 2")]
        assert "1 more cells were not run." in told and page.writes == []

    async def test_the_kernel_is_restarted_where_the_user_sees_it(
        self, entry, root, page, window, jp_serverapp
    ):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")
        page.run = queueing(jp_serverapp)
        asked = []

        async def restart(params):
            asked.append(params)
            kernel = await kernel_of(jp_serverapp, "n.ipynb")
            await jp_serverapp.kernel_manager.restart_kernel(kernel)
            return {}

        page.restart = restart
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="x = 1")
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.text("restart_kernel"))
            await decide(window, "allow", start)
            await calling
            assert asked == [{"path": "n.ipynb"}]
            assert "no variables" in await mcp.text("read_variables")

    async def test_a_cell_that_fails(self, entry, root, page):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")
        error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": []}

        async def run(params):
            return {"status": "error", "executionCount": 5, "outputs": [error]}

        page.run = run
        async with connected(entry) as mcp:
            assert "failed.\nE: v" in await mcp.refused("run_cell", cell_id="c0")

    async def test_time_that_runs_out(self, entry, root, page, jp_serverapp, interrupts):
        make(root / "n.ipynb", LONG)
        await page.open("n.ipynb")
        page.run = queueing(jp_serverapp)
        async with connected(entry) as mcp:
            # Once in a kernel that is started for it, once in one that is there.
            for seconds in (20, 6):
                told = await mcp.refused("run_cell", cell_id="c0", timeout=seconds)
                assert f"longer than {seconds} s and was interrupted" in told
        assert len(interrupts) == 2

    async def test_a_run_that_the_agent_cancels_is_interrupted(
        self, entry, root, page, jp_serverapp, interrupts, talks
    ):
        make(root / "n.ipynb", LONG)
        await page.open("n.ipynb")
        page.run = queueing(jp_serverapp)
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="1")
            calling = asyncio.ensure_future(mcp.call("run_cell", cell_id="c0"))
            await begun(root)
            await at_it(talks)
            calling.cancel()
            assert "1" in await mcp.text("run_code", code="1", timeout=60)
        assert len(interrupts) == 1

    async def test_what_the_agent_runs_in_a_window_is_interrupted_without_a_question(
        self, entry, root, page, window, jp_serverapp, interrupts, talks
    ):
        make(root / "n.ipynb", LONG)
        await page.open("n.ipynb")
        page.run = queueing(jp_serverapp)
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="1")
            talks.clear()
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("run_cell", cell_id="c0"))
            await begun(root)
            await at_it(talks)
            assert "It was interrupted." in await mcp.text("interrupt_kernel")
            assert "failed" in await calling
            assert not [m for m in window.received[start:] if m.get("method") == ASK]
            # What the user runs there afterwards is the user's again.
            (root / "begun").unlink()
            users = asyncio.ensure_future(execute(jp_serverapp, LONG))
            await begun(root)
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.text("interrupt_kernel"))
            question = (await decide(window, "allow", start))["toolCall"]
            assert question["title"] == "Interrupt what you run in the kernel of n.ipynb"
            await calling
            assert (await users)["ename"] == "KeyboardInterrupt"
        assert len(interrupts) == 2

    async def test_a_cell_that_does_not_react(
        self, entry, root, page, jp_serverapp, interrupts, monkeypatch
    ):
        from jupyter_acp.client.notebooks import running

        monkeypatch.setattr(running, "PATIENCE", 0.2)
        make(root / "n.ipynb", STUBBORN)
        await page.open("n.ipynb")
        page.run = queueing(jp_serverapp)
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="1")
            told = await mcp.refused("run_cell", cell_id="c0", timeout=6)
        enough(root)
        assert "may still be running" in told and len(interrupts) == 1

    async def test_a_window_that_does_not_run_it(self, entry, root, page, jp_serverapp, interrupts):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")

        async def never(params):
            await asyncio.sleep(100)

        async with connected(entry) as mcp:
            page.run = queueing(jp_serverapp)
            await mcp.text("run_code", code="1")
            page.run = never
            told = await mcp.refused("run_cell", cell_id="c0", timeout=6)
        assert "the kernel is not at it" in told and "may still run it" in told
        assert interrupts == []

    async def test_a_window_is_not_asked_while_the_user_runs_something(
        self, entry, root, page, jp_serverapp, interrupts
    ):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")
        asked = []
        queue = queueing(jp_serverapp)

        async def run(params):
            asked.append(params["cellId"])
            return await queue(params)

        page.run = run
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="1")
            users = asyncio.ensure_future(execute(jp_serverapp, SLEEP))
            await begun(root)
            told = await mcp.refused("run_cell", cell_id="c0", timeout=2)
            assert "busy with something else; nothing was run" in told
            # Nor does it matter that it gives up while it waits.
            calling = asyncio.ensure_future(mcp.call("run_cell", cell_id="c0"))
            await asyncio.sleep(0.5)
            calling.cancel()
            # Given time, it has its turn.
            calling = asyncio.ensure_future(mcp.text("run_cell", cell_id="c0", timeout=60))
            await asyncio.sleep(1)
            assert asked == [None] and not calling.done()
            enough(root)
            assert "ran." in await calling
            assert (await users)["status"] == "ok"
            assert "well" in await mcp.text("run_code", code="slept")
        assert asked == [None, "c0"] and interrupts == []

    @pytest.mark.parametrize("is_cancelled", [False, True])
    async def test_a_user_who_is_quicker_is_not_interrupted(
        self, entry, root, page, jp_serverapp, interrupts, noted, is_cancelled
    ):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")
        queue = queueing(jp_serverapp)
        users = []

        async def run(params):
            if params["cellId"] is not None:
                users.append(asyncio.ensure_future(execute(jp_serverapp, SLEEP)))
                await begun(root)
            return await queue(params)

        page.run = run
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="1")
            if is_cancelled:
                calling = asyncio.ensure_future(mcp.call("run_cell", cell_id="c0"))
                await until(lambda: SLEEP in noted)
                calling.cancel()
                await asyncio.sleep(1)
            else:
                told = await mcp.refused("run_cell", cell_id="c0", timeout=8)
                assert "the kernel is not at it" in told
            enough(root)
            assert (await users[0])["status"] == "ok"
            assert "well" in await mcp.text("run_code", code="slept", timeout=60)
        assert interrupts == []

    async def test_a_user_who_runs_something_after_it_is_not_interrupted(
        self, entry, root, page, jp_serverapp, interrupts
    ):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")
        queue = queueing(jp_serverapp)
        users = []

        async def run(params):
            answer = await queue(params)
            if params["cellId"] is not None:
                # The window is slow to tell.
                users.append(asyncio.ensure_future(execute(jp_serverapp, SLEEP)))
                await asyncio.sleep(100)
            return answer

        page.run = run
        async with connected(entry) as mcp:
            await mcp.text("run_code", code="1")
            told = await mcp.refused("run_cell", cell_id="c0", timeout=8)
            assert "the kernel is not at it" in told
            await begun(root)
            enough(root)
            assert (await users[0])["status"] == "ok"
        assert interrupts == []

    async def test_a_window_that_cannot_run_it(self, entry, root, page):
        make(root / "n.ipynb", "print('here')")
        await page.open("n.ipynb")
        async with connected(entry) as mcp:
            assert "here" in await mcp.text("run_cell", cell_id="c0")
        # The outputs appear in the open document, which is the truth about the notebook.
        (cell,) = page.contents["n.ipynb"]["cells"]
        assert cell["outputs"][0]["text"] == "here\n" and cell["execution_count"] == 1

    async def test_code_lets_the_window_start_the_kernel(self, entry, root, page, jp_serverapp):
        make(root / "n.ipynb", "x = 1")
        await page.open("n.ipynb")
        asked = []

        async def run(params):
            asked.append(params)
            await jp_serverapp.session_manager.create_session(
                path="n.ipynb", name="n.ipynb", type="notebook", kernel_name="python3"
            )
            return {"status": "ok"}

        page.run = run
        async with connected(entry) as mcp:
            for _ in range(2):
                assert "2" in await mcp.text("run_code", code="1 + 1")
        assert asked == [{"path": "n.ipynb", "cellId": None, "source": None}]
        assert len(await jp_serverapp.session_manager.list_sessions()) == 1

    async def test_a_window_that_is_lost(self, entry, root, page, acp_connect):
        make(root / "n.ipynb", "x = 1")
        other = await acp_connect()
        second = Page(other, root)
        await second.open("n.ipynb")

        async def leave(params):
            await other.close()
            return {"status": "ok"}

        second.run = leave
        async with connected(entry) as mcp:
            told = await mcp.refused("run_cell", path="n.ipynb", cell_id="c0")
            assert "was lost while it ran" in told
        second.close()
