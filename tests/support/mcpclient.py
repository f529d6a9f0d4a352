# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The stock MCP client at the very server that an agent was given."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ASK = "session/request_permission"


def client_of(major):
    """The environment in which Python finds the official client of a major version."""
    if major > 1:
        return {**os.environ}
    older = Path(sys.prefix, "mcp1")
    assert older.exists(), "run: make .venv/.stamps/mcp1"
    return {**os.environ, "PYTHONPATH": str(older)}


async def servers(window, session):
    """The MCP servers that the agent of a session was given."""
    await window.prompt(session, ["mcp"])
    return json.loads(window.texts()[-1])


def parameters(entry):
    env = {item["name"]: item["value"] for item in entry["env"]}
    return StdioServerParameters(command=entry["command"], args=entry["args"], env=env)


class Mcp:
    """Tools, called as an agent calls them."""

    def __init__(self, client):
        self.client = client

    async def call(self, name, **arguments):
        return await self.client.call_tool(name, arguments)

    async def text(self, name, **arguments):
        """What a tool says if all goes well."""
        result = await self.call(name, **arguments)
        assert not result.is_error, words(result)
        return words(result)

    async def json(self, name, **arguments):
        return json.loads(await self.text(name, **arguments))

    async def refused(self, name, **arguments):
        """What it says if not."""
        result = await self.call(name, **arguments)
        assert result.is_error, words(result)
        return words(result)


def words(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


@contextlib.asynccontextmanager
async def connected(entry):
    with open(os.devnull, "w") as errors:  # noqa: ASYNC230
        async with (
            stdio_client(parameters(entry), errlog=errors) as (read, write),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            yield Mcp(client)


async def decide(window, option, start=0):
    """Answer the next question with one of its options; return the question."""
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m, start)
    outcome = {"outcome": "selected", "optionId": option}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": outcome}})
    return question["params"]
