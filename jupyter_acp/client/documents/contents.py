# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Writing files that no window has open, through Jupyter's contents manager."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from ...rpc import RpcError
from ...rpc.errors import INTERNAL_ERROR
from .disk import make_folders


class Contents:
    """Wraps Jupyter's contents manager, whose hooks, signatures and events then apply to agents."""

    def __init__(self, manager: Any, root: str | None) -> None:
        """Write below `root`, the folder that contents paths are relative to."""
        self._manager = manager
        self._root = Path(root) if root is not None else None

    def covers(self, path: Path) -> bool:
        """Return True if Jupyter would let a user write a file; hidden ones only if allowed."""
        if self._root is None or self._root not in path.parents:
            return False
        hidden = any(part.startswith(".") for part in path.relative_to(self._root).parts)
        return not hidden or bool(self._manager.allow_hidden)

    async def save_text(self, path: Path, text: str) -> None:
        """Write a text file."""
        await self._save(path, {"type": "file", "format": "text", "content": text})

    async def save_notebook(self, path: Path, text: str, before: str | None) -> None:
        """Write a notebook; a trusted one stays trusted if no outputs were added."""
        import nbformat

        notebook = nbformat.reads(text, as_version=4)
        trusted = before is not None and self._adds_nothing(notebook, before)
        await self._save(path, {"type": "notebook", "format": "json", "content": notebook})
        if trusted:
            self._manager.notary.sign(notebook)

    async def delete(self, path: Path) -> None:
        """Delete a file, or move it to the trash if Jupyter is configured so."""
        from jupyter_server.utils import ensure_async
        from tornado.web import HTTPError

        if not self.covers(path):
            raise RpcError(INTERNAL_ERROR, f"{path} is not Jupyter's to delete.")
        try:
            await ensure_async(self._manager.delete(self._name(path)))
        except HTTPError as error:
            raise RpcError(
                INTERNAL_ERROR, f"{path} could not be deleted: {_reason(error)}"
            ) from None

    def _name(self, path: Path) -> str:
        assert self._root is not None
        return path.relative_to(self._root).as_posix()

    def _adds_nothing(self, notebook: Any, before: str) -> bool:
        """Return True if the user trusts the old notebook and it has all outputs of the new one."""
        import nbformat

        try:
            old = nbformat.reads(before, as_version=4)
        except Exception:
            return False
        known = [output for cell in old.cells for output in cell.get("outputs", [])]
        return self._manager.notary.check_signature(old) and all(
            output in known for cell in notebook.cells for output in cell.get("outputs", [])
        )

    async def _save(self, path: Path, model: dict[str, Any]) -> None:
        from jupyter_server.utils import ensure_async
        from tornado.web import HTTPError

        if _is_link(path):
            # Jupyter would follow the link, whose target has not been checked.
            raise RpcError(INTERNAL_ERROR, f"{path} could not be written: it has become a link.")
        await asyncio.to_thread(make_folders, path)
        try:
            await ensure_async(self._manager.save(model, self._name(path)))
        except HTTPError as error:
            raise RpcError(
                INTERNAL_ERROR, f"{path} could not be written: {_reason(error)}"
            ) from None


def _is_link(path: Path) -> bool:
    return os.path.realpath(path) != str(path)


def _reason(error: Any) -> str:
    return str(error.log_message or error.reason or error)
