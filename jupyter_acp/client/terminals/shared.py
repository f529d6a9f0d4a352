# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A command's entry in Jupyter's list of terminals, and the tabs that show it."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
import uuid
from collections import deque
from datetime import datetime, timezone
from typing import Any

from terminado.management import NamedTermManager, PtyWithClients
from tornado.websocket import WebSocketClosedError

from .command import Command

SHOW_INTERVAL = 0.02
KEPT = 256 * 1024
"""Maximum output for a tab that is opened later, in characters."""

_RESET = "\x1bc"


def is_shareable(manager: Any) -> bool:
    """Return True if our terminals can be added to the server's manager."""
    return isinstance(manager, NamedTermManager)


class SharedTerminal(PtyWithClients):
    """A terminal that Jupyter's handlers treat as one of theirs.

    It has the whole interface that they use, but its own way to read, show and end.
    """

    def __init__(self, command: Command, manager: NamedTermManager) -> None:
        # Without the base class, which would start a process.
        self.clients: list[Any] = []
        self.read_buffer: deque[str] = deque()
        self.ptyproc = command
        self.name = self.term_name = _new_name(manager)
        self._manager = manager
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._fresh = bytearray()
        self._kept = 0
        self._behind: set[Any] = set()
        self._timer: asyncio.TimerHandle | None = None
        manager.terminals[self.name] = self

    @property
    def last_activity(self) -> datetime:
        """Current time: the terminal is always active, as an agent waits for the command."""
        return datetime.now(timezone.utc)

    @last_activity.setter
    def last_activity(self, _: datetime) -> None:
        """Ignore the time that the handlers set."""

    def kill(self, sig: int = signal.SIGTERM) -> None:
        """Send a signal to the command and its group."""
        pid = self.ptyproc.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, sig)

    def killpg(self, sig: int = signal.SIGTERM) -> None:
        """Send a signal to the command and its group."""
        self.kill(sig)

    async def terminate(self, force: bool = False) -> bool:  # noqa: ARG002
        """End the command, as the user shut the terminal down."""
        await self.ptyproc.kill()
        return True

    def show(self, data: bytes) -> None:
        """Show output in all tabs, after a short delay and in one piece."""
        self._fresh += data
        if len(self._fresh) > KEPT:
            del self._fresh[:-KEPT]
        self._show_soon()

    def close(self) -> None:
        """Remove the terminal from the list, and notify all tabs."""
        if self._manager.terminals.get(self.name) is self:
            del self._manager.terminals[self.name]
        self._stop_timer()
        self._show()
        self._stop_timer()
        clients, self.clients = self.clients, []
        for client in clients:
            with contextlib.suppress(WebSocketClosedError):
                client.on_pty_died()

    def _show_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SHOW_INTERVAL, self._show)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _show(self) -> None:
        self._timer = None
        text = self._decoder.decode(self._fresh)
        self._fresh.clear()
        self._keep(text)
        for client in list(self.clients):
            if _is_busy(client):
                # A slow tab must neither fill the memory nor delay the command.
                self._behind.add(client)
            elif client in self._behind:
                self._behind.discard(client)
                _send(client, _RESET + "".join(self.read_buffer))
            elif text:
                _send(client, text)
        self._behind.intersection_update(self.clients)
        if self._behind:
            self._show_soon()

    def _keep(self, text: str) -> None:
        if text:
            self.read_buffer.append(text)
            self._kept += len(text)
        while self._kept > KEPT:
            self._kept -= len(self.read_buffer.popleft())


def _send(client: Any, text: str) -> None:
    # A tab that is being closed leaves the list by itself.
    with contextlib.suppress(WebSocketClosedError):
        client.on_pty_read(text)


def _is_busy(client: Any) -> bool:
    """Return True if a browser has not received the last output yet."""
    stream = getattr(client.ws_connection, "stream", None)
    return stream is not None and stream.writing()


def _new_name(manager: NamedTermManager) -> str:
    """Return a new name that is readable in a tab and valid in a URL."""
    while (name := f"agent_{uuid.uuid4().hex[:4]}") in manager.terminals:
        pass
    return name
