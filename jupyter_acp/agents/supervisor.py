# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Keeps one agent running: starts it at first use and again after a crash, but not for ever."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..rpc import RpcError
from ..rpc.errors import UNAVAILABLE

if TYPE_CHECKING:
    from .agent import Agent

RESPAWNS = 3
RESPAWN_WINDOW = 60.0


class Supervisor:
    """The one process of one agent, whoever asks for it."""

    def __init__(self, name: str, start: Callable[[], Awaitable[Agent]]) -> None:
        self._name = name
        self._start = start
        self._agent: Agent | None = None
        self._starting: asyncio.Task[Agent] | None = None
        self._stopping = asyncio.Lock()
        self._crashed: RpcError | None = None
        self._respawns: deque[float] = deque()

    @property
    def agent(self) -> Agent | None:
        """The agent if it runs now."""
        return self._agent if self._agent is not None and self._agent.alive else None

    async def ready(self) -> Agent:
        """Return the running agent; start it if need be."""
        if self._stopping.locked():
            # Else what is started now would be lost with what is being stopped.
            async with self._stopping:
                pass
        if self.agent is not None:
            return self.agent
        if self._starting is None:
            if self._crashed is not None:
                self._count_respawn(self._crashed)
            self._starting = asyncio.get_running_loop().create_task(self._launch())
        starting = self._starting
        # Several may wait for it; one that gives up must not take it from the others.
        await asyncio.wait({starting})
        if starting.cancelled():
            raise RpcError(UNAVAILABLE, f"{self._name} was stopped while it started.")
        return starting.result()

    def crashed(self, error: RpcError) -> None:
        """Remember that the agent ended on its own: the next start is a respawn."""
        self._crashed = error

    async def stop(self) -> None:
        """Stop the agent, also one that is still starting; the next use starts it again."""
        async with self._stopping:
            if self._starting is not None:
                self._starting.cancel()
                await asyncio.wait({self._starting})
            agent, self._agent = self._agent, None
            if agent is not None:
                if agent.alive:
                    self._crashed = None
                await agent.stop()

    async def _launch(self) -> Agent:
        try:
            if self._agent is not None:
                await self._agent.stop()
                self._agent = None
            self._agent = await self._start()
            return self._agent
        except RpcError as error:
            self._crashed = error
            raise
        finally:
            self._starting = None

    def _count_respawn(self, reason: RpcError) -> None:
        now = time.monotonic()
        while self._respawns and now - self._respawns[0] > RESPAWN_WINDOW:
            self._respawns.popleft()
        if len(self._respawns) >= RESPAWNS:
            wait = RESPAWN_WINDOW - (now - self._respawns[0])
            raise RpcError(
                UNAVAILABLE,
                f"{self._name} was started again {RESPAWNS} times within a minute and stays down. "
                f"Try again in {wait:.0f} s. The last failure: {reason.message}",
                reason.data,
            )
        self._respawns.append(now)
