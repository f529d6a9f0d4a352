# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Contents of the cards for operations on files, as fields of a tool call."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LANGUAGE = re.compile(r"[\w+#-]*", re.ASCII)


def card(path: Path, *content: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Return the fields for a file; `given` are further inputs of the operation."""
    shown: dict[str, Any] = {"locations": [{"path": str(path)}]}
    if given:
        shown["rawInput"] = {"path": str(path), **given}
    return {**shown, "content": [*content]} if content else shown


def diff(path: Path, old: str | None, new: str) -> dict[str, Any]:
    """Return a diff as content of a tool call."""
    return {"type": "diff", "path": str(path), "oldText": old, "newText": new}


def words(text: str) -> dict[str, Any]:
    """Return a text as content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def fenced(code: str, language: str) -> str:
    """Return code as a fenced markdown block, with a fence that does not occur in the code."""
    fence = "```"
    while fence in code:
        fence += "`"
    named = language if _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{named}\n{code}\n{fence}"
