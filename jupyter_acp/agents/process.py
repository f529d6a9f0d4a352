# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent as a child process: started with its own environment, ended with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import uuid
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..rpc.stdio import StdioTransport

MARK = "JUPYTER_ACP_PROCESS"
"""Children inherit this variable, so they are found even after `setsid` or a wrapper's exit."""

STDERR_LINES = 200
STDERR_LINE_LENGTH = 2000
_IS_WINDOWS = sys.platform == "win32"


class StderrTail:
    """Drains a stderr pipe for ever and remembers its last lines."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=STDERR_LINES)
        self._rest = b""

    @property
    def lines(self) -> list[str]:
        """The last lines, an unfinished one included."""
        lines = list(self._lines)
        if self._rest:
            lines.append(_readable(self._rest))
        return lines[-STDERR_LINES:]

    async def drain(self, reader: asyncio.StreamReader) -> None:
        """Read until the end, whatever comes."""
        while chunk := await reader.read(256 * 1024):
            # Only lines that can still be among the last ones are looked at.
            lines = chunk.rsplit(b"\n", STDERR_LINES + 1)
            lines[0] = self._rest + lines[0]
            self._rest = lines.pop()[-STDERR_LINE_LENGTH:]
            self._lines.extend(_readable(line) for line in lines)


class _Watched(asyncio.subprocess.SubprocessStreamProtocol):
    """Tells of the process's own end, though a grandchild may still hold its pipes open."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=64 * 1024, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class AgentProcess:
    """A child process that speaks ACP on its stdin and stdout."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: _Watched,
        mark: str,
        grace: float,
    ) -> None:
        self.pid: int = transport.get_pid() or 0
        self.stderr = StderrTail()
        self._transport = transport
        self._protocol = protocol
        self._mark = mark
        self._grace = grace
        loop = asyncio.get_running_loop()
        assert protocol.stdin is not None
        assert protocol.stdout is not None
        assert protocol.stderr is not None
        self._stdin, self._stdout = protocol.stdin, protocol.stdout
        self._draining = loop.create_task(self.stderr.drain(protocol.stderr))
        self._reaping = loop.create_task(self._reap())

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, env: Mapping[str, str], grace: float
    ) -> AgentProcess:
        """Start the command in a process group of its own."""
        mark = uuid.uuid4().hex
        loop = asyncio.get_running_loop()
        group: dict[str, Any] = (
            {"creationflags": 0x00000200} if _IS_WINDOWS else {"start_new_session": True}
        )
        transport, protocol = await loop.subprocess_exec(
            lambda: _Watched(loop), *argv, env={**env, MARK: mark}, **group
        )
        return cls(transport, protocol, mark, grace)

    def transport(self, limit: int) -> StdioTransport:
        """Return the wire to the process."""
        return StdioTransport(self._stdout, self._stdin, limit=limit)

    async def wait(self) -> int:
        """Wait for the end and for the last of stderr."""
        await self._protocol.exited.wait()
        await asyncio.wait({self._draining}, timeout=1)
        return self._transport.get_returncode() or 0

    async def stop(self) -> None:
        """End the process and everything it started: first asked, then forced."""
        self._signal_group(signal.SIGTERM)
        await self._sweep()
        await self._protocol.exited.wait()
        await asyncio.wait({self._reaping})
        self._draining.cancel()
        self._transport.close()

    def stop_now(self) -> None:
        """End everything from a process that is ending without its event loop."""
        end_marked(self._mark, self.pid, self._grace)

    async def _reap(self) -> None:
        """End the children of a process that has ended: they hold its pipes open, and it cannot."""
        await self._protocol.exited.wait()
        await self._sweep()

    async def _sweep(self) -> None:
        left = await asyncio.get_running_loop().run_in_executor(
            None, end_marked, self._mark, self.pid, self._grace
        )
        if left:
            logging.getLogger(__name__).warning("Processes would not end: %s", left)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _IS_WINDOWS:
                self._transport.terminate()
            else:
                os.killpg(self.pid, number)


def end_marked(mark: str, pid: int, grace: float) -> list[int]:
    """End every process that carries the mark; return those that are left."""
    import psutil

    def found() -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if _carries(process, mark, pid)]

    def send(processes: Iterable[psutil.Process], force: bool) -> None:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill() if force else process.terminate()

    processes = found()
    send(processes, force=False)
    psutil.wait_procs(processes, timeout=grace)
    # A dying process may have started another one: look again until nothing is left.
    for _ in range(5):
        processes = found()
        if not processes:
            return []
        send(processes, force=True)
        psutil.wait_procs(processes, timeout=1)
    return [process.pid for process in found()]


def _carries(process: Any, mark: str, pid: int) -> bool:
    import psutil

    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return bool(process.pid == pid or process.environ().get(MARK) == mark)
    except (psutil.Error, OSError):
        return False


def describe_exit(status: int) -> str:
    """Say how a process ended, in words."""
    if status >= 0:
        return f"exited with status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _readable(line: bytes) -> str:
    return line[:STDERR_LINE_LENGTH].decode("utf-8", "replace").rstrip("\r")
