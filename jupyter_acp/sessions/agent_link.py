# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The link between one agent and its sessions: it routes updates and requests by session id."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from .. import protocol
from ..agents.supervisor import Supervisor
from ..client.mcp_servers import Given
from ..client.view import SessionView
from ..protocol import SESSION_UPDATE
from ..rpc import Logger, Peer, Request, RpcError, invalid_params, method_not_found
from ..rpc.errors import UNAVAILABLE
from ..services import ClientServices
from . import sandboxagent_extension

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from ..context.block import Block, Told

EARLY_LIMIT = 4 * 1024 * 1024
"""Maximum size of updates that wait for their session to become known, in bytes."""

OPENED_LIMIT = 100
_ELICITED = "What you were asked to open in the browser is done, the agent says."
_QUESTIONS = (protocol.REQUEST_PERMISSION, protocol.ELICIT, protocol.EXT_QUESTION)

StartAgent = Callable[["AgentLink"], Awaitable["Agent"]]


class Owner(SessionView, Protocol):
    """The part of a session that the link to its agent uses."""

    def take(self, updates: list[dict[str, Any]]) -> None:
        """Take updates of the agent."""

    async def ask(self, method: str, params: dict[str, Any], explained: dict[str, Any]) -> Any:
        """Put a question of the agent to the user, and return the answer."""

    def apply_metadata(self, metadata: dict[str, Any]) -> None:
        """Merge the metadata that the agent reports."""

    def agent_lost(self, error: RpcError) -> None:
        """Note that the agent has ended with an error."""


class AgentLink(Peer):
    """Receives the messages of one agent and passes each to its session."""

    stream = SESSION_UPDATE

    def __init__(
        self,
        agent_id: str,
        name: str,
        start: StartAgent,
        services: ClientServices,
        on_progress: Callable[[dict[str, Any]], None],
        log: Logger,
    ) -> None:
        self.agent_id = agent_id
        self._on_progress = on_progress
        self.name = name
        self.log = log
        self._services = services
        self._sessions: dict[str, Owner] = {}
        self._early: deque[tuple[int, dict[str, Any]]] = deque()
        self._early_size = 0
        self._left: set[str] = set()
        self._opened: OrderedDict[str, Owner] = OrderedDict()
        self._supervisor = Supervisor(name, lambda: start(self))
        self.latest: Agent | None = None
        """The agent that was started last, even if it failed to start."""

    @property
    def running(self) -> bool:
        """True if the agent runs."""
        return self._supervisor.agent is not None

    @property
    def agent(self) -> Agent | None:
        """The agent if it runs, else None."""
        return self._supervisor.agent

    async def ready(self) -> Agent:
        """Return the agent, started if necessary."""
        return await self._supervisor.ready()

    async def stop(self, reason: str) -> None:
        """Stop the agent; its sessions can be restored later."""
        await self._supervisor.stop()
        self._lose(RpcError(UNAVAILABLE, reason))

    def ended(self, error: RpcError) -> None:
        """Tell every session that its agent has ended with an error."""
        self.log.warning("%s", error.brief)
        self._supervisor.crashed(error)
        self._lose(error)

    def join(self, agent_session: str, session: Owner) -> None:
        """Route the agent's updates to a session, including those that arrived before this call."""
        if self._sessions.get(agent_session, session) is not session:
            raise RpcError(
                UNAVAILABLE, f"{self.name} has given two sessions the same id, {agent_session!r}."
            )
        self._sessions[agent_session] = session
        self._left.discard(agent_session)
        session.take(self._let_go(agent_session))

    async def mcp_servers(self, session: Owner, own: list[Any], agent: Agent) -> list[Any]:
        """Return the MCP servers that the agent shall start, or connect to if it is elsewhere."""
        able = agent.capabilities.get("mcpCapabilities") or {}
        return await self._services.mcp_servers(session, own, able if agent.spec.url else None)

    async def context(self, session: Owner, told: Told, memory: Hashable) -> Block | None:
        """Return the context that accompanies the next prompt, if any."""
        return await self._services.editor_context(session, told, memory)

    async def configured_servers(self, session: Owner, agent: Agent, own: list[Any]) -> Given:
        """Return the MCP servers that are configured for every session."""
        return await self._services.configured_servers(session, agent, own)

    def leave(self, session: Owner) -> None:
        """Stop routing updates to a session, under all ids that the agent gave it."""
        for id in [id for id, each in self._sessions.items() if each is session]:
            del self._sessions[id]
            self._left.add(id)

    def abandon(self, session: Owner) -> None:
        """Leave a session of the agent and release its terminals and other services."""
        self.leave(session)
        self._services.agent_left(session)

    def is_free(self, agent_session: str) -> bool:
        """Return True if no session has joined with this id."""
        return agent_session not in self._sessions

    def on_notification(self, method: str, params: Any) -> None:
        """Handle a notification of the agent; ignore unknown ones."""
        session = self._session_of(params)
        if method == protocol.EXT_METADATA_UPDATE and session is not None:
            session.apply_metadata(sandboxagent_extension.metadata_of(params))
        elif method == protocol.PROGRESS and isinstance(params, dict):
            self._on_progress(params)
        elif method == protocol.MCP_MESSAGE and isinstance(params, dict):
            if params.get("method") == protocol.MCP_CANCELLED and self.agent is not None:
                self.agent.connection.cancel(params.get("params"))
        elif method == protocol.ELICITED and isinstance(params, dict):
            asked = self._opened.pop(str(params.get("elicitationId")), None)
            if asked is not None:
                asked.append(protocol.NOTICE, {"level": "info", "message": _ELICITED})
        else:
            self.log.debug("Ignored %s from %s", method, self.name)

    def _session_of(self, params: Any) -> Owner | None:
        id = params.get("sessionId") if isinstance(params, dict) else None
        return self._sessions.get(id) if isinstance(id, str) else None

    def on_stream(self, row: list[Any]) -> None:
        """Pass a row of updates to their sessions, in runs with the same session id."""
        owner: Any = None
        updates: list[dict[str, Any]] = []
        for params in row:
            id = params.get("sessionId") if type(params) is dict else None
            if id != owner:
                self._hand_on(owner, updates)
                owner, updates = id, []
            updates.append(params)
        self._hand_on(owner, updates)

    def on_request(self, request: Request) -> None:
        """Serve a request of the agent on behalf of one of its own sessions."""
        params = request.params
        session = self._session_of(params)
        if request.method in protocol.MCP_METHODS:
            # An MCP request names no session; its MCP connection belongs to one.
            self._services.serve_mcp(request)
            return
        if request.method not in _QUESTIONS:
            if session is not None and session.is_remote:
                # A remote session gets no services: its files are not on this server.
                raise method_not_found(request.method)
            self._services.serve(session, request)
            return
        if session is None:
            raise invalid_params("There is no such session.")
        is_permission = request.method == protocol.REQUEST_PERMISSION
        if is_permission and (option := self._services.answer(session, params)) is not None:
            request.respond({"outcome": {"outcome": "selected", "optionId": option}})
            return
        if isinstance(id := params.get("elicitationId"), str):
            # The notification about its end names only this id, not the session.
            self._opened[id] = session
            while len(self._opened) > OPENED_LIMIT:
                self._opened.popitem(last=False)
        request.run(self._ask(session, request))

    async def _ask(self, session: Owner, request: Request) -> Any:
        """Put a question to the user; report the answer to the services before the agent."""
        params = request.params
        # The paths of a remote session name other files than those of this server.
        explained = {} if session.is_remote else await self._services.explained(session, params)
        answer = await session.ask(request.method, params, explained)
        if request.method == protocol.REQUEST_PERMISSION:
            self._services.asked(session, params, answer)
        return answer

    def _hand_on(self, agent_session: Any, updates: list[dict[str, Any]]) -> None:
        if not updates:
            return
        if not isinstance(agent_session, str):
            self.log.warning("Ignored an update without a session from %s", self.name)
        elif (session := self._sessions.get(agent_session)) is not None:
            try:
                session.take(updates)
            except Exception:
                # The rest of the row belongs to other sessions.
                self.log.exception("Updates of %s could not be taken", self.name)
        elif agent_session not in self._left:
            for params in updates:
                self._hold(params)

    def _hold(self, params: dict[str, Any]) -> None:
        """Keep an early update: some agents send updates before they answer `session/new`."""
        try:
            size = len(orjson.dumps(params))
        except orjson.JSONEncodeError as error:
            self.log.warning("Ignored an update from %s: %s", self.name, error)
            return
        self._early.append((size, params))
        self._early_size += size
        while self._early_size > EARLY_LIMIT:
            self._early_size -= self._early.popleft()[0]

    def _let_go(self, agent_session: str) -> list[dict[str, Any]]:
        """Remove and return the early updates of a session."""
        early, self._early, self._early_size = self._early, deque(), 0
        found: list[dict[str, Any]] = []
        for size, params in early:
            if params["sessionId"] == agent_session:
                found.append(params)
            else:
                self._early.append((size, params))
                self._early_size += size
        return found

    def _lose(self, error: RpcError) -> None:
        sessions, self._sessions = self._sessions, {}
        self._early.clear()
        self._early_size = 0
        self._left.clear()
        for session in set(sessions.values()):
            session.agent_lost(error)
            self._services.agent_left(session)
