# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`terminal/*`: commands that an agent runs through us, their output shown as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import uuid
from collections.abc import Callable
from typing import Any

from ..agents.environment import agent_environment
from ..agents.process import MARK, describe_exit, end_marked
from ..paths import contained
from ..protocol import CreateTerminalParams, TerminalParams, parse
from ..rpc import RpcError, invalid_params
from ..rpc.errors import NOT_FOUND
from .view import SessionView

OUTPUT = "_jupyter/terminal/output"
EXIT = "_jupyter/terminal/exit"

DEFAULT_OUTPUT_LIMIT = 1024 * 1024
MAX_OUTPUT_LIMIT = 16 * 1024 * 1024
SHOWN_LIMIT = 1024 * 1024
"""What goes into the transcript of one terminal's output; the agent can still read the rest."""

SHOW_INTERVAL = 0.05
TERMINALS_PER_SESSION = 50
STOP_GRACE = 2.0
LAST_WORDS = 0.5
_SHELL_CHARACTERS = set(" \t\n|&;<>()$`\"'*?[]#~=%{}!")


class _Output(asyncio.SubprocessProtocol):
    """What the event loop tells of a command: its output, and its own end."""

    def __init__(self) -> None:
        self.take: Callable[[bytes], None] | None = None
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002
        if self.take is not None:
            self.take(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()


class Terminal:
    """One command, its last output, and how it ended."""

    def __init__(
        self,
        session: SessionView,
        transport: asyncio.SubprocessTransport,
        output: _Output,
        mark: str,
        limit: int,
    ) -> None:
        self.id = f"term-{uuid.uuid4().hex}"
        self.session_id = session.id
        self._session = session
        self._transport = transport
        self._pipe = output
        self._pipe.take = self._take
        self._mark = mark
        self._limit = limit
        self._output = bytearray()
        self._truncated = False
        self._unshown = bytearray()
        self._shown = 0
        self._running = asyncio.get_running_loop().create_task(self._run())

    @property
    def running(self) -> bool:
        """Whether the command still runs."""
        return not self._running.done()

    def output(self) -> dict[str, Any]:
        """Return what is kept of the output, cut at a character."""
        errors = "ignore" if self._truncated else "replace"
        result: dict[str, Any] = {
            "output": bytes(self._output).decode("utf-8", errors),
            "truncated": self._truncated,
        }
        if not self.running:
            result["exitStatus"] = self.status()
        return result

    def status(self) -> dict[str, Any]:
        """Return the exit code, or the signal that ended the command."""
        code = self._transport.get_returncode()
        if code is not None and code < 0:
            return {"exitCode": None, "signal": describe_exit(code).split()[-1]}
        return {"exitCode": code, "signal": None}

    async def wait(self) -> dict[str, Any]:
        """Wait for the end."""
        await asyncio.shield(self._running)
        return self.status()

    async def kill(self) -> None:
        """End the command and what it started."""
        await asyncio.get_running_loop().run_in_executor(None, self._end, STOP_GRACE)
        await asyncio.shield(self._running)

    def stop_now(self) -> None:
        """End the command at once."""
        self._end(0)

    def _end(self, grace: float) -> None:
        # The number of a process that has ended may be another's by now.
        pid = None if self._pipe.exited.is_set() else self._transport.get_pid()
        end_marked(self._mark, pid, grace)

    def _take(self, chunk: bytes) -> None:
        self._output += chunk
        if len(self._output) > self._limit:
            del self._output[: len(self._output) - self._limit]
            self._truncated = True
        room = SHOWN_LIMIT - self._shown - len(self._unshown)
        self._unshown += chunk[: max(room, 0)]

    async def _run(self) -> None:
        showing = asyncio.get_running_loop().create_task(self._show_regularly())
        try:
            await self._pipe.exited.wait()
            # What it started in the background may hold the pipe open for long.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._pipe.closed.wait(), LAST_WORDS)
        finally:
            showing.cancel()
            self._show(final=True)
        self._session.append(EXIT, {"terminalId": self.id, "exitStatus": self.status()})

    async def _show_regularly(self) -> None:
        while True:
            await asyncio.sleep(SHOW_INTERVAL)
            self._show()

    def _show(self, final: bool = False) -> None:
        data = bytes(self._unshown)
        if not final:
            data = _whole_characters(data)
        if data:
            del self._unshown[: len(data)]
            self._shown += len(data)
            params: dict[str, Any] = {
                "terminalId": self.id,
                "data": data.decode("utf-8", "replace"),
            }
            if self._shown >= SHOWN_LIMIT:
                params["truncated"] = True
            self._session.append(OUTPUT, params)


class Terminals:
    """The terminals of all sessions."""

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir
        self._terminals: dict[str, Terminal] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def create(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/create`."""
        wanted = parse(CreateTerminalParams, params)
        mine = [t for t in self._terminals.values() if t.session_id == session.id]
        if sum(terminal.running for terminal in mine) >= TERMINALS_PER_SESSION:
            raise invalid_params(
                f"{TERMINALS_PER_SESSION} terminals are running in this session: end one first."
            )
        # Agents that never release would otherwise fill the memory.
        for terminal in [t for t in mine if not t.running][:-TERMINALS_PER_SESSION]:
            del self._terminals[terminal.id]
        cwd = contained(wanted.cwd or session.cwd, [*session.roots, self._root_dir])
        mark = uuid.uuid4().hex
        env = agent_environment(os.environ, {item.name: item.value for item in wanted.env})
        env[MARK] = mark
        argv = [wanted.command, *wanted.args]
        if not wanted.args and _SHELL_CHARACTERS & set(wanted.command):
            # Some agents send a whole shell line as the command.
            argv = ["/bin/sh", "-c", wanted.command]
        try:
            transport, output = await asyncio.get_running_loop().subprocess_exec(
                _Output,
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=env,
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise invalid_params(
                f"{shlex.join(argv)} could not be started: {error.strerror}."
            ) from None
        limit = wanted.output_byte_limit
        limit = DEFAULT_OUTPUT_LIMIT if limit is None else min(limit, MAX_OUTPUT_LIMIT)
        terminal = Terminal(session, transport, output, mark, limit)
        self._terminals[terminal.id] = terminal
        return {"terminalId": terminal.id}

    async def output(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/output`."""
        return self._get(session, params).output()

    async def wait_for_exit(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/wait_for_exit`."""
        return await self._get(session, params).wait()

    async def kill(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/kill`; the output can still be read."""
        await self._get(session, params).kill()
        return {}

    async def release(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/release`; the transcript keeps what was shown."""
        terminal = self._get(session, params)
        del self._terminals[terminal.id]
        await terminal.kill()
        return {}

    def forget(self, session_id: str) -> None:
        """End the terminals of a session that is over."""
        for terminal in [t for t in self._terminals.values() if t.session_id == session_id]:
            del self._terminals[terminal.id]
            task = asyncio.get_running_loop().create_task(terminal.kill())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End every terminal."""
        terminals = list(self._terminals.values())
        self._terminals.clear()
        await asyncio.gather(
            *(terminal.kill() for terminal in terminals), *self._ending, return_exceptions=True
        )

    def stop_now(self) -> None:
        """End every terminal at once, when there is no event loop any more."""
        for terminal in self._terminals.values():
            terminal.stop_now()

    def _get(self, session: SessionView, params: Any) -> Terminal:
        id = parse(TerminalParams, params).terminal_id
        terminal = self._terminals.get(id)
        if terminal is None or terminal.session_id != session.id:
            raise RpcError(NOT_FOUND, f"There is no terminal {id!r} in this session.")
        return terminal


def _whole_characters(data: bytes) -> bytes:
    """Leave off the start of a character whose end has not come yet."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
        if byte < 0x80:
            break
    return data
