# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Showing and saving documents in the user's windows, for agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from ...paths import contained, uri_path
from ...rpc import RpcError
from ...rpc.errors import NOT_FOUND, UNAVAILABLE
from ..permissions.policy import Action
from ..permissions.protected_files import needs_permission
from ..permissions.service import Permissions
from ..view import SessionView
from ..workspace import Workspace
from .live import Documents


class Showing:
    """Shows and saves documents for agents."""

    def __init__(
        self, root_dir: str, documents: Documents, workspace: Workspace, permissions: Permissions
    ) -> None:
        self._root_dir = root_dir
        self._documents = documents
        self._workspace = workspace
        self._permissions = permissions

    def path(self, session: SessionView, given: str) -> Path:
        """Return the file for a path or a URI from an agent."""
        return contained(os.path.join(session.cwd, uri_path(given)), self._roots(session))

    async def show(
        self, session: SessionView, path: Path, line: int | None, cell: str | None, title: str
    ) -> bool:
        """Show a document in the last used window; return True if it is visible there."""
        _check_there(path)
        await self._check(session, "read", path, title)
        windows = self._workspace.to_show(path)
        shown = await self._documents.show(windows, line, cell)
        if shown is None:
            raise RpcError(
                UNAVAILABLE,
                f"No window can show {path}: none is open, or the file is not inside of the folder "
                "that Jupyter serves. Tell the user where to look.",
            )
        return bool(shown.visible)

    async def save(self, session: SessionView, path: Path, title: str) -> bool | None:
        """Save unsaved changes; return False if there are none, None if no window has it open."""
        await self._check(session, "write", path, title)
        found = await self._documents.everywhere(path)
        if not found:
            return None
        unsaved = [live for live in found if live.dirty]
        if unsaved:
            # The windows are ordered by use: take the last used one.
            await self._documents.save(unsaved[0])
        return bool(unsaved)

    async def _check(
        self, session: SessionView, kind: Literal["read", "write"], path: Path, title: str
    ) -> None:
        async def details() -> dict[str, Any]:
            return {"locations": [{"path": str(path)}]}

        roots = self._roots(session)
        action = Action.on_file(kind, path, roots, title, details)
        asks = needs_permission(path, roots, kind)
        await self._permissions.check(session, action, "ask" if asks else "allow")

    def _roots(self, session: SessionView) -> list[str]:
        return [*session.roots, self._root_dir]


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise RpcError(NOT_FOUND, f"There is no file {path}.")
