# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""For servers of a JupyterHub that others may be let into: the owner works, guests watch.

    c.ServerApp.authorizer_class = "jupyter_acp.hub.GuestsWatch"

A hub lets in whoever has access to a server, and then everybody may do everything. Here a guest may
read: files, kernels' states, transcripts as they grow. Only who has the scope `custom:acp:execute` of
the hub for this server may do more.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_server.auth import User
from jupyterhub.singleuser.extension import JupyterHubAuthorizer

EXECUTE = "custom:acp:execute"


class GuestsWatch(JupyterHubAuthorizer):  # type: ignore[misc]
    """Lets guests read, and those with the scope do what the owner can."""

    def is_authorized(self, handler: Any, user: User, action: str, resource: str) -> bool:
        """Decide about one action of one user."""
        if not super().is_authorized(handler, user, action, resource):
            return False
        guest: dict[str, Any] = user.hub_user  # type: ignore[attr-defined]
        owner, server = os.environ["JUPYTERHUB_USER"], os.environ.get("JUPYTERHUB_SERVER_NAME", "")
        # A service of the hub may have the name of a user.
        is_owner = guest["kind"] == "user" and guest["name"] == owner
        # The hub's own comparison: a scope for all servers, or all of the owner's, is one for this.
        needed = f"{EXECUTE}!server={owner}/{server}"
        return is_owner or action == "read" or bool(self.hub_auth.check_scopes(needed, guest))
