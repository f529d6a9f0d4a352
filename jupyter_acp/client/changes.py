# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents change, written down for review, and what the user decides about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ..formats import NOTEBOOK, Change
from ..paths import contained
from ..policy import needs_permission
from ..protocol import CHANGE_DECIDED, FILE_CHANGED, DecideChangeParams, parse
from ..rpc import invalid_params
from .view import SessionView

TEXT_LIMIT = 512 * 1024
"""How long a text may be to be written down, in characters; of more, only that it changed."""

Revise = Callable[[Path, "str | None", "str | None"], Awaitable[None]]


class Changes:
    """Takes note of changes that were made through us, and makes or unmakes them for the user.

    What a change was is told by windows, and they have it from agents, who may tell anything. A file
    is deleted, and a protected one touched, only where we have seen the change ourselves.
    """

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir
        self._seen: dict[str, set[Path]] = {}
        self._made: dict[str, set[Path]] = {}

    async def decide(self, session: SessionView, params: Any, revise: Revise) -> dict[str, Any]:
        """Keep, undo or redo parts of a change; every window hears of it, also later ones."""
        wanted = parse(DecideChangeParams, params)
        if wanted.decision != "keep":
            roots = [*session.roots, self._root_dir]
            path = contained(wanted.path, roots)
            if wanted.before is None and wanted.after is None:
                raise invalid_params("before, after: at least one of them has to be a text.")
            if wanted.after is None and path not in self._made.get(session.id, ()):
                raise invalid_params(
                    f"{path.name} was not deleted: that this session has made it is not known here. "
                    "Delete it yourself if you are sure."
                )
            if needs_permission(path, roots) and path not in self._seen.get(session.id, ()):
                raise invalid_params(
                    f"{path.name} was left as it is: it is a protected file, and the change was not "
                    "made through this server. Change it yourself."
                )
            await revise(path, wanted.before, wanted.after)
        session.append(
            CHANGE_DECIDED,
            {"change": wanted.change, "parts": wanted.parts, "decision": wanted.decision},
        )
        return {}

    def note(self, session: SessionView, path: Path, change: Change) -> None:
        """Write down what was changed, as text; only what the user can undo."""
        before, after = change.before, change.after
        self._seen.setdefault(session.id, set()).add(path)
        if before is None:
            self._made.setdefault(session.id, set()).add(path)
        if change.format is NOTEBOOK and before is not None:
            before, after = _without_outputs(before, after), _without_outputs(after, before)
        texts = [None if value is None else change.format.text(value) for value in (before, after)]
        name = str(path)
        if texts[0] == texts[1] or not name.isprintable():
            return
        told: dict[str, Any] = {"path": name}
        if all(text is None or len(text) <= TEXT_LIMIT for text in texts):
            told |= {"oldText": texts[0], "newText": texts[1]}
        session.append(FILE_CHANGED, told)

    def forget(self, session_id: str) -> None:
        """Forget what a session has changed."""
        self._seen.pop(session_id, None)
        self._made.pop(session_id, None)


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
