# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Context from the user's open documents, as far as an agent may know them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..client.permissions.policy import Action
from ..client.permissions.protected_files import needs_permission
from ..paths import contained, uri_path
from ..protocol import META
from ..rpc import RpcError
from . import files, notebook
from .block import FRAME, GAP, Block, Section, Told
from .files import File
from .notebook import View
from .parts import Part, divided, listed

if TYPE_CHECKING:
    from ..client.documents.live import Documents
    from ..client.notebooks.kernels import Kernels
    from ..client.notebooks.notebook import Notebook
    from ..client.notebooks.service import Notebooks
    from ..client.permissions.service import Permissions
    from ..client.view import SessionView
    from ..client.workspace import Workspace

DEFAULT_LIMIT = 6000
"""Maximum length of the block, in characters; its first and last sections are always sent."""

DOCUMENTS = 20
"""Maximum number of other documents that are read; the rest are only named."""

PATIENCE = 2.0
"""Timeout for reading a document, in seconds: the message waits for it."""

_CLOSED = 0.04
"""Share of the room for the names of closed documents."""

_AWAY = (
    "The window that has it open has lost its connection: what the user sees there is not known, and "
    "the file on disk may be older."
)
_UNREAD = "What is in it could not be read just now."
_LIVE = (
    "It is live: the user sees what you change in it at once, and the file on disk may be older than "
    "what follows."
)

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Document:
    """A document that is open in a window."""

    path: Path
    language: str
    state: dict[str, Any]
    """State reported by the window."""

    @property
    def is_notebook(self) -> bool:
        """True if it is a notebook."""
        return self.state.get("kind") == "notebook" or self.path.suffix == ".ipynb"

    @property
    def is_dirty(self) -> bool:
        """True if it has unsaved changes."""
        return bool(self.state.get("dirty"))

    @property
    def selected(self) -> str:
        """Selected text."""
        selection = self.state.get("selection")
        text = selection.get("text") if isinstance(selection, dict) else None
        return text if isinstance(text, str) else ""

    @property
    def line(self) -> int | None:
        """Line of the cursor, from 0."""
        cursor = self.state.get("cursor")
        line = cursor.get("line") if isinstance(cursor, dict) else None
        return line if isinstance(line, int) else None

    @property
    def cell(self) -> str | None:
        """Id of the active cell."""
        cell = self.state.get("cell")
        id = cell.get("id") if isinstance(cell, dict) else None
        return id if isinstance(id, str) else None

    @property
    def place(self) -> str:
        """Position of the user, as a sentence."""
        if self.cell is not None:
            return f"The user is in the cell {self.cell}."
        return f"The cursor is in line {self.line + 1}." if self.line is not None else ""


class Editor:
    """Makes the context for messages."""

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
        """Return the context that a session's agent has not received yet, or None.

        `how` is the section that explains the tools for working on the documents.
        """
        if not self.limit:
            return None
        active, others = await self._documents_of(session)
        known = {str(each.path) for each in [*([active] if active else []), *others]}
        closed = told.closed(known, memory)
        if not (known or closed):
            return None
        reading = asyncio.gather(*(self._file(session, each) for each in others[:DOCUMENTS]))
        head: list[Section] = []
        parts: list[Part] = []
        loaded: Notebook | None = None
        if active is not None:
            words, parts, loaded = await self._active(session, active)
            head = [Section("head", words)]
        if closed:
            tell = listed("No longer open, or no longer shared:", closed)
            parts.append(Part(tell, _CLOSED, Section("closed")))
        named = [File(each.path, is_dirty=each.is_dirty) for each in others[DOCUMENTS:]]
        parts += files.others([*await reading, *named], is_all=active is None)
        fixed = [*head, Section("how", how)]
        room = self.limit - FRAME - sum(len(section.text) + GAP for section in fixed)
        texts = list(zip(parts, divided(parts, room), strict=True))
        found = [part.section._replace(text=text) for part, text in texts if text]
        block = told.news([*head, *found, fixed[-1]], memory, known)
        if block is None or loaded is None:
            return block
        # Cells that are sent in full count as read, so the agent may change them.
        cells = [part.cell for part, text in texts if part.cell and part.cell["source"] in text]
        return block._replace(on_sent=partial(self._notebooks.note, session, loaded, cells))

    async def _documents_of(self, session: SessionView) -> tuple[Document | None, list[Document]]:
        """Return the active document and the others, as far as the user shares them."""
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
            # The active tab is, for example, a terminal: take the last used document.
            latest = sorted(documents, key=lambda each: str(each.state.get("lastFocused") or ""))
            active = latest[-1] if latest else None
        return active, [each for each in documents if active is None or each.path != active.path]

    async def _active(
        self, session: SessionView, document: Document
    ) -> tuple[str, list[Part], Notebook | None]:
        """Return the first section on the active document, its other parts, and its notebook."""
        path, place = document.path, document.place
        what = "The notebook" if document.is_notebook else "The file"
        unsaved = "It has unsaved changes." if document.is_dirty else ""
        title = _sentences(f"{what} {path} is open.", unsaved)
        if not self._may_read(session, path):
            return f"{title} Its content is not shared: ask for it.", [], None
        if self._workspace.is_away(path):
            return f"{title} {_AWAY}", [], None
        if not document.is_notebook:
            file = await self._file(session, document)
            return _sentences(title, place), files.parts(file), None
        content, kernel = await asyncio.gather(
            _in_time(path, self._notebooks.load(path)), _in_time(path, self._kernel(path))
        )
        if content is None or content.live is None:
            file = File(path, document.language, selected=document.selected)
            return _sentences(title, _UNREAD, place, kernel), files.parts(file), None
        view = View(path.name, document.language, content.cells, document.cell, document.selected)
        return _sentences(title, _LIVE, kernel), notebook.parts(view), content

    async def _kernel(self, path: Path) -> str:
        """Return the state of a notebook's kernel, as a sentence."""
        kernel = await self._kernels.find(path)
        return f"Its kernel {kernel.name} is {kernel.state}." if kernel else "It has no kernel yet."

    async def _file(self, session: SessionView, document: Document) -> File:
        """Return the context of a file, with unsaved text if the agent may read it."""
        path, is_dirty = document.path, document.is_dirty
        if document.is_notebook or not self._may_read(session, path):
            return File(path, is_dirty=is_dirty)
        # If a window is disconnected, another one may not have its unsaved changes.
        is_live = is_dirty and not self._workspace.is_away(path)
        live = await _in_time(path, self._documents.read(path)) if is_live else None
        unsaved = live.content if live is not None and isinstance(live.content, str) else None
        return File(
            path, document.language, document.line, document.selected, unsaved, is_dirty=is_dirty
        )

    def _may_read(self, session: SessionView, path: Path) -> bool:
        """Return True if the agent may read a file without asking the user."""
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


async def _in_time(path: Path, reading: Awaitable[T]) -> T | None:
    """Return the result, or None if reading fails or takes too long for the message."""
    try:
        return await asyncio.wait_for(reading, PATIENCE)
    except Exception as error:
        _log.warning("%s could not be told with a message: %r", path, error)
        return None


def _sentences(*sentences: str | None) -> str:
    return " ".join(filter(None, sentences))


def _document(entry: dict[str, Any] | None) -> Document | None:
    if entry is None:
        return None
    path = Path(os.path.realpath(uri_path(entry["uri"])))
    state = entry.get("_meta", {}).get(META, {})
    return Document(path, entry["languageId"], state if isinstance(state, dict) else {})
