# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Call tools with the stock MCP client: a server and the calls on stdin, the answers on stdout."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    wanted = json.load(sys.stdin)
    entry = wanted["server"]
    server = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={variable["name"]: variable["value"] for variable in entry["env"]},
    )
    answers: list[dict[str, Any]] = []
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        for name, arguments in wanted["calls"]:
            result = await client.call_tool(name, arguments)
            text = "\n".join(block.text for block in result.content if block.type == "text")
            answers.append({"text": text, "isError": result.is_error})
    print(json.dumps(answers))


asyncio.run(main())
