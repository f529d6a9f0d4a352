# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What windows hear of sessions that they do not watch: that they have changed, and how."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from .. import protocol

if TYPE_CHECKING:
    from .session import Session

INTERVAL = 0.05
"""How long changes are gathered, in seconds: a busy session is told of once in that time."""


class Listener(Protocol):
    """A window that may want to know."""

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Tell it something that is in no transcript, if it can make sense of it."""


class Notifier:
    """Tells every window which sessions there are, as that changes."""

    def __init__(self, windows: Collection[Listener]) -> None:
        self._windows = windows
        self._changed: dict[str, Session] = {}
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, session: Session) -> None:
        """Tell soon what a session is like now."""
        self._changed[session.id] = session
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._tell_changes)

    def removed(self, id: str) -> None:
        """Tell that a session is no more."""
        self._changed.pop(id, None)
        self._tell(protocol.REMOVED, {"sessionId": id})

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Tell every window something else, at once."""
        self._tell(method, params)

    def close(self) -> None:
        """Tell nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _tell_changes(self) -> None:
        self._timer = None
        changed, self._changed = self._changed, {}
        for session in changed.values():
            self._tell(protocol.CHANGED, {"session": session.public()})

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        for window in list(self._windows):
            window.tell(method, params)
