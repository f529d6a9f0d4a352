# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Results of running code: kernel messages, collected as outputs of a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

SIZE_LIMIT = 8 * 1024 * 1024
"""Maximum size of the outputs kept from one run, in characters."""

Status = Literal["ok", "error", "aborted", "timeout"]


@dataclass
class Ran:
    """The result of a run."""

    status: Status
    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None
    note: str = ""
    """Additional message about the status."""

    language: str = ""
    """Language of the kernel."""


@dataclass(frozen=True)
class RanCell:
    """A cell and the result of its run."""

    id: str
    index: int
    source: str
    ran: Ran


class Outputs:
    """Collects the outputs that a kernel publishes during a run, up to a limit."""

    def __init__(self, limit: int = SIZE_LIMIT) -> None:
        self.items: list[dict[str, Any]] = []
        self.failed = False
        self._room = limit
        self._clearing = False
        self._displays: dict[str, list[dict[str, Any]]] = {}

    def take(self, kind: str, content: dict[str, Any]) -> None:
        """Add a message of the iopub channel."""
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
        # Errors are always kept: they are short and important.
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
            # An update replaces the output, so it does not count towards the limit.
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
