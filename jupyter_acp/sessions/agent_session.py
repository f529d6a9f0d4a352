# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The agent's side of a session: which process knows it, by which id, and how it is asked.

Agents come and go. A session is opened with its agent when it begins, restored when the agent was
started again, and opened anew where nothing else works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from .. import protocol
from ..agents.agent import Agent
from ..agents.authentication import explained, wants_login
from ..context.block import Block, Told
from ..history.record import SessionRecord, is_writable
from ..rpc import Logger, RpcError
from ..rpc.errors import INVALID_REQUEST, METHOD_NOT_FOUND, UNAVAILABLE
from . import health
from .fallbacks import NoWay, by_any_way, note_unknown, ways
from .link import AgentLink, Owner
from .links import Links
from .option_calls import Options
from .options import Call
from .remote import going_on
from .retelling import retell
from .sandboxagent import REQUESTED_ID
from .transcript import Transcript

_RESTORED = {
    protocol.SESSION_RESUME: ("resume", "{name} is back and resumed the session."),
    protocol.SESSION_LOAD: ("load", "{name} is back and loaded the session."),
}


class AgentSession:
    """What one session has to do with its agent."""

    patience = 5.0
    """How long an agent may take to end a turn or a session, in seconds, before we go on without it."""

    def __init__(
        self,
        owner: SessionOwner,
        transcript: Transcript,
        links: Links,
        *,
        extra_patience: float,
        logger: Logger,
    ) -> None:
        """Take the links to all agents, and how much longer this one may take to open a session."""
        self._owner = owner
        self.transcript = transcript
        self._links = links
        self._extra_patience = extra_patience
        self.logger = logger
        self._link: AgentLink | None = None
        self._restoring: AgentLink | None = None
        self._connecting: asyncio.Task[Agent] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._was_lost = False
        self._is_terminated = False
        self._anew: health.Anew | None = None
        self.options = Options(transcript, self.connect, self.call)
        self.told = Told()
        """What the agent knows of what the user has open."""

    @property
    def id(self) -> str | None:
        """The agent's own id of the session."""
        return self._record.agent_session

    @property
    def is_remote(self) -> bool:
        """Whether it works on files that are not here."""
        return self._owner.is_remote

    @property
    def name(self) -> str:
        """The name of the agent."""
        return self._own_link.name

    @property
    def agent(self) -> Agent | None:
        """The agent, if it runs and knows the session."""
        return self._link.agent if self._link is not None else None

    @property
    def is_connected(self) -> bool:
        """Whether an agent that runs knows the session."""
        return self._link is not None and self._link.running

    @property
    def was_connected(self) -> bool:
        """Whether an agent of this run knows or knew the session."""
        return self._link is not None or self._was_lost

    @property
    def is_connecting(self) -> bool:
        """Whether an agent is being asked to open the session."""
        return self._connecting is not None

    @property
    def _record(self) -> SessionRecord:
        return self._owner.record

    @property
    def _own_link(self) -> AgentLink:
        return self._links.of(self._record)

    # Ask it

    async def request(
        self, agent: Agent, method: str, params: dict[str, Any], note: Callable[[Any], None]
    ) -> Any:
        """Ask without a time limit; `note` sees the result in the order of arrival."""
        params = {**params, "sessionId": self.id}
        try:
            return await agent.connection.request(method, params, note=note)
        except RpcError as error:
            raise explained(error, agent) from None

    async def call(self, call: Call) -> Any:
        """Ask something about the session, and tell every window what was chosen by it."""
        agent = await self.connect()

        def note(result: Any) -> None:
            self.transcript.chose(call.method, call.params, result)

        params = {**call.params, "sessionId": self.id}
        try:
            return await agent.request(call.method, params, note=note)
        except RpcError as error:
            raise explained(error, agent) from None

    async def call_by(self, capability: str, params: dict[str, Any]) -> Any:
        """Ask something that the agent may know several ways to answer."""
        agent = await self.connect()
        return await by_any_way(agent, capability, lambda method: self.call(Call(method, params)))

    async def tell(self, capability: str) -> None:
        """Tell the agent what became of the session, if it runs and wants to know."""
        link = self._link or self._own_link
        agent, agent_session = link.agent, self.id
        if agent is None or agent_session is None:
            return

        async def tell(method: str) -> None:
            if method != protocol.EXT_TERMINATE or not self._is_terminated:
                await agent.request(method, {"sessionId": agent_session})
            self._is_terminated = method == protocol.EXT_TERMINATE

        try:
            await asyncio.wait_for(by_any_way(agent, capability, tell), self.patience)
        except NoWay:
            pass
        except (RpcError, asyncio.TimeoutError) as error:
            words = error.brief if isinstance(error, RpcError) else "it took too long"
            self.logger.info("%s was not answered as it should: %s", capability, words)

    def cancel_turn(self) -> None:
        """Tell the agent to end its turn."""
        if (agent := self.agent) is not None:
            agent.connection.notify(protocol.SESSION_CANCEL, {"sessionId": self.id})

    async def editor_context(self) -> Block | None:
        """Return what the agent does not know yet of what the user has open, if anything."""
        memory = (self.agent, self.id, self.transcript.compactions)
        return await self._own_link.context(self._owner, self.told, memory)

    # Open it

    async def ready(self) -> Agent:
        """Return the agent, started if need be, whether or not it knows the session."""
        return await self._own_link.ready()

    async def open(
        self, method: str, params: dict[str, Any], link: AgentLink | None = None
    ) -> dict[str, Any]:
        """Send `session/new`, `fork`, `load` or `resume`; join the link in the order of arrival."""
        link = link or self._own_link
        agent = await link.ready()

        def join(result: Any) -> None:
            result = result if isinstance(result, dict) else {}
            # What is forked keeps its id: the new one needs one of its own.
            is_fork = method in (protocol.SESSION_FORK, protocol.EXT_FORK)
            known = None if is_fork else params.get("sessionId")
            agent_session = result.get("sessionId", known)
            if not isinstance(agent_session, str):
                raise RpcError(UNAVAILABLE, f"{link.name} answered {method} without an id.")
            # First of all: what another session has is refused.
            link.join(agent_session, self._owner)
            record, setup = self._record, self.transcript.setup
            record.agent_session = agent_session
            self._link = link
            self._was_lost = self._is_terminated = False
            record.can_fork = bool(ways(agent, "fork"))
            record.can_reload = protocol.SESSION_LOAD in ways(agent, "load")
            setup.began(result)
            setup.keep("promptCapabilities", agent.capabilities.get("promptCapabilities"))

        # On the wire only: the secrets of servers and what opens the way to our tools are written
        # down nowhere.
        configured = await link.configured_servers(self._owner, agent, params["mcpServers"])
        params = {**params, "mcpServers": [*params["mcpServers"], *configured.entries]}
        if agent.spec.takes_tools and not self._owner.is_remote:
            servers = await link.mcp_servers(self._owner, params["mcpServers"], agent)
            params = {**params, "mcpServers": servers}
        try:
            result = await agent.request(method, params, note=join, extra=self._extra_patience)
        except RpcError as error:
            raise explained(error, agent) from None
        self._tell_servers(configured.told)
        if not isinstance(result, dict):
            return {}
        # The session is there: no field of the answer may keep windows from hearing of it.
        return {key: value for key, value in result.items() if is_writable(value)}

    def _tell_servers(self, told: list[dict[str, Any]]) -> None:
        """Tell every window which MCP servers the agent has been given, unless that is known."""
        setup = self.transcript.setup
        before = setup.known.get("mcpServers", [])
        if told == before:
            return
        setup.keep("mcpServers", told)
        self.transcript.append(protocol.SERVERS, {"servers": told})
        for server in told:
            if server["state"] == "failed" and server not in before:
                words = f"This session has no MCP server “{server['name']}”. {server['message']}"
                self.transcript.append(protocol.NOTICE, {"level": "warning", "message": words})

    # Connect it again

    async def connect(self, *, may_begin_anew: bool = True) -> Agent:
        """Return an agent that knows the session, restored if need be.

        A session that only its agent knows has nothing to begin anew from.
        """
        self._owner.check_open()
        if (agent := self.agent) is not None:
            return agent
        if self._connecting is None:
            loop = asyncio.get_running_loop()
            self._connecting = loop.create_task(self._connect(may_begin_anew=may_begin_anew))
        connecting = self._connecting
        # Whoever gives up waiting must not end it half-way.
        await asyncio.wait({connecting})
        if connecting.cancelled():
            raise closing()
        return connecting.result()

    async def _connect(self, *, may_begin_anew: bool) -> Agent:
        try:
            link = self._own_link
            agent = await link.ready()
            self._owner.check_open()
            self._restoring = link
            before = self.transcript.setup.chosen()
            how, message = await self._restore(link, agent, may_begin_anew=may_begin_anew)
            await self.options.choose_again(before)
            self._owner.check_open()
            if self._link is not link or link.agent is not agent:
                # It has died while it was listened to: the next one knows nothing of this session.
                raise RpcError(UNAVAILABLE, f"{link.name} ended while it restored the session.")
            self.transcript.append(protocol.RESTORED, {"how": how, "message": message})
            self._owner.connected()
            return agent
        finally:
            self._connecting = self._restoring = None

    async def _restore(
        self, link: AgentLink, agent: Agent, *, may_begin_anew: bool
    ) -> tuple[str, str]:
        """Try the gentlest way first; return how it went, and the same in words."""
        record, anew = self._record, self._anew
        # What the journal has never seen has to be told, not only gone on with.
        capability = "resume" if self.transcript.seq else "load"
        is_known = self.id is not None and anew is None
        for method in ways(agent, capability) if is_known else []:
            assert self.id is not None
            self.transcript.shut_gate()
            try:
                # Joined before the request is sent: some agents replay before they answer.
                link.join(self.id, self._owner)
                await self.open(method, {**self._folders(), "sessionId": self.id}, link)
            except BaseException as error:
                self.transcript.open_gate()
                link.leave(self._owner)
                if not isinstance(error, RpcError) or not agent.alive:
                    raise
                if wants_login(error, agent):
                    # Whoever logs in has it back; a new session would only look like it.
                    raise
                note_unknown(agent, method, error)
                self.logger.info("%s was refused by %s: %s", method, link.name, error.brief)
            else:
                is_load = method == protocol.SESSION_LOAD
                await self.transcript.end_replay(is_promised=is_load)
                how, message = _RESTORED[method]
                return how, message.format(name=link.name)
        if not may_begin_anew:
            raise RpcError(UNAVAILABLE, f"{link.name} did not open this session again.")
        # It may have the id of the old one.
        self.told.forget()
        await self.open(protocol.SESSION_NEW, self._begun_anew(), link)
        self._anew = None
        record.retold = await retell(self.transcript, anew.unanswered if anew else None)
        if anew is not None:
            rest = ", which is told what was said." if record.retold else "."
            return "new", f"{anew.why}. A new session was opened with it{rest}"
        words = (
            f"{link.name} is back but could not restore the session: it starts afresh and does not "
        )
        if record.retold:
            return "new", (
                words + "remember what was said before. It is told so with your next message."
            )
        return "new", words + "remember anything."

    def _folders(self) -> dict[str, Any]:
        """Return what every request that opens the session names."""
        record = self._record
        params: dict[str, Any] = {"cwd": record.cwd, "mcpServers": record.mcp_servers}
        if record.additional_directories and record.remote is None:
            params["additionalDirectories"] = record.additional_directories
        return params

    def _begun_anew(self) -> dict[str, Any]:
        """Return the request for a new session that takes the place of the old one."""
        params, record = self._folders(), self._record
        if hints := {key: value for key, value in record.metadata.items() if key != REQUESTED_ID}:
            params["_meta"] = {protocol.SANDBOX: hints}
        if remote := going_on(record):
            params["remote"] = remote
            # Where it was, there may be work that has never come back.
            told = {"remote": remote, "continues": record.agent_session}
            params["_meta"] = {**params.get("_meta", {}), protocol.META: told}
        return params

    async def reload(self) -> None:
        """Replace the transcript by what the agent tells, or change nothing if it tells nothing."""
        agent = await self.connect()
        if protocol.SESSION_LOAD not in ways(agent, "load") or self.id is None:
            raise RpcError(METHOD_NOT_FOUND, f"{self.name} cannot tell what was said in a session.")
        before = self.transcript.setup.chosen()
        told: list[dict[str, Any]] = []
        gate = self.transcript.shut_gate(told.append)
        try:
            await self.open(protocol.SESSION_LOAD, {**self._folders(), "sessionId": self.id})
            await gate.quiet(0, is_promised=True)
        finally:
            self.transcript.open_gate()
        if told:
            self.transcript.replace(told)
        await self.options.choose_again(before)
        if not told:
            raise RpcError(UNAVAILABLE, f"{self.name} told nothing of this session.")

    # End it

    def lose(self) -> None:
        """Take note that the agent has ended; the next request brings it back."""
        self._link = None
        self._was_lost = True

    def abandon(self, anew: health.Anew) -> None:
        """Leave the agent's session to itself: the next request opens another."""
        link, agent_session = self._link, self.id
        self.lose()
        self._anew = anew
        if link is None:
            return
        link.abandon(self._owner)
        if link.agent is not None and agent_session is not None:
            closing = asyncio.ensure_future(health.close(link.agent, agent_session))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Let the agent forget the session, wherever it is on the way to it."""
        connecting, restoring = self._connecting, self._restoring
        if connecting is not None:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
        # One that is being restored has been heard of by the agent already.
        link, self._link = self._link or restoring, None
        self._was_lost = False
        if link is not None:
            link.leave(self._owner)
            # Some agents count anew in every run: the id may be another session's by now.
            if self.id is not None and link.is_free(self.id):
                await self.tell("close")

    def stop(self) -> None:
        """Stop on the way to the agent, because everything ends."""
        if self._connecting is not None:
            self._connecting.cancel()


class SessionOwner(Owner, Protocol):
    """The session, as its agent's side sees it."""

    record: SessionRecord

    def check_open(self) -> None:
        """Refuse what would bring a session back to life that is being closed or deleted."""

    def connected(self) -> None:
        """Take note that an agent knows the session again."""


def closing() -> RpcError:
    """Return what is said to those who want something of a session that ends."""
    return RpcError(INVALID_REQUEST, "The session is being closed. Try again when it is.")
