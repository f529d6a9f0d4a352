# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What running code brought: messages of a kernel, put together as a notebook keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

SIZE_LIMIT = 8 * 1024 * 1024
"""How much output of one run is kept, in characters; nobody reads on from there."""

Status = Literal["ok", "error", "aborted", "timeout"]


@dataclass
class Ran:
    """How a run went."""

    status: Status
    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None
    note: str = ""
    """What a reader has to know besides."""

    language: str = ""
    """What the kernel speaks."""


@dataclass(frozen=True)
class RanCell:
    """A cell that was to be run, and how that went."""

    id: str
    index: int
    source: str
    ran: Ran


class Outputs:
    """Takes what a kernel publishes while it runs something, in any amount."""

    def __init__(self, limit: int = SIZE_LIMIT) -> None:
        self.items: list[dict[str, Any]] = []
        self.failed = False
        self._room = limit
        self._clearing = False
        self._displays: dict[str, list[dict[str, Any]]] = {}

    def take(self, kind: str, content: dict[str, Any]) -> None:
        """Take a message of the iopub channel."""
        if kind == "clear_output":
            if content.get("wait"):
                self._clearing = True
            else:
                self.items.clear()
        elif kind == "update_display_data":
            self._update(content)
        elif kind in ("stream", "display_data", "execute_result", "error"):
            if self._clearing:
                self._clearing = False
                self.items.clear()
            if kind == "error":
                self.failed = True
            self._add(kind, content)

    def _add(self, kind: str, content: dict[str, Any]) -> None:
        # An error is short, and what everybody wants to see.
        if self._room <= 0 and kind != "error":
            return
        last = self.items[-1] if self.items else {}
        if kind == "stream":
            name, text = content.get("name", "stdout"), str(content.get("text", ""))
            self._room -= len(text)
            if self._room <= 0:
                text = text[: len(text) + self._room] + "\n[The rest of the output was dropped.]\n"
            if last.get("output_type") == "stream" and last["name"] == name:
                last["text"] += text
            else:
                self.items.append({"output_type": "stream", "name": name, "text": text})
            return
        output = {"output_type": kind, **_fields(kind, content)}
        self._room -= _size(output)
        if self._room <= 0 and kind != "error":
            output = {"output_type": "stream", "name": "stderr", "text": _DROPPED}
        self.items.append(output)
        if name := (content.get("transient") or {}).get("display_id"):
            self._displays.setdefault(name, []).append(output)

    def _update(self, content: dict[str, Any]) -> None:
        name = str((content.get("transient") or {}).get("display_id"))
        for output in self._displays.get(name, []):
            # Shown anew, again and again: it takes no more room than the last one does.
            if _size(content) <= SIZE_LIMIT and "data" in output:
                output.update(_fields("display_data", content))


_DROPPED = "[An output was dropped: it is too large.]\n"
_FIELDS: dict[str, dict[str, Any]] = {
    "display_data": {"data": {}, "metadata": {}},
    "execute_result": {"data": {}, "metadata": {}, "execution_count": None},
    "error": {"ename": "", "evalue": "", "traceback": []},
}


def _fields(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    return {key: content.get(key, absent) for key, absent in _FIELDS[kind].items()}


def _size(output: dict[str, Any]) -> int:
    data = output.get("data")
    return sum(len(str(value)) for value in data.values()) if isinstance(data, dict) else 0
