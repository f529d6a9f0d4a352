# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A command as a process with its output in a pipe; the base of other ways to run one."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...agents.process import MARK, end_marked, marked
from ...paths import folder_of
from .output import Output

STOP_GRACE = 2.0
LAST_WORDS = 0.5


@dataclass(frozen=True)
class Launch:
    """A program to start, with its folder and its environment."""

    argv: list[str]
    cwd: str
    env: dict[str, str]
    """The user's environment, without the server's secrets."""
    extra_env: dict[str, str]
    """Variables from the agent; they override all others."""


class Command(asyncio.SubprocessProtocol):
    """A process, from its start to its end, with all processes that it starts."""

    name: str | None = None
    """Name in Jupyter's list of terminals, or None."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._mark = uuid.uuid4().hex
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._silent = asyncio.Event()
        self._ending = asyncio.get_running_loop().create_task(self._end())

    @property
    def returncode(self) -> int | None:
        """Exit status, negative signal number, or None while the process runs."""
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def pid(self) -> int | None:
        """Process id, or None after the exit, when the system may reuse the number."""
        if self._transport is None or self._exited.is_set():
            return None
        return self._transport.get_pid()

    def readable(self, text: str) -> str:
        """Return output in the form that agents get."""
        return text

    async def wait(self) -> None:
        """Wait for the exit and the last output."""
        await asyncio.shield(self._ending)

    async def kill(self) -> None:
        """Terminate the process and all that it started; kill those that remain."""
        await asyncio.to_thread(end_marked, self._mark, self.pid, STOP_GRACE)
        await self.wait()
        if self._transport is not None:
            self._transport.close()

    def stop_now(self) -> None:
        """Kill the process and all that it started, without an event loop."""
        end_marked(self._mark, self.pid, 0)

    def process_exited(self) -> None:
        """Note the exit; called by the event loop."""
        self._exited.set()

    async def _spawn(self, launch: Launch, env: dict[str, str], **stdio: object) -> None:
        try:
            with _folder(launch.cwd) as cwd:
                self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                    lambda: self,
                    *launch.argv,
                    env={**env, **launch.extra_env, MARK: marked(env, self._mark)},
                    cwd=cwd,
                    start_new_session=True,
                    **stdio,  # type: ignore[arg-type]
                )
        except BaseException:
            self._ending.cancel()
            raise

    async def _end(self) -> None:
        await self._exited.wait()
        # Background processes may keep the output open for a long time.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._silent.wait(), LAST_WORDS)


@contextlib.contextmanager
def _folder(path: str) -> Iterator[str]:
    """Yield a path that stays the same folder even if links change.

    The user may take a while to allow a command, and a link may be created meanwhile.
    """
    with folder_of(Path(path) / "-") as descriptor:
        yield f"/proc/self/fd/{descriptor}" if sys.platform == "linux" else path


class PipedCommand(Command):
    """A command without input and without a terminal in JupyterLab."""

    @classmethod
    async def start(cls, launch: Launch, output: Output) -> PipedCommand:
        """Start the command."""
        command = cls(output)
        pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        both = asyncio.subprocess.STDOUT
        await command._spawn(launch, launch.env, stdin=null, stdout=pipe, stderr=both)
        return command

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002
        """Collect output."""
        self._output.take(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """Note the end of the output."""
        self._silent.set()
