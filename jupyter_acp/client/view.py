# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The interface of sessions for services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class OpenCalls(Protocol):
    """The tool calls that an agent has in progress."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the fields that the agent has reported of each call."""

    def asked(self, told: Any) -> list[dict[str, Any]]:
        """Return the reports about the call that a permission request is for."""

    def claim(self, id: str) -> bool:
        """Reserve a call; return False if it was reserved before."""


class SessionView(Protocol):
    """A session, as services see it."""

    @property
    def id(self) -> str:
        """Id of the session on this server."""

    @property
    def agent(self) -> str:
        """Id of its agent."""

    @property
    def cwd(self) -> str:
        """Working folder."""

    @property
    def roots(self) -> list[str]:
        """Folders that its agent may use."""

    @property
    def is_remote(self) -> bool:
        """True if its files are on another machine."""

    @property
    def ended(self) -> bool:
        """True if nothing may be started for it any more."""

    @property
    def is_full(self) -> bool:
        """True if its agent has many unread answers."""

    @property
    def calls(self) -> OpenCalls:
        """The tool calls that its agent has in progress."""

    async def room(self) -> None:
        """Wait until its agent has read its answers."""

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Add a message to the transcript."""

    async def consult(self, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for permission, with the parameters of `session/request_permission`."""
