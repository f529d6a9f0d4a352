# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a service has to know of the session that it works for, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class OpenCalls(Protocol):
    """The tool calls that an agent has in progress."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield what the agent has told of each."""

    def asked(self, told: Any) -> list[dict[str, Any]]:
        """Return what was told of the call that a permission request is about."""

    def claim(self, id: str) -> bool:
        """Take a call for one's own; return whether nobody had taken it before."""


class SessionView(Protocol):
    """A session, as the services see it."""

    @property
    def id(self) -> str:
        """Our id of the session."""

    @property
    def agent(self) -> str:
        """The id of its agent."""

    @property
    def cwd(self) -> str:
        """Its folder."""

    @property
    def roots(self) -> list[str]:
        """The folders that it may touch."""

    @property
    def is_remote(self) -> bool:
        """Whether its files are not here."""

    @property
    def ended(self) -> bool:
        """Whether nothing may be started for it any more."""

    @property
    def is_full(self) -> bool:
        """Whether its agent has left many answers unread."""

    @property
    def calls(self) -> OpenCalls:
        """The tool calls that its agent has in progress."""

    async def room(self) -> None:
        """Wait until its agent has read them."""

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Add a message to its transcript."""

    async def consult(self, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for a permission, in the words of `session/request_permission`."""
