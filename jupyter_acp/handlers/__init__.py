# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The routes under `acp/`: each checks who asks, reads what is asked, and delegates."""

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
"""Those for agents that are elsewhere, which are there only if somebody has said where this server is."""
