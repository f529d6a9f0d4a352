# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The official MCP client, of whichever major version is found, plays all that it can with our server.

It runs as a process of its own: the two versions cannot be in one. What to start is on stdin, and the
folder to look for files in; what came of it is printed.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

MAJOR = int(importlib.metadata.version("mcp").split(".")[0])
WAITS = "import time; open('begun', 'w').close(); time.sleep(300)"
SLEEPS = "import time; time.sleep(1.5); print('slept')"
FAILS = "raise ValueError('no luck')"


def plain(result: Any) -> Any:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def refused(asked: Any) -> Any:
    """Return the code of the error that a request ends with."""
    try:
        await asked
    except Exception as error:
        return error.error.code
    return None


async def cancelled(session: Any, folder: Path) -> Any:
    """Cancel a call, and see that the kernel is free again."""
    sent = session._request_id if MAJOR == 1 else None
    call = asyncio.ensure_future(session.call_tool("run_code", {"path": "n.ipynb", "code": WAITS}))
    while not (folder / "begun").exists():
        assert not call.done(), plain(call.result())
        await asyncio.sleep(0.05)
    if sent is not None:
        # The older one leaves it to those who use it.
        params = types.CancelledNotificationParams(requestId=sent, reason="enough")
        cancel = types.CancelledNotification(method="notifications/cancelled", params=params)
        await session.send_notification(types.ClientNotification(cancel))
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    again = {"path": "n.ipynb", "code": "print('free')", "timeout": 60}
    return plain(await session.call_tool("run_code", again))


async def play(session: Any, folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = {"major": MAJOR}
    told["initialize"] = plain(await session.initialize())
    await session.send_ping()
    told["tools"] = plain(await session.list_tools())["tools"]
    told["read"] = plain(await session.call_tool("read_notebook", {"path": "n.ipynb"}))
    told["progress"] = []

    async def progress(done: float, total: Any, message: Any) -> None:
        told["progress"].append([done, message])

    slow = asyncio.ensure_future(
        session.call_tool(
            "run_code", {"path": "n.ipynb", "code": SLEEPS}, progress_callback=progress
        )
    )
    told["meanwhile"] = plain(await session.call_tool("list_kernels", {}))
    told["slow_was_done"] = slow.done()
    told["slow"] = plain(await slow)
    told["cancelled"] = await cancelled(session, folder)
    told["failed"] = plain(await session.call_tool("run_code", {"path": "n.ipynb", "code": FAILS}))
    told["unknown"] = plain(await session.call_tool("fly", {}))
    told["wrong"] = plain(await session.call_tool("read_notebook", {"start": -1, "more": 1}))
    told["resources"] = await refused(session.list_resources())
    return told


async def main() -> None:
    wanted = json.load(sys.stdin)
    entry = wanted["server"]
    server = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={variable["name"]: variable["value"] for variable in entry["env"]},
    )
    with open(os.devnull, "w") as errors:  # noqa: ASYNC230
        async with (
            stdio_client(server, errlog=errors) as (read, write),
            ClientSession(read, write) as session,
        ):
            told = await play(session, Path(wanted["folder"]))
        if MAJOR > 1:
            from mcp import Client

            # As it is meant to be used now: it asks first for what only newer servers know.
            async with Client(server) as client:
                told["client"] = plain(await client.list_tools())["tools"]
                told["version"] = client.protocol_version
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main())
