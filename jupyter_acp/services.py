# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The table of all services that agents can call, and the capabilities that we advertise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from . import protocol
from .client.documents.changes import Changes
from .client.documents.files import Files
from .client.documents.watcher import Watcher
from .client.mcp_servers import Given, Servers
from .client.notebooks.service import Notebooks
from .client.permissions.question_files import NamedFiles
from .client.permissions.service import Permissions
from .client.terminals import Terminals
from .client.view import SessionView
from .client.workspace import Workspace
from .context.block import Block, Told
from .protocol import SettingsUpdate, parse
from .rpc import Request, invalid_params, method_not_found

if TYPE_CHECKING:
    from .agents.agent import Agent
    from .context.editor import Editor
    from .tools.channel import Channel
    from .tools.own_calls import OwnCalls


class Store(Protocol):
    """A store for values that outlive the server."""

    def keep(self, key: str, value: bytes) -> None:
        """Save a value under a key."""

    def fact(self, key: str) -> Awaitable[bytes | None]:
        """Return the value saved under a key, or None."""


Service = Callable[[Any, Any], Awaitable[Any]]

_HOW_BY_TOOLS = (
    "To work on notebooks use the tools of the MCP server `{server}`: read_notebook, edit_cell, "
    "insert_cell, run_cell, run_code, read_variables and others; name cells by their ids. Do not write "
    ".ipynb files yourself."
)
_HOW_BY_SHELL = (
    " If you do not have these tools, run `{command} --list` in a shell: it has the same."
)
_HOW_BY_FILES = (
    "To work on these documents use the client's file methods (fs/read_text_file, "
    "fs/write_text_file): they read unsaved changes and change what is open in place."
)


class ClientServices:
    """Dispatches the requests of agents to the services, and reports events of sessions to them."""

    def __init__(
        self,
        files: Files,
        terminals: Terminals,
        workspace: Workspace,
        permissions: Permissions,
        watcher: Watcher,
        notebooks: Notebooks,
        changes: Changes,
        named: NamedFiles,
        editor: Editor,
        servers: Servers,
        tools: Channel | None = None,
        own_calls: OwnCalls | None = None,
    ) -> None:
        self.workspace = workspace
        self.watcher = watcher
        self._editor = editor
        self._changes = changes
        self._named = named
        self._permissions = permissions
        self._servers = servers
        self._settings: dict[str, Any] = {}
        self._keep: Callable[[bytes], None] = lambda _: None
        self._files = files
        self._terminals = terminals
        self._notebooks = notebooks
        self._tools = tools
        self._own_calls = own_calls
        self._services: dict[str, Service] = {
            protocol.READ_FILE: files.read,
            protocol.WRITE_FILE: files.write,
            protocol.TERMINAL_CREATE: terminals.create,
            protocol.TERMINAL_OUTPUT: terminals.output,
            protocol.TERMINAL_WAIT: terminals.wait_for_exit,
            protocol.TERMINAL_KILL: terminals.kill,
            protocol.TERMINAL_RELEASE: terminals.release,
            protocol.OPEN_DOCUMENTS: workspace.open_documents,
            protocol.RECENT_DOCUMENTS: workspace.recent_documents,
            protocol.ACTIVE_DOCUMENT: workspace.active_document,
        }

    def capabilities(self) -> dict[str, Any]:
        """Return the `clientCapabilities` for `initialize`."""
        # `workspace` is only a proposal for ACP. Some libraries drop it at the top level, so it is
        # repeated in `_meta`.
        workspace = self.workspace.capabilities()
        return {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            "auth": {"terminal": True},
            "elicitation": {"form": {}, "url": {}},
            "workspace": workspace,
            "_meta": {
                "terminal_output": True,
                "terminal-auth": True,
                protocol.META: {"workspace": workspace},
                protocol.SANDBOX: {
                    "extensions": {"requestQuestion": True, "sessionMetadata": True}
                },
            },
        }

    def serve(self, session: SessionView | None, request: Request) -> None:
        """Answer a request of an agent, on behalf of one of its sessions."""
        service = self._services.get(request.method)
        if service is None:
            raise method_not_found(request.method)
        if session is None:
            raise invalid_params("There is no such session.")
        request.run(service(session, request.params))  # type: ignore[arg-type]

    async def mcp_servers(
        self, session: SessionView, own: list[Any], elsewhere: dict[str, Any] | None
    ) -> list[Any]:
        """Return the MCP servers for a session's agent: those in the request, and our tools."""
        return own if self._tools is None else await self._tools.servers(session, own, elsewhere)

    def serve_mcp(self, request: Request) -> None:
        """Answer an MCP request that was sent inside ACP."""
        if self._tools is None:
            raise method_not_found(request.method)
        self._tools.serve(request)

    async def editor_context(
        self, session: SessionView, told: Told, memory: Hashable
    ) -> Block | None:
        """Return the context that accompanies the next prompt, if any."""
        how = _HOW_BY_FILES
        if self._tools is not None and (name := self._tools.name_in(session.id)) is not None:
            how = _HOW_BY_TOOLS.format(server=name)
            if command := self._tools.command(session.id):
                how += _HOW_BY_SHELL.format(command=command)
        return await self._editor.block(session, told, memory, how)

    async def configured_servers(self, session: SessionView, agent: Agent, own: list[Any]) -> Given:
        """Return the MCP servers configured for every session that the agent supports."""
        if session.is_remote or not agent.spec.takes_servers:
            return Given([], [])
        names = [server.get("name") for server in own if isinstance(server, dict)]
        return await self._servers.given(
            agent.capabilities, [name for name in names if isinstance(name, str)]
        )

    async def remember(self, store: Store, root_dir: str) -> None:
        """Restore the user's workspace and settings from the store, and save later changes there."""
        workspace, settings = f"workspace {root_dir}", "settings"
        if kept := await store.fact(workspace):
            self.workspace.restore(kept)
        if kept := await store.fact(settings):
            self._take_settings(orjson.loads(kept))
        self.workspace.keep = lambda value: store.keep(workspace, value)
        self._keep = lambda value: store.keep(settings, value)

    def set_settings(self, params: Any) -> None:
        """Apply and save the user's settings for agents."""
        settings = parse(SettingsUpdate, params).model_dump(exclude_unset=True)
        try:
            self._take_settings(settings)
        except ValueError as error:
            raise invalid_params(f"The rules are not valid: {error}") from None
        self._keep(orjson.dumps(self._settings))

    def _take_settings(self, settings: dict[str, Any]) -> None:
        if "rules" in settings:
            self._permissions.set_user_rules(settings["rules"])
        if "defaults" in settings:
            self._permissions.set_user_defaults(settings["defaults"])
        if "context_length" in settings:
            self._editor.limit = settings["context_length"]
        if "servers" in settings:
            self._servers.set_user_servers(settings["servers"])
        self._settings.update(settings)

    async def decide_change(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Keep, undo or redo a change of an agent."""
        return await self._changes.decide(session, params, self._files.revise)

    async def explained(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Return additional information for the user about a question of the agent."""
        told: dict[str, Any] = {}
        if self._own_calls is not None:
            told = await self._own_calls.explained(session, params)
        files = self._named.told(session, params)
        return {**told, "files": files} if files else told

    def answer(self, session: SessionView, params: Any) -> str | None:
        """Return the option that answers a permission request without the user, or None.

        Calls of our own tools are accepted here. They are decided when the tool is called: by the
        rules, or else by the user, who then sees the actual arguments.
        """
        answer = self._own_calls.answer(session, params) if self._own_calls is not None else None
        if answer is None:
            return None
        option, called = answer
        id = params["toolCall"].get("toolCallId")
        self._permissions.tell(session, "tool", called, "allow", "own tool", toolCallId=id)
        return option

    def asked(self, session: SessionView, params: Any, answer: Any) -> None:
        """Note the user's answer to a question of the agent."""
        self._permissions.granted(session, params, answer)

    def turn_ended(self, session: SessionView) -> None:
        """Note the end of a turn."""
        self._permissions.turn_ended(session.id)
        # Not earlier: some agents start MCP servers only at their first use.
        if self._tools is not None and (message := self._tools.missing(session.id)):
            session.append(protocol.NOTICE, {"level": "info", "message": message})

    def forget(self, session: SessionView) -> None:
        """End everything that runs for a closed session, and drop the permissions given in it."""
        self.agent_left(session)
        self._permissions.forget(session.id)

    def agent_left(self, session: SessionView) -> None:
        """End everything that runs for a session whose agent has ended."""
        self._permissions.turn_ended(session.id)
        self._files.forget(session.id)
        self._notebooks.forget(session.id)
        if self._tools is not None:
            self._tools.forget(session.id)
        self._terminals.forget(session.id)

    def deleted(self, session: SessionView) -> None:
        """Drop the data of a session that was kept for reopening it."""
        self._changes.forget(session.id)

    async def close(self) -> None:
        """End all services and the processes that they started."""
        self.watcher.close()
        self.workspace.close()
        if self._tools is not None:
            await self._tools.close()
        await self._terminals.close()

    def stop_now(self) -> None:
        """End all started processes without an event loop."""
        self._terminals.stop_now()
        if self._tools is not None:
            self._tools.stop_now()
