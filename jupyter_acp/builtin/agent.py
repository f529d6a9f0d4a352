# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The protocol surface: which methods there are, what they take and what they answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..rpc import Connection, Peer, Request, RpcError, invalid_params, method_not_found
from ..rpc.errors import INVALID_REQUEST
from . import params as check
from .client import Client
from .commands import advertised, answer
from .session import Session, characters
from .settings import Settings
from .store import Store, unknown_session
from .turn import Turn

PROTOCOL_VERSION = 1
DISTRIBUTION = "jupyter-acp-bridge"
TITLE_LENGTH = 60


class Agent(Peer):
    """Serves one client; knows every session that it has open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._connection: Connection
        self._capabilities: dict[str, Any] | None = None
        self._sessions: dict[str, Session] = {}
        self._methods: dict[str, Callable[[Request, dict[str, Any]], None]] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/fork": self._fork,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
            "session/prompt": self._prompt,
        }

    def connect(self, connection: Connection) -> Connection:
        """Speak over this connection."""
        self._connection = connection
        return connection

    def on_request(self, request: Request) -> None:
        """Serve a method, in the order in which requests came."""
        method = self._methods.get(request.method)
        if method is None:
            raise method_not_found(request.method)
        if self._capabilities is None and request.method != "initialize":
            raise RpcError(INVALID_REQUEST, f"{request.method}: send `initialize` first.")
        method(request, check.as_object(request.method, request.params))

    def on_notification(self, method: str, params: Any) -> None:
        """End a turn; whatever else we are told is not for us."""
        if method == "session/cancel":
            session = self._sessions.get(check.text(check.as_object(method, params), "sessionId"))
            if session is not None and session.turn is not None:
                session.turn.cancel()

    def _initialize(self, request: Request, params: dict[str, Any]) -> None:
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool):
            raise invalid_params("`protocolVersion` must be a number; this agent speaks 1.")
        capabilities = params.get("clientCapabilities")
        if capabilities is not None and not isinstance(capabilities, dict):
            raise invalid_params("`clientCapabilities` must be an object.")
        self._capabilities = capabilities or {}
        request.respond(
            {
                "protocolVersion": PROTOCOL_VERSION,
                "agentInfo": {
                    "name": "jupyter-acp-builtin",
                    "title": "Notebook Assistant",
                    "version": _version(),
                },
                "agentCapabilities": {
                    "loadSession": True,
                    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                    "mcpCapabilities": {"http": False, "sse": False},
                    "sessionCapabilities": {
                        "list": {},
                        "resume": {},
                        "fork": {},
                        "close": {},
                        "delete": {},
                    },
                    "_meta": {"jupyter-acp": {"languageModel": False, "mcpServers": False}},
                },
                "authMethods": [],
            }
        )

    def _authenticate(self, _request: Request, _params: dict[str, Any]) -> None:
        raise invalid_params("This agent needs no authentication: it offers no authMethods.")

    def _new(self, request: Request, params: dict[str, Any]) -> None:
        cwd, servers = _folder(params), check.servers(params)
        session = Session(self._store.create(cwd), Path(cwd), servers=servers)
        self._open(request, session, {"sessionId": session.id})

    def _load(self, request: Request, params: dict[str, Any]) -> None:
        session, updates = self._restore(params)

        async def replay() -> None:
            for update in updates:
                self._notify(session, update)
                await self._connection.room()
            self._open(request, session, {})

        request.run(replay())

    def _resume(self, request: Request, params: dict[str, Any]) -> None:
        session, _ = self._restore(params)
        self._open(request, session, {})

    def _fork(self, request: Request, params: dict[str, Any]) -> None:
        source, cwd, servers = (
            check.text(params, "sessionId"),
            _folder(params),
            check.servers(params),
        )
        self._store.read(source)
        session, _ = self._opened(self._store.fork(source, cwd), cwd, servers)
        self._open(request, session, {"sessionId": session.id})

    def _list(self, request: Request, params: dict[str, Any]) -> None:
        cursor = params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            raise invalid_params("`cursor` must be the nextCursor of an earlier page.")
        request.respond(self._store.page(check.folder(params, required=False), cursor))

    def _close(self, request: Request, params: dict[str, Any]) -> None:
        id = check.text(params, "sessionId")
        if not self._forget(id) and not self._store.has(id):
            raise unknown_session(id)
        request.respond({})

    def _delete(self, request: Request, params: dict[str, Any]) -> None:
        id = check.text(params, "sessionId")
        self._forget(id)
        self._store.delete(id)
        request.respond({})

    def _set_mode(self, request: Request, params: dict[str, Any]) -> None:
        session = self._session(params)
        session.settings.set_mode(check.text(params, "modeId"))
        self._mode_changed(session)
        self._notify(
            session,
            {"sessionUpdate": "config_option_update", "configOptions": self._options(session)},
        )
        request.respond({})

    def _set_option(self, request: Request, params: dict[str, Any]) -> None:
        session, option = self._session(params), check.text(params, "configId")
        session.settings.set(option, params.get("value"))
        if option == "mode":
            self._mode_changed(session)
        else:
            self._store.append(session.id, "settings", session.settings.saved())
        request.respond({"configOptions": self._options(session)})

    def _prompt(self, request: Request, params: dict[str, Any]) -> None:
        session, prompt = self._session(params), check.prompt(params)
        if session.turn is not None:
            raise RpcError(
                INVALID_REQUEST,
                "This session is still answering: wait for it, or send session/cancel first.",
            )
        turn = Turn(self._connection, self._client(session), session, self._store, prompt)
        session.turn = turn
        request.run(self._answer(turn))
        # Cancelling a task that has not begun skips its clean-up: the turn itself knows how to end.
        request.on_cancel = turn.cancel

    async def _answer(self, turn: Turn) -> dict[str, Any]:
        session = turn.session
        try:
            self._entitle(turn)
            for block in turn.prompt:
                update = {"sessionUpdate": "user_message_chunk", "content": block}
                session.used += characters(update)
                turn.record({**update, "messageId": turn.id})
            return {"stopReason": await answer(turn)}
        finally:
            session.turn = None
            turn.end()

    def _entitle(self, turn: Turn) -> None:
        session = turn.session
        words = " ".join(turn.text.split())
        if session.title is not None or not words:
            return
        session.title = words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1] + "…"
        self._store.append(session.id, "title", session.title)
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        self._notify(
            session,
            {
                "sessionUpdate": "session_info_update",
                "title": session.title,
                "updatedAt": now.replace("+00:00", "Z"),
            },
        )

    def _restore(self, params: dict[str, Any]) -> tuple[Session, list[dict[str, Any]]]:
        id, cwd, servers = check.text(params, "sessionId"), _folder(params), check.servers(params)
        opened = self._sessions.get(id)
        if opened is not None and opened.turn is not None:
            raise RpcError(INVALID_REQUEST, "This session is answering: cancel it first.")
        return self._opened(id, cwd, servers)

    def _opened(self, id: str, cwd: str, servers: int) -> tuple[Session, list[dict[str, Any]]]:
        saved = self._store.read(id)
        if saved.cwd != cwd:
            self._store.move(id, cwd)
        settings = Settings()
        settings.restore(saved.settings)
        used = sum(map(characters, saved.updates))
        session = Session(id, Path(cwd), saved.title, settings, used, servers)
        return session, saved.updates

    def _open(self, request: Request, session: Session, result: dict[str, Any]) -> None:
        self._sessions[session.id] = session
        settings = {"modes": session.settings.modes(), "configOptions": self._options(session)}
        request.respond({**result, **settings})
        self._notify(
            session,
            {"sessionUpdate": "available_commands_update", "availableCommands": advertised()},
        )
        if session.used:
            self._notify(session, session.usage())

    def _forget(self, id: str) -> bool:
        session = self._sessions.pop(id, None)
        if session is not None and session.turn is not None:
            session.turn.cancel()
        return session is not None

    def _mode_changed(self, session: Session) -> None:
        self._store.append(session.id, "settings", session.settings.saved())
        mode = session.settings.mode
        self._notify(session, {"sessionUpdate": "current_mode_update", "currentModeId": mode})

    def _session(self, params: dict[str, Any]) -> Session:
        id = check.text(params, "sessionId")
        session = self._sessions.get(id)
        if session is not None:
            return session
        if self._store.has(id):
            raise invalid_params(f"Session {id} is not open: session/load or session/resume it.")
        raise unknown_session(id)

    def _client(self, session: Session) -> Client:
        return Client(self._connection, self._capabilities or {}, session.id)

    def _options(self, session: Session) -> list[dict[str, Any]]:
        return session.settings.options(booleans=self._client(session).booleans)

    def _notify(self, session: Session, update: dict[str, Any]) -> None:
        self._connection.notify("session/update", {"sessionId": session.id, "update": update})


def _folder(params: dict[str, Any]) -> str:
    return str(check.folder(params))


def _version() -> str:
    # Imported here: reading installed metadata costs more than everything else at start-up.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0.0.0"
