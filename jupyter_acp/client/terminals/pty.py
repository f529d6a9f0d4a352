# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A command in a pseudo-terminal that JupyterLab can open as a tab.

terminado could start it as well, but not as a command of an agent has to run. Each end of a process
holds up its event loop: for a tenth of a second at best, for as long as the process lives if that has
closed its terminal. A folder that is gone leaves a copy of the server running, and a tab that cannot
follow the output fills the memory. So the process and the pseudo-terminal are ours, with no variable
in its environment that we have not put there, and only the place in the list of terminals is
Jupyter's.
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
"""What a user may type or paste ahead of a command that does not read."""

ENVIRONMENT = {
    "TERM": "xterm-256color",
    # Nobody may be there to turn the page.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
_SIZE_VARIABLES = ("COLUMNS", "LINES")


class PtyCommand(Command):
    """A command with a terminal of its own, into which the user can look and type."""

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
        """Start it, unless there is no terminal to be had."""
        if not is_shareable(manager):
            return None
        try:
            ours, theirs = os.openpty()
        except OSError:
            return None
        os.set_blocking(ours, False)
        # The size is the terminal's, which a tab changes: the server's own would be in the way.
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
        """Return its output without what only terminals understand."""
        return plain(text)

    # What Jupyter's terminals ask of a process

    def write(self, text: str) -> None:
        """Take what a user types, from the thread in which terminado writes."""
        self._loop.call_soon_threadsafe(self._type, text.encode("utf-8", "replace"))

    def getwinsize(self) -> tuple[int, int]:
        """Return the rows and columns."""
        if self._fd is None:
            return ROWS, COLUMNS
        size = fcntl.ioctl(self._fd, termios.TIOCGWINSZ, bytes(8))
        rows, columns, _, _ = struct.unpack("HHHH", size)
        return rows, columns

    def setwinsize(self, rows: int, columns: int) -> None:
        """Have another size; the command is told."""
        if self._fd is not None:
            fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        # A terminal hands out 4 KiB at most: a few at once, and then others have their turn.
        for _ in range(READS_AT_ONCE):
            if self._fd is None:
                return
            try:
                data = os.read(self._fd, READ_SIZE)
            except BlockingIOError:
                return
            except OSError:
                # Linux says so when nobody has the other side open any more.
                data = b""
            if not data:
                self._loop.remove_reader(self._fd)
                self._silent.set()
                return
            self._shared.show(data)
            self._take(data)

    def _take(self, data: bytes) -> None:
        """Take output with the ends of lines as the command wrote them."""
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
    """Make the terminal the one that Ctrl+C and a hang-up come from; runs in the new process."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
