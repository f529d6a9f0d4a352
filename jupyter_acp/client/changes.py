# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents change, written down for review, and what the user decides about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ..formats import NOTEBOOK, Change
from ..paths import contained
from ..protocol import CHANGE_DECIDED, FILE_CHANGED, DecideChangeParams, parse
from .view import SessionView

TEXT_LIMIT = 512 * 1024
"""How long a text may be to be written down, in characters; of more, only that it changed."""

Revise = Callable[[Path, "str | None", "str | None"], Awaitable[None]]


class Changes:
    """Takes note of changes that were made through us, and makes or unmakes them for the user."""

    def __init__(self, root_dir: str, revise: Revise) -> None:
        self._root_dir = root_dir
        self._revise = revise

    async def decide(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Keep, undo or redo parts of a change; every window hears of it, also later ones."""
        wanted = parse(DecideChangeParams, params)
        if wanted.decision != "keep":
            path = contained(wanted.path, [*session.roots, self._root_dir])
            await self._revise(path, wanted.before, wanted.after)
        session.append(
            CHANGE_DECIDED,
            {"change": wanted.change, "parts": wanted.parts, "decision": wanted.decision},
        )
        return {}


def note_change(session: SessionView, path: Path, change: Change) -> None:
    """Write down what was changed, as text; only what the user can undo."""
    before, after = change.before, change.after
    if before == after:
        return
    if change.format is NOTEBOOK and before is not None:
        before, after = _without_outputs(before, after), _without_outputs(after, before)
    told: dict[str, Any] = {"path": str(path)}
    texts = [None if value is None else change.format.text(value) for value in (before, after)]
    if all(text is None or len(text) <= TEXT_LIMIT for text in texts):
        told |= {"oldText": texts[0], "newText": texts[1]}
    session.append(FILE_CHANGED, told)


def _without_outputs(notebook: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Leave out the outputs of cells that both have: they can be large, and nobody undoes them."""
    ids = {cell["id"] for cell in other["cells"] if "id" in cell}
    return {
        **notebook,
        "cells": [
            {**cell, "outputs": [], "execution_count": None}
            if cell["cell_type"] == "code" and cell.get("id") in ids
            else cell
            for cell in notebook["cells"]
        ],
    }
