# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Commands in pseudo-terminals that JupyterLab can open as tabs.

terminado does not fit for agents' commands: the end of a process blocks its event loop for at least
a tenth of a second, and for as long as the process lives if that has closed its terminal. A start
in a missing folder leaves a copy of the server running, and a slow tab fills the memory. So this
module creates the process and the pseudo-terminal, with only our variables in the environment, and
uses nothing of Jupyter but its list of terminals.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import struct
import termios
from typing import Any

from .command import Command, Launch
from .output import Output, plain
from .shared import SharedTerminal, is_shareable

ROWS, COLUMNS = 30, 120
READ_SIZE = 64 * 1024
READS_AT_ONCE = 16
TYPED_LIMIT = 64 * 1024
"""Maximum size of typed input that a command has not read yet, in bytes."""

ENVIRONMENT = {
    "TERM": "xterm-256color",
    # There may be no user to page through the output.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
_SIZE_VARIABLES = ("COLUMNS", "LINES")


class PtyCommand(Command):
    """A command in a terminal that the user can watch and type into."""

    def __init__(self, output: Output, fd: int, manager: Any) -> None:
        super().__init__(output)
        self._loop = asyncio.get_running_loop()
        self._fd: int | None = fd
        self._typed = bytearray()
        self._half_newline = b""
        self._shared = SharedTerminal(self, manager)
        self.name = self._shared.name

    @classmethod
    async def start(cls, launch: Launch, output: Output, manager: Any) -> PtyCommand | None:
        """Start the command; return None if no terminal is available."""
        if not is_shareable(manager):
            return None
        try:
            ours, theirs = os.openpty()
        except OSError:
            return None
        os.set_blocking(ours, False)
        # Programs must use the terminal's size, which a tab can change, and not the server's.
        env = {name: value for name, value in launch.env.items() if name not in _SIZE_VARIABLES}
        command = cls(output, ours, manager)
        command.setwinsize(ROWS, COLUMNS)
        try:
            await command._spawn(
                launch,
                {**env, **ENVIRONMENT},
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                preexec_fn=_control_terminal,
            )
        except BaseException:
            command._close()
            raise
        finally:
            os.close(theirs)
        command._loop.add_reader(ours, command._read)
        return command

    def readable(self, text: str) -> str:
        """Return output as plain text."""
        return plain(text)

    # Interface that Jupyter's terminals expect of a process

    def write(self, text: str) -> None:
        """Write the user's input; terminado calls this from another thread."""
        self._loop.call_soon_threadsafe(self._type, text.encode("utf-8", "replace"))

    def getwinsize(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        if self._fd is None:
            return ROWS, COLUMNS
        size = fcntl.ioctl(self._fd, termios.TIOCGWINSZ, bytes(8))
        rows, columns, _, _ = struct.unpack("HHHH", size)
        return rows, columns

    def setwinsize(self, rows: int, columns: int) -> None:
        """Set the size of the terminal; the system notifies the command."""
        if self._fd is not None:
            fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        # A read returns 4 KiB at most: do several, and then let other tasks run.
        for _ in range(READS_AT_ONCE):
            if self._fd is None:
                return
            try:
                data = os.read(self._fd, READ_SIZE)
            except BlockingIOError:
                return
            except OSError:
                # Linux reports an error when no process has the other side open any more.
                data = b""
            if not data:
                self._loop.remove_reader(self._fd)
                self._silent.set()
                return
            self._shared.show(data)
            self._take(data)

    def _take(self, data: bytes) -> None:
        """Collect output, with line ends as the command wrote them."""
        data = self._half_newline + data
        self._half_newline = b"\r" if data.endswith(b"\r") else b""
        if self._half_newline:
            data = data[:-1]
        self._output.take(data.replace(b"\r\n", b"\n"))

    def _type(self, data: bytes) -> None:
        self._typed += data[: TYPED_LIMIT - len(self._typed)]
        self._write()

    def _write(self) -> None:
        if self._fd is None:
            return
        try:
            del self._typed[: os.write(self._fd, self._typed)]
        except BlockingIOError:
            pass
        except OSError:
            self._typed.clear()
        if self._typed:
            self._loop.add_writer(self._fd, self._write)
        else:
            self._loop.remove_writer(self._fd)

    async def _end(self) -> None:
        await super()._end()
        self._output.take(self._half_newline)
        self._close()

    def _close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            os.close(fd)
        self._shared.close()


def _control_terminal() -> None:
    """Make stdin the controlling terminal, for Ctrl+C and hang-ups; runs in the new process."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
