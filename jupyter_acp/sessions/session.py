# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One session: its transcript, its turns, its questions, and the windows that watch it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import protocol
from ..history.log import Log
from ..history.record import SessionRecord, State, is_writable, now
from ..rpc import Logger, RpcError, invalid_params
from . import health, sandboxagent
from .agent_session import AgentSession, closing
from .fallbacks import NoWay
from .links import Links
from .metadata import merged
from .questions import Asker, Questions, cancelled
from .remote import noted_result
from .setup import Setup
from .tool_calls import ToolCalls
from .transcript import Transcript
from .turns import Turn, Turns


class Session:
    """A conversation that belongs to the server: windows and agents come and go."""

    def __init__(
        self,
        record: SessionRecord,
        log: Log,
        links: Links,
        *,
        on_change: Callable[[Session], None],
        on_turn_end: Callable[[Session], None],
        on_result: Callable[[Session, dict[str, Any]], None],
        extra_patience: float,
        logger: Logger,
    ) -> None:
        self.record = record
        self.log = log
        self.transcript = Transcript(record, log, self.changed, logger)
        self.take = self.transcript.take
        self.agent_session = AgentSession(
            self, self.transcript, links, extra_patience=extra_patience, logger=logger
        )
        self._turns = Turns(self, self.agent_session, logger)
        self._questions = Questions(lambda: self._windows, logger)
        self._windows: list[Asker] = []
        self._endings = 0
        self._described = self._description()
        self._on_change = on_change
        self._on_turn_end = on_turn_end
        self._on_result = on_result
        self._logger = logger

    @property
    def setup(self) -> Setup:
        """What the agent offers in it."""
        return self.transcript.setup

    @property
    def calls(self) -> ToolCalls:
        """The tool calls that its agent has in progress."""
        return self.transcript.calls

    @property
    def id(self) -> str:
        """Our id, which is not the agent's."""
        return self.record.id

    @property
    def agent(self) -> str:
        """The id of the agent that it is with."""
        return self.record.agent

    @property
    def ended(self) -> bool:
        """Whether no agent works in it: it is over, or its agent is gone."""
        return (
            self.transcript.is_closed
            or self._endings > 0
            or self.record.state in ("closed", "disconnected")
        )

    @property
    def cwd(self) -> str:
        """The folder that the session is about."""
        return self.record.cwd

    @property
    def roots(self) -> list[str]:
        """The folders that the agent was given."""
        return [self.record.cwd, *self.record.additional_directories]

    @property
    def is_remote(self) -> bool:
        """Whether its files are not here."""
        return self.record.remote is not None

    @property
    def pending(self) -> list[str]:
        """The ids of the questions that wait for the user."""
        return self._questions.ids

    @property
    def is_busy(self) -> bool:
        """Whether something happens in it, or somebody looks at it."""
        is_connecting = self.agent_session.is_connecting
        return self.running or is_connecting or bool(self.pending) or bool(self._windows)

    @property
    def queued(self) -> list[dict[str, Any]]:
        """What users have sent and the agent has not been told yet."""
        return [prompt.public() for prompt in self._turns.queued]

    @property
    def running(self) -> bool:
        """Whether a turn is running or waiting to."""
        return self._turns.any

    @property
    def turns(self) -> int:
        """How many turns have been asked for in this run."""
        return self._turns.asked_for

    @property
    def is_full(self) -> bool:
        """Whether the agent has left many answers unread."""
        agent = self.agent_session.agent
        return agent is not None and agent.connection.is_full

    async def room(self) -> None:
        """Wait until the agent has read them."""
        if (agent := self.agent_session.agent) is not None:
            await agent.connection.room()

    def public(self) -> dict[str, Any]:
        """Return what a window or a REST client may see."""
        return {**self.record.public(), "seq": self.log.seq, "waiting": len(self.pending)}

    # Windows

    def attach(self, window: Asker) -> None:
        """Put the open questions to a window, now and later."""
        if window not in self._windows:
            self._windows.append(window)
        self._questions.repeat(window)

    def detach(self, window: Asker) -> None:
        """Forget a window; the turn goes on."""
        if window in self._windows:
            self._windows.remove(window)
        self._questions.left(window)

    def tell_queue(self) -> None:
        """Tell every window what waits for the turns before it."""
        for window in self._windows:
            window.tell_queue(self.id, self.queued)

    # What users ask for

    def prompt(self, params: dict[str, Any], origin: str) -> Turn:
        """Start a turn, or queue it behind the running one; it belongs to nobody but the session."""
        self.check_open()
        return self._turns.start(params, origin)

    def cancel(self, turn: Turn | None = None) -> None:
        """End a turn; without a name, the running one and those queued behind it."""
        if self._turns.cancel(turn):
            self.agent_session.cancel_turn()
            self._questions.cancel()

    async def reload(self) -> None:
        """Replace the transcript by what the agent tells of the session."""
        self.check_open()
        async with self._turns.none():
            await self.agent_session.reload()

    async def begin(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Open the session with the agent; nothing is left behind if it refuses."""
        result = await self.agent_session.open(method, body)
        self.record.created = self.record.updated = now()
        self.changed()
        return result

    def rename(self, title: str) -> None:
        """Give the session a title; windows learn of it as of an agent's."""
        self.transcript.update({"sessionUpdate": "session_info_update", "title": title})

    async def set_metadata(self, metadata: dict[str, Any]) -> None:
        """Change what is known of the session, here and, if it wants to know, at the agent."""
        agent_session = self.agent_session
        if agent_session.is_connected:
            # Nobody is started for it, least of all in a session that is closed.
            with contextlib.suppress(NoWay):
                # Refused: then nothing of it is true here, either.
                await agent_session.call_by("metadata", {"metadata": metadata})
            for what in sandboxagent.HINTS:
                value = metadata.get(what)
                if isinstance(value, str) and agent_session.options.can_choose(what, value):
                    await agent_session.options.choose(what, value)
        self.apply_metadata(metadata)

    def apply_metadata(self, metadata: dict[str, Any]) -> None:
        """Take over what the agent, or a user, says of the session."""
        together = merged(self.record.metadata, metadata)
        if together is None:
            self._logger.warning("Ignored metadata of %s: too much", self.agent)
            return
        self.record.metadata = together
        title = metadata.get("title")
        if isinstance(title, str) and title and title != self.record.title:
            self.rename(title)
        self.changed()

    # What the agent asks for

    async def ask(self, method: str, params: dict[str, Any], explained: dict[str, Any]) -> Any:
        """Put a question of the agent to the user, and return the answer in its own words."""
        if not is_writable(params):
            raise invalid_params("The question is nested too deeply to be asked.")
        # What we have to say of it is not for the agent to say: windows act on it.
        meta = params.get("_meta")
        theirs = meta if isinstance(meta, dict) else {}
        params = {**params, "sessionId": self.id, "_meta": {**theirs, protocol.META: explained}}
        is_extension = method == protocol.EXT_QUESTION
        form = sandboxagent.as_elicitation(params) if is_extension else params
        asked = protocol.ELICIT if is_extension else method
        try:
            answer = await self._put(asked, form, params if is_extension else None)
        except asyncio.CancelledError:
            # The agent does not want to know any more.
            answer = cancelled(asked)
        return sandboxagent.as_answer(params, answer) if is_extension else answer

    async def consult(self, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for something that the agent wants to do without having asked."""
        method = protocol.REQUEST_PERMISSION
        try:
            answer = await self._put(method, {**params, "sessionId": self.id})
        except RpcError:
            # No window can ask: nobody has said yes.
            return cancelled(method)
        return answer if isinstance(answer, dict) else {}

    async def _put(
        self, method: str, params: dict[str, Any], original: dict[str, Any] | None = None
    ) -> Any:
        """Ask every window, and write the first answer down."""
        question = self._questions.put(method, params, original)
        self.changed()
        answer = cancelled(method)
        try:
            answer = await question.future
        except asyncio.CancelledError:
            self._questions.withdraw(question)
            raise
        finally:
            request = {"method": question.method, "params": question.params}
            outcome = answer.get("outcome", answer)
            told = {"requestId": question.id, "outcome": outcome, "request": request}
            self.append(protocol.RESOLVED, told)
            self.changed()
        return answer

    # What becomes of the agent

    def connected(self) -> None:
        """Take note that an agent knows the session again; a turn may be what it is restored for."""
        state: State = "running" if self._turns.is_running else "idle"
        if self.record.state != state:
            self.set_state(state)

    def agent_lost(self, error: RpcError) -> None:
        """Keep the transcript and say what happened; the next prompt brings the agent back."""
        self.agent_session.lose()
        self.calls.clear()
        self._questions.cancel()
        if self.record.state not in ("disconnected", "closed"):
            self.set_state("disconnected", error=error)

    def answered(self, result: Any) -> None:
        """Take the agent's answer to a prompt: a remote one brings something back."""
        if (found := noted_result(self, result)) is not None:
            self._on_result(self, found)

    def give_up(self) -> None:
        """End a turn that the agent does not end, and leave its session."""
        why = health.STUCK.format(name=self.agent_session.name)
        words = f"{why}: your next message goes to a new session with it."
        self.append(protocol.NOTICE, {"level": "warning", "message": words})
        self._questions.cancel()
        self.agent_session.abandon(health.Anew(why))
        self.set_state("idle", stop_reason="cancelled")

    # The end

    def check_open(self) -> None:
        """Refuse what would bring a session back to life that is being closed or deleted."""
        if self.transcript.is_closed or self._endings:
            raise closing()

    @contextlib.contextmanager
    def ending(self) -> Iterator[None]:
        """Let nothing begin meanwhile: it would go on when the session has ended."""
        self._endings += 1
        try:
            yield
        finally:
            self._endings -= 1

    async def close(self) -> None:
        """End the turn and let the agent forget the session; the transcript stays."""
        with self.ending():
            self.cancel()
            self._questions.cancel()
            await self._turns.end(self.agent_session.patience)
            await self.agent_session.close()
            if self.record.state != "closed":
                self.set_state("closed")

    async def stop(self) -> None:
        """End what runs, because everything ends."""
        await self._turns.end(0)
        self.agent_session.stop()

    def forget(self) -> None:
        """Drop all later messages for this session."""
        self.transcript.is_closed = True
        for window in list(self._windows):
            window.forget(self.id)
        self._windows.clear()

    def remember(self) -> None:
        """Take messages again: the session could not be deleted."""
        self.transcript.is_closed = False
        self.changed()

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Add a message of our own to the transcript."""
        self.transcript.append(method, params)

    # State

    def set_state(
        self, state: State, *, stop_reason: str | None = None, error: RpcError | None = None
    ) -> None:
        """Be in another state, and say so to everybody."""
        record = self.record
        if "running" in (record.state, state):
            # Else no turn began or ended: how the last one ended is still true.
            record.stop_reason, record.failed = stop_reason, error is not None
            # Agents come and go; a session is as old as the last thing that was done in it.
            record.updated = now()
        record.state = state
        record.error = error.text if error is not None else None
        params: dict[str, Any] = {"state": state, "time": now()}
        if stop_reason is not None:
            params["stopReason"] = stop_reason
        if error is not None:
            data = error.data if isinstance(error.data, dict) else {}
            stderr = data.get("stderr")
            # An agent's own errors may have anything in that place.
            lines = stderr if isinstance(stderr, list) else []
            lines = [line for line in lines if isinstance(line, str)]
            params["error"] = {"message": error.text, "stderr": lines}
        self.append(protocol.STATE, params)
        self.changed()

    def turn_ended(self) -> None:
        """Take note that the agent has nothing to do any more, or goes on with the next turn."""
        self.calls.clear()
        if not self.transcript.is_closed:
            self._on_turn_end(self)

    def changed(self) -> None:
        """Save what is known of it, and tell those who show it in a list."""
        if self.transcript.is_closed:
            return
        self._on_change(self)
        described = self._description()
        if described != self._described:
            self._described = described
            for window in self._windows:
                window.tell_metadata(self.id, described)

    def _description(self) -> dict[str, Any]:
        title = {"title": self.record.title} if self.record.title else {}
        return {**self.record.metadata, **title}
