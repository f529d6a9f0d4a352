# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The terminals of all sessions, and their limits."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...agents.environment import agent_environment, is_ordinary_variable
from ...paths import contained, place
from ...protocol import CreateTerminalParams, TerminalParams, parse
from ...rpc import RpcError, invalid_params
from ...rpc.errors import NOT_FOUND
from ..large_answers import LargeAnswers
from ..permissions.policy import Action, Decision
from ..permissions.service import Permissions
from ..view import SessionView
from .command import Command, Launch, PipedCommand
from .output import Output
from .own_command import is_own_command
from .terminal import Terminal

DEFAULT_OUTPUT_LIMIT = 1024 * 1024
MAX_OUTPUT_LIMIT = 16 * 1024 * 1024
LEAST_OUTPUT_LIMIT = 64 * 1024
OUTPUT_PER_SESSION = 128 * 1024 * 1024
"""Maximum kept output per session, in bytes; when it is used up, new terminals keep the least."""

KEPT_PER_SESSION = 50
"""Maximum number of ended terminals per session, for agents that never release them."""

_SHELLS = {f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("sh", "bash")}
_SHELL_CHARACTERS = set(" \t\n|&;<>()$`\"'*?[]#~=%{}!")


class Terminals:
    """Serves `terminal/*`, in Jupyter's own terminals if the server has them."""

    def __init__(
        self,
        root_dir: str,
        permissions: Permissions,
        large_answers: LargeAnswers,
        manager: Any = None,
        limit: int = 50,
        program: Sequence[str] = (),
    ) -> None:
        """Run up to `limit` commands at once per session; `program` runs our own command line."""
        self._root_dir = root_dir
        self._large_answers = large_answers
        self._limit = limit
        self._permissions = permissions
        self._manager = manager
        self._program = program
        self._terminals: dict[str, Terminal] = {}
        self._starting: Counter[str] = Counter()
        self._ending: dict[asyncio.Task[None], Terminal] = {}

    async def create(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/create`."""
        wanted = parse(CreateTerminalParams, params)
        mine = [t for t in self._terminals.values() if t.session_id == session.id]
        if sum(terminal.running for terminal in mine) + self._starting[session.id] >= self._limit:
            raise invalid_params(
                f"{self._limit} terminals are running in this session, or wait to be allowed: end one "
                "first (AcpExtension.max_terminals)."
            )
        # Agents that never release terminals would fill the memory.
        for terminal in [t for t in mine if not t.running][:-KEPT_PER_SESSION]:
            self._end(terminal)
        launch = self._launch(session, wanted)
        line = shlex.join(launch.argv) if wanted.args else wanted.command
        self._starting[session.id] += 1
        try:
            # Our own program asks for permission itself.
            usually: Decision = "allow" if self._is_own(launch, session) else "ask"
            await self._permissions.check(session, _action(line, launch, session.cwd), usually)
            self._check_alive(session)
            output = Output(self._output_limit(session, wanted.output_byte_limit))
            command = await self._start(launch, output)
        except OSError as error:
            raise invalid_params(
                f"{shlex.join(launch.argv)} could not be started in {launch.cwd}: {error.strerror}."
            ) from None
        finally:
            self._starting -= Counter([session.id])
        terminal = Terminal(session, command, output)
        self._terminals[terminal.id] = terminal
        if session.ended:
            # The session ended during the start.
            self._end(terminal)
        self._check_alive(session)
        terminal.announce(line, launch.cwd)
        return {"terminalId": terminal.id}

    async def output(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `terminal/output`."""
        terminal = self._get(session, params)

        async def content() -> dict[str, Any]:
            return terminal.output()

        return await self._large_answers.make(session, content)

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
        """End the terminals of a session."""
        for terminal in [t for t in self._terminals.values() if t.session_id == session_id]:
            self._end(terminal)

    async def close(self) -> None:
        """End all terminals."""
        for terminal in list(self._terminals.values()):
            self._end(terminal)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def stop_now(self) -> None:
        """Kill all terminals, without an event loop."""
        for terminal in [*self._terminals.values(), *self._ending.values()]:
            terminal.stop_now()

    def _launch(self, session: SessionView, wanted: CreateTerminalParams) -> Launch:
        argv = [wanted.command, *wanted.args]
        if not wanted.args and _SHELL_CHARACTERS & set(wanted.command):
            # Some agents send a whole shell line as the command.
            argv = ["/bin/sh", "-c", wanted.command]
        return Launch(
            argv=argv,
            cwd=str(contained(wanted.cwd or session.cwd, [*session.roots, self._root_dir])),
            env=agent_environment(os.environ, {}),
            extra_env={item.name: item.value for item in wanted.env},
        )

    def _is_own(self, launch: Launch, session: SessionView) -> bool:
        path = launch.env.get("PATH", "")
        return is_own_command(launch.argv, self._program, session.id, path, launch.extra_env)

    def _output_limit(self, session: SessionView, wanted: int | None) -> int:
        """Return the output limit for a new terminal: the requested size, if there is room."""
        mine = [t for t in self._terminals.values() if t.session_id == session.id]
        left = OUTPUT_PER_SESSION - sum(terminal.output_limit for terminal in mine)
        most = min(MAX_OUTPUT_LIMIT, max(left, LEAST_OUTPUT_LIMIT))
        return min(DEFAULT_OUTPUT_LIMIT if wanted is None else wanted, most)

    async def _start(self, launch: Launch, output: Output) -> Command:
        if self._manager is not None:
            # Imported here: where terminals are disabled, its dependencies may be missing.
            from .pty import PtyCommand

            if (command := await PtyCommand.start(launch, output, self._manager)) is not None:
                return command
        return await PipedCommand.start(launch, output)

    def _end(self, terminal: Terminal) -> None:
        del self._terminals[terminal.id]
        task = asyncio.get_running_loop().create_task(terminal.kill())
        self._ending[task] = terminal
        task.add_done_callback(self._ending.pop)

    def _check_alive(self, session: SessionView) -> None:
        if session.ended:
            raise RpcError(NOT_FOUND, "The session has ended; nothing is run in it any more.")

    def _get(self, session: SessionView, params: Any) -> Terminal:
        id = parse(TerminalParams, params).terminal_id
        terminal = self._terminals.get(id)
        if terminal is None or terminal.session_id != session.id:
            raise RpcError(NOT_FOUND, f"There is no terminal {id!r} in this session.")
        return terminal


def _action(line: str, launch: Launch, cwd: str) -> Action:
    async def details() -> dict[str, Any]:
        shown: dict[str, Any] = {"command": line, "cwd": launch.cwd}
        return {"rawInput": {**shown, "env": launch.extra_env} if launch.extra_env else shown}

    # `sh -c LINE` is the same command as LINE.
    shell, *args = launch.argv
    by_shell = args[1:2] if shell in _SHELLS and args[:1] == ["-c"] else []
    # Variables that can change the effect of the command are shown in front, as in a shell.
    told = {k: v for k, v in launch.extra_env.items() if not is_ordinary_variable(k, v)}
    shown_line = " ".join([*(f"{shlex.quote(k)}={shlex.quote(v)}" for k, v in told.items()), line])
    inside = [rest for each in by_shell if (rest := _after_cd(each, launch.cwd)) is not None]
    action = Action("terminal", [line, *by_shell, *inside], f"Run `{shown_line}`", details)
    action.has_more = bool(told)
    action.place = place(launch.cwd, cwd)
    return action


def _after_cd(line: str, cwd: str) -> str | None:
    """Return a shell line without a leading `cd` into its folder, or None if it has no such `cd`.

    Some agents add it to a command after they have asked the user about the command.
    """
    # In both spellings, a shell takes the name literally.
    for name in (shlex.quote(cwd), f"'{cwd}'" if "'" not in cwd else ""):
        before = f"cd {name} && "
        if name and line.startswith(before):
            return line.removeprefix(before)
    return None
