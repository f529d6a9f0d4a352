# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which sessions there are, and the ids that they are known by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..rpc import RpcError, invalid_params
from ..rpc.errors import NOT_FOUND

if TYPE_CHECKING:
    from .session import Session


class Index:
    """Finds sessions by their own ids, or by those that they were wanted to have."""

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
        """Return a session, by its id or by the one it was wanted to have, or say that there is none."""
        session = self._sessions.get(self._aliases.get(id, id))
        if session is None:
            raise RpcError(NOT_FOUND, f"There is no session {id!r}.", {"sessionId": id})
        return session

    def has(self, session: Session) -> bool:
        """Whether a session is still there, and not only one of the same name."""
        return self._sessions.get(session.id) is session

    def named(self, params: Any) -> Any:
        """Return parameters with the session's own id, where it is called by another."""
        id = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(id, str) and id in self._aliases:
            return {**params, "sessionId": self._aliases[id]}
        return params

    def add(self, session: Session) -> None:
        """Let a session be found."""
        self._sessions[session.id] = session
        self.reserve(session.record.alias, session.id)

    def hide(self, session: Session) -> None:
        """Let a session no longer be found; nobody else may have its other id yet."""
        self._sessions.pop(session.id, None)

    def remove(self, session: Session) -> None:
        """Forget a session and its other id."""
        self.hide(session)
        alias = session.record.alias
        if alias is not None and self._aliases.get(alias) == session.id:
            del self._aliases[alias]

    def reserve(self, alias: str | None, id: str) -> None:
        """Let a session have another id, before it is there itself."""
        if alias is not None:
            self._aliases[alias] = id

    def checked_alias(self, wanted: Any) -> str:
        """Return the id that a session is to be known by as well, if it is nobody's yet."""
        if not isinstance(wanted, str) or not wanted or "/" in wanted or len(wanted) > 200:
            raise invalid_params(
                "requestedSessionId: must be a text of at most 200 characters, without slashes."
            )
        if wanted in self:
            raise invalid_params(f"requestedSessionId: there is a session {wanted!r} already.")
        return wanted
