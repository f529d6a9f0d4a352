# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One session: its transcript, its turn, and the agent's session behind it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any

from .. import protocol
from ..agents.authentication import explained
from ..context.block import Block, Told
from ..rpc import Request, RpcError, invalid_params
from ..rpc.errors import INVALID_REQUEST, UNAVAILABLE
from . import broken, sandbox
from .calls import Calls
from .choices import Call
from .log import Log
from .questions import Asker, Question, Questions, cancelled
from .record import SessionRecord, State, now
from .restore import reload, restore
from .setup import Setup, is_writable
from .transcript import Transcript
from .turns import Turn, Turns
from .ways import NoWay, by_any_way, ways

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from .link import AgentLink

AGENT_PATIENCE = 5.0
"""How long an agent may take to end a turn or a session, in seconds, before we go on without it."""


class Session:
    """A conversation that belongs to the server: windows and agents come and go."""

    def __init__(
        self,
        record: SessionRecord,
        log: Log,
        link: Callable[[], AgentLink],
        on_change: Callable[[Session], None],
        on_turn_end: Callable[[Session], None],
        logger: Any,
    ) -> None:
        self.record = record
        self._described = self._description()
        self.log = log
        self.transcript = Transcript(record, log, self.changed, logger)
        self.take = self.transcript.take
        self._get_link = link
        self._on_change = on_change
        self._on_turn_end = on_turn_end
        self.logger = logger
        self._link: AgentLink | None = None
        self._lost = False
        self._is_terminated = False
        self._windows: list[Asker] = []
        self._questions = Questions(lambda: self._windows, self._resolved, logger)
        self._turns = Turns(self, logger)
        self.told = Told()
        """What the agent knows of what the user has open."""

        self._connecting: asyncio.Task[AgentLink] | None = None
        self._restoring: AgentLink | None = None
        self._endings = 0
        self.extra_patience = 0.0
        """How much longer than others its agent may take to open it, in seconds."""

        self.on_result: Callable[[dict[str, Any]], None] | None = None
        """Told what has come back of a session whose files are not here."""

        self.anew: broken.Anew | None = None
        """Why it has to go on in a new session of its agent, if it has."""

        self._closing: set[asyncio.Task[None]] = set()
        self.is_foreign = False
        """Whether only its agent knows what it is: without it, there is nothing to go on from."""

    @property
    def setup(self) -> Setup:
        """What the agent offers in it."""
        return self.transcript.setup

    @property
    def calls(self) -> Calls:
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
        is_connecting = self._connecting is not None
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
    def is_connected(self) -> bool:
        """Whether an agent that runs knows the session."""
        return self._link is not None and self._link.running

    @property
    def was_connected(self) -> bool:
        """Whether an agent of this run knows or knew the session."""
        return self._link is not None or self._lost

    @property
    def is_full(self) -> bool:
        """Whether the agent has left many answers unread."""
        agent = self._link.agent if self._link is not None else None
        return agent is not None and agent.connection.is_full

    async def room(self) -> None:
        """Wait until the agent has read them."""
        if self._link is not None and (agent := self._link.agent) is not None:
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

    # The agent's side

    async def editor_context(self, memory: Hashable) -> Block | None:
        """Return what the agent does not know yet of what the user has open, if anything."""
        return await self._get_link().context(self, self.told, memory)

    def ask(self, request: Request, explained: dict[str, Any]) -> asyncio.Future[Any]:
        """Put a request of the agent to the user; a cancel request takes it back."""
        if not is_writable(request.params):
            raise invalid_params("The question is nested too deeply to be asked.")
        method, params = request.method, {**request.params, "sessionId": self.id}
        # What we have to say of it is not for the agent to say: windows act on it.
        meta = params.get("_meta")
        theirs = meta if isinstance(meta, dict) else {}
        params["_meta"] = {**theirs, protocol.META: explained}
        original = params if method == protocol.EXT_QUESTION else None
        if original is not None:
            method, params = protocol.ELICIT, sandbox.as_elicitation(original)
        question = self._questions.put(method, params, original)
        answer: asyncio.Future[Any] = question.future
        if request.method == protocol.EXT_QUESTION:
            answer = asyncio.ensure_future(sandbox.answered(request.params, question.future))
        request.follow(answer, lambda: self._questions.withdraw(question))
        self.changed()
        return question.future

    async def consult(self, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for something that the agent wants to do without having asked."""
        question = self._questions.put(
            protocol.REQUEST_PERMISSION, {**params, "sessionId": self.id}
        )
        self.changed()
        try:
            answer = await question.future
        except asyncio.CancelledError:
            self._questions.withdraw(question)
            raise
        except RpcError:
            # No window can ask: nobody has said yes.
            return cancelled(protocol.REQUEST_PERMISSION)
        return answer if isinstance(answer, dict) else {}

    def agent_lost(self, error: RpcError) -> None:
        """Keep the transcript and say what happened; the next prompt brings the agent back."""
        self._link = None
        self._lost = True
        self.calls.clear()
        self._questions.cancel()
        if self.record.state not in ("disconnected", "closed"):
            self.set_state("disconnected", error=error)

    # What windows ask for

    async def agent_for_new(self) -> Agent:
        """Return the agent that it will be with, started if need be."""
        return await self._get_link().ready()

    async def begin(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Open the session with the agent; nothing is left behind if it refuses."""
        link = self._get_link()
        result = await self.open_with_agent(link, await link.ready(), method, body)
        self.record.created = self.record.updated = now()
        self.changed()
        return result

    async def open_with_agent(
        self, link: AgentLink, agent: Agent, method: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        """Send `session/new`, `fork`, `load` or `resume`; join the link in the order of arrival."""

        def join(result: Any) -> None:
            result = result if isinstance(result, dict) else {}
            # What is forked keeps its id: the new one needs one of its own.
            is_fork = method in (protocol.SESSION_FORK, protocol.EXT_FORK)
            known = None if is_fork else params.get("sessionId")
            agent_session = result.get("sessionId", known)
            if not isinstance(agent_session, str):
                raise RpcError(UNAVAILABLE, f"{link.name} answered {method} without an id.")
            # First of all: what another session has is refused.
            link.join(agent_session, self)
            self.record.agent_session = agent_session
            self._link = link
            self._lost = self._is_terminated = False
            self.record.can_fork = bool(ways(agent, "fork"))
            self.record.can_reload = protocol.SESSION_LOAD in ways(agent, "load")
            self.setup.began(result)
            self.setup.keep("promptCapabilities", agent.capabilities.get("promptCapabilities"))

        # On the wire only: the secrets of servers and what opens the way to our tools are written
        # down nowhere.
        configured = await link.configured_servers(self, agent, params["mcpServers"])
        params = {**params, "mcpServers": [*params["mcpServers"], *configured.entries]}
        if agent.spec.takes_tools and not self.is_remote:
            servers = await link.mcp_servers(self, params["mcpServers"], agent)
            params = {**params, "mcpServers": servers}
        try:
            result = await agent.request(method, params, note=join, extra=self.extra_patience)
        except RpcError as error:
            raise explained(error, agent) from None
        self._tell_servers(configured.told)
        if not isinstance(result, dict):
            return {}
        # The session is there: no field of the answer may keep windows from hearing of it.
        return {key: value for key, value in result.items() if is_writable(value)}

    def _tell_servers(self, told: list[dict[str, Any]]) -> None:
        """Tell every window which MCP servers the agent has been given, unless that is known."""
        before = self.setup.known.get("mcpServers", [])
        if told == before:
            return
        self.setup.keep("mcpServers", told)
        self.append(protocol.SERVERS, {"servers": told})
        for server in told:
            if server["state"] == "failed" and server not in before:
                words = f"This session has no MCP server “{server['name']}”. {server['message']}"
                self.append(protocol.NOTICE, {"level": "warning", "message": words})

    def prompt(self, params: dict[str, Any], origin: str) -> Turn:
        """Start a turn, or queue it behind the running one; it belongs to nobody but the session."""
        self._check_open()
        return self._turns.start(params, origin)

    def cancel(self, turn: Turn | None = None) -> None:
        """End a turn; without a name, the running one and those queued behind it."""
        if not self._turns.cancel(turn):
            return
        if self._link is not None and (agent := self._link.agent) is not None:
            agent.connection.notify(
                protocol.SESSION_CANCEL, {"sessionId": self.record.agent_session}
            )
        self._questions.cancel()

    def give_up(self, name: str) -> None:
        """End a turn that the agent does not end."""
        why = broken.STUCK.format(name=name)
        words = f"{why}: your next message goes to a new session with it."
        self.append(protocol.NOTICE, {"level": "warning", "message": words})
        self.abandon(broken.Anew(why))
        self.set_state("idle", stop_reason="cancelled")

    def abandon(self, anew: broken.Anew) -> None:
        """Leave the agent's session to itself: this one goes on in another."""
        link, self._link = self._link, None
        self._lost, self.anew = True, anew
        self._questions.cancel()
        agent_session = self.record.agent_session
        if link is None:
            return
        link.abandon(self)
        if link.agent is not None and agent_session is not None:
            closing = asyncio.ensure_future(broken.close(link.agent, agent_session))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def call(self, call: Call) -> Any:
        """Ask the agent something about this session, and tell every window what was chosen by it."""
        agent = await self.ready_agent()

        def note(result: Any) -> None:
            self.transcript.chose(call.method, call.params, result)

        params = {**call.params, "sessionId": self.record.agent_session}
        try:
            return await agent.request(call.method, params, note=note)
        except RpcError as error:
            raise explained(error, agent) from None

    async def ask_by(self, capability: str, params: dict[str, Any]) -> Any:
        """Ask the agent something that it may know several ways to answer."""
        agent = await self.ready_agent()
        return await by_any_way(agent, capability, lambda method: self.call(Call(method, params)))

    async def ready_agent(self) -> Agent:
        """Return an agent that knows this session."""
        return await (await self.connect()).ready()

    async def connect(self) -> AgentLink:
        """Return the link to an agent that knows this session, restored if need be."""
        self._check_open()
        if self._link is not None and self._link.running:
            return self._link
        if self._connecting is None:
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
        connecting = self._connecting
        # Whoever gives up waiting must not end it half-way.
        await asyncio.wait({connecting})
        if connecting.cancelled():
            raise _closing()
        return connecting.result()

    async def _connect(self) -> AgentLink:
        try:
            link = self._get_link()
            agent = await link.ready()
            self._check_open()
            self._restoring = link
            how, message = await restore(self, link, agent)
            self._check_open()
            if self._link is not link or link.agent is not agent:
                # It has died while it was listened to: the next one knows nothing of this session.
                raise RpcError(UNAVAILABLE, f"{link.name} ended while it restored the session.")
            self.append(protocol.RESTORED, {"how": how, "message": message})
            # A turn may be what it is restored for.
            state: State = "running" if self._turns.is_running else "idle"
            if self.record.state != state:
                self.set_state(state)
            return link
        finally:
            self._connecting = self._restoring = None

    async def reload(self) -> None:
        """Replace the transcript by what the agent tells of the session."""
        self._check_open()
        async with self._turns.none():
            link = await self.connect()
            await reload(self, link, await link.ready())

    def _check_open(self) -> None:
        """Refuse what would bring a session back to life that is being closed or deleted."""
        if self.transcript.is_closed or self._endings:
            raise _closing()

    async def ask_agent(
        self, agent: Agent, method: str, params: dict[str, Any], note: Callable[[Any], None]
    ) -> Any:
        """Ask the agent about this session; `note` sees the result in the order of arrival."""
        params = {**params, "sessionId": self.record.agent_session}
        try:
            return await agent.connection.request(method, params, note=note)
        except RpcError as error:
            raise explained(error, agent) from None

    async def close(self) -> None:
        """End the turn and let the agent forget the session; the transcript stays."""
        with self.ending():
            self.cancel()
            self._questions.cancel()
            await self._turns.end(AGENT_PATIENCE)
            restoring = await self._stop_connecting()
            link, self._link = self._link or restoring, None
            self._lost = False
            if link is not None:
                link.leave(self)
                if self._is_known_to(link):
                    await self.tell_agent(link, "close")
            if self.record.state != "closed":
                self.set_state("closed")

    @contextlib.contextmanager
    def ending(self) -> Iterator[None]:
        """Let nothing begin meanwhile: it would go on when the session has ended."""
        self._endings += 1
        try:
            yield
        finally:
            self._endings -= 1

    async def _stop_connecting(self) -> AgentLink | None:
        """Stop on the way to the agent; return the link if the agent has heard of it already."""
        connecting, restoring = self._connecting, self._restoring
        if connecting is not None:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
        return restoring

    async def tell_agent(
        self, link: AgentLink, capability: str, params: dict[str, Any] | None = None
    ) -> None:
        """Tell the agent what became of the session, if it wants to know; it may not care."""
        agent, agent_session = link.agent, self.record.agent_session
        if agent is None or agent_session is None:
            return

        async def tell(method: str) -> None:
            if method != protocol.EXT_TERMINATE or not self._is_terminated:
                await agent.request(method, {**(params or {}), "sessionId": agent_session})
            self._is_terminated = method == protocol.EXT_TERMINATE

        try:
            await asyncio.wait_for(by_any_way(agent, capability, tell), AGENT_PATIENCE)
        except NoWay:
            pass
        except (RpcError, asyncio.TimeoutError) as error:
            words = error.brief if isinstance(error, RpcError) else "it took too long"
            self.logger.info("%s was not answered as it should: %s", capability, words)

    def _is_known_to(self, link: AgentLink) -> bool:
        """Whether the agent's id for it is still its own: some count anew in every run."""
        agent_session = self.record.agent_session
        return agent_session is not None and link.is_free(agent_session)

    def forget(self) -> None:
        """Be gone: whatever still comes for this session leaves no trace."""
        self.transcript.is_closed = True
        for window in list(self._windows):
            window.forget(self.id)
        self._windows.clear()

    def remember(self) -> None:
        """Be there again: it could not be deleted."""
        self.transcript.is_closed = False
        self.changed()

    async def stop(self) -> None:
        """End what runs, because everything ends."""
        await self._turns.end(0)
        if self._connecting is not None:
            self._connecting.cancel()

    def rename(self, title: str) -> None:
        """Give the session a title; windows learn of it as of an agent's."""
        self.transcript.update({"sessionUpdate": "session_info_update", "title": title})

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

    def _resolved(self, question: Question, result: Any) -> None:
        self.append(
            protocol.RESOLVED,
            {
                "requestId": question.id,
                "outcome": result.get("outcome", result),
                "request": {"method": question.method, "params": question.params},
            },
        )
        self.changed()


def _closing() -> RpcError:
    return RpcError(INVALID_REQUEST, "The session is being closed. Try again when it is.")
