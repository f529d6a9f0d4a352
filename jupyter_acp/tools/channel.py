# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The private socket from an agent's tools to this server, and the tickets that open it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import secrets
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..client.view import SessionView
from ..rpc import Logger, Request, method_not_found
from .cli import ADMIT, program
from .peer import uid_of
from .remote_agents import RemoteAgents
from .shim import TICKET
from .socket_paths import SOCKET, places, prefix

NAMES = ("jupyter", "jupyteracp")
"""Names of our MCP server: the first, or else one that no server of the session has.

They have no separators, because some agents write each as an underscore.
"""

SHIM = Path(__file__).with_name("shim.py")
PATH_LIMIT = 100
"""Maximum length of a socket's path, in bytes; the lowest system limit is 104 with the NUL."""

TICKET_WAIT = 10.0
"""Timeout for a connection to send its ticket, in seconds."""

UNUSED = (
    "This agent did not start the MCP server {server} that it was given, with the tools to read, change "
    "and run notebooks."
)
UNUSED_HERE = (
    " It has been told of a command that reaches the same tools by its shell; if it does not use that, "
    "it still reads and writes files."
)
UNREACHED = (
    "This agent has no tools here to read, change and run notebooks: it works elsewhere, and takes MCP "
    "servers neither within ACP nor by HTTP."
)
NO_ADDRESS = (
    "This agent has no tools here to read, change and run notebooks: it works elsewhere. An administrator "
    "can set `public_url`, the address at which it reaches this server."
)

Serve = Callable[[SessionView, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Access:
    """The access that a session's agent was given."""

    session: SessionView
    name: str
    """Name of our MCP server in the session."""

    ticket: str | None
    """Secret that opens the socket, or None for an agent on another machine."""

    is_clear: bool
    """True if no tool of another server can have the name of one of ours."""


class Channel:
    """A socket that only this user can open, with the ticket of a session or its id."""

    def __init__(
        self, runtime_dir: str, serve: Serve, log: Logger, elsewhere: RemoteAgents | None = None
    ) -> None:
        self._runtime_dir = runtime_dir
        self._serve = serve
        self._log = log
        self._server: asyncio.AbstractServer | None = None
        self._folder: Path | None = None
        self._address = ""
        self._opening = asyncio.Lock()
        self._closed = False
        self._accesses: dict[str, Access] = {}
        self._connections: dict[asyncio.Task[None], str] = {}
        """Open connections and their session ids."""

        self._untouched: set[str] = set()
        """Sessions whose agents have not connected in any way yet."""

        self._used: set[str] = set()
        """Sessions whose agents have connected our server by its current name."""

        self._withheld: dict[str, str] = {}
        """Reasons why agents of some sessions were given no tools; empty once reported."""

        self._elsewhere = elsewhere
        if elsewhere is not None:
            elsewhere.on_use = self._note_use

    async def servers(
        self, session: SessionView, own: list[Any], elsewhere: dict[str, Any] | None = None
    ) -> list[Any]:
        """Return the MCP servers for a session's agent: its own, and ours.

        `elsewhere` are the `mcpCapabilities` of an agent on another machine.
        """
        if elsewhere is not None:
            return self._servers_elsewhere(session, own, elsewhere)
        try:
            await self._open()
        except OSError as error:
            self._log.warning("Agents get no tools, as no socket could be made: %s", error)
            return own
        access = self._grant(session, own)
        return [
            *own,
            {
                "name": access.name,
                "command": sys.executable,
                # Isolated: neither the agent's environment nor its folder changes what is run.
                "args": ["-I", "-S", str(SHIM), self._address],
                "env": [{"name": TICKET, "value": access.ticket}],
            },
        ]

    def _servers_elsewhere(
        self, session: SessionView, own: list[Any], capabilities: Any
    ) -> list[Any]:
        way = self._elsewhere.way(capabilities) if self._elsewhere is not None else None
        if self._elsewhere is None or way is None:
            takes_http = isinstance(capabilities, dict) and capabilities.get("http") is True
            self._withheld.setdefault(session.id, NO_ADDRESS if takes_http else UNREACHED)
            return own
        access = self._keep(Access(session, free_name(own), None, is_clear(own)))
        return [*own, self._elsewhere.entry(session, access.name, way)]

    def serve(self, request: Request) -> None:
        """Answer an MCP request that came within ACP."""
        if self._elsewhere is None:
            raise method_not_found(request.method)
        self._elsewhere.serve(request)

    def name_in(self, session_id: str) -> str | None:
        """Return the name of our server in a session, or None if its agent was not given it."""
        access = self._accesses.get(session_id)
        return None if access is None else access.name

    def name_in_use(self, session_id: str) -> str | None:
        """Return that name, or None if it is ambiguous or the agent has not connected it."""
        access = self._accesses.get(session_id)
        if access is None or not access.is_clear or session_id not in self._used:
            return None
        return access.name

    def command(self, session_id: str) -> str:
        """Return the command line for the same tools; empty if the agent is on another machine."""
        access = self._accesses.get(session_id)
        is_here = access is not None and access.ticket is not None
        return f"{shlex.join(program())} tool --session {session_id}" if is_here else ""

    def missing(self, session_id: str) -> str:
        """Return why a session's agent has no tools, once; empty if it has them."""
        if self._withheld.get(session_id):
            why, self._withheld[session_id] = self._withheld[session_id], ""
            return why
        if session_id not in self._untouched:
            return ""
        self._untouched.discard(session_id)
        here = UNUSED_HERE if self.command(session_id) else ""
        return UNUSED.format(server=self.name_in(session_id)) + here

    def forget(self, session_id: str) -> None:
        """Invalidate a session's ticket, and end its connections."""
        self._accesses.pop(session_id, None)
        self._untouched.discard(session_id)
        self._used.discard(session_id)
        self._withheld.pop(session_id, None)
        if self._elsewhere is not None:
            self._elsewhere.forget(session_id)
        for connection, session in self._connections.items():
            if session == session_id:
                connection.cancel()

    async def close(self) -> None:
        """End all connections and remove the socket."""
        async with self._opening:
            self._closed = True
            self._accesses.clear()
            if self._elsewhere is not None:
                self._elsewhere.close()
            server, self._server = self._server, None
            if server is not None:
                server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self.stop_now()

    def stop_now(self) -> None:
        """Remove the socket, without an event loop."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _grant(self, session: SessionView, own: list[Any]) -> Access:
        """Give a session's agent access; an existing ticket stays valid."""
        known = self._accesses.get(session.id)
        ticket = known.ticket if known is not None else None
        ticket = ticket or secrets.token_urlsafe(32)
        return self._keep(Access(session, free_name(own), ticket, is_clear(own)))

    def _keep(self, access: Access) -> Access:
        """Record the access of a session's agent."""
        id = access.session.id
        known = self._accesses.get(id)
        if known is None:
            self._untouched.add(id)
        elif known.name != access.name:
            # Until our server is connected by the new name, another server may have it.
            self._used.discard(id)
        self._accesses[id] = access
        return access

    def _note_use(self, session_id: str) -> None:
        """Record that a session's agent has connected our server."""
        self._untouched.discard(session_id)
        self._used.add(session_id)

    async def _open(self) -> None:
        async with self._opening:
            if self._closed:
                raise OSError("the server is stopping")
            if self._server is not None:
                return
            self._folder, listener = _bind(self._runtime_dir)
            self._server = await asyncio.start_unix_server(self._connected, sock=listener)
            self._address = str(self._folder / SOCKET)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = ""
        try:
            admitted = await self._admit(reader, writer.get_extra_info("socket"))
            if admitted is None:
                return
            session, is_agent = admitted
            self._connections[task] = session.id
            if is_agent:
                self._note_use(session.id)
            self._untouched.discard(session.id)
            await self._serve(session, reader, writer)
        except asyncio.CancelledError:
            # Cancelled by `forget` or `close`: not an error.
            pass
        except Exception:
            self._log.exception("Error in a connection to the tools")
        finally:
            del self._connections[task]
            writer.close()

    async def _admit(
        self, reader: asyncio.StreamReader, connection: Any
    ) -> tuple[SessionView, bool] | None:
        """Return the session of a connection, or None if it is refused.

        With the session, True if the connection showed its ticket, False if it named its id.
        """
        uid = uid_of(connection)
        if uid not in (None, os.geteuid()):
            self._log.warning("Refused a connection to the tools: it is of the user %d", uid)
            return None
        try:
            line = await asyncio.wait_for(reader.readline(), TICKET_WAIT)
        except (asyncio.TimeoutError, ValueError, ConnectionError):
            line = b""
        shown = line.rstrip(b"\r\n")
        if uid is not None and shown.startswith(ADMIT):
            access = self._accesses.get(shown.removeprefix(ADMIT).decode(errors="replace"))
            # Not logged: a command tries all servers, and the session may be on another one.
            is_here = access is not None and access.ticket is not None
            return (access.session, False) if access is not None and is_here else None
        found = None
        for access in self._accesses.values():
            if access.ticket and secrets.compare_digest(shown, access.ticket.encode()):
                found = access.session
        if found is None:
            self._log.warning("Refused a connection to the tools: it has no valid ticket")
            return None
        return found, True


def free_name(servers: list[Any]) -> str:
    """Return a name for our server that differs from those of the session's own servers.

    Agents prefix tool names with it, with different separators. So no other name may begin with
    it, nor with `mcp` and it.
    """
    taken = [each.removeprefix("mcp_") for each in _names(servers)]
    more = (f"{NAMES[-1]}{number}" for number in itertools.count(2))
    return next(
        name
        for name in itertools.chain(NAMES, more)
        if not any(f"{each}_".startswith(f"{name}_") for each in taken)
    )


def is_clear(servers: list[Any]) -> bool:
    """Return True if no tool of a session's own servers can have the name of one of ours.

    `mcp_jupyter_run_code` would also be a tool of a server `mcp`, whatever our name is.
    """
    return "mcp" not in _names(servers)


def _names(servers: list[Any]) -> list[str]:
    names = (server.get("name") for server in servers if isinstance(server, dict))
    return [re.sub(r"[\W_]+", "_", str(name).casefold()) for name in names]


def _bind(runtime_dir: str) -> tuple[Path, socket.socket]:
    """Create a socket in a folder of its own, in the first place where its path is short enough."""
    problem = OSError("every path for it is too long")
    for base in places(runtime_dir):
        try:
            os.makedirs(base, mode=0o700, exist_ok=True)
            _sweep(Path(base))
            # mkdtemp() gives access to this user only.
            folder = Path(tempfile.mkdtemp(prefix=f"{prefix()}{os.getpid()}-", dir=base)).resolve()
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


def _sweep(base: Path) -> None:
    """Remove the folders of servers on this machine that have ended without cleaning up."""
    import psutil

    for folder in base.glob(f"{prefix()}*"):
        pid = folder.name.removeprefix(prefix()).partition("-")[0]
        # Check both: the process may run in another container, where its id is unknown here.
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
