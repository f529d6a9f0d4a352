# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The child process of an agent, which is ended together with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
import uuid
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..rpc.stdio import StdioTransport
from ..rpc.transport import DEFAULT_MESSAGE_LIMIT

MARK = "JUPYTER_ACP_PROCESS"
"""Children inherit this variable, so they are found even after `setsid` or a wrapper's exit."""

STDERR_LINES = 200
STDERR_LINE_LENGTH = 2000


class StderrTail:
    """Keeps the last lines of stderr in bounded memory."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=STDERR_LINES)
        self._rest = b""

    @property
    def lines(self) -> list[str]:
        """The last lines, including an unfinished one."""
        lines = list(self._lines)
        if self._rest:
            lines.append(_readable(self._rest))
        return lines[-STDERR_LINES:]

    def feed(self, chunk: bytes) -> None:
        """Add data; skip lines that cannot be among the last ones."""
        lines = chunk.rsplit(b"\n", STDERR_LINES + 1)
        lines[0] = self._rest + lines[0]
        self._rest = lines.pop()[-STDERR_LINE_LENGTH:]
        self._lines.extend(_readable(line) for line in lines)


class _Pipes(asyncio.SubprocessProtocol):
    """Receives the output, stderr and end of a process from the event loop."""

    def __init__(self, wire: StdioTransport) -> None:
        self.wire = wire
        self.stderr = StderrTail()
        self.stderr_ended = asyncio.Event()
        # The end of the process itself: a grandchild may still keep its pipes open.
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.wire.received(data)
        else:
            self.stderr.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 0:
            self.wire.lost_writing()
        elif fd == 1:
            self.wire.finished()
        else:
            self.stderr_ended.set()

    def pause_writing(self) -> None:
        self.wire.pause_writing()

    def resume_writing(self) -> None:
        self.wire.resume_writing()

    def process_exited(self) -> None:
        self.exited.set()


class AgentProcess:
    """A child process that speaks ACP on its stdin and stdout."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, pipes: _Pipes, mark: str, grace: float
    ) -> None:
        self.pid: int = transport.get_pid() or 0
        self._transport = transport
        self._pipes = pipes
        self._mark = mark
        self._grace = grace
        self._reaping = asyncio.get_running_loop().create_task(self._reap())

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        grace: float,
        limit: int = DEFAULT_MESSAGE_LIMIT,
    ) -> AgentProcess:
        """Start the command in a new process group."""
        mark = uuid.uuid4().hex
        wire = StdioTransport(limit=limit)
        transport, pipes = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Pipes(wire),
            *argv,
            env={**env, MARK: marked(env, mark)},
            start_new_session=True,
        )
        wire.connected(
            cast("asyncio.ReadTransport", transport.get_pipe_transport(1)),
            cast("asyncio.WriteTransport", transport.get_pipe_transport(0)),
        )
        return cls(transport, pipes, mark, grace)

    @property
    def wire(self) -> StdioTransport:
        """The transport over stdin and stdout of the process."""
        return self._pipes.wire

    @property
    def status(self) -> int | None:
        """The exit status if the process has ended, else None."""
        return self._transport.get_returncode()

    @property
    def stderr(self) -> list[str]:
        """The last lines of stderr."""
        return self._pipes.stderr.lines

    async def wait(self) -> int:
        """Wait for the end of the process and of its stderr; return the exit status."""
        await self._pipes.exited.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._pipes.stderr_ended.wait(), 1)
        return self._transport.get_returncode() or 0

    async def stop(self) -> None:
        """End the process and all its children: first with SIGTERM, then with SIGKILL."""
        if not self._pipes.exited.is_set():
            self._signal_group(signal.SIGTERM)
        await self._sweep()
        await self._pipes.exited.wait()
        await asyncio.wait({self._reaping})
        self._transport.close()

    def stop_now(self) -> None:
        """End the process and all its children without an event loop."""
        end_marked(self._mark, self._pid_if_running(), self._grace)

    async def _reap(self) -> None:
        """End the children of a process that has ended, because they keep its pipes open."""
        await self._pipes.exited.wait()
        await self._sweep()

    async def _sweep(self) -> None:
        left = await asyncio.to_thread(end_marked, self._mark, self._pid_if_running(), self._grace)
        if left:
            logging.getLogger(__name__).warning("Processes would not end: %s", left)

    def _pid_if_running(self) -> int | None:
        # The system may reuse the id of a process that has ended.
        return None if self._pipes.exited.is_set() else self.pid

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def marked(env: Mapping[str, str], mark: str) -> str:
    """Return the mark for a child, appended to the marks that this process inherited."""
    return "/".join(each for each in (env.get(MARK), mark) if each)


def end_marked(mark: str, pid: int | None, grace: float) -> list[int]:
    """End every process with the mark; return the ids of those that are left."""
    import psutil

    def found() -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if _carries(process, mark, pid)]

    def send(processes: Iterable[psutil.Process], force: bool) -> None:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill() if force else process.terminate()

    def wait(processes: list[psutil.Process], seconds: float) -> None:
        # Poll instead of waiting: that would reap our child, and asyncio would lose its status.
        end = time.monotonic() + seconds
        while time.monotonic() < end and any(_lives(process) for process in processes):
            time.sleep(0.01)

    processes = found()
    send(processes, force=False)
    wait(processes, grace)
    # A process may start another one before it ends, so repeat until none is left.
    for _ in range(5):
        processes = found()
        if not processes:
            return []
        send(processes, force=True)
        wait(processes, 1)
    return [process.pid for process in found()]


def _lives(process: Any) -> bool:
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _carries(process: Any, mark: str, pid: int | None) -> bool:
    import psutil

    try:
        carries = process.pid == pid or mark in process.environ().get(MARK, "").split("/")
    except (psutil.Error, OSError):
        return False
    return carries and _lives(process)


def _readable(line: bytes) -> str:
    return line[:STDERR_LINE_LENGTH].decode("utf-8", "replace").rstrip("\r")
