# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the handlers share: the name that the authorizer knows us by, and the way to the manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jupyter_server.extension.handler import ExtensionHandlerMixin

if TYPE_CHECKING:
    from ..app import AcpExtension
    from ..sessions.manager import SessionManager

AUTH_RESOURCE = "acp"


class AcpHandlerMixin(ExtensionHandlerMixin):
    """A handler of this extension."""

    auth_resource = AUTH_RESOURCE

    @property
    def acp(self) -> AcpExtension:
        """The extension."""
        return cast("AcpExtension", self.extensionapp)

    async def manager(self) -> SessionManager:
        """Return the manager; it is made when it is first asked for."""
        return await self.acp.manager()
