# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The client services that agents can call, and what we advertise of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import orjson

from .. import protocol
from ..protocol import SettingsUpdate, parse
from ..rpc import Request, invalid_params, method_not_found
from .changes import Changes
from .files import Files
from .named import NamedFiles
from .notebooks import Notebooks
from .permissions import Permissions
from .terminals import Terminals
from .view import SessionView
from .watch import Watcher
from .workspace import Workspace


class Store(Protocol):
    """Where facts are kept from one run to the next."""

    def keep(self, key: str, value: bytes) -> None:
        """Save something."""

    def fact(self, key: str) -> Awaitable[bytes | None]:
        """Return what was saved by that name."""


class Tools(Protocol):
    """The same services, for agents that call tools."""

    def servers(
        self, session: SessionView, own: list[Any], elsewhere: dict[str, Any] | None
    ) -> Awaitable[list[Any]]:
        """Return the MCP servers for a session: its own and ours."""

    def serve(self, request: Request) -> None:
        """Answer a request of MCP that came within ACP."""

    def is_unused(self, session_id: str) -> bool:
        """Whether a session's agent was given them and has not even started them."""

    def forget(self, session_id: str) -> None:
        """Serve a session no longer."""

    def close(self) -> Awaitable[None]:
        """End it all."""

    def stop_now(self) -> None:
        """End it without an event loop."""


Service = Callable[[Any, Any], Awaitable[Any]]

_NO_TOOLS = (
    "This agent did not start the tools for notebooks that it was given (the MCP server named jupyter), "
    "so it cannot see what you have open, edit cells in place or run them. It still reads and writes "
    "files."
)


class ClientServices:
    """One table from method to service."""

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
        tools: Tools | None = None,
    ) -> None:
        self.workspace = workspace
        self.watcher = watcher
        self._changes = changes
        self._named = named
        self._permissions = permissions
        self._keep: Callable[[bytes], None] = lambda _: None
        self._files = files
        self._terminals = terminals
        self._notebooks = notebooks
        self._tools = tools
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
        # A proposal as yet, which some agents' libraries drop where it belongs: it is told twice.
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
        """Return the MCP servers that a session's agent is to start: its own, and our tools."""
        return own if self._tools is None else await self._tools.servers(session, own, elsewhere)

    def serve_mcp(self, request: Request) -> None:
        """Answer a request of MCP that came within ACP."""
        if self._tools is None:
            raise method_not_found(request.method)
        self._tools.serve(request)

    async def remember(self, store: Store, root_dir: str) -> None:
        """Take up what earlier runs knew of the user, and keep what this one learns."""
        workspace, settings = f"workspace {root_dir}", "settings"
        if kept := await store.fact(workspace):
            self.workspace.restore(kept)
        if kept := await store.fact(settings):
            self._permissions.set_user_rules(orjson.loads(kept)["rules"])
        self.workspace.keep = lambda value: store.keep(workspace, value)
        self._keep = lambda value: store.keep(settings, value)

    def set_settings(self, params: Any) -> None:
        """Take the user's settings, as far as they concern what agents may do."""
        rules = parse(SettingsUpdate, params).rules
        try:
            self._permissions.set_user_rules(rules)
        except ValueError as error:
            raise invalid_params(f"The rules are not valid: {error}") from None
        self._keep(orjson.dumps({"rules": rules}))

    async def decide_change(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Do what the user wants of a change that an agent has made."""
        return await self._changes.decide(session, params, self._files.revise)

    def explained(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Return what a person should know of a question that the agent does not say."""
        files = self._named.told(session, params)
        return {"files": files} if files else {}

    def asked(self, session: SessionView, params: Any, answer: asyncio.Future[Any]) -> None:
        """Take note of how the user answered a question of the agent."""
        if not answer.cancelled() and answer.exception() is None:
            self._permissions.granted(session, params, answer.result())

    def turn_ended(self, session: SessionView) -> None:
        """Take note that the agent is done."""
        self._permissions.turn_ended(session.id)
        if self._tools is not None and self._tools.is_unused(session.id):
            # Not sooner: agents start them with a session or when they first think of them.
            session.append(protocol.NOTICE, {"level": "info", "message": _NO_TOOLS})

    def forget(self, session: SessionView) -> None:
        """End what still runs for a session."""
        self._permissions.forget(session.id)
        self._files.forget(session.id)
        self._notebooks.forget(session.id)
        if self._tools is not None:
            self._tools.forget(session.id)
        self._terminals.forget(session.id)

    def deleted(self, session: SessionView) -> None:
        """Forget what is remembered of a session as long as it can be opened again."""
        self._changes.forget(session.id)

    async def close(self) -> None:
        """End everything."""
        self.watcher.close()
        self.workspace.close()
        if self._tools is not None:
            await self._tools.close()
        await self._terminals.close()

    def stop_now(self) -> None:
        """End everything at once, when there is no event loop any more."""
        self._terminals.stop_now()
        if self._tools is not None:
            self._tools.stop_now()
