# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The agent's side of a session: its process, its own session id, and the requests to it.

A session is opened with its agent when it begins and restored after the agent was started again.
If the agent cannot restore it, a new session of the agent takes its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from .. import protocol
from ..agents.agent import Agent
from ..agents.authentication import explained
from ..context.block import Block, Told
from ..history.record import SessionRecord, is_writable
from ..rpc import Logger, RpcError
from ..rpc.errors import INVALID_REQUEST, METHOD_NOT_FOUND, UNAVAILABLE
from . import health
from .agent_link import AgentLink, Owner
from .agent_links import Links
from .fallbacks import NoWay, by_any_way, ways
from .option_calls import Options
from .options import Call
from .restore import Restored, begin_anew, open_params, restore
from .transcript import Transcript


class AgentSession:
    """Connects one session to its agent: opens, restores and closes it there, and sends requests."""

    patience = 5.0
    """Timeout for the agent to end a turn or a session, in seconds."""

    def __init__(
        self,
        owner: SessionOwner,
        transcript: Transcript,
        links: Links,
        *,
        extra_patience: float,
        logger: Logger,
    ) -> None:
        """Take the links to all agents, and the extra time to open a session, in seconds."""
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
        """The parts of the context that the agent has received."""

    @property
    def id(self) -> str | None:
        """The id that the agent gave the session."""
        return self._record.agent_session

    @property
    def is_remote(self) -> bool:
        """True if the session is remote: its files are not on this server."""
        return self._owner.is_remote

    @property
    def name(self) -> str:
        """The name of the agent."""
        return self._own_link.name

    @property
    def agent(self) -> Agent | None:
        """The agent if it runs and knows the session, else None."""
        return self._link.agent if self._link is not None else None

    @property
    def is_connected(self) -> bool:
        """True if a running agent knows the session."""
        return self._link is not None and self._link.running

    @property
    def was_connected(self) -> bool:
        """True if an agent has known the session since the server started."""
        return self._link is not None or self._was_lost

    @property
    def is_connecting(self) -> bool:
        """True while an agent opens or restores the session."""
        return self._connecting is not None

    @property
    def _record(self) -> SessionRecord:
        return self._owner.record

    @property
    def _own_link(self) -> AgentLink:
        return self._links.of(self._record)

    # Requests

    async def request(
        self, agent: Agent, method: str, params: dict[str, Any], note: Callable[[Any], None]
    ) -> Any:
        """Send a request without a timeout; `note` receives the result in the order of arrival."""
        params = {**params, "sessionId": self.id}
        try:
            return await agent.connection.request(method, params, note=note)
        except RpcError as error:
            raise explained(error, agent) from None

    async def call(self, call: Call) -> Any:
        """Send a request about the session; report a choice made by it to every window."""
        agent = await self.connect()

        def note(result: Any) -> None:
            self.transcript.chose(call.method, call.params, result)

        params = {**call.params, "sessionId": self.id}
        try:
            return await agent.request(call.method, params, note=note)
        except RpcError as error:
            raise explained(error, agent) from None

    async def call_by(self, capability: str, params: dict[str, Any]) -> Any:
        """Send a request by the best method that the agent offers for a capability."""
        agent = await self.connect()
        return await by_any_way(agent, capability, lambda method: self.call(Call(method, params)))

    async def tell(self, capability: str) -> None:
        """Tell the agent that the session was closed or deleted, if it runs and has a method for it."""
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
        """Return the parts of the user's editor context that are new to the agent, if any."""
        memory = (self.agent, self.id, self.transcript.compactions)
        return await self._own_link.context(self._owner, self.told, memory)

    # Opening

    async def ready(self) -> Agent:
        """Return the agent, started if necessary, whether or not it knows the session."""
        return await self._own_link.ready()

    async def open(
        self, method: str, params: dict[str, Any], link: AgentLink | None = None
    ) -> dict[str, Any]:
        """Send `session/new`, `fork`, `load` or `resume`, and join the link when the answer arrives."""
        link = link or self._own_link
        agent = await link.ready()

        def join(result: Any) -> None:
            result = result if isinstance(result, dict) else {}
            # The forked session keeps its id; the fork needs another one.
            is_fork = method in (protocol.SESSION_FORK, protocol.EXT_FORK)
            known = None if is_fork else params.get("sessionId")
            agent_session = result.get("sessionId", known)
            if not isinstance(agent_session, str):
                raise RpcError(UNAVAILABLE, f"{link.name} answered {method} without an id.")
            # Before anything is changed: this fails if another session has the id.
            link.join(agent_session, self._owner)
            record, setup = self._record, self.transcript.setup
            record.agent_session = agent_session
            self._link = link
            self._was_lost = self._is_terminated = False
            record.can_fork = bool(ways(agent, "fork"))
            record.can_reload = protocol.SESSION_LOAD in ways(agent, "load")
            setup.began(result)
            setup.keep("promptCapabilities", agent.capabilities.get("promptCapabilities"))

        # These are only sent, never stored: they contain secrets of servers and the token for our
        # tools.
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
        # The session exists now. A field that cannot be encoded must not hide it from windows.
        return {key: value for key, value in result.items() if is_writable(value)}

    def _tell_servers(self, told: list[dict[str, Any]]) -> None:
        """Tell every window the MCP servers that the agent was given, if they have changed."""
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

    # Restoring

    async def connect(self, *, may_begin_anew: bool = True) -> Agent:
        """Return an agent that knows the session; restore the session if necessary.

        Without `may_begin_anew` this fails if the agent cannot restore the session.
        """
        self._owner.check_open()
        if (agent := self.agent) is not None:
            return agent
        if self._connecting is None:
            loop = asyncio.get_running_loop()
            self._connecting = loop.create_task(self._connect(may_begin_anew=may_begin_anew))
        connecting = self._connecting
        # A cancelled caller must not cancel the task, which other callers wait for, too.
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
            restored = await self._restore(link, agent, may_begin_anew=may_begin_anew)
            await self.options.choose_again(before)
            self._owner.check_open()
            if self._link is not link or link.agent is not agent:
                # The agent ended meanwhile: a new process does not know the session.
                raise RpcError(UNAVAILABLE, f"{link.name} ended while it restored the session.")
            self.transcript.append(protocol.RESTORED, restored._asdict())
            self._owner.connected()
            return agent
        finally:
            self._connecting = self._restoring = None

    async def _restore(self, link: AgentLink, agent: Agent, *, may_begin_anew: bool) -> Restored:
        """Restore the session by the first way that works."""
        record, transcript = self._record, self.transcript
        if self._anew is None:
            restored = await restore(
                self._owner, record, transcript, link, agent, self.open, self.logger
            )
            if restored is not None:
                return restored
        if not may_begin_anew:
            raise RpcError(UNAVAILABLE, f"{link.name} did not open this session again.")
        # The new session may get the id of the old one.
        self.told.forget()
        begun = await begin_anew(record, transcript, link, self.open, self._anew)
        self._anew = None
        return begun

    async def reload(self) -> None:
        """Replace the transcript by the agent's replay; fail without changes if there is none."""
        agent = await self.connect()
        if protocol.SESSION_LOAD not in ways(agent, "load") or self.id is None:
            raise RpcError(METHOD_NOT_FOUND, f"{self.name} cannot tell what was said in a session.")
        before = self.transcript.setup.chosen()
        told: list[dict[str, Any]] = []
        gate = self.transcript.shut_gate(told.append)
        try:
            await self.open(
                protocol.SESSION_LOAD, {**open_params(self._record), "sessionId": self.id}
            )
            await gate.quiet(0, is_promised=True)
        finally:
            self.transcript.open_gate()
        if told:
            self.transcript.replace(told)
        await self.options.choose_again(before)
        if not told:
            raise RpcError(UNAVAILABLE, f"{self.name} told nothing of this session.")

    # Closing

    def lose(self) -> None:
        """Note that the agent has ended; the next request starts it again."""
        self._link = None
        self._was_lost = True

    def abandon(self, anew: health.Anew) -> None:
        """Disconnect from the agent's session; the next request opens a new one."""
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
        """Close the session with the agent, also while it is being restored."""
        connecting, restoring = self._connecting, self._restoring
        if connecting is not None:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
        # The agent may know a session that is being restored.
        link, self._link = self._link or restoring, None
        self._was_lost = False
        if link is not None:
            link.leave(self._owner)
            # Some agents reuse ids after a restart: the id may belong to another session now.
            if self.id is not None and link.is_free(self.id):
                await self.tell("close")

    def stop(self) -> None:
        """Cancel the restoring of the session, because the server stops."""
        if self._connecting is not None:
            self._connecting.cancel()


class SessionOwner(Owner, Protocol):
    """The part of a session that its agent's side uses."""

    record: SessionRecord

    def check_open(self) -> None:
        """Raise an error if the session is being closed or deleted."""

    def connected(self) -> None:
        """Note that an agent knows the session again."""


def closing() -> RpcError:
    """Return the error for requests to a session that is being closed."""
    return RpcError(INVALID_REQUEST, "The session is being closed. Try again when it is.")
