# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which action each route needs."""

from __future__ import annotations

ACTIONS = {
    ("get", "/acp/ws"): "read",
    ("get", "/acp/health"): "read",
    ("get", "/acp/agents"): "read",
    ("post", "/acp/agents/ID/restart"): "execute",
    ("get", "/acp/agents/ID/log"): "execute",
    ("get", "/acp/files"): "execute",
    ("get", "/acp/search"): "read",
    ("post", "/acp/import"): "write",
    ("get", "/acp/elsewhere"): "execute",
    ("get", "/acp/sessions"): "read",
    ("post", "/acp/sessions"): "execute",
    ("get", "/acp/sessions/ID"): "read",
    ("patch", "/acp/sessions/ID"): "write",
    ("delete", "/acp/sessions/ID"): "write",
    ("get", "/acp/sessions/ID/messages"): "read",
    ("get", "/acp/sessions/ID/export"): "read",
}
"""What each route asks the authorizer for: a new route has to be thought about here."""
