# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks by their cells: read as the user sees them, changed one cell at a time."""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from ...paths import contained, uri_path
from ...rpc import RpcError, invalid_params
from ...rpc.errors import CONFLICT
from ..documents.changes import NoteChange
from ..documents.contents import Contents
from ..documents.disk import read_text, write_text
from ..documents.file_locks import FileLocks
from ..documents.formats import NOTEBOOK, Change
from ..documents.live import Documents
from ..permissions.policy import Action, Details, Permit
from ..permissions.protected_files import needs_permission
from ..view import SessionView
from .notebook import CellType, Notebook, digest, fenced, index_of, new_cell, with_ids

T = TypeVar("T")

ATTEMPTS = 10


class Notebooks:
    """Reads and changes notebooks on behalf of sessions, open or not."""

    def __init__(
        self,
        root_dir: str,
        documents: Documents,
        contents: Contents,
        permit: Permit,
        turns: FileLocks,
        changed: NoteChange,
    ) -> None:
        self._root_dir = root_dir
        self._documents = documents
        self._contents = contents
        self._permit = permit
        self._seen: dict[str, dict[tuple[Path, str], bytes]] = {}
        self._turns = turns
        self._changed = changed

    def path(self, session: SessionView, given: str) -> Path:
        """Return the notebook that a path or a URI of an agent names."""
        path = contained(os.path.join(session.cwd, uri_path(given)), self._roots(session))
        if path.suffix != ".ipynb":
            raise invalid_params(f"{path} is not a notebook: its name does not end in .ipynb.")
        return path

    async def read(self, session: SessionView, path: Path, title: str = "") -> Notebook:
        """Return a notebook as the user sees it; the title is what the user is asked, if at all."""
        await self.check(session, "read", path, title or f"Read {path.name}")
        return await self.load(path)

    def note(self, session: SessionView, notebook: Notebook, cells: list[dict[str, Any]]) -> None:
        """Remember which cells an agent has been shown: it may change those, and knows what."""
        seen = self._seen.setdefault(session.id, {})
        for cell in cells:
            seen[notebook.path, cell["id"]] = digest(cell["source"])

    async def create(
        self,
        session: SessionView,
        path: Path,
        metadata: dict[str, Any],
        cells: list[tuple[CellType, str]],
        title: str,
    ) -> Notebook:
        """Make the file of a notebook that is not there yet."""
        content = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": metadata,
            "cells": [new_cell(kind, source) for kind, source in cells],
        }
        text = NOTEBOOK.text(content)
        notebook = Notebook(path, content, None, None)
        _check_new(path)
        await self.check(session, "write", path, title, _shown(path, None, text))
        async with self._turns.of(path):
            _check_new(path)
            await self._save(notebook, content)
        self._changed(session, path, Change(NOTEBOOK, None, content))
        self.note(session, notebook, notebook.cells)
        return notebook

    async def edit(
        self,
        session: SessionView,
        path: Path,
        cell_id: str,
        source: str,
        old: str | None,
        title: str,
    ) -> int:
        """Give a cell another source, unless the user has changed it since the agent read it.

        Return where it is.
        """

        def edit(cells: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            at = index_of(cells, cell_id, path)
            cell = cells[at]
            self._check_seen(session, path, cell, old)
            cell["source"] = source
            return at, cell

        async def details() -> dict[str, Any]:
            # What is replaced, and not what the agent takes it for.
            return await _shown(path, await self._source(path, cell_id), source)()

        at, cell = await self.change(session, path, edit, title, details)
        self._took(session, path, cell)
        return at

    async def insert(
        self,
        session: SessionView,
        path: Path,
        kind: CellType,
        source: str,
        *,
        after: str | None,
        index: int | None,
        title: str,
    ) -> tuple[str, int]:
        """Put in a cell; return its id and its place."""
        cell = new_cell(kind, source)

        def edit(cells: list[dict[str, Any]]) -> int:
            at = _place(cells, after, index, path)
            cells.insert(at, cell)
            return at

        at = await self.change(session, path, edit, title, _shown(path, None, source))
        self._took(session, path, cell)
        return cell["id"], at

    async def delete(self, session: SessionView, path: Path, cell_id: str, title: str) -> int:
        """Take a cell out, unless the user has changed it since the agent read it.

        Return where it was.
        """

        def edit(cells: list[dict[str, Any]]) -> int:
            at = index_of(cells, cell_id, path)
            self._check_seen(session, path, cells[at], None)
            del cells[at]
            return at

        async def details() -> dict[str, Any]:
            return await _shown(path, await self._source(path, cell_id), "")()

        return await self.change(session, path, edit, title, details)

    async def move(
        self,
        session: SessionView,
        path: Path,
        cell_id: str,
        *,
        after: str | None,
        index: int | None,
        title: str,
    ) -> int:
        """Put a cell elsewhere; return where it is then."""

        def edit(cells: list[dict[str, Any]]) -> int:
            cell = cells.pop(index_of(cells, cell_id, path))
            at = _place(cells, after, index, path)
            cells.insert(at, cell)
            return at

        async def details() -> dict[str, Any]:
            notebook = await self.load(path)
            at = edit(copy.deepcopy(notebook.cells))
            source = notebook.cells[notebook.index(cell_id)]["source"]
            text = f"It becomes cell {at + 1}.\n\n{fenced(source)}"
            shown = await _shown(path)()
            return {
                **shown,
                "content": [{"type": "content", "content": {"type": "text", "text": text}}],
            }

        if after == cell_id:
            raise invalid_params("A cell cannot be moved behind itself.")
        return await self.change(session, path, edit, title, details)

    async def change(
        self,
        session: SessionView,
        path: Path,
        edit: Callable[[list[dict[str, Any]]], T],
        title: str,
        details: Details | None = None,
    ) -> T:
        """Change the cells of a notebook, if the agent may; `edit` may be called again and again."""
        await self.check(session, "write", path, title, details)
        result, change = await self._apply(path, edit)
        self._changed(session, path, change)
        return result

    async def apply(self, path: Path, edit: Callable[[list[dict[str, Any]]], T]) -> T:
        """Change the cells of a notebook; whether that may be was asked before."""
        result, _ = await self._apply(path, edit)
        return result

    async def _apply(
        self, path: Path, edit: Callable[[list[dict[str, Any]]], T]
    ) -> tuple[T, Change]:
        # Agents call tools side by side: one change must not undo the other.
        async with self._turns.of(path):
            return await self._try(path, edit)

    async def _try(self, path: Path, edit: Callable[[list[dict[str, Any]]], T]) -> tuple[T, Change]:
        for _ in range(ATTEMPTS):
            notebook = await self.load(path)
            content = copy.deepcopy(notebook.content)
            result = edit(content["cells"])
            change = Change(NOTEBOOK, notebook.content, content)
            if notebook.live is None:
                await self._save(notebook, content)
                return result, change
            is_text = notebook.live.format != NOTEBOOK.name
            changed = NOTEBOOK.text(content) if is_text else content
            if await self._documents.write(notebook.live, changed):
                return result, change
        raise RpcError(
            CONFLICT,
            f"{path} was not changed: the user is working in the same place. Read the notebook "
            "again and make your change anew.",
        )

    def forget(self, session_id: str) -> None:
        """Remember nothing of what a session has seen."""
        self._seen.pop(session_id, None)

    def _roots(self, session: SessionView) -> list[str]:
        return [*session.roots, self._root_dir]

    async def check(
        self,
        session: SessionView,
        kind: Literal["read", "write"],
        path: Path,
        title: str,
        details: Details | None = None,
    ) -> None:
        """Return if the agent may do that with a notebook."""
        roots = self._roots(session)
        action = Action.on_file(kind, path, roots, title, details or _shown(path))
        await self._permit(
            session, action, "ask" if needs_permission(path, roots, kind) else "allow"
        )

    def _check_seen(
        self, session: SessionView, path: Path, cell: dict[str, Any], old: str | None
    ) -> None:
        if old is not None:
            known: bytes | None = digest(old)
        else:
            known = self._seen.get(session.id, {}).get((path, cell["id"]))
        if known is None:
            raise RpcError(
                CONFLICT, f"You have not read cell {cell['id']} yet: read it before you change it."
            )
        if known != digest(cell["source"]):
            raise RpcError(
                CONFLICT,
                f"Cell {cell['id']} was changed since you read it, perhaps by the user. Nothing was "
                f"written: read it again and make your change anew. Its source is now:\n"
                f"{cell['source']}",
            )

    async def _source(self, path: Path, cell_id: str) -> str:
        notebook = await self.load(path)
        return str(notebook.cells[notebook.index(cell_id)]["source"])

    def _took(self, session: SessionView, path: Path, cell: dict[str, Any]) -> None:
        self._seen.setdefault(session.id, {})[path, cell["id"]] = digest(cell["source"])

    async def load(self, path: Path) -> Notebook:
        """Return a notebook; whether that may be read was asked before."""
        live = await self._documents.read(path)
        text = None
        try:
            if live is None:
                text = await asyncio.to_thread(read_text, path)
                content = NOTEBOOK.parse(text)
            elif live.format == NOTEBOOK.name:
                content = NOTEBOOK.of(live.content, check=False)
            else:
                # Open as text.
                content = NOTEBOOK.parse(live.content)
        except ValueError as error:
            raise invalid_params(f"{path} cannot be read as a notebook: {error}.") from None
        return Notebook(path, with_ids(content), live, text)

    async def _save(self, notebook: Notebook, content: dict[str, Any]) -> None:
        path, text = notebook.path, NOTEBOOK.text(content)
        if self._contents.covers(path):
            await self._contents.save_notebook(path, text, notebook.text)
        else:
            await asyncio.to_thread(write_text, path, text)


def _check_new(path: Path) -> None:
    if os.path.lexists(path):
        raise RpcError(
            CONFLICT,
            f"{path} is there already, and was left as it is: read it and change its cells, or "
            "choose another name.",
        )


def _place(cells: list[dict[str, Any]], after: str | None, index: int | None, path: Path) -> int:
    if after is not None:
        return index_of(cells, after, path) + 1
    if index is None:
        return len(cells)
    if index > len(cells):
        raise invalid_params(f"index: there are only {len(cells)} cells.")
    return index


def _shown(path: Path, old: str | None = None, new: str | None = None) -> Details:
    async def details() -> dict[str, Any]:
        shown: dict[str, Any] = {"locations": [{"path": str(path)}]}
        if new is not None:
            shown["content"] = [{"type": "diff", "path": str(path), "oldText": old, "newText": new}]
        return shown

    return details
