# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Parts of the block, and the division of its room among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..client.notebooks.output_text import cut
from .block import GAP, Section

Tell = Callable[[int], str]
"""Returns a text of at most so many characters, or an empty text if they are too few."""

SHORT = 80
"""Maximum length of a text that is quoted within a line, in characters."""

_NOTHING = Section("")
_LEAST, _MARK = 80, 45
"""Minimum length of a cut text, and length of the note that it is cut."""


@dataclass(frozen=True)
class Part:
    """A text that adapts to the room that it gets."""

    tell: Tell
    share: float = 0.0
    """Share of the whole room that is reserved for the part."""

    section: Section = _NOTHING
    """Section that the part becomes, without its text."""

    cell: dict[str, Any] | None = None
    """Cell that the part describes."""


def divided(parts: Sequence[Part], room: int) -> list[str]:
    """Return the texts of parts, by importance: the next part gets the room that one leaves."""
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
    """Return a function that gives the text in full, or an empty text if there is no room."""
    return lambda room: text if len(text) <= room else ""


def listed(label: str, entries: Sequence[str]) -> Tell:
    """Return a function that lists as many entries as fit, and the number of the others."""

    def tell(room: int) -> str:
        for count in range(len(entries), 0, -1):
            more = [f"and {len(entries) - count} more"] if count < len(entries) else []
            text = "\n- ".join([label, *entries[:count], *more])
            if len(text) <= room:
                return text
        return ""

    return tell


def quote(label: str, text: str, language: str = "") -> Tell:
    """Return a function that quotes a text; if there is little room, its middle is cut out."""

    def tell(room: int) -> str:
        whole = _quoted(label, text, language)
        if len(whole) <= room:
            return whole
        left = room - (len(whole) - len(text)) - _MARK
        return _quoted(label, cut(text, left), language) if left >= _LEAST else ""

    return tell


def fenced(text: str, language: str = "") -> str:
    """Return text in a fence that does not occur in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(label: str, text: str, language: str) -> str:
    """Return a labelled text: in one line if it is short, as most outputs are, else fenced."""
    is_short = not language and len(text) <= SHORT and "\n" not in text and "`" not in text
    return f"{label} `{text}`" if is_short else f"{label}\n{fenced(text, language)}"
