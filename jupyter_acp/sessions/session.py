# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One session: its transcript, its turns, its questions, and the windows that watch it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import protocol
from ..history.numbered_log import Log
from ..history.record import SessionRecord, State, is_writable, now
from ..rpc import Logger, RpcError, invalid_params
from . import health, sandboxagent_extension
from .agent_links import Links
from .agent_session import AgentSession, closing
from .fallbacks import NoWay
from .metadata import merged
from .questions import Asker, Questions, cancelled
from .remote import noted_result
from .setup import Setup
from .tool_calls import ToolCalls
from .transcript import Transcript
from .turns import Turn, Turns


class Session:
    """A conversation that the server keeps independently of windows and agent processes."""

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
        """The modes, models, options and commands that the agent offers."""
        return self.transcript.setup

    @property
    def calls(self) -> ToolCalls:
        """The tool calls that the agent has in progress."""
        return self.transcript.calls

    @property
    def id(self) -> str:
        """Our id of the session, which differs from the agent's."""
        return self.record.id

    @property
    def agent(self) -> str:
        """The id of the session's agent."""
        return self.record.agent

    @property
    def ended(self) -> bool:
        """True if the session is closed or disconnected, or about to be."""
        return (
            self.transcript.is_closed
            or self._endings > 0
            or self.record.state in ("closed", "disconnected")
        )

    @property
    def cwd(self) -> str:
        """The working directory of the session."""
        return self.record.cwd

    @property
    def roots(self) -> list[str]:
        """The folders that the agent was given."""
        return [self.record.cwd, *self.record.additional_directories]

    @property
    def is_remote(self) -> bool:
        """True if the session is remote: its files are not on this server."""
        return self.record.remote is not None

    @property
    def pending(self) -> list[str]:
        """The ids of the open questions."""
        return self._questions.ids

    @property
    def is_busy(self) -> bool:
        """True if a turn, a connection attempt, a question or a window needs the session."""
        is_connecting = self.agent_session.is_connecting
        return self.running or is_connecting or bool(self.pending) or bool(self._windows)

    @property
    def queued(self) -> list[dict[str, Any]]:
        """The prompts that wait for earlier turns, for windows."""
        return [prompt.public() for prompt in self._turns.queued]

    @property
    def running(self) -> bool:
        """True if a turn runs or waits."""
        return self._turns.any

    @property
    def turns(self) -> int:
        """Number of turns requested since the server started."""
        return self._turns.asked_for

    @property
    def is_full(self) -> bool:
        """True if the agent's outbox is full, because the agent does not read."""
        agent = self.agent_session.agent
        return agent is not None and agent.connection.is_full

    async def room(self) -> None:
        """Wait until the agent's outbox has room."""
        if (agent := self.agent_session.agent) is not None:
            await agent.connection.room()

    def public(self) -> dict[str, Any]:
        """Return the description for windows and REST clients."""
        return {**self.record.public(), "seq": self.log.seq, "waiting": len(self.pending)}

    # Windows

    def attach(self, window: Asker) -> None:
        """Add a window and put all questions to it, open and later ones."""
        if window not in self._windows:
            self._windows.append(window)
        self._questions.repeat(window)

    def detach(self, window: Asker) -> None:
        """Remove a window; a running turn goes on."""
        if window in self._windows:
            self._windows.remove(window)
        self._questions.left(window)

    def tell_queue(self) -> None:
        """Send the queued prompts to every window."""
        for window in self._windows:
            window.tell_queue(self.id, self.queued)

    # Requests of users

    def prompt(self, params: dict[str, Any], origin: str) -> Turn:
        """Start a turn or queue it; it goes on if the window that sent it closes."""
        self.check_open()
        return self._turns.start(params, origin)

    def cancel(self, turn: Turn | None = None) -> None:
        """Cancel a turn; by default the running one and all queued ones."""
        if self._turns.cancel(turn):
            self.agent_session.cancel_turn()
            self._questions.cancel()

    async def reload(self) -> None:
        """Replace the transcript by the agent's replay."""
        self.check_open()
        async with self._turns.none():
            await self.agent_session.reload()

    async def begin(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Open the session with the agent; change nothing if it refuses."""
        result = await self.agent_session.open(method, body)
        self.record.created = self.record.updated = now()
        self.changed()
        return result

    def rename(self, title: str) -> None:
        """Set the title; windows receive the same update as for an agent's title."""
        self.transcript.update({"sessionUpdate": "session_info_update", "title": title})

    async def set_metadata(self, metadata: dict[str, Any]) -> None:
        """Change the metadata here and, if the agent is connected and supports it, at the agent."""
        agent_session = self.agent_session
        if agent_session.is_connected:
            # No agent is started for metadata.
            with contextlib.suppress(NoWay):
                # If the agent refuses, the error also prevents the change here.
                await agent_session.call_by("metadata", {"metadata": metadata})
            for what in sandboxagent_extension.HINTS:
                value = metadata.get(what)
                if isinstance(value, str) and agent_session.options.can_choose(what, value):
                    await agent_session.options.choose(what, value)
        self.apply_metadata(metadata)

    def apply_metadata(self, metadata: dict[str, Any]) -> None:
        """Merge metadata from the agent or a user."""
        together = merged(self.record.metadata, metadata)
        if together is None:
            self._logger.warning("Ignored metadata of %s: too much", self.agent)
            return
        self.record.metadata = together
        title = metadata.get("title")
        if isinstance(title, str) and title and title != self.record.title:
            self.rename(title)
        self.changed()

    # Requests of the agent

    async def ask(self, method: str, params: dict[str, Any], explained: dict[str, Any]) -> Any:
        """Put a question of the agent to the user; return the answer in the format of its method."""
        if not is_writable(params):
            raise invalid_params("The question is nested too deeply to be asked.")
        # Overwrite our entry in `_meta`: windows act on it, so an agent must not set it.
        meta = params.get("_meta")
        theirs = meta if isinstance(meta, dict) else {}
        params = {**params, "sessionId": self.id, "_meta": {**theirs, protocol.META: explained}}
        is_extension = method == protocol.EXT_QUESTION
        form = sandboxagent_extension.as_elicitation(params) if is_extension else params
        asked = protocol.ELICIT if is_extension else method
        try:
            answer = await self._put(asked, form, params if is_extension else None)
        except asyncio.CancelledError:
            # The agent has withdrawn the question.
            answer = cancelled(asked)
        return sandboxagent_extension.as_answer(params, answer) if is_extension else answer

    async def consult(self, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the user's permission for an action that the agent has not asked permission for."""
        method = protocol.REQUEST_PERMISSION
        try:
            answer = await self._put(method, {**params, "sessionId": self.id})
        except RpcError:
            # No window can show the question, so nobody has agreed.
            return cancelled(method)
        return answer if isinstance(answer, dict) else {}

    async def _put(
        self, method: str, params: dict[str, Any], original: dict[str, Any] | None = None
    ) -> Any:
        """Put a question to every window, and write the first answer into the transcript."""
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

    # The agent's life

    def connected(self) -> None:
        """Note that an agent knows the session again; a turn that restored it is still running."""
        state: State = "running" if self._turns.is_running else "idle"
        if self.record.state != state:
            self.set_state(state)

    def agent_lost(self, error: RpcError) -> None:
        """Note that the agent has ended; the next prompt starts it again."""
        self.agent_session.lose()
        self.calls.clear()
        self._questions.cancel()
        if self.record.state not in ("disconnected", "closed"):
            self.set_state("disconnected", error=error)

    def answered(self, result: Any) -> None:
        """Note the result in the answer to a prompt of a remote session."""
        if (found := noted_result(self, result)) is not None:
            self._on_result(self, found)

    def give_up(self) -> None:
        """End a turn that the agent does not end, and abandon the agent's session."""
        why = health.STUCK.format(name=self.agent_session.name)
        words = f"{why}: your next message goes to a new session with it."
        self.append(protocol.NOTICE, {"level": "warning", "message": words})
        self._questions.cancel()
        self.agent_session.abandon(health.Anew(why))
        self.set_state("idle", stop_reason="cancelled")

    # Closing

    def check_open(self) -> None:
        """Raise an error if the session is being closed or deleted."""
        if self.transcript.is_closed or self._endings:
            raise closing()

    @contextlib.contextmanager
    def ending(self) -> Iterator[None]:
        """Refuse new turns and connections inside the context, while the session is being ended."""
        self._endings += 1
        try:
            yield
        finally:
            self._endings -= 1

    async def close(self) -> None:
        """End all turns and close the session with the agent; keep the transcript."""
        with self.ending():
            self.cancel()
            self._questions.cancel()
            await self._turns.end(self.agent_session.patience)
            await self.agent_session.close()
            if self.record.state != "closed":
                self.set_state("closed")

    async def stop(self) -> None:
        """Cancel turns and connection attempts, because the server stops."""
        await self._turns.end(0)
        self.agent_session.stop()

    def forget(self) -> None:
        """Drop all later messages for this session."""
        self.transcript.is_closed = True
        for window in list(self._windows):
            window.forget(self.id)
        self._windows.clear()

    def remember(self) -> None:
        """Accept messages again, because the session could not be deleted."""
        self.transcript.is_closed = False
        self.changed()

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Add a message of our own to the transcript."""
        self.transcript.append(method, params)

    # State

    def set_state(
        self, state: State, *, stop_reason: str | None = None, error: RpcError | None = None
    ) -> None:
        """Change the state and report it to all windows."""
        record = self.record
        if "running" in (record.state, state):
            # In other changes of state no turn begins or ends, so the last outcome stays valid.
            record.stop_reason, record.failed = stop_reason, error is not None
            # Only turns count as activity, not the start or end of an agent.
            record.updated = now()
        record.state = state
        record.error = error.text if error is not None else None
        params: dict[str, Any] = {"state": state, "time": now()}
        if stop_reason is not None:
            params["stopReason"] = stop_reason
        if error is not None:
            data = error.data if isinstance(error.data, dict) else {}
            stderr = data.get("stderr")
            # The agent's own errors may contain any value here.
            lines = stderr if isinstance(stderr, list) else []
            lines = [line for line in lines if isinstance(line, str)]
            params["error"] = {"message": error.text, "stderr": lines}
        self.append(protocol.STATE, params)
        self.changed()

    def turn_ended(self) -> None:
        """Note the end of a turn."""
        self.calls.clear()
        if not self.transcript.is_closed:
            self._on_turn_end(self)

    def changed(self) -> None:
        """Save the record and report the change to all windows."""
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
