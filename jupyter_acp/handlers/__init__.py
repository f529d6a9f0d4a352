# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The HTTP routes under `acp/`: each authorizes and parses the request, and delegates."""

from .api import (
    AgentLogHandler,
    AgentRestartHandler,
    AgentsHandler,
    FilesHandler,
    HealthHandler,
    MessagesHandler,
    SessionHandler,
    SessionsHandler,
)
from .archive import ElsewhereHandler, ExportHandler, ImportHandler, SearchHandler
from .mcp import McpHandler
from .ws import AcpWebSocketHandler

_ID = r"(?P<id>[^/]+)"

ROUTES = [
    (r"/acp/ws", AcpWebSocketHandler),
    (r"/acp/health", HealthHandler),
    (r"/acp/agents", AgentsHandler),
    (rf"/acp/agents/{_ID}/restart", AgentRestartHandler),
    (rf"/acp/agents/{_ID}/log", AgentLogHandler),
    (r"/acp/files", FilesHandler),
    (r"/acp/search", SearchHandler),
    (r"/acp/import", ImportHandler),
    (r"/acp/elsewhere", ElsewhereHandler),
    (r"/acp/sessions", SessionsHandler),
    (rf"/acp/sessions/{_ID}", SessionHandler),
    (rf"/acp/sessions/{_ID}/messages", MessagesHandler),
    (rf"/acp/sessions/{_ID}/export", ExportHandler),
]

PUBLIC_ROUTES = [(r"/acp/mcp", McpHandler)]
"""Routes for agents on other machines, registered only if `public_url` is set."""
