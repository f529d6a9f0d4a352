# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A tool call: told when it begins, as it goes on, and how it ended."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from .turn import Turn


class Tool:
    """One tool call of a turn."""

    def __init__(
        self,
        turn: Turn,
        title: str,
        kind: str,
        *,
        locations: list[dict[str, Any]],
        raw_input: Any,
    ) -> None:
        self._turn = turn
        self.id = uuid.uuid4().hex
        self.ended = False
        self._state: dict[str, Any] = {
            "toolCallId": self.id,
            "title": title,
            "kind": kind,
            "status": "pending",
            "locations": locations,
            "rawInput": raw_input,
        }
        turn.send({"sessionUpdate": "tool_call", **self._state})

    def described(self) -> dict[str, Any]:
        """Return the whole call, as a permission request carries it."""
        return dict(self._state)

    def update(self, **changes: Any) -> None:
        """Tell what changed."""
        self._state.update(changes)
        self._turn.send({"sessionUpdate": "tool_call_update", "toolCallId": self.id, **changes})

    def start(self) -> None:
        """Tell that the work has begun."""
        self.update(status="in_progress")

    def done(
        self,
        *,
        content: list[dict[str, Any]] | None = None,
        locations: list[dict[str, Any]] | None = None,
        raw_output: Any = None,
        kept: list[dict[str, Any]] | None = None,
    ) -> None:
        """Tell that it worked; `kept` is content that still means something in a later load."""
        changes = {"content": content, "locations": locations, "rawOutput": raw_output}
        self._end("completed", changes, kept)

    def fail(
        self, reason: str, *, raw_output: Any = None, kept: list[dict[str, Any]] | None = None
    ) -> None:
        """Tell that it did not work, and why, next to what it already shows."""
        content = [*self._state.get("content", ()), text_content(reason)]
        self._end("failed", {"content": content, "rawOutput": raw_output}, kept)

    def _end(self, status: str, changes: dict[str, Any], kept: list[dict[str, Any]] | None) -> None:
        if self.ended:
            return
        self.ended = True
        told = {name: value for name, value in changes.items() if value is not None}
        self.update(status=status, **told)
        state = self._state if kept is None else {**self._state, "content": kept}
        self._turn.record({"sessionUpdate": "tool_call", **state})


def text_content(text: str) -> dict[str, Any]:
    """Return text as a tool call shows it."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def diff_content(path: Path, old: str | None, new: str) -> dict[str, Any]:
    """Return an edit as a tool call shows it; no old text means a new file."""
    return {"type": "diff", "path": str(path), "oldText": old, "newText": new}


def location(path: Path, line: int | None = None, cell: int | None = None) -> dict[str, Any]:
    """Return a place in a file; inside a notebook the cell counts, not the line of its JSON."""
    place: dict[str, Any] = {"path": str(path)}
    if cell is not None:
        place["_meta"] = {"jupyter-acp": {"cell": cell, "line": line}}
    elif line is not None:
        place["line"] = line
    return place
