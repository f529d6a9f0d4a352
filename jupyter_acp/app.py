# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The server extension: its traits, its wiring, its start and its end."""

from __future__ import annotations

import asyncio
import atexit
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_data_dir
from jupyter_server.extension.application import ExtensionApp
from tornado.ioloop import IOLoop
from traitlets import Dict, Enum, Float, Integer, List, Unicode, default

from .handlers import ROUTES

if TYPE_CHECKING:
    from .sessions.manager import SessionManager


class AcpExtension(ExtensionApp):
    """Agents of the Agent Client Protocol, in Jupyter."""

    name = "jupyter_acp"
    app_name = "Jupyter ACP"
    description = "Work with coding agents on live notebooks"

    agents = Dict(
        help="""Agents by id, besides those that are found:
        `{"my-agent": {"name": ..., "argv": [...] or "url": ..., "env": {...}, "headers": {...}}}`.
        """,
    ).tag(config=True)

    default_agent = Unicode(
        "", help="The id of the agent for new sessions; the built-in one if empty."
    ).tag(config=True)

    allowed_agents = List(
        Unicode(), help="The ids of the agents that may be used, or patterns; all if empty."
    ).tag(config=True)

    registry = Unicode(
        "", help="Path or URL of an ACP registry file with more agents; none if empty."
    ).tag(config=True)

    journal = Unicode(help="The SQLite file that sessions are kept in.").tag(config=True)

    @default("journal")
    def _default_journal(self) -> str:
        return str(Path(jupyter_data_dir()) / "acp" / "journal.sqlite")

    max_message_size = Integer(
        64 * 1024 * 1024, help="The longest message that is taken, in bytes (64 MiB)."
    ).tag(config=True)

    window_buffer = Integer(
        8 * 1024 * 1024,
        help="How much a window may leave unread before it is dropped, in bytes (8 MiB).",
    ).tag(config=True)

    initialize_timeout = Float(
        120.0, help="How long an agent may take to start, in seconds (120)."
    ).tag(config=True)

    stop_grace = Float(
        3.0, help="How long an agent may take to end before it is forced to, in seconds (3)."
    ).tag(config=True)

    workspace = List(
        Enum(["openDocuments", "recentDocuments", "activeDocument"]),
        ["openDocuments", "recentDocuments", "activeDocument"],
        help="""What agents may ask of the user's workspace: the documents that are open, those that
        were open lately, and the one that is looked at. Users can share less in their settings, never
        more.
        """,
    ).tag(config=True)

    def initialize_settings(self) -> None:
        """Prepare, but load nothing: most servers start long before the first session."""
        self._manager: SessionManager | None = None
        self._starting = asyncio.Lock()

    def initialize_handlers(self) -> None:
        """Register the routes."""
        self.handlers.extend(ROUTES)

    async def manager(self) -> SessionManager:
        """Return the session manager, made at first use."""
        if self._manager is None:
            async with self._starting:
                if self._manager is None:
                    self._manager = await self._make_manager()
        return self._manager

    def touch(self) -> None:
        """Count as activity, so that a server that is worked with is not culled."""
        from jupyter_server._tz import utcnow

        assert self.serverapp is not None
        self.serverapp.web_app.settings["acp_last_activity"] = utcnow()

    def current_activity(self) -> dict[str, Any]:
        """Report running turns only: a session that is merely open keeps no server alive."""
        running = self._manager.running if self._manager is not None else []
        return {session.id: session.public() for session in running}

    def health(self) -> dict[str, Any]:
        """Say how it is, without starting anything."""
        manager = self._manager
        return {
            "status": "ok",
            "version": _version(),
            "sessions": len(manager.all()) if manager else 0,
            "running": len(manager.running) if manager else 0,
        }

    async def stop_extension(self) -> None:
        """End every agent and save everything."""
        if self._manager is not None:
            manager, self._manager = self._manager, None
            await manager.close()
            atexit.unregister(manager.close_now)

    async def _make_manager(self) -> SessionManager:
        # Imported here: what an idle server never needs should not slow its start.
        from .agents.catalog import Catalog
        from .client.dispatch import ClientServices
        from .client.files import Files
        from .client.terminals import Terminals
        from .client.workspace import Workspace
        from .sessions.manager import Limits, SessionManager

        root_dir = self._root_dir()
        catalog = Catalog(
            self.agents,
            allowed=self.allowed_agents,
            registry=self.registry,
            default=self.default_agent,
        )
        if self.registry:
            await IOLoop.current().run_in_executor(None, catalog.refresh)
        manager = SessionManager(
            catalog=catalog,
            services=ClientServices(
                Files(root_dir),
                Terminals(root_dir),
                Workspace(self._contents_root(), shared=self.workspace),
            ),
            journal=Path(self.journal),
            root_dir=root_dir,
            limits=Limits(
                message=self.max_message_size,
                window_buffer=self.window_buffer,
                initialize_timeout=self.initialize_timeout,
                stop_grace=self.stop_grace,
            ),
            client_info={"name": "jupyter_acp", "title": "Jupyter ACP", "version": _version()},
            on_activity=self.touch,
            log=self.log,
        )
        await manager.open()
        # A server that is interrupted without a terminal ends without stopping its extensions.
        atexit.register(manager.close_now)
        return manager

    def _root_dir(self) -> str:
        assert self.serverapp is not None
        return os.path.realpath(Path(self.serverapp.root_dir).expanduser())

    def _contents_root(self) -> str | None:
        """Return the folder that contents paths begin at, if they are paths of files at all."""
        from jupyter_server.services.contents.fileio import FileManagerMixin

        assert self.serverapp is not None
        contents = self.serverapp.contents_manager
        if not isinstance(contents, FileManagerMixin):
            return None
        return os.path.realpath(Path(contents.root_dir).expanduser())


def _version() -> str:
    from . import __version__

    return str(__version__)
