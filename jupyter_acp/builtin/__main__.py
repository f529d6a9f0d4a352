# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`python -m jupyter_acp.builtin`: the built-in agent, with ACP over stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from typing import TextIO

from ..rpc import Connection
from ..rpc.outbox import Queue
from ..rpc.stdio import StdioTransport
from .agent import Agent

LAST_WORDS_SECONDS = 1.0
AHEAD_BYTES = 512 * 1024
"""Maximum size of unsent messages in bytes; small ones take several times that in memory."""

NEEDS_A_CLIENT = (
    "This is an ACP agent: it expects a client on its standard input and output, pipes with "
    "one JSON-RPC message a line. Choose it in JupyterLab."
)


async def serve() -> None:
    """Serve the client until it closes our stdin."""
    if sys.stdin.isatty():
        sys.stderr.write(f"{NEEDS_A_CLIENT}\nEnd it with Ctrl-D.\n")
    if not (_carries(sys.stdin) and _carries(sys.stdout)):
        # The event loop cannot wait for a file, and would wait for /dev/null forever.
        sys.exit(NEEDS_A_CLIENT)
    transport = await StdioTransport.of_this_process()
    outbox = Queue(AHEAD_BYTES)
    agent = Agent()
    connection = agent.connect(Connection(transport, agent, outbox=outbox, name="client"))
    await connection.run()
    # A client may send its last request and close: the answers are still sent, unless nobody
    # reads them.
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(outbox.flushed(), LAST_WORDS_SECONDS)
    await connection.close()


def _carries(stream: TextIO) -> bool:
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stream.isatty()


def main() -> None:
    """Run the agent; Ctrl-C in a terminal is a normal way to end it."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


if __name__ == "__main__":
    main()
