# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Our MCP server as its clients see it: the official ones, and one that writes lines."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path

import nbformat
import pytest
from mcpclient import client_of, servers
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_acp.tools import mcp
from jupyter_acp.tools.mcp import VERSIONS

PLAY = Path(__file__).parents[1] / "support" / "mcpplay.py"


@pytest.fixture
def acp_config():
    return {"permissions": {"*": [{"kind": "run", "decision": "allow"}]}}


@pytest.fixture
def entry(window, root, jp_asyncio_loop):
    content = new_notebook(cells=[new_code_cell("x = 1", id="one")])
    (root / "n.ipynb").write_text(nbformat.writes(content))
    session = jp_asyncio_loop.run_until_complete(window.new(root))
    (entry,) = jp_asyncio_loop.run_until_complete(servers(window, session))
    return entry


def text(result):
    return "\n".join(block["text"] for block in result["content"])


@pytest.mark.parametrize("major", [1, 2])
async def test_the_official_client(entry, root, major, monkeypatch):
    monkeypatch.setattr(mcp, "PROGRESS", 0.2)
    player = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PLAY),
        env=client_of(major),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    wanted = json.dumps({"server": entry, "folder": str(root)}).encode()
    printed, errors = await asyncio.wait_for(player.communicate(wanted), 100)
    assert player.returncode == 0, errors.decode()
    told = json.loads(printed)
    assert told["major"] == major
    greeting = told["initialize"]
    assert greeting["protocolVersion"] == VERSIONS[0]
    assert greeting["serverInfo"]["name"] == "jupyter" and "JupyterLab" in greeting["instructions"]
    tools = {tool["name"]: tool for tool in told["tools"]}
    assert tools["read_notebook"]["annotations"]["readOnlyHint"] is True
    assert tools["edit_cell"]["annotations"]["destructiveHint"] is True
    assert tools["edit_cell"]["inputSchema"]["required"] == ["cell_id", "source"]
    assert not told["read"]["isError"] and 'id="one"' in text(told["read"])
    assert not told["meanwhile"]["isError"] and not told["slow_was_done"]
    assert "slept" in text(told["slow"])
    done = [entry[0] for entry in told["progress"]]
    assert len(done) >= 3 and done == sorted(done)
    assert {entry[1] for entry in told["progress"]} == {"Running"}
    assert not told["cancelled"]["isError"] and "free" in text(told["cancelled"])
    assert told["failed"]["isError"] and "ValueError: no luck" in text(told["failed"])
    assert told["unknown"]["isError"] and "There is no tool fly" in text(told["unknown"])
    assert told["wrong"]["isError"] and "start" in text(told["wrong"])
    assert told["resources"] == -32601
    if major > 1:
        assert told["client"] == told["tools"] and told["version"] == VERSIONS[0]


class Lines:
    """A client that writes lines, as they come to its mind."""

    def __init__(self, process):
        self.process = process

    def write(self, *messages):
        lines = [m if isinstance(m, str) else json.dumps({"jsonrpc": "2.0", **m}) for m in messages]
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())

    async def read(self):
        line = await asyncio.wait_for(self.process.stdout.readline(), 60)
        return json.loads(line)

    async def ask(self, id, method, params=None):
        self.write({"id": id, "method": method, "params": params})
        answer = await self.read()
        assert answer["id"] == id
        return answer


@contextlib.asynccontextmanager
async def lines(entry):
    process = await asyncio.create_subprocess_exec(
        entry["command"],
        *entry["args"],
        env={item["name"]: item["value"] for item in entry["env"]},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=10_000_000,
    )
    try:
        yield Lines(process)
    finally:
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 60)


@pytest.mark.parametrize("wanted", [*VERSIONS, "2026-07-28", "nonsense", 7, None])
async def test_the_version_is_the_newest_that_both_know(entry, wanted):
    async with lines(entry) as client:
        answer = await client.ask("a", "initialize", {"protocolVersion": wanted})
        told = answer["result"]["protocolVersion"]
        assert told == (wanted if wanted in VERSIONS else VERSIONS[0])


async def test_what_it_does_not_serve_is_refused(entry):
    async with lines(entry) as client:
        for number, method in enumerate(["resources/list", "server/discover", "", "x" * 9000]):
            error = (await client.ask(number, method))["error"]
            assert error["code"] == -32601 and len(json.dumps(error)) < 1000
        for params in (None, [], {}, {"name": 7}):
            assert (await client.ask("b", "tools/call", params))["error"]["code"] == -32602
        # None of these is answered, and none of them does harm.
        client.write(
            {"method": "notifications/initialized"},
            {"method": "notifications/cancelled", "params": {"requestId": "none"}},
            {"method": "notifications/cancelled", "params": {"requestId": {}}},
            {"method": "notifications/cancelled", "params": [1]},
            {"method": "notifications/unheard-of"},
            {"id": 99, "result": {}},
            "what is this",
        )
        assert (await client.ask("c", "ping"))["result"] == {}
        client.write("[]", "{}", "{")
        codes = [(await client.read())["error"]["code"] for _ in range(2)]
        assert codes == [-32600, -32700]
        assert (await client.ask("d", "ping"))["result"] == {}


async def test_only_who_asks_for_progress_is_told_of_it(entry, monkeypatch):
    monkeypatch.setattr(mcp, "PROGRESS", 0.1)
    code = "import time; time.sleep(1)"
    call = {"name": "run_code", "arguments": {"path": "n.ipynb", "code": code}}
    async with lines(entry) as client:
        answer = await client.ask(1, "tools/call", call)
        assert answer["result"]["isError"] is False
        for token in ("t", 0):
            call["_meta"] = {"progressToken": token}
            client.write({"id": token, "method": "tools/call", "params": call})
            told = []
            while "id" not in (message := await client.read()):
                told.append(message)
            assert message["id"] == token and len(told) >= 3
            assert {each["params"]["progressToken"] for each in told} == {token}
            assert {each["method"] for each in told} == {"notifications/progress"}


async def test_a_call_that_was_cancelled_is_not_answered(entry, root):
    code = "import time; open('begun', 'w').close(); time.sleep(300)"
    call = {"name": "run_code", "arguments": {"path": "n.ipynb", "code": code}}
    async with lines(entry) as client:
        client.write({"id": "slow", "method": "tools/call", "params": call})
        while not (root / "begun").exists():
            await asyncio.sleep(0.05)
        client.write({"method": "notifications/cancelled", "params": {"requestId": "slow"}})
        # The kernel is free for the next one, whose answer is the first that comes.
        call["arguments"] = {"path": "n.ipynb", "code": "1 + 1"}
        answer = await client.ask("next", "tools/call", call)
        assert answer["result"]["isError"] is False, answer


async def test_a_bug_in_a_tool_is_told_to_the_model(entry, monkeypatch, caplog):
    async def broken(toolbox, name, arguments):
        raise RuntimeError("a bug")

    monkeypatch.setattr("jupyter_acp.tools.toolbox.Toolbox.run", broken)
    async with lines(entry) as client:
        answer = await client.ask(1, "tools/call", {"name": "list_kernels"})
        assert answer["result"]["isError"] is True
        assert "list_kernels failed" in answer["result"]["content"][0]["text"]
    assert "Error in the tool list_kernels" in caplog.text


async def test_many_calls_at_once(entry):
    async with lines(entry) as client:
        call = {"name": "list_kernels", "arguments": {}}
        client.write(*({"id": n, "method": "tools/call", "params": call} for n in range(200)))
        answers = [await client.read() for _ in range(200)]
        assert {answer["id"] for answer in answers} == set(range(200))
