# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The server extension: its traits, its wiring, its start and its end."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir
from jupyter_server.extension.application import ExtensionApp
from tornado.ioloop import PeriodicCallback
from traitlets import Bool, Dict, Enum, Float, Integer, List, Unicode, default

from .handlers import PUBLIC_ROUTES, ROUTES
from .version import installed_version

if TYPE_CHECKING:
    from .client.mcp_servers import Servers
    from .client.permissions.policy import Rules
    from .client.view import SessionView
    from .remote.options import RemoteOptions
    from .services import ClientServices
    from .sessions.manager import SessionManager
    from .tools.channel import Channel
    from .tools.own_calls import OwnCalls
    from .tools.remote_agents import RemoteAgents
    from .tools.tool import Services

CONTENTS_EVENT = "https://events.jupyter.org/jupyter_server/contents_service/v1"
PERMISSION_EVENT = "https://events.jupyter.org/jupyter_acp/permission/v1"
PULSE = 5.0
"""How often a running turn counts as activity, in seconds, also if nothing is heard of it."""


class AcpExtension(ExtensionApp):
    """Agents of the Agent Client Protocol, in Jupyter."""

    name = "jupyter_acp"
    app_name = "Jupyter ACP"
    description = "Work with coding agents on live notebooks"

    agents = Dict(
        help="""Agents by id, besides those that are found: `{"my-agent": {"argv": ["my-agent",
        "--acp"]}}`. Fields: `argv` or `url`, `env` (of a command) or `headers` (of a url),
        `name`, `description`, `icon`, `install`.
        """,
    ).tag(config=True)

    default_agent = Unicode(
        "",
        help="""The id of the agent for sessions that name none; if empty, the built-in one, or the
        first that is ready where that is not allowed.
        """,
    ).tag(config=True)

    allowed_agents = List(
        Unicode(),
        help="""The ids of the agents that may be used, or patterns such as `claude*`; others are not
        listed. All if empty.
        """,
    ).tag(config=True)

    registry = Unicode(
        "",
        help="""Path or URL of an ACP registry file with more agents; none if empty. Nothing is fetched
        unless it is set.
        """,
    ).tag(config=True)

    journal = Unicode(help="The SQLite file that sessions are kept in.").tag(config=True)

    @default("journal")
    def _default_journal(self) -> str:
        return str(Path(jupyter_data_dir()) / "acp" / "journal.sqlite")

    max_message_size = Integer(
        64 * 1024 * 1024,
        help="""The longest message that is taken, from a window or an agent, in bytes.
        """,
    ).tag(config=True)

    window_buffer = Integer(
        8 * 1024 * 1024,
        help="""How much a window may leave unread, while it takes nothing, before it is dropped, in
        bytes.
        """,
    ).tag(config=True)

    initialize_timeout = Float(
        120.0,
        help="""How long an agent may take to start and to answer `initialize`, in seconds.
        """,
    ).tag(config=True)

    request_timeout = Float(
        120.0,
        help="""How long an agent may take to open, find or set up a session, in seconds. A turn may
        take as long as it takes.
        """,
    ).tag(config=True)

    stop_grace = Float(
        3.0, help="How long an agent may take to end before it is forced to, in seconds."
    ).tag(config=True)

    max_sessions = Integer(
        1000,
        help="How many sessions may be open at once; closed ones do not count.",
    ).tag(config=True)

    max_terminals = Integer(
        50,
        help="""How many commands an agent may have running in a session at once, those included that
        wait to be allowed.
        """,
    ).tag(config=True)

    keep_days = Float(
        0.0, help="How many days a session is kept after it was last worked in; 0 is for ever."
    ).tag(config=True)

    keep_sessions = Integer(
        0, help="How many sessions are kept, the oldest closed ones going first; 0 is all of them."
    ).tag(config=True)

    keep_size = Integer(
        0,
        help="""How many MiB all transcripts together may take before the oldest sessions go; 0 is as
        many as they need.
        """,
    ).tag(config=True)

    remote_schemes = List(
        Enum(["https", "ssh", "http", "file"]),
        ["https", "ssh"],
        help="""What the addresses of repositories of remote sessions may begin with; `http` and `file`
        can be added.
        """,
    ).tag(config=True)

    remote_hosts = List(
        Unicode(),
        help="""The hosts that such repositories may be on, or patterns such as `*.example.org`; all if
        empty.
        """,
    ).tag(config=True)

    remote_branch = Unicode(
        "acp/{session}",
        help="""What the branches are called that remote sessions come back as; `{session}` stands for
        the session's id.
        """,
    ).tag(config=True)

    remote_author = Unicode(
        "", help="Who makes their commits, `Name <address>`; as git is configured if empty."
    ).tag(config=True)

    remote_timeout = Float(
        600.0, help="How long a clone, a fetch or a push may take, in seconds."
    ).tag(config=True)

    remote_size = Integer(
        2000,
        help="""How much of a repository may be fetched at once, and how large its files may be, also
        with what the agent makes, in MB.
        """,
    ).tag(config=True)

    remote_files = Integer(
        100_000, help="How many files a repository may have, also with what the agent makes."
    ).tag(config=True)

    remote_cache = Unicode(help="The folder that repositories and working trees are kept in.").tag(
        config=True
    )

    @default("remote_cache")
    def _default_remote_cache(self) -> str:
        return str(Path(jupyter_data_dir()) / "acp" / "remote")

    remote_keep_days = Float(
        30.0,
        help="""How many days repositories and working trees are kept that nobody uses; work that was
        never brought back stays.
        """,
    ).tag(config=True)

    workspace = List(
        Enum(["openDocuments", "recentDocuments", "activeDocument"]),
        ["openDocuments", "recentDocuments", "activeDocument"],
        help="""What agents may ask of the user's workspace: the documents that are open, those that
        were open lately, and the one that is looked at. Users can share less in their settings, never
        more.
        """,
    ).tag(config=True)

    tools = Bool(
        True,
        help="""Whether agents get the MCP server `jupyter`, with tools to read, change and run notebooks.
        """,
    ).tag(config=True)

    public_url = Unicode(
        "",
        help="""The address at which agents that are elsewhere reach this server, with its base path:
        `https://example.org/user/ada/`. Those that take MCP servers by HTTP then get the tools at
        `acp/mcp` below it, each session with a secret of its own. Nothing is served there if empty.
        """,
    ).tag(config=True)

    mcp_servers = Dict(
        help="""MCP servers for every session on this machine, by name, besides those of the user:
        `{"issues": {"command": "issues-mcp", "args": ["--all"], "env": {"TOKEN": "${ISSUES_TOKEN}"}}}`,
        or `{"url": "https://example.org/mcp", "type": "http", "headers": {}}`, `type` being `http` or
        `sse`. `${NAME}` stands for a secret of the user's file or of the server's environment.
        """,
    ).tag(config=True)

    permissions = Dict(
        help="""Rules for what agents do through this server, by agent, `*` being all of them: `{"*":
        [{"kind": "terminal", "match": "git status", "decision": "allow"}]}`. `kind` is `read`,
        `write`, `terminal`, `run`, `restart` or `*`; `decision` is `allow`, `ask` or `deny`. An agent's
        own rules come first; the first that fits decides, before any rule of a user.
        """,
    ).tag(config=True)

    def initialize_settings(self) -> None:
        """Prepare, but load nothing: most servers start long before the first session."""
        self._manager: SessionManager | None = None
        self._listener: Any = None
        self.remote_agents: RemoteAgents | None = None
        self._starting = asyncio.Lock()
        self._pulse = PeriodicCallback(self._touch_if_running, PULSE * 1000)

    def initialize_handlers(self) -> None:
        """Register the routes."""
        self.handlers.extend(ROUTES)
        if self.public_url and self.tools:
            self.handlers.extend(PUBLIC_ROUTES)

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

    def _touch_if_running(self) -> None:
        """Keep whoever culls by the time of the last activity, as hubs do, from ending a turn."""
        if self._manager is not None and self._manager.running:
            self.touch()

    def current_activity(self) -> dict[str, Any]:
        """Report running turns only: a session that is merely open keeps no server alive."""
        running = self._manager.running if self._manager is not None else []
        return {session.id: session.public() for session in running}

    def health(self) -> dict[str, Any]:
        """Say how it is, without starting anything."""
        manager = self._manager
        return {
            "status": "ok",
            "version": installed_version(),
            "sessions": len(manager.all()) if manager else 0,
            "running": len(manager.running) if manager else 0,
        }

    async def stop_extension(self) -> None:
        """End every agent and save everything."""
        self._pulse.stop()
        if self._manager is not None:
            manager, self._manager = self._manager, None
            await manager.close()
            atexit.unregister(manager.close_now)

    async def _make_manager(self) -> SessionManager:
        # Imported here: what an idle server never needs should not slow its start.
        from .agents.catalog import Catalog
        from .history.retention import Retention
        from .sessions.limits import Limits
        from .sessions.manager import SessionManager

        catalog = Catalog(
            self.agents,
            allowed=self.allowed_agents,
            registry=self.registry,
            default=self.default_agent,
        )
        if self.registry:
            await asyncio.to_thread(catalog.refresh)
        manager = SessionManager(
            catalog=catalog,
            services=self._make_services(),
            journal=Path(self.journal),
            root_dir=self._root_dir(),
            limits=Limits(
                message=self.max_message_size,
                window_buffer=self.window_buffer,
                initialize_timeout=self.initialize_timeout,
                request_timeout=self.request_timeout,
                stop_grace=self.stop_grace,
                sessions=self.max_sessions,
                remote=self._remote_options(),
                retention=Retention(self.keep_days, self.keep_sessions, self.keep_size),
            ),
            client_info={
                "name": "jupyter_acp",
                "title": "Jupyter ACP",
                "version": installed_version(),
            },
            on_activity=self.touch,
            log=self.log,
        )
        await manager.open()
        self._pulse.start()
        # A server that is interrupted without a terminal ends without stopping its extensions.
        atexit.register(manager.close_now)
        return manager

    def _remote_options(self) -> RemoteOptions:
        from .remote.options import RemoteOptions

        return RemoteOptions(
            **{name: getattr(self, f"remote_{name}") for name in RemoteOptions.model_fields}
        )

    def _make_services(self) -> ClientServices:
        from .client.documents.changes import Changes
        from .client.documents.contents import Contents
        from .client.documents.file_locks import FileLocks
        from .client.documents.files import Files
        from .client.documents.live import Documents
        from .client.documents.showing import Showing
        from .client.documents.watcher import Watcher
        from .client.large_answers import LargeAnswers
        from .client.notebooks.control import KernelControl
        from .client.notebooks.kernels import Kernels
        from .client.notebooks.running import Running
        from .client.notebooks.service import Notebooks
        from .client.permissions.named_files import NamedFiles
        from .client.permissions.service import Permissions
        from .client.terminals import Terminals
        from .client.workspace import Workspace
        from .context.editor import Editor
        from .services import ClientServices
        from .tools.cli import program
        from .tools.tool import Services

        assert self.serverapp is not None
        root_dir, contents_root = self._root_dir(), self._contents_root()
        permissions = Permissions(self.rules(), self._permission_decided)
        workspace = Workspace(contents_root, shared=self.workspace)
        contents = Contents(self.serverapp.contents_manager, contents_root)
        terminals = self.serverapp.web_app.settings.get("terminal_manager")
        documents = Documents(
            workspace.find, getattr(self.serverapp.contents_manager, "hash_algorithm", "sha256")
        )
        watcher = Watcher(documents, workspace.files, workspace.is_away, self.log)
        self._on_save(contents_root, watcher.saved)
        turns = FileLocks()
        changes = Changes(root_dir)
        large_answers = LargeAnswers()
        files = Files(
            root_dir, documents, contents, permissions, turns, changes.note, large_answers
        )
        notebooks = Notebooks(root_dir, documents, contents, permissions, turns, changes.note)
        kernels = Kernels(
            self.serverapp.kernel_manager,
            self.serverapp.session_manager,
            self.serverapp.kernel_spec_manager,
            contents_root,
        )
        running = Running(root_dir, documents, notebooks, kernels, permissions)
        control = KernelControl(root_dir, documents, kernels, permissions)
        showing = Showing(root_dir, documents, workspace, permissions)
        services = Services(workspace, notebooks, running, kernels, control, showing)
        tools, own_calls = self._make_tools(services) if self.tools else (None, None)
        return ClientServices(
            files,
            Terminals(
                root_dir,
                permissions,
                large_answers,
                terminals,
                self.max_terminals,
                program() if self.tools else (),
            ),
            workspace,
            permissions,
            watcher,
            notebooks,
            changes,
            NamedFiles(root_dir),
            Editor(root_dir, workspace, documents, notebooks, kernels, permissions),
            self.servers(),
            tools,
            own_calls,
        )

    def _make_tools(self, services: Services) -> tuple[Channel, OwnCalls]:
        from .tools import mcp
        from .tools.channel import Channel
        from .tools.cli import program
        from .tools.own_calls import OwnCalls
        from .tools.remote_agents import RemoteAgents
        from .tools.toolbox import TOOLS, Toolbox

        def make(session: SessionView) -> mcp.Server:
            toolbox = Toolbox(services, session, own_calls.claim)
            return mcp.Server(toolbox, installed_version(), self.log)

        async def serve(session: SessionView, reader: Any, writer: Any) -> None:
            await mcp.serve(make(session), reader, writer, self.max_message_size, self.log)

        self.remote_agents = RemoteAgents(make, self.public_url)
        # Not where this server's is configured to be: a command has to find it that knows of none.
        channel = Channel(jupyter_runtime_dir(), serve, self.log, self.remote_agents)
        own_calls = OwnCalls(channel.name_in, channel.name_in_use, services, TOOLS, program())
        return channel, own_calls

    def _on_save(self, root: str | None, saved: Callable[[Path], None]) -> None:
        """Tell of every file that is saved by Jupyter itself; only the latest wants to know."""
        from .paths import os_path

        async def listen(logger: Any, schema_id: str, data: dict[str, Any]) -> None:  # noqa: ARG001
            path = os_path(root, data.get("path", ""))
            if data.get("action") == "save" and path is not None:
                saved(path.resolve())

        assert self.serverapp is not None
        logger = self.serverapp.event_logger
        if logger is not None:
            if self._listener is not None:
                logger.remove_listener(schema_id=CONTENTS_EVENT, listener=self._listener)
            self._listener = listen
            logger.add_listener(schema_id=CONTENTS_EVENT, listener=listen)

    def rules(self) -> Rules:
        """Return what the administrator allows and forbids, or say what is wrong with it."""
        from .client.permissions.policy import rules_of
        from .rpc import RpcError
        from .rpc.errors import UNAVAILABLE

        try:
            return rules_of(self.permissions)
        except ValueError as error:
            # Without its rules nothing may happen: a typing error must not become a permission.
            raise RpcError(
                UNAVAILABLE, f"AcpExtension.permissions has to be mended first: {error}"
            ) from None

    def servers(self) -> Servers:
        """Return the MCP servers that are set up here."""
        from .client.mcp_servers import SECRETS_FILE, Servers

        assert self.serverapp is not None
        return Servers(self.mcp_servers, Path(self.serverapp.config_dir) / SECRETS_FILE)

    def _permission_decided(self, decision: dict[str, Any]) -> None:
        """Tell those who keep an eye on this server."""
        assert self.serverapp is not None
        logger = self.serverapp.event_logger
        if logger is not None:
            if PERMISSION_EVENT not in logger.schemas:
                logger.register_event_schema(Path(__file__).parent / "events" / "permission.yaml")
            logger.emit(schema_id=PERMISSION_EVENT, data=decision)

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
