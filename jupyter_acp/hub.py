# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An authorizer for shared servers of a JupyterHub: the owner works, guests watch.

    c.ServerApp.authorizer_class = "jupyter_acp.hub.GuestsWatch"

By default, everybody who has access to a server may do everything there. With this authorizer a
guest may only read: files, states of kernels, and transcripts as they grow. Guests with the hub's
scope `custom:acp:execute` for this server may do everything.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_server.auth import User
from jupyterhub.singleuser.extension import JupyterHubAuthorizer

EXECUTE = "custom:acp:execute"


class GuestsWatch(JupyterHubAuthorizer):  # type: ignore[misc]
    """Allows guests to read, and guests with the scope to do everything."""

    def is_authorized(self, handler: Any, user: User, action: str, resource: str) -> bool:
        """Return True if a user may perform an action."""
        if not super().is_authorized(handler, user, action, resource):
            return False
        guest: dict[str, Any] = user.hub_user  # type: ignore[attr-defined]
        owner, server = os.environ["JUPYTERHUB_USER"], os.environ.get("JUPYTERHUB_SERVER_NAME", "")
        # A service of the hub may have the same name as the owner.
        is_owner = guest["kind"] == "user" and guest["name"] == owner
        # The hub's check also accepts a scope for all servers, or for all servers of the owner.
        needed = f"{EXECUTE}!server={owner}/{server}"
        return is_owner or action == "read" or bool(self.hub_auth.check_scopes(needed, guest))
