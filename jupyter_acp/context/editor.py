# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Looks at what the user has open, and tells as much of it as an agent may know."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..paths import contained, uri_path
from ..policy import Action
from ..protected import needs_permission
from ..protocol import META
from ..rpc import RpcError
from . import files, notebook
from .block import FRAME, GAP, Block, Section, Told
from .files import File
from .notebook import View
from .parts import Part, divided, listed

if TYPE_CHECKING:
    from ..client.documents import Documents
    from ..client.kernels import Kernels
    from ..client.notebook import Notebook
    from ..client.notebooks import Notebooks
    from ..client.permissions import Permissions
    from ..client.view import SessionView
    from ..client.workspace import Workspace

DEFAULT_LIMIT = 6000
"""How long the block may be, in characters; what says where the user is and how to act always goes."""

DOCUMENTS = 20
"""How many of the other documents are named."""

_CLOSED = 0.04
"""Which part of the room is kept for the names of those that were closed."""


@dataclass(frozen=True)
class Document:
    """A document that is open in a window."""

    path: Path
    language: str
    state: dict[str, Any]
    """What the window tells of it."""

    @property
    def is_notebook(self) -> bool:
        """Whether it is a notebook."""
        return self.state.get("kind") == "notebook" or self.path.suffix == ".ipynb"

    @property
    def is_dirty(self) -> bool:
        """Whether it has unsaved changes."""
        return bool(self.state.get("dirty"))

    @property
    def selected(self) -> str:
        """The text that is selected in it."""
        selection = self.state.get("selection")
        text = selection.get("text") if isinstance(selection, dict) else None
        return text if isinstance(text, str) else ""

    @property
    def line(self) -> int | None:
        """The line that the cursor is in, from 0."""
        cursor = self.state.get("cursor")
        line = cursor.get("line") if isinstance(cursor, dict) else None
        return line if isinstance(line, int) else None


class Editor:
    """Makes the block of text that goes along with a message."""

    def __init__(
        self,
        root_dir: str,
        workspace: Workspace,
        documents: Documents,
        notebooks: Notebooks,
        kernels: Kernels,
        permissions: Permissions,
    ) -> None:
        self.limit = DEFAULT_LIMIT
        self._root_dir = root_dir
        self._workspace = workspace
        self._documents = documents
        self._notebooks = notebooks
        self._kernels = kernels
        self._permissions = permissions

    async def block(
        self, session: SessionView, told: Told, memory: Hashable, how: str
    ) -> Block | None:
        """Return what a session's agent does not know yet of what the user has open, if anything.

        `how` says by which means the agent can work on it.
        """
        if not self.limit:
            return None
        active, others = await self._documents_of(session)
        front = [active] if active is not None else []
        closed = told.closed({str(each.path) for each in [*front, *others]}, memory)
        if not (front or others or closed):
            return None
        head: list[Section] = []
        parts: list[Part] = []
        loaded: Notebook | None = None
        if active is not None:
            words, parts, loaded = await self._active(session, active)
            head = [Section("head", words)]
        if closed:
            tell = listed("No longer open, or no longer shared:", closed)
            parts.append(Part(tell, _CLOSED, Section("closed")))
        named = others[:DOCUMENTS]
        parts += files.others(
            [await self._file(session, each) for each in named], is_all=active is None
        )
        fixed = [*head, Section("how", how)]
        room = self.limit - FRAME - sum(len(section.text) + GAP for section in fixed)
        texts = list(zip(parts, divided(parts, room), strict=True))
        if loaded is not None:
            # It knows these now, and may change them.
            cells = [part.cell for part, text in texts if part.cell and part.cell["source"] in text]
            self._notebooks.note(session, loaded, cells)
        found = [part.section._replace(text=text) for part, text in texts if text]
        known = {str(each.path) for each in [*front, *named]}
        return told.news([*head, *found, fixed[-1]], memory, known)

    async def _documents_of(self, session: SessionView) -> tuple[Document | None, list[Document]]:
        """Return the document that the user is in, and the others, as far as they are shared."""
        params = {"sessionId": session.id}
        try:
            answer = await self._workspace.active_document(session, params)
            active = _document(answer["document"])
            shares_active = True
        except RpcError:
            active, shares_active = None, False
        try:
            answer = await self._workspace.open_documents(session, params)
            documents = [each for entry in answer["documents"] if (each := _document(entry))]
        except RpcError:
            documents = []
        if active is None and shares_active:
            # In front is a terminal, say: what the user was in before is meant still.
            latest = sorted(documents, key=lambda each: str(each.state.get("lastFocused") or ""))
            active = latest[-1] if latest else None
        return active, [each for each in documents if active is None or each.path != active.path]

    async def _active(
        self, session: SessionView, document: Document
    ) -> tuple[str, list[Part], Notebook | None]:
        """Return what is always told of the document in front, what else there is, and its cells."""
        what = "The notebook" if document.is_notebook else "The file"
        unsaved = " It has unsaved changes." if document.is_dirty else ""
        title = f"{what} {document.path} is open.{unsaved}"
        if not self._may_read(session, document.path):
            return f"{title} Its content is not shared: ask for it.", [], None
        if not document.is_notebook:
            file = await self._file(session, document)
            line = f" The cursor is in line {file.line + 1}." if file.line is not None else ""
            return f"{title}{line}", files.parts(file), None
        content = await self._notebooks.load(document.path)
        kernel = await self._kernels.find(document.path)
        runs = f"Its kernel {kernel.name} is {kernel.state}." if kernel else "It has no kernel yet."
        cell = document.state.get("cell")
        view = View(
            document.path.name,
            document.language,
            content.cells,
            cell.get("id") if isinstance(cell, dict) else None,
            document.selected,
        )
        head = (
            f"{title} It is live: the user sees what you change in it at once, and the file on disk "
            f"may be older than what follows. {runs}"
        )
        return head, notebook.parts(view), content

    async def _file(self, session: SessionView, document: Document) -> File:
        """Return what is told of a file: its text if the agent may read it and disk has another."""
        path, is_dirty = document.path, document.is_dirty
        if document.is_notebook or not self._may_read(session, path):
            return File(path, is_dirty=is_dirty)
        live = await self._documents.read(path) if is_dirty else None
        unsaved = live.content if live is not None and isinstance(live.content, str) else None
        return File(
            path, document.language, document.line, document.selected, unsaved, is_dirty=is_dirty
        )

    def _may_read(self, session: SessionView, path: Path) -> bool:
        """Whether the agent may read a file without anybody being asked."""
        roots = [*session.roots, self._root_dir]
        try:
            contained(str(path), roots)
        except RpcError:
            return False
        action = Action.on_file("read", path, roots, f"Read {path.name}")
        default: Literal["allow", "ask"] = (
            "ask" if needs_permission(path, roots, "read") else "allow"
        )
        return self._permissions.allows(session, action, default)


def _document(entry: dict[str, Any] | None) -> Document | None:
    if entry is None:
        return None
    path = Path(os.path.realpath(uri_path(entry["uri"])))
    state = entry.get("_meta", {}).get(META, {})
    return Document(path, entry["languageId"], state if isinstance(state, dict) else {})
