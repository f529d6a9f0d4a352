# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Reports of tool calls in the transcript, for users."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from ..client.notebooks.outputs import Ran, RanCell
from ..client.view import SessionView
from ..protocol import TOOL

OUTPUTS_LIMIT = 1024 * 1024
"""Maximum size of the outputs of one call in the transcript, in bytes; it is kept for ever."""


class Record:
    """Reports one call of a tool: when it begins and when it has ended."""

    def __init__(
        self,
        session: SessionView,
        name: str,
        arguments: Any,
        title: str,
        claim: Callable[[SessionView, str, Any], str | None],
    ) -> None:
        """Take the title to use until more is known of the call."""
        self._session = session
        self._claim = claim
        self._told: dict[str, Any] = {
            "id": f"jupyter-{uuid.uuid4().hex}",
            "toolCallId": None,
            "name": name,
            "arguments": {} if arguments is None else arguments,
            "title": title,
        }

    def begin(self, title: str, path: Path | None) -> None:
        """Report the start, with the title and the document."""
        self._told["title"] = title
        if path is not None:
            self._told["path"] = str(path)
        self._tell("in_progress")

    def end(self, result: dict[str, Any], *, failed: bool) -> None:
        """Report the result."""
        self._tell("failed" if failed else "completed", result=result)

    def fail(self, message: str, result: dict[str, Any] | None = None) -> None:
        """Report the error, with the partial result if there is one."""
        part = {"result": result} if result else {}
        self._tell("failed", error={"message": message}, **part)

    def _tell(self, status: Literal["in_progress", "completed", "failed"], **more: Any) -> None:
        if self._told["toolCallId"] is None:
            # Some agents report a call shortly after making it.
            name, arguments = self._told["name"], self._told["arguments"]
            self._told["toolCallId"] = self._claim(self._session, name, arguments)
        told = json.dumps({**self._told, "status": status, **more}, ensure_ascii=False, default=str)
        # Outputs and file names may contain lone surrogates, a transcript must not.
        self._session.append(TOOL, json.loads(told.encode("utf-8", "replace")))


def in_cell(index: int, path: Path) -> str:
    """Return the note where to find outputs that are not kept."""
    return f"It is in cell {index + 1} of {path.name}."


class Room:
    """Limits the size of the outputs of one call."""

    def __init__(self, size: int = OUTPUTS_LIMIT) -> None:
        self._left = size

    def of(self, ran: Ran, source: str, where: str) -> dict[str, Any]:
        """Return the fields of a run; a note with `where` replaces an output that is too large."""
        return {
            "source": source,
            "language": ran.language,
            "outputs": self.outputs(ran.outputs, where),
            "executionCount": ran.execution_count,
            "status": ran.status,
            "note": ran.note,
        }

    def of_cell(self, cell: RanCell, path: Path) -> dict[str, Any]:
        """Return the fields of the run of a cell."""
        return {
            **self.of(cell.ran, cell.source, in_cell(cell.index, path)),
            "cell": {"id": cell.id, "index": cell.index},
        }

    def outputs(self, outputs: list[dict[str, Any]], where: str) -> list[dict[str, Any]]:
        """Return outputs, with notes in place of those that do not fit."""
        return [self._fit(output, where) for output in outputs]

    def _fit(self, output: dict[str, Any], where: str) -> dict[str, Any]:
        size = len(json.dumps(output, default=str))
        if size > self._left:
            words = f"[An output of {size:,} bytes is not kept here. {where}]\n"
            return {"output_type": "stream", "name": "stdout", "text": words}
        self._left -= size
        return output
