# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The private way from an agent's tools to this server, and the tickets that open it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ..client.view import SessionView
from .shim import TICKET

NAME = "jupyter"
HAS_UNIX_SOCKETS = sys.platform != "win32"
SHIM = Path(__file__).with_name("shim.py")
SOCKET = "tools.sock"
PATH_LIMIT = 100
"""How long the path of a socket may be, in bytes; systems differ, the least is 104 with its end."""

TICKET_WAIT = 10.0
"""How long a connection may take to show its ticket, in seconds."""

Serve = Callable[[SessionView, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Channel:
    """A socket that only this user can reach, and only with the ticket of a session."""

    def __init__(self, runtime_dir: str, serve: Serve, log: Any) -> None:
        self._runtime_dir = runtime_dir
        self._serve = serve
        self._log = log
        self._server: asyncio.AbstractServer | None = None
        self._folder: Path | None = None
        self._address = ""
        self._opening = asyncio.Lock()
        self._closed = False
        self._tickets: dict[str, tuple[str, SessionView]] = {}
        self._connections: dict[asyncio.Task[None], str] = {}
        self._untouched: set[str] = set()
        """The sessions whose tickets nobody has shown yet."""

    async def servers(self, session: SessionView, own: list[Any]) -> list[Any]:
        """Return the MCP servers for a session's agent: its own, and ours."""
        if any(isinstance(server, dict) and server.get("name") == NAME for server in own):
            return own
        try:
            await self._open()
        except OSError as error:
            self._log.warning("Agents get no tools, as no socket could be made: %s", error)
            return own
        if session.id not in self._tickets:
            self._tickets[session.id] = (secrets.token_urlsafe(32), session)
            self._untouched.add(session.id)
        ticket, _ = self._tickets[session.id]
        return [
            *own,
            {
                "name": NAME,
                "command": sys.executable,
                # Nothing of the agent's environment or folder changes what is run.
                "args": ["-I", "-S", str(SHIM), self._address],
                "env": [{"name": TICKET, "value": ticket}],
            },
        ]

    def is_unused(self, session_id: str) -> bool:
        """Whether a session's agent has not come for its tools; told once."""
        unused = session_id in self._untouched
        self._untouched.discard(session_id)
        return unused

    def forget(self, session_id: str) -> None:
        """Let a session's ticket open nothing any more, and end what it opened."""
        self._tickets.pop(session_id, None)
        self._untouched.discard(session_id)
        for connection, owner in self._connections.items():
            if owner == session_id:
                connection.cancel()

    async def close(self) -> None:
        """End every connection and leave nothing behind."""
        async with self._opening:
            self._closed = True
            self._tickets.clear()
            server, self._server = self._server, None
            if server is not None:
                server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self.stop_now()

    def stop_now(self) -> None:
        """Remove the socket, when there is no event loop any more."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    async def _open(self) -> None:
        async with self._opening:
            if self._closed:
                raise OSError("the server is stopping")
            if self._server is not None:
                return
            if not HAS_UNIX_SOCKETS:
                self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
                port = self._server.sockets[0].getsockname()[1]
                self._address = f"127.0.0.1:{port}"
            else:
                self._folder, listener = _bind(self._runtime_dir)
                self._server = await asyncio.start_unix_server(self._connected, sock=listener)
                self._address = str(self._folder / SOCKET)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = ""
        try:
            session = await self._admit(reader)
            if session is None:
                self._log.warning("Refused a connection to the tools: it has no valid ticket")
                return
            self._connections[task] = session.id
            self._untouched.discard(session.id)
            await self._serve(session, reader, writer)
        except asyncio.CancelledError:
            # By `forget` or `close`: that is how connections end, and no error.
            pass
        except Exception:
            self._log.exception("Error in a connection to the tools")
        finally:
            del self._connections[task]
            writer.close()

    async def _admit(self, reader: asyncio.StreamReader) -> SessionView | None:
        """Return the session whose ticket a connection shows."""
        try:
            line = await asyncio.wait_for(reader.readline(), TICKET_WAIT)
        except (asyncio.TimeoutError, ValueError, ConnectionError):
            return None
        shown = line.rstrip(b"\r\n")
        found = None
        for ticket, session in self._tickets.values():
            if secrets.compare_digest(shown, ticket.encode()):
                found = session
        return found


def _bind(runtime_dir: str) -> tuple[Path, socket.socket]:
    """Make a socket in a folder of its own, wherever its path is short enough."""
    prefix = f"acp-{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}-"
    problem = OSError("every path for it is too long")
    for base in dict.fromkeys([runtime_dir, tempfile.gettempdir(), "/tmp"]):  # noqa: S108
        try:
            os.makedirs(base, mode=0o700, exist_ok=True)
            _sweep(Path(base), prefix)
            # Readable for this user only, from the first moment on.
            folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=base)).resolve()
        except OSError as error:
            problem = error
            continue
        path = folder / SOCKET
        listener = socket.socket(socket.AF_UNIX)
        try:
            if len(os.fsencode(path)) > PATH_LIMIT:
                raise OSError("its path is too long")
            listener.bind(str(path))
            os.chmod(path, 0o600)
            return folder, listener
        except OSError as error:
            problem = error
            listener.close()
            shutil.rmtree(folder, ignore_errors=True)
    raise problem


def _sweep(base: Path, prefix: str) -> None:
    """Remove what servers of this machine have left behind that could not tidy up."""
    import psutil

    for folder in base.glob(f"{prefix}*"):
        pid = folder.name.removeprefix(prefix).partition("-")[0]
        # Asked both ways: a number may be that of a process in another container.
        if pid.isdecimal() and not psutil.pid_exists(int(pid)) and not _answers(folder / SOCKET):
            with contextlib.suppress(OSError):
                if folder.lstat().st_uid == os.getuid():
                    shutil.rmtree(folder)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.settimeout(1)
            probe.connect(str(path))
        except OSError:
            return False
        return True
