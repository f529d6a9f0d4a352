# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The turns of one session: one at a time, the others in a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import protocol
from ..rpc import RpcError
from ..rpc.errors import INTERNAL_ERROR

if TYPE_CHECKING:
    from .session import Session

T = TypeVar("T")
Turn = asyncio.Task[dict[str, Any]]


class Turns:
    """Runs prompts with the agent, in the order in which they came."""

    def __init__(self, session: Session, log: Any) -> None:
        self._session = session
        self._log = log
        self._one_at_a_time = asyncio.Lock()
        self._cancelled: dict[Turn, asyncio.Event] = {}
        self._running: Turn | None = None

    @property
    def any(self) -> bool:
        """Whether one is running or waiting to."""
        return bool(self._cancelled)

    def start(self, params: dict[str, Any], origin: str) -> Turn:
        """Run a prompt when those before it are done."""
        cancelled = asyncio.Event()
        turn = asyncio.get_running_loop().create_task(self._wait_and_run(params, origin, cancelled))
        self._cancelled[turn] = cancelled
        turn.add_done_callback(self._cancelled.pop)
        return turn

    def cancel(self, turn: Turn | None = None) -> bool:
        """Let one end, or all; return whether the agent has to be told."""
        for each, cancelled in self._cancelled.items():
            if turn is None or each is turn:
                cancelled.set()
        return turn is None or turn is self._running

    async def end(self, patience: float) -> None:
        """Wait for all to end, but not for ever."""
        if self._cancelled and patience:
            await asyncio.wait(self._cancelled, timeout=patience)
        for turn in list(self._cancelled):
            turn.cancel()

    async def _wait_and_run(
        self, params: dict[str, Any], origin: str, cancelled: asyncio.Event
    ) -> dict[str, Any]:
        async with self._one_at_a_time:
            if cancelled.is_set():
                return {"stopReason": "cancelled"}
            session = self._session
            self._running = asyncio.current_task()
            try:
                session.log_prompt(params["prompt"], origin)
                session.set_state("running")
                return await self._run(params, cancelled)
            except RpcError as error:
                if session.record.state == "running":
                    session.set_state("disconnected", error=error)
                raise
            except Exception as error:
                failure = RpcError(INTERNAL_ERROR, f"The turn failed: {error}")
                self._log.exception("A turn failed")
                session.set_state("idle", error=failure)
                raise failure from error
            finally:
                self._running = None
                session.turn_ended()

    async def _run(self, params: dict[str, Any], cancelled: asyncio.Event) -> dict[str, Any]:
        session = self._session
        link = await _unless(cancelled, session.connect())
        agent = await link.ready() if link is not None else None
        if agent is not None:
            await agent.connection.room()
        if agent is None or cancelled.is_set():
            session.set_state("idle", stop_reason="cancelled")
            return {"stopReason": "cancelled"}
        session.replaying = False

        def ended(result: Any) -> None:
            # In the order of arrival, so that the transcript ends where the turn ended.
            reason = result.get("stopReason") if isinstance(result, dict) else None
            session.set_state("idle", stop_reason=reason if isinstance(reason, str) else None)

        try:
            result = await session.ask_agent(agent, protocol.SESSION_PROMPT, params, ended)
        except RpcError as error:
            if session.record.state == "running":
                session.set_state("idle" if agent.alive else "disconnected", error=error)
            raise
        return result if isinstance(result, dict) else {}


async def _unless(cancelled: asyncio.Event, work: Awaitable[T]) -> T | None:
    """Wait for work, but not longer than the user does."""
    task = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for future in (task, waiting):
            if not future.done():
                future.cancel()
