# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents change, written down for review, and what the user decides about it."""

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
"""How long a text may be to be written down, in characters; of more, only that it changed."""

KNOWN_TEXTS = 1000
"""Of how many of its latest texts it is known that they were a whole file."""

NoteChange = Callable[[SessionView, Path, Change], None]
"""Takes note of what an agent has changed."""


class Revise(Protocol):
    """Makes a change in what a file is now."""

    def __call__(
        self, path: Path, before: str | None, after: str | None, *, whole: bool
    ) -> Awaitable[Change | None]:
        """Return what became of the file; None if it was deleted."""


class Noted:
    """What we have seen of a file that a session has changed, as hashes."""

    def __init__(self) -> None:
        self.texts: deque[bytes] = deque(maxlen=KNOWN_TEXTS)
        """What it was before changes and after them."""

        self.made: bytes | None = None
        """What it is by now if the session has made it, and nobody else has had a part in it."""

    def follow(self, change: Change) -> None:
        """Take note that the file has become another."""
        if change.before is not None and self.made is not None:
            ours = self.made == _hash(change.format.text(change.before))
            self.made = _hash(change.format.text(change.after)) if ours else None
        elif change.before is None:
            self.made = _hash(change.format.text(change.after))


class Changes:
    """Takes note of changes that were made through us, and makes or unmakes them for the user.

    What a change was is told by windows, and they have it from agents, who may tell anything. A file
    is deleted, and a protected one touched, only where we have seen the change ourselves.
    """

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir
        self._known: dict[str, dict[Path, Noted]] = {}

    async def decide(self, session: SessionView, params: Any, revise: Revise) -> dict[str, Any]:
        """Keep, undo or redo parts of a change; every window hears of it, also later ones."""
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
        """Write down what was changed, as text; only what the user can undo."""
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
        """Forget what a session has changed."""
        self._known.pop(session_id, None)

    def _of(self, session: SessionView, path: Path) -> Noted:
        return self._known.setdefault(session.id, {}).setdefault(path, Noted())

    def _revised(self, session: SessionView, path: Path, change: Change | None) -> None:
        if change is not None and change.before is None:
            # What was made once more for the user may be deleted once more.
            self._of(session, path).follow(change)
        elif known := self._known.get(session.id, {}).get(path):
            if change is None:
                known.made = None
            else:
                known.follow(change)


def _check_made(path: Path, known: Noted | None, content: str) -> None:
    """Refuse to delete what this session has not made, or what is another by now."""
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
    """Whether a name can be told: Linux has names that are no text in any encoding."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_outputs(notebook: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Leave out the outputs of cells that both have: they can be large, and nobody undoes them."""
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
