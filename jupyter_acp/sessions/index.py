# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The index of all sessions by their ids and aliases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..rpc import RpcError, invalid_params
from ..rpc.errors import NOT_FOUND

if TYPE_CHECKING:
    from .session import Session


class Index:
    """Finds sessions by their ids, or by the aliases that clients requested."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._aliases: dict[str, str] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def __contains__(self, id: str) -> bool:
        return id in self._sessions or id in self._aliases

    def all(self) -> list[Session]:
        """Return every session, the latest first."""
        return sorted(self, key=lambda session: session.record.updated, reverse=True)

    def get(self, id: str) -> Session:
        """Return a session by its id or alias; raise an error if there is none."""
        session = self._sessions.get(self._aliases.get(id, id))
        if session is None:
            raise RpcError(NOT_FOUND, f"There is no session {id!r}.", {"sessionId": id})
        return session

    def has(self, session: Session) -> bool:
        """Return True if the index contains this very session, not another one with its id."""
        return self._sessions.get(session.id) is session

    def named(self, params: Any) -> Any:
        """Return the parameters with an alias in `sessionId` replaced by the session's id."""
        id = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(id, str) and id in self._aliases:
            return {**params, "sessionId": self._aliases[id]}
        return params

    def add(self, session: Session) -> None:
        """Add a session and its alias."""
        self._sessions[session.id] = session
        self.reserve(session.record.alias, session.id)

    def hide(self, session: Session) -> None:
        """Remove a session from the index, but keep its alias reserved."""
        self._sessions.pop(session.id, None)

    def remove(self, session: Session) -> None:
        """Remove a session and its alias."""
        self.hide(session)
        alias = session.record.alias
        if alias is not None and self._aliases.get(alias) == session.id:
            del self._aliases[alias]

    def reserve(self, alias: str | None, id: str) -> None:
        """Reserve an alias for a session that may not be in the index yet."""
        if alias is not None:
            self._aliases[alias] = id

    def checked_alias(self, wanted: Any) -> str:
        """Return the requested alias; raise an error if it is invalid or taken."""
        if not isinstance(wanted, str) or not wanted or "/" in wanted or len(wanted) > 200:
            raise invalid_params(
                "requestedSessionId: must be a text of at most 200 characters, without slashes."
            )
        if wanted in self:
            raise invalid_params(f"requestedSessionId: there is a session {wanted!r} already.")
        return wanted
