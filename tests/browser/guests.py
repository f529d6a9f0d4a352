# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Whoever comes with the cookie of a guest may look at everything, and do nothing."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth import AllowAllAuthorizer


class Guests(AllowAllAuthorizer):
    """Tells guests from others by what their browser sends."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        """Let guests read what is ours; of the rest, only our own matters here."""
        del user
        return resource != "acp" or action == "read" or "guest" not in handler.request.cookies
