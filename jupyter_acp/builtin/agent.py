# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The methods of the protocol, with their parameters and answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..rpc import Connection, Peer, Request, RpcError, invalid_params, method_not_found
from ..rpc.errors import INVALID_REQUEST
from .client import Client
from .commands import advertised, answer
from .session import Session, Sessions, characters, unknown
from .turn import Turn

PROTOCOL_VERSION = 1
DISTRIBUTION = "jupyter-acp-bridge"
TITLE_LENGTH = 60

CAPABILITIES: dict[str, Any] = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": False, "sse": False},
    "sessionCapabilities": {"list": {}, "resume": {}, "fork": {}, "close": {}, "delete": {}},
    "_meta": {"jupyter-acp": {"languageModel": False, "mcpServers": False}},
}
BLOCK_FIELDS: dict[str, tuple[str, type]] = {
    "text": ("text", str),
    "image": ("data", str),
    "audio": ("data", str),
    "resource_link": ("uri", str),
    "resource": ("resource", dict),
}


class Agent(Peer):
    """Serves one client and keeps its open sessions."""

    def __init__(self) -> None:
        self._stored = Sessions()
        self._connection: Connection
        self._capabilities: dict[str, Any] | None = None
        self._open: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}
        """The running turns, by the ids of their sessions."""
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
        """Use this connection to the client."""
        self._connection = connection
        return connection

    def on_request(self, request: Request) -> None:
        """Serve a request; requests are served in the order in which they arrive."""
        method = self._methods.get(request.method)
        if method is None:
            raise method_not_found(request.method)
        if self._capabilities is None and request.method != "initialize":
            raise RpcError(INVALID_REQUEST, f"{request.method}: send `initialize` first.")
        if not isinstance(request.params or {}, dict):
            raise invalid_params(f"{request.method}: params must be an object.")
        method(request, request.params or {})

    def on_notification(self, method: str, params: Any) -> None:
        """Cancel a turn; ignore all other notifications."""
        if method == "session/cancel" and isinstance(params, dict):
            self._cancel(_text(params, "sessionId"))

    def _initialize(self, request: Request, params: dict[str, Any]) -> None:
        if type(params.get("protocolVersion")) is not int:
            raise invalid_params("`protocolVersion` must be a number; this agent speaks 1.")
        capabilities = params.get("clientCapabilities")
        self._capabilities = capabilities if isinstance(capabilities, dict) else {}
        info = {"name": "jupyter-acp-builtin", "title": "Notebook Assistant", "version": _version()}
        request.respond(
            {
                "protocolVersion": PROTOCOL_VERSION,
                "agentInfo": info,
                "agentCapabilities": CAPABILITIES,
                "authMethods": [],
            }
        )

    def _authenticate(self, _request: Request, _params: dict[str, Any]) -> None:
        raise invalid_params("This agent needs no authentication: it offers no authMethods.")

    def _new(self, request: Request, params: dict[str, Any]) -> None:
        session = self._stored.create(_folder(params))
        self._opened(request, session, {"sessionId": session.id})

    def _load(self, request: Request, params: dict[str, Any]) -> None:
        session, updates = self._restored(params)

        async def replay() -> None:
            for update in updates:
                self._notify(session, update)
                await self._connection.room()
            self._opened(request, session, {})

        request.run(replay())

    def _resume(self, request: Request, params: dict[str, Any]) -> None:
        session, _ = self._restored(params)
        self._opened(request, session, {})

    def _fork(self, request: Request, params: dict[str, Any]) -> None:
        session = self._stored.fork(_text(params, "sessionId"), _folder(params))
        self._opened(request, session, {"sessionId": session.id})

    def _list(self, request: Request, params: dict[str, Any]) -> None:
        cwd = None if params.get("cwd") is None else str(_folder(params))
        # All sessions are on one page, so there is no cursor.
        request.respond({"sessions": self._stored.list(cwd)})

    def _close(self, request: Request, params: dict[str, Any]) -> None:
        id = _text(params, "sessionId")
        if not self._forget(id) and not self._stored.has(id):
            raise unknown(id)
        request.respond({})

    def _delete(self, request: Request, params: dict[str, Any]) -> None:
        id = _text(params, "sessionId")
        self._forget(id)
        self._stored.delete(id)
        request.respond({})

    def _set_mode(self, request: Request, params: dict[str, Any]) -> None:
        session = self._session(params)
        options = self._set(session, "mode", _text(params, "modeId"))
        self._notify(session, {"sessionUpdate": "config_option_update", "configOptions": options})
        request.respond({})

    def _set_option(self, request: Request, params: dict[str, Any]) -> None:
        session = self._session(params)
        options = self._set(session, _text(params, "configId"), params.get("value"))
        request.respond({"configOptions": options})

    def _set(self, session: Session, option: str, value: Any) -> list[dict[str, Any]]:
        session.settings.set(option, value)
        session.write(settings=session.settings.saved())
        if option == "mode":
            self._notify(session, {"sessionUpdate": "current_mode_update", "currentModeId": value})
        return self._options(session)

    def _prompt(self, request: Request, params: dict[str, Any]) -> None:
        session, prompt = self._session(params), _blocks(params)
        if session.id in self._turns:
            raise RpcError(
                INVALID_REQUEST,
                "This session is still answering: wait for it, or send session/cancel first.",
            )
        turn = self._turns[session.id] = Turn(
            self._connection, self._client(session), session, prompt
        )
        request.run(self._answer(session, turn))
        # Cancelling a task that has not begun would skip its clean-up, so cancel the turn instead.
        request.on_cancel = turn.cancel

    async def _answer(self, session: Session, turn: Turn) -> dict[str, Any]:
        try:
            self._entitle(session, turn)
            for block in turn.prompt:
                update = {"sessionUpdate": "user_message_chunk", "content": block}
                session.used += characters(update)
                turn.record({**update, "messageId": turn.id})
            return {"stopReason": await answer(turn)}
        finally:
            del self._turns[session.id]
            turn.end()

    def _entitle(self, session: Session, turn: Turn) -> None:
        words = " ".join(turn.text.split())
        if session.title is not None or not words:
            return
        session.title = words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1] + "…"
        session.write(title=session.title)
        told = {"title": session.title, "updatedAt": datetime.now(timezone.utc).isoformat()}
        self._notify(session, {"sessionUpdate": "session_info_update", **told})

    def _restored(self, params: dict[str, Any]) -> tuple[Session, list[dict[str, Any]]]:
        id, cwd = _text(params, "sessionId"), _folder(params)
        if id in self._turns:
            raise RpcError(INVALID_REQUEST, "This session is answering: cancel it first.")
        session, updates = self._stored.read(id)
        if session.cwd != cwd:
            session.cwd = cwd
            session.write(cwd=str(cwd))
        return session, updates

    def _opened(self, request: Request, session: Session, result: dict[str, Any]) -> None:
        self._open[session.id] = session
        settings = {"modes": session.settings.modes(), "configOptions": self._options(session)}
        request.respond({**result, **settings})
        self._notify(
            session,
            {"sessionUpdate": "available_commands_update", "availableCommands": advertised()},
        )
        if session.used:
            self._notify(session, session.usage())

    def _forget(self, id: str) -> bool:
        self._cancel(id)
        return self._open.pop(id, None) is not None

    def _cancel(self, id: str) -> None:
        if (turn := self._turns.get(id)) is not None:
            turn.cancel()

    def _session(self, params: dict[str, Any]) -> Session:
        id = _text(params, "sessionId")
        if id in self._open:
            return self._open[id]
        if self._stored.has(id):
            raise invalid_params(f"Session {id} is not open: session/load or session/resume it.")
        raise unknown(id)

    def _client(self, session: Session) -> Client:
        return Client(self._connection, self._capabilities or {}, session.id)

    def _options(self, session: Session) -> list[dict[str, Any]]:
        booleans = self._client(session).offers("session", "configOptions", "boolean")
        return session.settings.options(booleans=booleans)

    def _notify(self, session: Session, update: dict[str, Any]) -> None:
        self._connection.notify("session/update", {"sessionId": session.id, "update": update})


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise invalid_params(f"`{name}` must be a non-empty string.")
    return value


def _folder(params: dict[str, Any]) -> Path:
    cwd = Path(_text(params, "cwd"))
    if not cwd.is_absolute():
        raise invalid_params(f"`cwd` must be an absolute path, not {str(cwd)!r}.")
    return cwd


def _blocks(params: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = params.get("prompt")
    if not isinstance(blocks, list) or not blocks:
        raise invalid_params("`prompt` must be a non-empty list of content blocks.")
    for index, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, dict) else None
        field, expected = BLOCK_FIELDS.get(str(kind), ("type", dict))
        if not isinstance(block, dict) or not isinstance(block.get(field), expected):
            words = f"`prompt[{index}].{field}` is missing, or not one that this agent takes."
            raise invalid_params(words)
    return blocks


def _version() -> str:
    # Imported here: this takes longer than everything else at start-up.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0.0.0"
