# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notifications to all windows about changed and removed sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from .. import protocol

if TYPE_CHECKING:
    from .session import Session

INTERVAL = 0.05
"""Time for which changes are collected, in seconds; a session is reported once per interval."""


class Listener(Protocol):
    """A window that receives notifications."""

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to no transcript, if the window understands it."""


class Notifier:
    """Keeps the lists of sessions in all windows up to date."""

    def __init__(self, windows: Collection[Listener]) -> None:
        self._windows = windows
        self._changed: dict[str, Session] = {}
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, session: Session) -> None:
        """Report the new description of a session at the end of the interval."""
        self._changed[session.id] = session
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._tell_changes)

    def removed(self, id: str) -> None:
        """Report that a session was removed."""
        self._changed.pop(id, None)
        self._tell(protocol.REMOVED, {"sessionId": id})

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification to every window at once."""
        self._tell(method, params)

    def close(self) -> None:
        """Cancel the pending report."""
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
