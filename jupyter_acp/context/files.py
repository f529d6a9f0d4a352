# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Context of open files: their paths, and text that is not on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from .block import Section
from .parts import Part, Tell, divided, fenced, listed, quote

# Shares of the room for the names of other documents, for their texts, and for a selection.
_NAMES, _TEXTS, _SELECTED = 0.08, 0.08, 0.4


@dataclass(frozen=True)
class File:
    """The context of a document; a notebook that is not active has no text."""

    path: Path
    language: str = ""
    line: int | None = None
    """Line of the cursor, from 0."""

    selected: str = ""
    unsaved: str | None = None
    """Text of the document, if the file on disk differs."""

    is_dirty: bool = False


def parts(file: File) -> list[Part]:
    """Return the parts for the text of the active file."""
    return _text(file, "it", Section("active"))


def others(files: Sequence[File], *, is_all: bool) -> list[Part]:
    """Return the parts for documents that are not active; `is_all` if no document is active."""
    if not files:
        return []
    tell = listed("Open:" if is_all else "Also open:", [_line(file) for file in files])
    names = Part(tell, _NAMES, Section("others"))
    told = [file for file in files if file.selected or file.unsaved is not None]
    texts = [
        _text(file, str(file.path), Section(str(file.path)), _TEXTS / len(told)) for file in told
    ]
    return [names, *chain(*texts)]


def _text(file: File, name: str, section: Section, share: float = 0) -> list[Part]:
    told: list[Part] = []
    if file.selected:
        label = f"Selected in {name}:"
        told.append(Part(quote(label, file.selected, file.language), _SELECTED))
    if file.unsaved is not None:
        told.append(Part(_around_cursor(file, name, file.unsaved)))

    def tell(room: int) -> str:
        return "\n".join(filter(None, divided(told, room)))

    return [Part(tell, share, section)] if told else []


def _line(file: File) -> str:
    told = [f"the cursor is in line {file.line + 1}"] if file.line is not None else []
    told += ["unsaved"] if file.is_dirty else []
    return str(file.path) + (f" ({', '.join(told)})" if told else "")


def _around_cursor(file: File, name: str, text: str) -> Tell:
    """Return a function that quotes as many lines around the cursor as there is room for."""
    lines = text.split("\n")
    at = min(file.line or 0, len(lines) - 1)
    marks = len(fenced(text, file.language)) - len(text)

    def tell(room: int) -> str:
        left = room - len(f"{label(len(lines), len(lines))}\n") - marks - len(lines[at])
        start, end = at, at + 1
        near = range(max(at - room, 0), min(at + room, len(lines)))
        for each in sorted(near, key=lambda line: abs(line - at))[1:]:
            left -= len(lines[each]) + 1
            if left < 0:
                break
            start, end = min(start, each), max(end, each + 1)
        return quote(label(start, end), "\n".join(lines[start:end]), file.language)(room)

    def label(start: int, end: int) -> str:
        where = "all of it" if end - start == len(lines) else f"lines {start + 1} to {end}"
        return f"Unsaved text of {name}, {where}:"

    return tell
