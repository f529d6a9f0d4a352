# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""MCP server that connects an agent's pipes to its Jupyter server.

The agent starts this file as `shim.py ADDRESS`, with the ticket of its session in the environment.
It imports little, since an agent waits for it, and passes on bytes until either side ends.
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
"""Time for the server to answer pending requests after the agent has left, in seconds."""


def connect(address: str) -> socket.socket:
    """Return a connection to the server."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    return connection


def read() -> bytes:
    """Return the next bytes from the agent, or none after the end."""
    try:
        return os.read(0, CHUNK)
    except OSError:
        # A terminal that has lost its other side fails instead of ending.
        return b""


def from_agent(connection: socket.socket) -> None:
    """Pass on what the agent sends, and exit after its end."""
    try:
        while data := read():
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        # The server has closed the connection, which `to_agent` handles.
        return
    time.sleep(GRACE)
    os._exit(0)


def to_agent(connection: socket.socket) -> bool:
    """Pass on what the server sends until it closes; return True if there was anything."""
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
    """Run the program."""
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
    # Do not wait for the other direction, which may wait for the agent.
    os._exit(0)


if __name__ == "__main__":
    main()
