# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the handlers share: the name that the authorizer knows us by, and the way to the manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from jupyter_server.extension.handler import ExtensionHandlerMixin

if TYPE_CHECKING:
    from ..sessions.manager import SessionManager
    from ..tools.remote_agents import RemoteAgents

AUTH_RESOURCE = "acp"


class Extension(Protocol):
    """The server extension, as far as its handlers need it."""

    max_message_size: int
    remote_agents: RemoteAgents | None

    async def manager(self) -> SessionManager:
        """Return the session manager, made at first use."""

    def health(self) -> dict[str, Any]:
        """Return the state of the server, without starting anything."""

    def touch(self) -> None:
        """Count as activity."""


class AcpHandlerMixin(ExtensionHandlerMixin):
    """A handler of this extension."""

    auth_resource = AUTH_RESOURCE

    @property
    def acp(self) -> Extension:
        """The extension."""
        return cast("Extension", self.extensionapp)

    async def manager(self) -> SessionManager:
        """Return the manager; it is made when it is first asked for."""
        return await self.acp.manager()
