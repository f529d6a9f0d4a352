# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The connection to one client at the socket, for which this server is an ACP agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from .. import protocol
from ..history.record import is_writable
from ..protocol import parse
from ..rpc import Connection, Logger, Peer, Request, RpcError, invalid_params, method_not_found
from ..rpc.connection import CANCEL, Done
from ..rpc.errors import FORBIDDEN, INVALID_REQUEST
from ..rpc.transport import Transport
from ..sessions.manager import SessionManager
from ..sessions.questions import Question
from ..sessions.session import Session
from .client_capabilities import Client
from .feed import Feed
from .remote_requests import RemoteRequests
from .session_requests import SessionRequests, to_the_end

_EXTENSIONS = (
    "sessionList",
    "sessionMetadata",
    "sessionTerminate",
    "sessionEventsPoll",
    "requestQuestion",
)
_WATCHING = {
    protocol.INITIALIZE,
    protocol.ATTACH,
    protocol.SESSION_LIST,
    protocol.EXT_LIST,
    protocol.REMOTE_REVIEW,
    protocol.REMOTE_FILE,
}
"""The methods for users who may only watch sessions."""


class Window(Peer):
    """Serves the requests of one client, and sends it the sessions that it watches."""

    def __init__(
        self,
        manager: SessionManager,
        transport: Transport,
        *,
        id: str,
        agent: str | None,
        may_act: bool,
        log: Logger,
    ) -> None:
        self.id = id
        self._may_act = may_act
        self._manager = manager
        self._agent = agent
        self._log = log
        self._sessions: dict[str, Session] = {}
        self._said_before: dict[str, int] = {}
        self._initialized = False
        self._client = Client({})
        self._dropping: asyncio.Task[None] | None = None
        self._feed = Feed(
            limit=manager.limits.window_buffer,
            on_stalled=self._stalled,
            keep=self._wants,
            flusher=manager.flusher,
        )
        self._connection = Connection(
            transport, self, outbox=self._feed, name=f"window {id[:8]}", log=log
        )
        remote = RemoteRequests(manager, self._connection)
        desk = SessionRequests(manager, may_act=may_act)
        self._methods: dict[str, Callable[[Any], Awaitable[Any]]] = {
            protocol.INITIALIZE: self._initialize,
            protocol.AUTHENTICATE: self._ask_agent(protocol.AUTHENTICATE),
            protocol.LOGOUT: self._ask_agent(protocol.LOGOUT),
            protocol.SESSION_LOAD: self._load,
            protocol.SESSION_RESUME: self._resume,
            protocol.SESSION_LIST: desk.list,
            protocol.SESSION_CLOSE: desk.close,
            protocol.SESSION_DELETE: desk.delete,
            protocol.CHANGE_DECIDE: desk.decide,
            protocol.RELOAD: desk.reload,
            protocol.REMOTE_INSPECT: remote.inspect,
            protocol.REMOTE_PUSH: remote.push,
            protocol.REMOTE_FETCH: remote.fetch,
            protocol.REMOTE_STOP: remote.stop,
            protocol.REMOTE_REVIEW: remote.review,
            protocol.REMOTE_FILE: remote.file,
            protocol.REMOTE_ACT: remote.act,
            protocol.EXT_LIST: desk.list,
            protocol.EXT_TERMINATE: desk.close,
            protocol.EXT_SET_METADATA: desk.set_metadata,
            protocol.EXT_EVENTS: desk.events,
        }

    async def run(self) -> None:
        """Serve until the socket closes; the sessions and their turns go on."""
        self._manager.windows.add(self)
        try:
            await self._connection.run()
        finally:
            await self.close()

    async def close(self) -> None:
        """Stop watching."""
        self._manager.windows.discard(self)
        self._manager.services.workspace.left(self)
        for session in self._sessions.values():
            session.detach(self)
        self._sessions.clear()
        await self._connection.close()

    # Messages of the client

    def on_request(self, request: Request) -> None:
        """Answer a request, after all messages that its session has already sent."""
        method = request.method
        params = request.params = self._manager.named(request.params)
        if not self._initialized and method != protocol.INITIALIZE:
            raise RpcError(INVALID_REQUEST, "The first request must be `initialize`.")
        if not self._may_act and method not in _WATCHING:
            raise RpcError(
                FORBIDDEN,
                "You may watch sessions on this server, not work in them (403). Its owner or an "
                "administrator can let you.",
            )
        if not is_writable(params):
            raise invalid_params("The message is nested too deeply.")
        # These are answered outside of any lane, so the answer comes before the replay.
        if method == protocol.ATTACH:
            self._attach(request)
            return
        if method == protocol.SESSION_NEW:
            request.run(self._new(request))
            return
        if method == protocol.SESSION_FORK:
            request.run(self._fork(request))
            return
        if isinstance(params, dict) and isinstance(params.get("sessionId"), str):
            request.lane = params["sessionId"]
        if method == protocol.SESSION_PROMPT:
            self._prompt(request)
        elif serve := self._methods.get(method):
            request.run(serve(params))  # type: ignore[arg-type]
        elif request.lane is not None:
            session = self._manager.get(request.lane)
            request.run(session.agent_session.options.forward(method, params))
        else:
            raise method_not_found(method)

    def on_notification(self, method: str, params: Any) -> None:
        """Handle a notification."""
        params = self._manager.named(params)
        if method == protocol.DETACH:
            self._detach(parse(protocol.SessionParams, params).session_id)
        elif not self._may_act:
            self._log.debug("Ignored %s of somebody who may only watch", method)
        elif not is_writable(params):
            self._log.debug("Ignored %s, which is nested too deeply", method)
        elif method == protocol.SESSION_CANCEL:
            self._manager.get(parse(protocol.SessionParams, params).session_id).cancel()
        elif method == protocol.WORKSPACE:
            self._manager.services.workspace.update(self, params)
        elif method == protocol.SETTINGS:
            self._manager.services.set_settings(params)

    # Messages to the client

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request to the window itself, not to its user."""
        return await self._connection.request(method, params)

    def can_ask(self, question: Question) -> bool:
        """Return True if the user may answer and the client supports the question."""
        return self._may_act and self._client.wording(question) is not None

    def ask(self, question: Question, done: Done) -> None:
        """Put a question to the user of this window, in a format that the client supports."""
        wording = self._client.wording(question)
        assert wording is not None

        def answered(result: Any, error: RpcError | None) -> None:
            done(None if error else wording.translated(result), error)

        self._connection.call(
            wording.method,
            wording.params,
            answered,
            id=question.id,
            lane=question.params["sessionId"],
        )

    def withdraw(self, question: Question) -> None:
        """Withdraw a question that was answered elsewhere."""
        self._connection.forget(question.id)
        if self._may_act and not self._client.knows_us:
            self._connection.notify(
                CANCEL, {"requestId": question.id}, lane=question.params["sessionId"]
            )

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification outside of any transcript, if the client supports our extensions."""
        if self._client.knows_us:
            self._connection.notify(method, params)

    def tell_queue(self, session: str, queued: list[dict[str, Any]]) -> None:
        """Send the queued prompts after the session's messages, if the client supports them."""
        if self._client.knows_us:
            params = {"sessionId": session, "queued": queued}
            self._connection.notify(protocol.QUEUE, params, lane=session)

    def tell_metadata(self, session: str, metadata: dict[str, Any]) -> None:
        """Send the metadata of a session, if the client supports them."""
        if self._client.takes_metadata:
            params = {"sessionId": session, "metadata": metadata}
            self._connection.notify(protocol.EXT_METADATA_UPDATE, params, lane=session)

    def forget(self, session: str) -> None:
        """Stop watching a session, because it was deleted or detached."""
        self._feed.unfollow(session)
        self._sessions.pop(session, None)

    # Requests

    async def _initialize(self, params: Any) -> dict[str, Any]:
        wanted = parse(protocol.InitializeParams, params)
        self._client = Client(wanted.client_capabilities)
        offered = ["list", "resume", "close", "delete", "fork"]
        capabilities: dict[str, Any] = {
            "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True}
        }
        auth_methods: list[Any] = []
        if not self._client.knows_us and self._may_act:
            # A client without our extensions talks to one agent: report that agent's capabilities.
            agent = await self._manager.links.agent(self._agent)
            capabilities = dict(agent.capabilities)
            auth_methods = self._client.logins(agent.auth_methods)
        if self._client.knows_us:
            self._feed.keep = None
        capabilities["loadSession"] = True
        capabilities["sessionCapabilities"] = {name: {} for name in offered}
        meta = capabilities.get("_meta")
        extensions = {"extensions": dict.fromkeys(_EXTENSIONS, True)}
        capabilities["_meta"] = {
            **(meta if isinstance(meta, dict) else {}),
            protocol.SANDBOX: extensions,
            protocol.META: {"remoteSessions": self._manager.limits.remote.is_possible},
        }
        self._initialized = True
        return {
            "protocolVersion": protocol.PROTOCOL_VERSION,
            "agentInfo": self._manager.info,
            "agentCapabilities": capabilities,
            "authMethods": auth_methods,
            "_meta": {
                protocol.META: {
                    "connectionId": self.id,
                    "run": self._manager.run,
                    "defaultAgent": self._agent or self._manager.catalog.default_id,
                    "rootDir": self._manager.root_dir,
                    "mayAct": self._may_act,
                    "limits": {
                        "initialize": self._manager.limits.initialize_timeout,
                        "request": self._manager.limits.request_timeout,
                    },
                }
            },
        }

    def _ask_agent(self, method: str) -> Callable[[Any], Awaitable[Any]]:
        async def ask(params: Any) -> Any:
            wanted = parse(protocol.Params, params)
            result: Any = None
            for agent in await self._manager.links.processes(
                wanted.ours().get("agent") or self._agent
            ):
                result = await agent.connection.request(method, params)
                agent.is_logged_in = method == protocol.AUTHENTICATE
            return result

        return ask

    async def _new(self, request: Request) -> None:
        wanted = parse(protocol.NewSessionParams, request.params)
        name = wanted.ours().get("agent") or self._agent
        if name is not None and not isinstance(name, str):
            raise invalid_params('_meta["jupyter-acp"].agent: must be the id of an agent.')
        creating = self._manager.beginnings.create(wanted, name)
        # The creation of a remote session can be cancelled, because a clone may take long.
        is_remote = wanted.wanted_remote() is not None
        session, result = await (creating if is_remote else to_the_end(creating))
        request.respond(self._with_setup(session, result))
        self._watch(session, 0)

    async def _fork(self, request: Request) -> None:
        wanted = parse(protocol.ForkParams, request.params)
        session, result = await to_the_end(self._manager.beginnings.fork(wanted))
        request.respond(self._with_setup(session, result))
        # Other clients already have the history, from the session that was forked.
        self._watch(session, 0 if self._client.knows_us else session.record.seq)

    async def _load(self, params: Any) -> dict[str, Any]:
        wanted = parse(protocol.SessionParams, params).session_id
        session = await to_the_end(self._manager.find(wanted))
        self._watch(session, 0)
        return self._with_setup(session, {})

    async def _resume(self, params: Any) -> dict[str, Any]:
        wanted = parse(protocol.SessionParams, params).session_id
        session = await to_the_end(self._manager.find(wanted))
        self._watch(session, session.log.seq)
        return self._with_setup(session, {})

    def _attach(self, request: Request) -> None:
        wanted = parse(protocol.AttachParams, request.params)
        session = self._manager.get(wanted.session_id)
        after = wanted.after
        if wanted.run is not None and wanted.run != self._manager.run:
            # After a crash, another run of the server may have numbered messages differently.
            after = 0
        after = max(after, session.record.dropped)
        if after > session.log.seq:
            raise invalid_params(
                f"after: the session has only {session.log.seq} messages; attach with 0."
            )
        request.respond(
            {
                "run": self._manager.run,
                "after": after,
                "seq": session.log.seq,
                "state": session.record.state,
                "pending": session.pending,
                "queued": session.queued,
                "session": session.public(),
                **session.record.setup,
            }
        )
        self._watch(session, after)

    def _detach(self, id: str) -> None:
        if session := self._sessions.get(id):
            session.detach(self)
            self.forget(id)

    def _prompt(self, request: Request) -> None:
        wanted = parse(protocol.PromptParams, request.params)
        session = self._manager.get(wanted.session_id)
        if not self._feed.follows(session.id):
            self._watch(session, session.log.seq)
        turn = session.prompt(dict(request.params), self.id)
        request.follow(turn, lambda: session.cancel(turn))

    # Watching

    def _watch(self, session: Session, after: int) -> None:
        self._sessions[session.id] = session
        self._said_before[session.id] = session.log.seq
        self._feed.follow(session.id, session.log, after)
        session.attach(self)

    def _with_setup(self, session: Session, result: dict[str, Any]) -> dict[str, Any]:
        agent = self._manager.links.of(session.record).agent
        setup: dict[str, Any] = {
            key: session.record.setup[key]
            for key in ("modes", "models", "configOptions")
            if key in session.record.setup
        }
        meta = result.get("_meta")
        ours = {
            "agent": session.record.agent,
            "agentInfo": agent.info if agent else None,
            "agentCapabilities": agent.capabilities if agent else None,
            "session": session.public(),
        }
        return {**setup, **result, "_meta": {**(meta or {}), protocol.META: ours}}

    def _wants(self, message: bytes) -> bool:
        """Return True if a client without our extensions is to receive a logged message."""
        if not self._client.takes(message):
            return False
        if b'"user_message_chunk"' in message:
            # The client already shows the prompts that it has sent itself.
            params = orjson.loads(message)["params"]
            mark = params["_meta"][protocol.META]
            is_news = mark["seq"] > self._said_before.get(params["sessionId"], 0)
            return not (is_news and mark.get("origin") == self.id)
        return True

    def _stalled(self) -> None:
        self._log.warning("Dropped window %s: it does not read what it is sent", self.id[:8])
        self._dropping = asyncio.get_running_loop().create_task(self.close())
