# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Changes that agents make to files, recorded for review, and the user's decisions on them."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from ...paths import contained
from ...protocol import CHANGE_DECIDED, FILE_CHANGED, DecideChangeParams, parse
from ...rpc import invalid_params
from ..permissions.protected_files import needs_permission
from ..view import SessionView
from .formats import NOTEBOOK, Change

TEXT_LIMIT = 512 * 1024
"""Maximum length of a recorded text, in characters; a longer change is recorded without text."""

KNOWN_TEXTS = 1000
"""Maximum number of hashes kept for each file."""

NoteChange = Callable[[SessionView, Path, Change], None]
"""Records a change that an agent has made."""


class Revise(Protocol):
    """Applies a change to the current content of a file."""

    def __call__(
        self, path: Path, before: str | None, after: str | None, *, whole: bool
    ) -> Awaitable[Change | None]:
        """Return the resulting change of the file, or None if it was deleted."""


class Noted:
    """Hashes of the contents of a file that a session has changed."""

    def __init__(self) -> None:
        self.texts: deque[bytes] = deque(maxlen=KNOWN_TEXTS)
        """Contents before and after each change."""

        self.made: bytes | None = None
        """Current content if this session created the file and is its only writer, else None."""

    def follow(self, change: Change) -> None:
        """Update `made` after a change of the file."""
        if change.before is not None and self.made is not None:
            ours = self.made == _hash(change.format.text(change.before))
            self.made = _hash(change.format.text(change.after)) if ours else None
        elif change.before is None:
            self.made = _hash(change.format.text(change.after))


class Changes:
    """Records the changes made through this server, and undoes or redoes them for the user.

    Windows describe a change as the agent did, which may be wrong. So a file is deleted, and a
    protected file is written, only if this server has recorded the change itself.
    """

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir
        self._known: dict[str, dict[Path, Noted]] = {}

    async def decide(self, session: SessionView, params: Any, revise: Revise) -> dict[str, Any]:
        """Keep, undo or redo parts of a change; record the decision for all windows."""
        wanted = parse(DecideChangeParams, params)
        if wanted.decision != "keep":
            roots = [*session.roots, self._root_dir]
            path = contained(wanted.path, roots)
            if wanted.before is None and wanted.after is None:
                raise invalid_params("before, after: at least one of them has to be a text.")
            known = self._known.get(session.id, {}).get(path)
            if wanted.after is None:
                _check_made(path, known, wanted.before or "")
            if needs_permission(path, roots, "write") and known is None:
                raise invalid_params(
                    f"{path.name} was left as it is: it is a protected file, and the change was not "
                    "made through this server. Change it yourself."
                )
            told = {_hash(text) for text in (wanted.before, wanted.after) if text is not None}
            whole = known is not None and not told.isdisjoint(known.texts)
            change = await revise(path, wanted.before, wanted.after, whole=whole)
            self._revised(session, path, change)
        session.append(
            CHANGE_DECIDED,
            {"change": wanted.change, "parts": wanted.parts, "decision": wanted.decision},
        )
        return {}

    def note(self, session: SessionView, path: Path, change: Change) -> None:
        """Record a change as text, limited to what the user can undo."""
        before, after = change.before, change.after
        known = self._of(session, path)
        known.follow(change)
        if change.format is NOTEBOOK and before is not None:
            before, after = _without_outputs(before, after), _without_outputs(after, before)
        texts = [None if value is None else change.format.text(value) for value in (before, after)]
        known.texts.extend(_hash(text) for text in texts if text is not None)
        name = str(path)
        if texts[0] == texts[1] or not _is_text(name):
            return
        told: dict[str, Any] = {"path": name}
        if all(text is None or len(text) <= TEXT_LIMIT for text in texts):
            told |= {"oldText": texts[0], "newText": texts[1]}
        session.append(FILE_CHANGED, told)

    def forget(self, session_id: str) -> None:
        """Drop the hashes of a session."""
        self._known.pop(session_id, None)

    def _of(self, session: SessionView, path: Path) -> Noted:
        return self._known.setdefault(session.id, {}).setdefault(path, Noted())

    def _revised(self, session: SessionView, path: Path, change: Change | None) -> None:
        if change is not None and change.before is None:
            # Redo has created the file again: undo may delete it again.
            self._of(session, path).follow(change)
        elif known := self._known.get(session.id, {}).get(path):
            if change is None:
                known.made = None
            else:
                known.follow(change)


def _check_made(path: Path, known: Noted | None, content: str) -> None:
    """Refuse to delete a file that the session has not created, or that has changed since."""
    if known is None or known.made is None:
        why = "that this session has made it, and nobody else, is not known here"
    elif known.made != _hash(content):
        why = "it is not what this session has made"
    else:
        return
    raise invalid_params(f"{path.name} was not deleted: {why}. Delete it yourself if you are sure.")


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_text(name: str) -> bool:
    """Return True if a name can be encoded: Linux has names that are not valid text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_outputs(notebook: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Remove the outputs of cells that both have: they can be large, and undo ignores them."""
    ids = {cell["id"] for cell in other["cells"] if "id" in cell and cell["cell_type"] == "code"}
    return {
        **notebook,
        "cells": [
            {**cell, "outputs": [], "execution_count": None}
            if cell["cell_type"] == "code" and cell.get("id") in ids
            else cell
            for cell in notebook["cells"]
        ],
    }
