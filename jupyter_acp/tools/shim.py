# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Join an agent's pipes to the Jupyter server that it belongs to.

The agent starts this file as its MCP server: `shim.py ADDRESS`, the ticket of its session in the
environment. It imports little, since an agent waits for it, and passes on bytes until either side
ends.
"""

from __future__ import annotations

import _thread
import os
import socket
import sys
import time

TICKET = "JUPYTER_ACP_TICKET"
CHUNK = 65536
GRACE = 2.0
"""How long the server may take to answer what was asked before the agent left, in seconds."""


def connect(address: str) -> socket.socket:
    """Return a connection."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    return connection


def read() -> bytes:
    """Return what the agent sends, or nothing when it is gone."""
    try:
        return os.read(0, CHUNK)
    except OSError:
        # A terminal that has lost its other side has no end: it fails.
        return b""


def from_agent(connection: socket.socket) -> None:
    """Pass on what the agent sends; when it is gone, so are we."""
    try:
        while data := read():
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        # The server is gone: what it still had to say, or that it is, is said by who reads from it.
        return
    time.sleep(GRACE)
    os._exit(0)


def to_agent(connection: socket.socket) -> bool:
    """Pass on what the server sends until it closes; return whether there was anything."""
    any_came = False
    try:
        while data := connection.recv(CHUNK):
            any_came = True
            while data:
                data = data[os.write(1, data) :]
    except OSError:
        pass
    return any_came


def main() -> None:
    """Do it."""
    if len(sys.argv) != 2 or TICKET not in os.environ:
        sys.exit("This program is started by an agent that a Jupyter server runs.")
    try:
        connection = connect(sys.argv[1])
        connection.sendall(os.environ.pop(TICKET).encode() + b"\n")
    except OSError as error:
        sys.exit(f"The Jupyter server cannot be reached: {error}. Has it been stopped?")
    _thread.start_new_thread(from_agent, (connection,))
    if not to_agent(connection):
        os.write(2, b"The Jupyter server closed the connection: the session has ended there.\n")
    # Without waiting for the other direction, which may wait for the agent.
    os._exit(0)


if __name__ == "__main__":
    main()
