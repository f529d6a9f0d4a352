# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The turns of one session: one runs at a time, the others wait in a queue."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from .. import protocol
from ..agents.agent import Agent
from ..history.numbered_log import Log
from ..history.record import SessionRecord, State
from ..rpc import Logger, RpcError
from ..rpc.errors import INTERNAL_ERROR, INVALID_REQUEST
from . import health
from .agent_session import AgentSession
from .prompt_context import context_for, with_context
from .retelling import with_past

T = TypeVar("T")
Turn = asyncio.Task[dict[str, Any]]

FORGOTTEN = ("cancelled", "refusal")
"""Stop reasons after which the agent may not remember the prompt."""

SHOWN = 4000
"""Maximum length of a queued prompt's text in windows, in characters."""


@dataclass(frozen=True, eq=False)
class Prompt:
    """A prompt of a user, and the window that it came from."""

    id: str
    params: dict[str, Any]
    origin: str
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    given_up: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, params: dict[str, Any], origin: str) -> Prompt:
        """Create a prompt, with the sender's `promptId` if there is one."""
        meta = params.get("_meta")
        ours = meta.get(protocol.META) if isinstance(meta, dict) else None
        id = ours.get("promptId") if isinstance(ours, dict) else None
        return cls(id if isinstance(id, str) and id else uuid.uuid4().hex, params, origin)

    def public(self) -> dict[str, Any]:
        """Return the description that windows show while the prompt waits."""
        texts = (
            block.get("text") for block in self.params["prompt"] if block.get("type") == "text"
        )
        text = "\n".join(text for text in texts if isinstance(text, str))
        return {"promptId": self.id, "text": text[:SHOWN]}


class TurnOwner(Protocol):
    """The part of a session that its turns use."""

    record: SessionRecord
    log: Log

    def set_state(
        self, state: State, *, stop_reason: str | None = None, error: RpcError | None = None
    ) -> None:
        """Change the state and report it to all windows."""

    def tell_queue(self) -> None:
        """Send the queued prompts to every window."""

    def answered(self, result: Any) -> None:
        """Handle the agent's answer to a prompt, in the order of arrival."""

    def give_up(self) -> None:
        """End a turn that the agent does not end."""

    def turn_ended(self) -> None:
        """Note that a turn has ended, with or without success."""


class Turns:
    """Runs prompts with the agent, in the order in which they came."""

    def __init__(self, session: TurnOwner, agent_session: AgentSession, log: Logger) -> None:
        self._session = session
        self._agent_session = agent_session
        self._log = log
        self._one_at_a_time = asyncio.Lock()
        self._prompts: dict[Turn, Prompt] = {}
        self._running: Turn | None = None
        self._waiting: set[Prompt] = set()
        self._health = health.Health()
        self._patience: asyncio.TimerHandle | None = None
        self.asked_for = 0
        """Number of turns so far, including those that wait."""

        self.queued: list[Prompt] = []
        """The prompts that wait for earlier turns, in order."""

    @property
    def any(self) -> bool:
        """True if a turn runs or waits."""
        return bool(self._prompts)

    @property
    def is_running(self) -> bool:
        """True if a turn runs."""
        return self._running is not None

    def start(self, params: dict[str, Any], origin: str) -> Turn:
        """Run a prompt after the turns before it."""
        prompt = Prompt.of(params, origin)
        self.asked_for += 1
        if self._prompts:
            self.queued.append(prompt)
            self._session.tell_queue()
            self._lose_patience()
        turn = asyncio.get_running_loop().create_task(self._wait_and_run(prompt))
        self._prompts[turn] = prompt
        turn.add_done_callback(self._ended)
        return turn

    @contextlib.asynccontextmanager
    async def none(self) -> AsyncIterator[None]:
        """Block new turns inside the context; raise an error if a turn runs or waits."""
        if self._prompts:
            raise RpcError(INVALID_REQUEST, "A turn is running. Try again when it has ended.")
        async with self._one_at_a_time:
            yield

    def cancel(self, turn: Turn | None = None) -> bool:
        """Cancel a turn, or all; return True if the agent has to be told."""
        if turn is None or turn is self._running:
            self._lose_patience()
        for each, prompt in self._prompts.items():
            if turn is None or each is turn:
                prompt.cancelled.set()
                self._leave_queue(prompt)
                if prompt in self._waiting:
                    # It need not wait for the running turn.
                    each.cancel()
        if self.queued:
            self._lose_patience()
        return turn is None or turn is self._running

    def _lose_patience(self) -> None:
        """Start the timeout of a running turn that was cancelled, because the next one waits."""
        prompt = self._prompts.get(self._running) if self._running is not None else None
        if prompt is not None and prompt.cancelled.is_set() and self._patience is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(health.PATIENCE, prompt.given_up.set)

    async def end(self, patience: float) -> None:
        """Wait for all turns to end, at most `patience` seconds, then cancel them."""
        if self._prompts and patience:
            await asyncio.wait(self._prompts, timeout=patience)
        for turn in list(self._prompts):
            turn.cancel()

    async def _wait_and_run(self, prompt: Prompt) -> dict[str, Any]:
        if not await self._is_its_turn(prompt):
            return {"stopReason": "cancelled"}
        session = self._session
        self._running = asyncio.current_task()
        began = session.log.seq
        try:
            mark = {"origin": prompt.origin, "promptId": prompt.id}
            self._agent_session.transcript.prompt(prompt.params["prompt"], mark)
            self._leave_queue(prompt)
            session.set_state("running")
            return await self._run(prompt, began)
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
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None
            self._one_at_a_time.release()
            session.turn_ended()

    async def _is_its_turn(self, prompt: Prompt) -> bool:
        """Wait for earlier turns; return True with the lock held, or False if it was cancelled."""
        if prompt.cancelled.is_set():
            return False
        self._waiting.add(prompt)
        try:
            await self._one_at_a_time.acquire()
        except asyncio.CancelledError:
            if prompt.cancelled.is_set():
                return False
            raise
        finally:
            self._waiting.discard(prompt)
        if prompt.cancelled.is_set():
            self._one_at_a_time.release()
            return False
        return True

    def _ended(self, turn: Turn) -> None:
        self._leave_queue(self._prompts.pop(turn))

    def _leave_queue(self, prompt: Prompt) -> None:
        if prompt in self.queued:
            self.queued.remove(prompt)
            self._session.tell_queue()

    async def _connect(self, cancelled: asyncio.Event) -> Agent | None:
        """Return the agent, or None if the prompt is cancelled before the agent is connected."""
        session = self._agent_session
        agent = await _unless(cancelled, session.connect())
        if agent is not None:
            unanswered = self._health.unanswered(agent, session.id)
            if unanswered is not None:
                self._health = health.Health()
                why = health.PUT_OFF.format(name=session.name)
                session.abandon(health.Anew(why, unanswered))
                agent = await _unless(cancelled, session.connect())
        return agent

    async def _run(self, prompt: Prompt, began: int) -> dict[str, Any]:
        session, agent_session = self._session, self._agent_session
        params, cancelled, record = prompt.params, prompt.cancelled, session.record
        agent = await self._connect(cancelled)
        content, block = params["prompt"], None
        if agent is not None:
            await agent.connection.room()
            block = await context_for(agent_session, params)
        if agent is None or cancelled.is_set():
            session.set_state("idle", stop_reason="cancelled")
            return {"stopReason": "cancelled"}
        if block is not None:
            content = with_context(agent_session.transcript, content, block)

        def ended(result: Any) -> None:
            # The agent has the retelling now. `set_state` saves this.
            record.retold = ""
            session.answered(result)
            # This runs in the order of arrival, so the transcript of the turn ends here.
            reason = result.get("stopReason") if isinstance(result, dict) else None
            if block is not None and not cancelled.is_set() and reason not in FORGOTTEN:
                agent_session.told.note(block)
            if not cancelled.is_set():
                said = session.log.recent(asked, None, health.MOST_BYTES)
                self._health.ended(agent, theirs, reason, began, said[0] if said else b"")
            session.set_state("idle", stop_reason=reason if isinstance(reason, str) else None)

        if past := record.retold:
            can = agent_session.transcript.setup.known.get("promptCapabilities")
            content = with_past(content, past, can)
        params = {**params, "prompt": content}
        theirs, asked = agent_session.id, session.log.seq
        try:
            asking = agent_session.request(agent, protocol.SESSION_PROMPT, params, ended)
            result = await _unless(prompt.given_up, asking)
        except RpcError as error:
            self._health = health.Health()
            if record.state == "running":
                session.set_state("idle" if agent.alive else "disconnected", error=error)
            raise
        finally:
            if cancelled.is_set():
                self._health.cancelled(agent, theirs)
        if prompt.given_up.is_set() and record.state == "running":
            session.give_up()
            return {"stopReason": "cancelled"}
        return result if isinstance(result, dict) else {}


async def _unless(cancelled: asyncio.Event, work: Awaitable[T]) -> T | None:
    """Return the result of work, or None if `cancelled` is set first."""
    task = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for future in (task, waiting):
            if not future.done():
                future.cancel()
