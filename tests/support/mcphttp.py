# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The official MCP client, of whichever major version is found, at our server by HTTP."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

MAJOR = int(importlib.metadata.version("mcp").split(".")[0])
if MAJOR > 1:
    from httpx2 import AsyncClient
else:
    from httpx import AsyncClient


async def main() -> None:
    entry = json.load(sys.stdin)
    headers = {header["name"]: header["value"] for header in entry["headers"]}
    async with (
        AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(entry["url"], http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        told = {"tools": [tool.name for tool in (await session.list_tools()).tools]}
        told["progress"] = []

        async def progress(done: float, total: object, message: object) -> None:
            told["progress"].append(message)

        code = {"path": "n.ipynb", "code": "import time; time.sleep(1.5); print('slept')"}
        for name, given in (
            ("read_notebook", {"path": "n.ipynb"}),
            ("fly", {}),
            ("run_code", code),
        ):
            result = await session.call_tool(name, given, progress_callback=progress)
            told[name] = result.model_dump(mode="json", by_alias=True)
    if MAJOR > 1:
        from mcp import Client

        # As it is meant to be used now: it asks first for what only newer servers know.
        async with (
            AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(entry["url"], http_client=http)) as client,
        ):
            told["client"] = [tool.name for tool in (await client.list_tools()).tools]
    print(json.dumps({"major": MAJOR, **told}))


if __name__ == "__main__":
    asyncio.run(main())
