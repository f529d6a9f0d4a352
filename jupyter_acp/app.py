# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The server extension: its traits, and the creation and end of its parts."""

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
from traitlets import (
    Bool,
    Bunch,
    Dict,
    DottedObjectName,
    Enum,
    Float,
    Integer,
    List,
    TraitError,
    Unicode,
    default,
    validate,
)
from traitlets.utils.importstring import import_item

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
MANAGER = "jupyter_acp.sessions.manager.SessionManager"
PULSE = 5.0
"""Interval at which a running turn counts as activity, in seconds, even without output."""


class AcpExtension(ExtensionApp):
    """The server extension, which connects agents of the Agent Client Protocol with Jupyter."""

    name = "jupyter_acp"
    app_name = "Jupyter ACP"
    description = "Work with coding agents on live notebooks"

    agents = Dict(
        help="""Agents by id, in addition to those that are found: `{"my-agent": {"argv": ["my-agent",
        "--acp"]}}`. Fields: `argv` or `url`, `env` (of a command) or `headers` (of a url),
        `name`, `description`, `icon`, `install`.
        """,
    ).tag(config=True)

    default_agent = Unicode(
        "",
        help="""Id of the agent for sessions that name none. If empty, the built-in agent, or the first
        available one if the built-in agent is not allowed.
        """,
    ).tag(config=True)

    allowed_agents = List(
        Unicode(),
        help="""Ids of the agents that may be used, or patterns such as `claude*`; others are not
        listed. If empty, all agents may be used.
        """,
    ).tag(config=True)

    registry = Unicode(
        "",
        help="""Path or URL of an ACP registry file with more agents. If empty, nothing is fetched.
        """,
    ).tag(config=True)

    journal = Unicode(help="The SQLite file that stores the sessions.").tag(config=True)

    @default("journal")
    def _default_journal(self) -> str:
        return str(Path(jupyter_data_dir()) / "acp" / "journal.sqlite")

    # Not a `Type`: Jupyter reads every trait when it starts, which would import the class.
    session_manager_class = DottedObjectName(
        MANAGER,
        help="""Class of the session manager: `jupyter_acp.sessions.manager.SessionManager` or a subclass.
        """,
    ).tag(config=True)

    @validate("session_manager_class")
    def _check_session_manager_class(self, proposal: Bunch) -> str:
        name: str = proposal["value"]
        if name != MANAGER:
            _manager_class(name)
        return name

    max_message_size = Integer(
        64 * 1024 * 1024,
        help="""Maximum size of a message from a window or an agent, in bytes.
        """,
    ).tag(config=True)

    window_buffer = Integer(
        8 * 1024 * 1024,
        help="""Maximum size of unread messages of a window that has stopped reading, in bytes; above
        it, the window is disconnected.
        """,
    ).tag(config=True)

    initialize_timeout = Float(
        120.0,
        help="""Timeout for an agent to start and to answer `initialize`, in seconds.
        """,
    ).tag(config=True)

    request_timeout = Float(
        120.0,
        help="""Timeout for an agent to open, list or configure a session, in seconds. Turns have no
        timeout.
        """,
    ).tag(config=True)

    stop_grace = Float(
        3.0, help="Time for an agent to end by itself before it is killed, in seconds."
    ).tag(config=True)

    max_sessions = Integer(
        1000,
        help="Maximum number of open sessions; closed ones do not count.",
    ).tag(config=True)

    max_terminals = Integer(
        50,
        help="""Maximum number of running commands of an agent in a session, including those that wait
        for permission.
        """,
    ).tag(config=True)

    keep_days = Float(
        0.0, help="Time to keep a session after its last turn, in days; 0 means for ever."
    ).tag(config=True)

    keep_sessions = Integer(
        0,
        help="Maximum number of kept sessions; the oldest closed ones go first; 0 means no limit.",
    ).tag(config=True)

    keep_size = Integer(
        0,
        help="""Maximum total size of all transcripts, in MiB; above it, the oldest sessions are deleted;
        0 means no limit.
        """,
    ).tag(config=True)

    remote_schemes = List(
        Enum(["https", "ssh", "http", "file"]),
        ["https", "ssh"],
        help="""Allowed schemes in the addresses of repositories for remote sessions; `http` and `file`
        can be added.
        """,
    ).tag(config=True)

    remote_hosts = List(
        Unicode(),
        help="""Allowed hosts of such repositories, or patterns such as `*.example.org`. If empty, all
        hosts are allowed.
        """,
    ).tag(config=True)

    remote_branch = Unicode(
        "acp/{session}",
        help="""Name of the branch for the results of a remote session; `{session}` stands for the
        session's id.
        """,
    ).tag(config=True)

    remote_author = Unicode(
        "", help="Author of commits in remote sessions, `Name <address>`. If empty, git's setting."
    ).tag(config=True)

    remote_timeout = Float(600.0, help="Timeout for a clone, a fetch or a push, in seconds.").tag(
        config=True
    )

    remote_size = Integer(
        2000,
        help="""Maximum size of one fetch from a repository, and of its files including those that the
        agent creates, in MB.
        """,
    ).tag(config=True)

    remote_files = Integer(
        100_000,
        help="Maximum number of files in a repository, including those that the agent creates.",
    ).tag(config=True)

    remote_cache = Unicode(help="The folder for repositories and working trees.").tag(config=True)

    @default("remote_cache")
    def _default_remote_cache(self) -> str:
        return str(Path(jupyter_data_dir()) / "acp" / "remote")

    remote_keep_days = Float(
        30.0,
        help="""Time to keep unused repositories and working trees, in days; work that was never brought
        back is kept for ever.
        """,
    ).tag(config=True)

    workspace = List(
        Enum(["openDocuments", "recentDocuments", "activeDocument"]),
        ["openDocuments", "recentDocuments", "activeDocument"],
        help="""Parts of the user's workspace that agents may query: the open documents, the recently
        opened ones, and the active one. Users can share less in their settings, but not more.
        """,
    ).tag(config=True)

    tools = Bool(
        True,
        help="""True to give agents the MCP server `jupyter`, with tools to read, change and run notebooks.
        """,
    ).tag(config=True)

    public_url = Unicode(
        "",
        help="""The address at which agents on other machines reach this server, with its base path:
        `https://example.org/user/ada/`. Those that support MCP servers by HTTP then get the tools at
        `acp/mcp` below it, with a separate secret for each session. If empty, that route is off.
        """,
    ).tag(config=True)

    mcp_servers = Dict(
        help="""MCP servers for every session on this machine, by name, in addition to those of the user:
        `{"issues": {"command": "issues-mcp", "args": ["--all"], "env": {"TOKEN": "${ISSUES_TOKEN}"}}}`,
        or `{"url": "https://example.org/mcp", "type": "http", "headers": {}}`, where `type` is `http`
        or `sse`. `${NAME}` stands for a secret from the user's file or the server's environment.
        """,
    ).tag(config=True)

    permissions = Dict(
        help="""Rules for the actions of agents through this server, by agent, or `*` for all: `{"*":
        [{"kind": "terminal", "match": "git status", "decision": "allow"}]}`. `kind` is `read`,
        `write`, `terminal`, `run`, `restart` or `*`; `decision` is `allow`, `ask` or `deny`. An agent's
        own rules come first. The first rule that matches decides, before any rule of a user.
        """,
    ).tag(config=True)

    def initialize_settings(self) -> None:
        """Initialize the attributes; load nothing, because servers start long before a session."""
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
        """Return the session manager, created at first use."""
        if self._manager is None:
            async with self._starting:
                if self._manager is None:
                    self._manager = await self._make_manager()
        return self._manager

    def touch(self) -> None:
        """Record activity, so that a server in use is not culled."""
        from jupyter_server._tz import utcnow

        assert self.serverapp is not None
        self.serverapp.web_app.settings["acp_last_activity"] = utcnow()

    def _touch_if_running(self) -> None:
        """Record activity during turns, because hubs cull servers by their last activity."""
        if self._manager is not None and self._manager.running:
            self.touch()

    def current_activity(self) -> dict[str, Any]:
        """Return the sessions with a running turn; open sessions alone keep no server alive."""
        running = self._manager.running if self._manager is not None else []
        return {session.id: session.public() for session in running}

    def health(self) -> dict[str, Any]:
        """Return the state of the extension without starting the session manager."""
        manager = self._manager
        return {
            "status": "ok",
            "version": installed_version(),
            "sessions": len(manager.all()) if manager else 0,
            "running": len(manager.running) if manager else 0,
        }

    async def stop_extension(self) -> None:
        """End all agents and save all sessions."""
        self._pulse.stop()
        if self._manager is not None:
            manager, self._manager = self._manager, None
            await manager.close()
            atexit.unregister(manager.close_now)

    async def _make_manager(self) -> SessionManager:
        # Local imports, which an idle server does not need, keep its start fast.
        from .agents.catalog import Catalog
        from .history.retention import Retention
        from .sessions.limits import Limits

        catalog = Catalog(
            self.agents,
            allowed=self.allowed_agents,
            registry=self.registry,
            default=self.default_agent,
        )
        if self.registry:
            await asyncio.to_thread(catalog.refresh)
        manager = _manager_class(self.session_manager_class)(
            parent=self,
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
        )
        await manager.open()
        self._pulse.start()
        # A server that gets SIGINT without a terminal ends without stopping its extensions.
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
        from .client.permissions.question_files import NamedFiles
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
        # The default runtime folder, not the configured one: the command `jupyter acp tool` looks
        # there, because it does not know the server's configuration.
        channel = Channel(jupyter_runtime_dir(), serve, self.log, self.remote_agents)
        own_calls = OwnCalls(channel.name_in, channel.name_in_use, services, TOOLS, program())
        return channel, own_calls

    def _on_save(self, root: str | None, saved: Callable[[Path], None]) -> None:
        """Call `saved` for every file that Jupyter saves, in place of an earlier listener."""
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
        """Return the administrator's rules; raise an error if they are invalid."""
        from .client.permissions.policy import rules_of
        from .rpc import RpcError
        from .rpc.errors import UNAVAILABLE

        try:
            return rules_of(self.permissions)
        except ValueError as error:
            # Refuse to start without valid rules: a typing error must not become a permission.
            raise RpcError(UNAVAILABLE, f"AcpExtension.permissions is invalid: {error}") from None

    def servers(self) -> Servers:
        """Return the configured MCP servers."""
        from .client.mcp_servers import SECRETS_FILE, Servers

        assert self.serverapp is not None
        return Servers(self.mcp_servers, Path(self.serverapp.config_dir) / SECRETS_FILE)

    def _permission_decided(self, decision: dict[str, Any]) -> None:
        """Emit an event about a decision, for audits."""
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
        """Return the root folder of contents paths, or None if the contents are no files."""
        from jupyter_server.services.contents.fileio import FileManagerMixin

        assert self.serverapp is not None
        contents = self.serverapp.contents_manager
        if not isinstance(contents, FileManagerMixin):
            return None
        return os.path.realpath(Path(contents.root_dir).expanduser())


def _manager_class(name: str) -> type[SessionManager]:
    from .sessions.manager import SessionManager

    try:
        found = import_item(name)
    except ImportError as error:
        raise TraitError(f"session_manager_class {name} cannot be imported: {error}.") from None
    if not (isinstance(found, type) and issubclass(found, SessionManager)):
        raise TraitError(f"session_manager_class {name} is not a subclass of {MANAGER}.")
    return found
