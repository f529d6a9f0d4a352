# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The client services that agents can call, and what we advertise of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .. import protocol
from ..rpc import Request, invalid_params, method_not_found
from .files import Files
from .terminals import Terminals
from .view import SessionView
from .workspace import Workspace

Service = Callable[[Any, Any], Awaitable[Any]]


class ClientServices:
    """One table from method to service."""

    def __init__(self, files: Files, terminals: Terminals, workspace: Workspace) -> None:
        self.workspace = workspace
        self._terminals = terminals
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

    def forget(self, session: SessionView) -> None:
        """End what still runs for a session."""
        self._terminals.forget(session.id)

    async def close(self) -> None:
        """End everything."""
        self.workspace.close()
        await self._terminals.close()

    def stop_now(self) -> None:
        """End everything at once, when there is no event loop any more."""
        self._terminals.stop_now()
