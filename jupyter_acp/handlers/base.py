# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The base of all handlers: the authorization resource and access to the session manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from jupyter_server.extension.handler import ExtensionHandlerMixin

if TYPE_CHECKING:
    from ..sessions.manager import SessionManager
    from ..tools.remote_agents import RemoteAgents

AUTH_RESOURCE = "acp"


class Extension(Protocol):
    """The part of the server extension that its handlers use."""

    max_message_size: int
    remote_agents: RemoteAgents | None

    async def manager(self) -> SessionManager:
        """Return the session manager, created at first use."""

    def health(self) -> dict[str, Any]:
        """Return the state of the server, without starting anything."""

    def touch(self) -> None:
        """Record activity of the user."""


class AcpHandlerMixin(ExtensionHandlerMixin):
    """Gives a handler access to the extension."""

    auth_resource = AUTH_RESOURCE

    @property
    def acp(self) -> Extension:
        """The server extension."""
        return cast("Extension", self.extensionapp)

    async def manager(self) -> SessionManager:
        """Return the session manager, created at first use."""
        return await self.acp.manager()
