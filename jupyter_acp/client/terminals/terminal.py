# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A terminal: a command with its output for the agent and for the transcript."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from ... import protocol
from ...agents.exit_message import describe_exit
from ..view import SessionView
from .command import Command
from .output import Output

SHOW_INTERVAL = 0.05


class Terminal:
    """A command, the end of its output, and its exit status."""

    def __init__(self, session: SessionView, command: Command, output: Output) -> None:
        self.id = f"term-{uuid.uuid4().hex}"
        self.session_id = session.id
        self._session = session
        self._command = command
        self._output = output
        self._running = asyncio.get_running_loop().create_task(self._run())

    @property
    def running(self) -> bool:
        """True while the command runs."""
        return not self._running.done()

    @property
    def output_limit(self) -> int:
        """Maximum size of the kept output, in bytes."""
        return self._output.limit

    def announce(self, line: str, cwd: str) -> None:
        """Report the command to the windows, with its name in JupyterLab's terminals."""
        self._session.append(
            protocol.TERMINAL_BEGAN,
            {"terminalId": self.id, "command": line, "cwd": cwd, "name": self._command.name},
        )

    def output(self) -> dict[str, Any]:
        """Return the kept output, and the exit status after the end."""
        result: dict[str, Any] = {
            "output": self._command.readable(self._output.text()),
            "truncated": self._output.truncated,
        }
        if not self.running:
            result["exitStatus"] = self.status()
        return result

    def status(self) -> dict[str, Any]:
        """Return the exit code, or the signal that ended the command."""
        code = self._command.returncode
        if code is not None and code < 0:
            return {"exitCode": None, "signal": describe_exit(code).split()[-1]}
        return {"exitCode": code, "signal": None}

    async def wait(self) -> dict[str, Any]:
        """Wait for the end; return the exit status."""
        await asyncio.shield(self._running)
        return self.status()

    async def kill(self) -> None:
        """End the command and all that it started."""
        await self._command.kill()
        await asyncio.shield(self._running)

    def stop_now(self) -> None:
        """Kill the command, without an event loop."""
        self._command.stop_now()

    async def _run(self) -> None:
        showing = asyncio.get_running_loop().create_task(self._show_regularly())
        try:
            await self._command.wait()
        finally:
            showing.cancel()
            self._show(final=True)
        self._session.append(
            protocol.TERMINAL_ENDED, {"terminalId": self.id, "exitStatus": self.status()}
        )

    async def _show_regularly(self) -> None:
        while True:
            await asyncio.sleep(SHOW_INTERVAL)
            self._show()

    def _show(self, final: bool = False) -> None:
        if data := self._output.take_unshown(final):
            params: dict[str, Any] = {"terminalId": self.id, "data": data}
            if self._output.shown_whole:
                params["truncated"] = True
            self._session.append(protocol.TERMINAL_PRINTED, params)
