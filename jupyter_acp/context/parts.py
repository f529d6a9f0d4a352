# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Parts of the block, and how they divide the room that there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..client.notebooks.output_text import cut
from .block import GAP, Section

Tell = Callable[[int], str]
"""Returns words in so many characters at most, or none if those are too few."""

SHORT = 80
"""How long a line may be that is quoted within another, in characters."""

_NOTHING = Section("")
_LEAST, _MARK = 80, 45
"""How much of a text that is cut is worth telling, and what it costs to say that it is cut."""


@dataclass(frozen=True)
class Part:
    """Something to tell in as much room as it gets."""

    tell: Tell
    share: float = 0.0
    """Which part of all the room is kept for it, however much those before it need."""

    section: Section = _NOTHING
    """What it becomes, without its text."""

    cell: dict[str, Any] | None = None
    """The cell that it tells."""


def divided(parts: Sequence[Part], room: int) -> list[str]:
    """Return the words of parts, the most important first: what one does not need the next can have."""
    needs = [len(part.tell(room)) + GAP for part in parts]
    kept = [
        min(need, int(room * part.share)) if need > GAP else 0
        for need, part in zip(needs, parts, strict=True)
    ]
    left = room
    told: list[str] = []
    for at, part in enumerate(parts):
        told.append(part.tell(left - sum(kept[at + 1 :]) - GAP))
        left -= len(told[-1]) + GAP if told[-1] else 0
    return told


def plain(text: str) -> Tell:
    """Return how to tell a text that is told in full or not at all."""
    return lambda room: text if len(text) <= room else ""


def listed(label: str, entries: Sequence[str]) -> Tell:
    """Return how to tell a list by a label: as much of it as there is room for, and how much more there is."""

    def tell(room: int) -> str:
        for count in range(len(entries), 0, -1):
            more = [f"and {len(entries) - count} more"] if count < len(entries) else []
            text = "\n- ".join([label, *entries[:count], *more])
            if len(text) <= room:
                return text
        return ""

    return tell


def quote(label: str, text: str, language: str = "") -> Tell:
    """Return how to tell a text by a label; where there is little room, its middle is left out."""

    def tell(room: int) -> str:
        whole = _quoted(label, text, language)
        if len(whole) <= room:
            return whole
        left = room - (len(whole) - len(text)) - _MARK
        return _quoted(label, cut(text, left), language) if left >= _LEAST else ""

    return tell


def fenced(text: str, language: str = "") -> str:
    """Return text in a fence that it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(label: str, text: str, language: str) -> str:
    """Return a text as it is read most easily: most outputs are one short line."""
    is_short = not language and len(text) <= SHORT and "\n" not in text and "`" not in text
    return f"{label} `{text}`" if is_short else f"{label}\n{fenced(text, language)}"
