# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The wrapped agent: started on demand, with session ids translated for the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ...agents.agent import Agent
from ...rpc import Connection, Peer, Request, RpcError, method_not_found
from ...rpc.connection import CANCEL
from ..capabilities import without_files

_FILES = ("fs/", "terminal/", "workspace/")
"""Prefixes of methods for the client's own files, which the agent is not offered."""

StartAgent = Callable[["Wrapped"], Awaitable[Agent]]


class Front(Protocol):
    """The runner as the wrapped agent uses it."""

    @property
    def connection(self) -> Connection:
        """The connection to the client."""

    @property
    def client(self) -> dict[str, Any]:
        """The client's info and capabilities."""


class Wrapped(Peer):
    """A process of the agent, for remote sessions or for all others; relays its messages."""

    def __init__(self, runner: Front, start: StartAgent, *, is_remote: bool) -> None:
        self._runner = runner
        self._start = start
        self.is_remote = is_remote
        self._agent: Agent | None = None
        self._starting: asyncio.Task[Agent] | None = None
        self._ours: dict[str, str] = {}
        self._theirs: dict[str, str] = {}

    @property
    def is_there(self) -> bool:
        """True if the agent runs."""
        return self._agent is not None

    async def ready(self) -> Agent:
        """Return the running agent; start it if necessary."""
        if self._agent is None:
            if self._starting is None:
                self._starting = asyncio.get_running_loop().create_task(self._launch())
            starting = self._starting
            # Several callers may wait: cancelling one must not cancel the start.
            await asyncio.wait({starting})
            return starting.result()
        return self._agent

    async def _launch(self) -> Agent:
        try:
            agent = await self._start(self)
            client = self._runner.client
            capabilities = client["capabilities"]
            if self.is_remote:
                capabilities = without_files(capabilities)
            await agent.start(client["info"], capabilities)
            self._agent = agent
            return agent
        finally:
            self._starting = None

    async def stop(self) -> None:
        """Stop the agent."""
        if self._agent is not None:
            await self._agent.stop()

    def join(self, theirs: str, ours: str) -> None:
        """Remember the ids of a session on both sides."""
        self._ours[theirs], self._theirs[ours] = ours, theirs

    def leave(self, ours: str) -> None:
        """Forget the ids of a session."""
        self._ours.pop(self._theirs.pop(ours, ""), None)

    def theirs(self, ours: str) -> str:
        """Return the agent's id for a session."""
        return self._theirs[ours]

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification to the agent if it runs."""
        if self._agent is not None:
            self._agent.connection.notify(method, params)

    # Messages from the agent

    def on_request(self, request: Request) -> None:
        """Pass on a request to the client; refuse access to its files in remote sessions."""
        if self.is_remote and request.method.startswith(_FILES):
            raise method_not_found(request.method)
        client = self._runner.connection

        def answered(result: Any, error: RpcError | None) -> None:
            if error is not None:
                request.fail(error)
            else:
                request.respond(result)

        id = client.call(request.method, self._renamed(request.params), answered)
        request.on_cancel = lambda: client.notify(CANCEL, {"requestId": id})

    def on_notification(self, method: str, params: Any) -> None:
        """Pass on a notification to the client."""
        self._runner.connection.notify(method, self._renamed(params))

    def _renamed(self, params: Any) -> Any:
        if not self.is_remote or not isinstance(params, dict):
            return params
        session = params.get("sessionId")
        ours = self._ours.get(session) if isinstance(session, str) else None
        return params if ours is None else {**params, "sessionId": ours}


def name_of(agent: Agent) -> str:
    """Return the agent's name for users."""
    names = [agent.info.get("title"), agent.info.get("name"), agent.spec.name]
    return next(name for name in names if isinstance(name, str) and name)


def can(agent: Agent, name: str) -> bool:
    """Return True if the agent has a session capability."""
    sessions = agent.capabilities.get("sessionCapabilities")
    return isinstance(sessions, dict) and sessions.get(name) not in (None, False)
