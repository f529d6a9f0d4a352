# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A driver of the built-in agent: the agent as a process, and this test as its client."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_acp.rpc import Connection, Peer, Request, RpcError, method_not_found
from jupyter_acp.rpc.stdio import StdioTransport

ARGV = [sys.executable, "-m", "jupyter_acp.builtin"]


EVERYTHING: dict[str, Any] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
    "session": {"configOptions": {"boolean": {}}},
    "workspace": {"openDocuments": {}, "recentDocuments": {}, "activeDocument": {}},
}


def environment(state: Path) -> dict[str, str]:
    """Return the environment of an agent that keeps its sessions in a folder of the test."""
    return {**os.environ, "JUPYTER_ACP_BUILTIN_STATE": str(state)}


class Driver(Peer):
    """A client: it collects updates, serves files and terminals, and answers as it is told."""

    def __init__(
        self, process: asyncio.subprocess.Process, wire: StdioTransport, folder: Path
    ) -> None:
        self.process = process
        self.wire = wire
        self.folder = folder
        self.updates: list[dict[str, Any]] = []
        self.asked: list[Request] = []
        self.cancelled: list[Any] = []
        self.permission: str | None = "allow_once"
        self.workspace: dict[str, Any] = {}
        self.form: dict[str, Any] = {"action": "accept", "content": {}}
        self.session = ""
        self._arrived = asyncio.Event()
        self._terminals: dict[str, asyncio.subprocess.Process] = {}
        self.released: list[str] = []
        self.connection = Connection(wire, self, name="agent")

    def on_request(self, request: Request) -> None:
        """Serve what the agent asks."""
        self.asked.append(request)
        self._arrived.set()
        request.on_cancel = lambda: self._cancel(request)
        method, params = request.method, request.params
        if method == "session/request_permission":
            if self.permission is not None:
                request.respond({"outcome": self._outcome(params["options"])})
        elif method == "fs/read_text_file":
            try:
                request.respond({"content": Path(params["path"]).read_bytes().decode()})
            except OSError as error:
                raise RpcError(-32002, f"no such file: {error}") from None
        elif method == "fs/write_text_file":
            Path(params["path"]).write_bytes(params["content"].encode())
            request.respond({})
        elif method.startswith("terminal/"):
            asyncio.get_running_loop().create_task(self._terminal(request))
        elif method in self.workspace:
            request.respond(self.workspace[method])
        elif method == "elicitation/create":
            request.respond(self.form)
        else:
            raise method_not_found(method)

    def on_notification(self, method: str, params: Any) -> None:
        """Collect updates."""
        assert method == "session/update"
        self.updates.append({"session": params["sessionId"], **params["update"]})
        self._arrived.set()

    async def start(
        self, capabilities: dict[str, Any] | None = None, cwd: Path | None = None
    ) -> dict[str, Any]:
        """Initialise, make a session and return the answer to that."""
        await self.initialize(capabilities)
        made = await self.call("session/new", cwd=str(cwd or self.folder), mcpServers=[])
        self.session = made["sessionId"]
        return dict(made)

    async def initialize(self, capabilities: dict[str, Any] | None = None) -> Any:
        """Say what this client can do: everything, unless told otherwise."""
        return await self.call(
            "initialize",
            protocolVersion=1,
            clientCapabilities=EVERYTHING if capabilities is None else capabilities,
        )

    async def call(self, method: str, **params: Any) -> Any:
        """Send a request and return the result."""
        return await self.connection.request(method, params)

    async def refused(self, method: str, **params: Any) -> RpcError:
        """Send a request that must fail and return the error."""
        with pytest.raises(RpcError) as caught:
            await self.call(method, **params)
        return caught.value

    async def prompt(self, text: str, *blocks: dict[str, Any], session: str | None = None) -> str:
        """Send a prompt and return what was said in answer to it."""
        before = len(self.updates)
        await self.ask(text, *blocks, session=session)
        return self.said(before)

    async def ask(self, text: str, *blocks: dict[str, Any], session: str | None = None) -> str:
        """Send a prompt and return why the turn ended."""
        prompt = [*blocks, {"type": "text", "text": text}]
        id = session or self.session
        result = await self.call("session/prompt", sessionId=id, prompt=prompt)
        return str(result["stopReason"])

    def said(self, since: int = 0, session: str | None = None) -> str:
        """Return the text of the answers from an update on."""
        return "".join(
            update["content"].get("text", "")
            for update in self.updates[since:]
            if update["sessionUpdate"] == "agent_message_chunk"
            and update["session"] == (session or update["session"])
        )

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the updates of one kind."""
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def tool(self) -> dict[str, Any]:
        """Return the last tool call, its updates merged."""
        state: dict[str, Any] = {}
        for update in self.updates:
            if update["sessionUpdate"] == "tool_call":
                state = dict(update)
            elif update["sessionUpdate"] == "tool_call_update":
                assert update["toolCallId"] == state["toolCallId"]
                state.update(update)
        return state

    def methods(self) -> list[str]:
        """Return what the agent asked for."""
        return [request.method for request in self.asked]

    async def until(self, condition: Any) -> None:
        """Wait until something that the agent sends makes the condition true."""
        while not condition():
            self._arrived.clear()
            await asyncio.wait_for(self._arrived.wait(), 20)

    def _cancel(self, request: Request) -> None:
        self.cancelled.append(request.id)
        request.on_cancel = None
        request.cancel()

    def _outcome(self, options: list[dict[str, Any]]) -> dict[str, Any]:
        if self.permission == "cancelled":
            return {"outcome": "cancelled"}
        [option] = [option for option in options if option["kind"] == self.permission]
        return {"outcome": "selected", "optionId": option["optionId"]}

    async def _terminal(self, request: Request) -> None:
        params = request.params
        if request.method == "terminal/create":
            process = await asyncio.create_subprocess_exec(
                params["command"],
                *params["args"],
                cwd=params["cwd"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._terminals[str(process.pid)] = process
            request.respond({"terminalId": str(process.pid)})
            return
        process = self._terminals[params["terminalId"]]
        if request.method == "terminal/wait_for_exit":
            request.respond({"exitCode": await process.wait(), "signal": None})
        elif request.method == "terminal/output":
            assert process.stdout is not None
            output = (await process.stdout.read()).decode()
            request.respond({"output": output, "truncated": False})
        elif request.method == "terminal/kill":
            os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()
            request.respond({})
        else:
            self.released.append(params["terminalId"])
            self._arrived.set()
            request.respond({})


@asynccontextmanager
async def driven(state: Path, folder: Path) -> AsyncIterator[Driver]:
    """Run the agent for the length of a block; it must then end by itself."""
    its_input, our_output = os.pipe()
    our_input, its_output = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *ARGV, stdin=its_input, stdout=its_output, stderr=subprocess.PIPE, env=environment(state)
    )
    os.close(its_input)
    os.close(its_output)
    wire = await StdioTransport.over(os.fdopen(our_input, "rb"), os.fdopen(our_output, "wb"))
    driver = Driver(process, wire, folder)
    running = asyncio.get_running_loop().create_task(driver.connection.run())
    try:
        yield driver
        await wire.close()
        await asyncio.wait_for(process.wait(), 20)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        running.cancel()
        driver.connection.end(RpcError(-32000, "the test is over"))


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Return where the agent keeps its sessions, and the folder that they are about."""
    work = tmp_path / "work"
    work.mkdir()
    return tmp_path / "state", work


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def drives(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test in a loop of its own, with the `agent`, `state` and `folder` it wants."""
    wanted = list(inspect.signature(test).parameters)

    async def run(given: dict[str, Any], state: Path, folder: Path) -> None:
        given = {name: value for name, value in given.items() if name in wanted}
        if "agent" not in wanted:
            await test(**given)
            return
        async with driven(state, folder) as agent:
            await test(agent=agent, **given)
        assert agent.process.returncode == 0

    def runner(tmp_path: Path, **given: Any) -> None:
        state, folder = folders(tmp_path)
        given.update(tmp_path=tmp_path, state=state, folder=folder)
        asyncio.run(run(given, state, folder))

    ours = {"agent", "state", "folder", "tmp_path"}
    names = ["tmp_path", *(name for name in wanted if name not in ours)]
    runner.__name__, runner.__doc__, runner.__module__ = (
        test.__name__,
        test.__doc__,
        test.__module__,
    )
    runner.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    )
    return runner
