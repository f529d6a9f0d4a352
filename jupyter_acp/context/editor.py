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
from ..tools.words import cut
from . import notebook
from .block import Block, Section, Told
from .notebook import View, fenced

if TYPE_CHECKING:
    from ..client.documents import Documents
    from ..client.kernels import Kernels
    from ..client.notebooks import Notebooks
    from ..client.permissions import Permissions
    from ..client.view import SessionView
    from ..client.workspace import Workspace

DEFAULT_LIMIT = 6000
"""How long the block may be, in characters."""

DOCUMENTS = 20
"""How many of the other documents are named."""

_OTHERS, _FILE, _SELECTED = 0.25, 0.6, 0.25
_LINES_AROUND = 40
"""How many lines of an unsaved file are told before the cursor, and behind it."""


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
        found = await self._sections(session) if self.limit else []
        if not found:
            return None
        return told.news([*found, Section("how", how)], memory)

    async def _sections(self, session: SessionView) -> list[Section]:
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
        found: list[Section] = []
        if active is not None:
            found += await self._active(session, active)
        others = [each for each in documents if active is None or each.path != active.path]
        if others:
            found.append(await self._others(session, others[:DOCUMENTS]))
        return found

    async def _active(self, session: SessionView, document: Document) -> list[Section]:
        if not self._may_read(session, document.path):
            return [Section("head", f"{_title(document)} Its content is not shared: ask for it.")]
        if document.is_notebook:
            return await self._notebook(session, document)
        head = f"{_title(document)}{_place(document)}"
        parts = [head, *await self._text(document, int(self.limit * _FILE))]
        return [Section("head", "\n".join(parts))]

    async def _notebook(self, session: SessionView, document: Document) -> list[Section]:
        path = document.path
        content = await self._notebooks.load(path)
        kernel = await self._kernels.find(path)
        runs = f"Its kernel {kernel.name} is {kernel.state}." if kernel else "It has no kernel yet."
        head = (
            f"{_title(document)} It is live: the user sees what you change in it at once, and the file "
            f"on disk may be older than what follows. {runs}"
        )
        cell = document.state.get("cell")
        view = View(
            path.name,
            str(path),
            document.language,
            content.cells,
            cell.get("id") if isinstance(cell, dict) else None,
            document.selected,
        )
        found, whole = notebook.sections(view, self.limit)
        # It knows these now, and may change them.
        self._notebooks.note(session, content, whole)
        return [Section("head", head), *found]

    async def _others(self, session: SessionView, documents: list[Document]) -> Section:
        lines = ["Also open:"]
        room = int(self.limit * _OTHERS)
        for document in documents:
            lines.append(f"- {document.path}{_place(document)}")
            if not document.is_notebook and self._may_read(session, document.path):
                for part in await self._text(document, room // 3):
                    if len(part) <= room:
                        room -= len(part)
                        lines.append(part)
        return Section("others", cut("\n".join(lines), int(self.limit * _OTHERS * 2)))

    async def _text(self, document: Document, room: int) -> list[str]:
        """Return the text of a file as far as the file on disk does not have it, or it is selected."""
        parts: list[str] = []
        if selected := cut(document.selected, int(room * _SELECTED)):
            parts.append(f"Selected in it:\n{fenced(selected, document.language)}")
        live = await self._documents.read(document.path) if document.state.get("dirty") else None
        if live is not None and isinstance(live.content, str):
            lines = live.content.splitlines()
            start = max((document.line or 0) - _LINES_AROUND, 0)
            end = min((document.line or 0) + _LINES_AROUND, len(lines))
            text = cut("\n".join(lines[start:end]), room)
            where = f"lines {start + 1} to {end}" if end - start < len(lines) else "all of it"
            parts.append(f"Its unsaved text, {where}:\n{fenced(text, document.language)}")
        return parts

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


def _title(document: Document) -> str:
    what = "The notebook" if document.is_notebook else "The file"
    unsaved = " It has unsaved changes." if document.state.get("dirty") else ""
    return f"{what} {document.path} is open.{unsaved}"


def _place(document: Document) -> str:
    line = document.line
    if document.is_notebook or line is None:
        return " (unsaved)" if document.state.get("dirty") else ""
    unsaved = ", unsaved" if document.state.get("dirty") else ""
    return f" (the cursor is in line {line + 1}{unsaved})"
