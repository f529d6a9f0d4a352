# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks by their cells: reading them as the user sees them, changing single cells."""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Callable
from functools import partial
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
from ..permissions.policy import Action, Decision, Details
from ..permissions.protected_files import needs_permission
from ..permissions.service import Permissions
from ..view import SessionView
from .notebook import CellType, Notebook, digest, index_of, new_cell, new_notebook, with_ids
from .question_cards import card, diff, fenced, words

T = TypeVar("T")

ATTEMPTS = 10


class Notebooks:
    """Reads and changes notebooks for sessions, open or not."""

    def __init__(
        self,
        root_dir: str,
        documents: Documents,
        contents: Contents,
        permissions: Permissions,
        turns: FileLocks,
        changed: NoteChange,
    ) -> None:
        self._root_dir = root_dir
        self._documents = documents
        self._contents = contents
        self._permissions = permissions
        self._seen: dict[str, dict[tuple[Path, str], bytes]] = {}
        self._turns = turns
        self._changed = changed

    def path(self, session: SessionView, given: str) -> Path:
        """Return the notebook for a path or a URI from an agent."""
        path = contained(os.path.join(session.cwd, uri_path(given)), self._roots(session))
        if path.suffix != ".ipynb":
            raise invalid_params(f"{path} is not a notebook: its name does not end in .ipynb.")
        return path

    async def read(self, session: SessionView, path: Path, title: str = "") -> Notebook:
        """Return a notebook as the user sees it; `title` is for a question to the user."""
        await self.check(session, "read", path, title or f"Read {path.name}")
        return await self.load(path)

    def note(self, session: SessionView, notebook: Notebook, cells: list[dict[str, Any]]) -> None:
        """Remember the cells that an agent has read: it may change only those."""
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
        """Create the file of a new notebook."""
        content = new_notebook(metadata, cells)
        notebook = Notebook(path, content, None, None)
        _check_new(path)
        details = partial(self.creation_card, path, content)
        await self.check(session, "write", path, title, details)
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
        """Replace a cell's source unless it changed since the agent read it; return its index."""

        def edit(cells: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
            at = index_of(cells, cell_id, path)
            cell = cells[at]
            self._check_seen(session, path, cell, old)
            cell["source"] = source
            return at, cell

        details = partial(self.edit_card, path, cell_id, source)
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
        """Insert a cell; return its id and its index."""
        cell = new_cell(kind, source)

        def edit(cells: list[dict[str, Any]]) -> int:
            at = _place(cells, after, index, path)
            cells.insert(at, cell)
            return at

        details = partial(self.insertion_card, path, source, after, index)
        at = await self.change(session, path, edit, title, details)
        self._took(session, path, cell)
        return cell["id"], at

    async def delete(self, session: SessionView, path: Path, cell_id: str, title: str) -> int:
        """Delete a cell unless it changed since the agent read it; return its former index."""

        def edit(cells: list[dict[str, Any]]) -> int:
            at = index_of(cells, cell_id, path)
            self._check_seen(session, path, cells[at], None)
            del cells[at]
            return at

        details = partial(self.edit_card, path, cell_id, "")
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
        """Move a cell; return its new index."""
        if after == cell_id:
            raise invalid_params("A cell cannot be moved behind itself.")
        details = partial(self.move_card, path, cell_id, after, index)
        edit = partial(_move, path, cell_id, after, index)
        return await self.change(session, path, edit, title, details)

    async def change(
        self,
        session: SessionView,
        path: Path,
        edit: Callable[[list[dict[str, Any]]], T],
        title: str,
        details: Details | None = None,
    ) -> T:
        """Change the cells of a notebook if the agent may; `edit` may be called repeatedly."""
        await self.check(session, "write", path, title, details)
        result, change = await self._apply(path, edit)
        self._changed(session, path, change)
        return result

    async def apply(self, path: Path, edit: Callable[[list[dict[str, Any]]], T]) -> T:
        """Change the cells of a notebook without a permission check."""
        result, _ = await self._apply(path, edit)
        return result

    async def _apply(
        self, path: Path, edit: Callable[[list[dict[str, Any]]], T]
    ) -> tuple[T, Change]:
        # Agents call tools concurrently: one change must not undo another.
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
        """Drop the remembered cells of a session."""
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
        """Return if the agent may read or write a notebook; else raise RpcError."""
        await self._permissions.check(session, *self.wish(session, kind, path, title, details))

    def wish(
        self,
        session: SessionView,
        kind: Literal["read", "write"],
        path: Path,
        title: str,
        details: Details | None = None,
    ) -> tuple[Action, Decision]:
        """Return the action on a notebook, and the decision if no rule fits."""

        async def located() -> dict[str, Any]:
            return card(path)

        roots = self._roots(session)
        action = Action.on_file(kind, path, roots, title, details or located)
        return action, "ask" if needs_permission(path, roots, kind) else "allow"

    # Contents of cards, as fields of a tool call

    async def creation_card(self, path: Path, content: dict[str, Any]) -> dict[str, Any]:
        """Return the card for creating a notebook."""
        return card(path, diff(path, None, NOTEBOOK.text(content)))

    async def edit_card(self, path: Path, cell_id: str, source: str) -> dict[str, Any]:
        """Return the card for editing a cell; its diff starts from the current source."""
        notebook = await self.load(path)
        return card(path, diff(path, notebook.cells[notebook.index(cell_id)]["source"], source))

    async def insertion_card(
        self, path: Path, source: str, after: str | None, index: int | None
    ) -> dict[str, Any]:
        """Return the card for inserting a cell."""
        at = _place((await self.load(path)).cells, after, index, path)
        return card(path, _becomes(at), diff(path, None, source))

    async def move_card(
        self, path: Path, cell_id: str, after: str | None, index: int | None
    ) -> dict[str, Any]:
        """Return the card for moving a cell."""
        notebook = await self.load(path)
        source = notebook.cells[notebook.index(cell_id)]["source"]
        at = _move(path, cell_id, after, index, copy.copy(notebook.cells))
        return card(path, _becomes(at), words(fenced(source, notebook.language)))

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

    def _took(self, session: SessionView, path: Path, cell: dict[str, Any]) -> None:
        self._seen.setdefault(session.id, {})[path, cell["id"]] = digest(cell["source"])

    async def load(self, path: Path) -> Notebook:
        """Return a notebook without a permission check."""
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


def _becomes(index: int) -> dict[str, Any]:
    return words(f"It becomes cell {index + 1}.")


def _move(
    path: Path, cell_id: str, after: str | None, index: int | None, cells: list[dict[str, Any]]
) -> int:
    """Move a cell; return its new index."""
    cell = cells.pop(index_of(cells, cell_id, path))
    at = _place(cells, after, index, path)
    cells.insert(at, cell)
    return at
