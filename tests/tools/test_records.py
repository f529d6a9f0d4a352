# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the transcript tells people of the tools that agents call."""

from __future__ import annotations

import asyncio
import json

import nbformat
import pytest
from mcpclient import ASK, connected, servers
from nbformat.v4 import new_code_cell, new_notebook, new_output

from jupyter_acp.tools.records import OUTPUTS_LIMIT

TOOL = "_jupyter/tool"


@pytest.fixture
def acp_config():
    return {"permissions": {"*": [{"kind": "run", "decision": "allow"}]}}


@pytest.fixture
def entry(window, session, jp_asyncio_loop):
    (entry,) = jp_asyncio_loop.run_until_complete(servers(window, session))
    return entry


@pytest.fixture
def notebook(root):
    path = root / "sales.ipynb"
    cells = [new_code_cell("x = 6", id="one"), new_code_cell("print(x * 7)\n1 / 0", id="two")]
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    return path


async def records(window, count):
    """The records of the transcript, once there are so many."""
    await window.wait(lambda _: len(window.of(TOOL)) >= count)
    told = [dict(message["params"]) for message in window.of(TOOL)]
    for each in told:
        assert each.pop("toolCallId") is None
        del each["sessionId"], each["_meta"]
    return told


async def test_a_run_is_told_when_it_begins_and_when_it_has_ended(entry, window, notebook):
    async with connected(entry) as mcp:
        await mcp.refused("run_cell", path="sales.ipynb", cell_id="two")
    begun, ended = await records(window, 2)
    assert begun["id"].startswith("jupyter-") and begun.pop("id") == ended.pop("id")
    about = {
        "name": "run_cell",
        "arguments": {"path": "sales.ipynb", "cell_id": "two"},
        "title": "Run cell 2 of sales.ipynb",
        "path": str(notebook),
    }
    assert begun == {**about, "status": "in_progress"}
    result = ended.pop("result")
    assert ended == {**about, "status": "failed"}
    assert result["cell"] == {"id": "two", "index": 1}
    assert result["source"] == "print(x * 7)\n1 / 0" and result["status"] == "error"
    assert result["outputs"][-1]["ename"] == "NameError" and result["executionCount"] == 1
    assert result["language"] == "python"


async def test_every_cell_of_several_is_told(entry, window, notebook):
    async with connected(entry) as mcp:
        await mcp.refused("run_cells", path="sales.ipynb")
        await mcp.text("run_code", path="sales.ipynb", code="x")
        await mcp.text("read_variables", path="sales.ipynb")
        await mcp.text("read_notebook", path="sales.ipynb", count=1)
    told = (await records(window, 8))[1::2]
    first, second = told[0]["result"]["cells"]
    assert told[0]["title"] == "Run all cells of sales.ipynb"
    assert told[0]["result"]["language"] == told[1]["result"]["language"] == "python"
    assert first["status"] == "ok" and first["cell"] == {"id": "one", "index": 0}
    assert second["outputs"][0]["text"] == "42\n"
    assert second["outputs"][1]["ename"] == "ZeroDivisionError"
    assert told[1]["title"] == "Run code in the kernel of sales.ipynb"
    assert told[1]["result"]["outputs"][0]["data"]["text/plain"] == "6"
    assert told[2]["result"]["variables"] == [{"name": "x", "type": "int", "value": "6"}]
    assert told[3]["result"] == {"cells": 2, "shown": 1}
    assert [each["status"] for each in told] == ["failed", *["completed"] * 3]


async def test_what_ran_before_the_agent_gave_up_is_told(entry, window, root):
    waits = "open('begun', 'w').close()\nimport time; time.sleep(300)"
    sources = ("print('one')", waits, "print('never')")
    cells = [new_code_cell(source, id=f"c{at}") for at, source in enumerate(sources)]
    (root / "n.ipynb").write_text(nbformat.writes(new_notebook(cells=cells)))
    async with connected(entry) as mcp:
        calling = asyncio.ensure_future(mcp.call("run_cells", path="n.ipynb"))
        while not (root / "begun").exists():
            await asyncio.sleep(0.05)
        calling.cancel()
        _, ended = await records(window, 2)
    assert ended["status"] == "failed" and "cancelled" in ended["error"]["message"]
    first, second = ended["result"]["cells"]
    assert first["status"] == "ok" and first["outputs"][0]["text"] == "one\n"
    assert second["status"] == "aborted" and second["source"] == waits
    assert ended["result"]["language"] == "python"


async def test_changes_and_looking_at_outputs_are_told(entry, window, root):
    outputs = [
        new_output("stream", text="hello"),
        new_output("display_data", {"text/html": "<b>hello</b>"}),
        new_output("stream", name="stderr", text="x" * OUTPUTS_LIMIT),
    ]
    cells = [new_code_cell("x", id="one", outputs=outputs, execution_count=1)]
    (root / "n.ipynb").write_text(nbformat.writes(new_notebook(cells=cells)))
    async with connected(entry) as mcp:
        await mcp.text("cell_output", path="n.ipynb", cell_id="one", output=0)
        await mcp.text("insert_cell", path="n.ipynb", source="# T", type="markdown", index=0)
        await mcp.text("list_kernels")
        await mcp.text("cell_output", path="n.ipynb", cell_id="one")
    told = (await records(window, 8))[1::2]
    assert told[0]["title"] == "Read the output of cell 1 of n.ipynb"
    assert told[0]["result"] == {
        "cell": {"id": "one", "index": 0},
        "output": 0,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "hello"}],
    }
    cell = told[1]["result"]["cell"]
    assert (cell["index"], cell["type"]) == (0, "markdown") and cell["id"]
    assert told[2]["title"] == "Look at the kernels" and "path" not in told[2]
    first, second, third = told[3]["result"]["outputs"]
    assert first["text"] == "hello" and second["data"] == {"text/html": "<b>hello</b>"}
    assert "not kept here. It is in cell 2 of n.ipynb." in third["text"]


async def test_what_does_not_come_to_anything_is_told(entry, window, notebook):
    async with connected(entry) as mcp:
        await mcp.refused("run_cell", path="sales.ipynb", cell_id="nope")
        await mcp.refused("run_cell", cel_id="one")
        await mcp.refused("read_notebook", path="/etc/x.ipynb")
        await mcp.refused("nonsense")
    begun, ended, wrong, outside = await records(window, 4)
    assert begun["title"] == ended["title"] == "Run a cell of sales.ipynb"
    assert ended["status"] == "failed" and "no cell 'nope'" in ended["error"]["message"]
    assert wrong["status"] == "failed" and "cel_id" in wrong["error"]["message"]
    assert wrong["title"] == "Run cell" and "outside" in outside["error"]["message"]


async def test_outputs_that_are_too_large_are_only_mentioned(entry, window, root):
    sources = [f"print('a' * {OUTPUTS_LIMIT - 1000})", "print('b' * 2000)", "print('c')"]
    cells = [new_code_cell(source, id=f"c{n}") for n, source in enumerate(sources)]
    (root / "n.ipynb").write_text(nbformat.writes(new_notebook(cells=cells)))
    async with connected(entry) as mcp:
        await mcp.text("run_cells", path="n.ipynb")
    result = (await records(window, 2))[1]["result"]
    (a,), (b,), (c,) = (cell["outputs"] for cell in result["cells"])
    assert len(a["text"]) == OUTPUTS_LIMIT - 999 and c["text"] == "c\n"
    assert b["text"].startswith("[An output of 2,")
    assert "It is in cell 2 of n.ipynb." in b["text"]
    assert len(json.dumps(result)) < OUTPUTS_LIMIT + 10_000


async def test_characters_that_are_none_do_not_break_a_transcript(entry, window, root):
    text = nbformat.writes(new_notebook(cells=[new_code_cell("x = '_'", id="c0")]))
    (root / "n.ipynb").write_text(text.replace("_", "\\ud800"))
    async with connected(entry) as mcp:
        result = await mcp.call("run_cell", path="n.ipynb", cell_id="c0")
        assert result.content
    assert (await records(window, 2))[1]["status"] in ("completed", "failed")


class TestAsked:
    """Without a rule, the user is asked."""

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {}}

    async def test_what_the_agent_gives_up(self, entry, window, notebook):
        async with connected(entry) as mcp:
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.call("run_code", path="sales.ipynb", code="1"))
            await window.wait(lambda m: m.get("method") == ASK, start)
            assert [each["status"] for each in await records(window, 1)] == ["in_progress"]
            calling.cancel()
            _, ended = await records(window, 2)
        assert ended["status"] == "failed" and "cancelled" in ended["error"]["message"]


async def test_other_clients_do_not_hear_of_it(entry, window, notebook, session, acp_connect):
    stock = await acp_connect(ndjson=False)
    await stock.result("session/load", {"sessionId": session, "cwd": "/", "mcpServers": []})
    async with connected(entry) as mcp:
        await mcp.text("read_notebook", path="sales.ipynb")
    await records(window, 2)
    await window.prompt(session, ["say", "done"])
    await stock.wait(lambda m: "done" in json.dumps(m))
    assert stock.of(TOOL) == []
