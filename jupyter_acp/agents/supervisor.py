# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Supervision of one agent: start at first use, and a limited number of restarts after crashes."""

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
    """Starts, restarts and stops the single run of one agent."""

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
        """The agent if it runs, else None."""
        return self._agent if self._agent is not None and self._agent.alive else None

    async def ready(self) -> Agent:
        """Return the running agent; start it if necessary."""
        if self._stopping.locked():
            # Wait, because `stop` would also end an agent that is started now.
            async with self._stopping:
                pass
        if self.agent is not None:
            return self.agent
        if self._starting is None:
            if self._crashed is not None:
                self._count_respawn(self._crashed)
            self._starting = asyncio.get_running_loop().create_task(self._launch())
        starting = self._starting
        # A cancelled caller must not cancel the start, which other callers wait for, too.
        await asyncio.wait({starting})
        if starting.cancelled():
            raise RpcError(UNAVAILABLE, f"{self._name} was stopped while it started.")
        return starting.result()

    def crashed(self, error: RpcError) -> None:
        """Note that the agent ended by itself, so that the next start counts as a respawn."""
        self._crashed = error

    async def stop(self) -> None:
        """Stop the agent, even while it starts; the next use starts it again."""
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
