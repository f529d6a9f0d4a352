# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Redo and undo of a change in a text that may have changed since.

A change may be recorded as whole files, or only as the piece that an agent has replaced.
"""

from __future__ import annotations

import copy
import unicodedata
from typing import Any

from .formats import NOTEBOOK, one_line_end
from .merge import ConflictError, merge_texts


def revise_text(text: str, before: str, after: str, *, whole: bool = False) -> str:
    """Return the text with the change from `before` to `after` applied.

    `whole` means that both are whole files: then `before` matches only whole lines.
    """
    if text == after:
        return text
    if text == before:
        return after
    ends = text.count("\r\n")
    if ends and ends == text.count("\n"):
        # In a CRLF file a lone carriage return is not a line end: keep it.
        text, before, after = (each.replace("\r\n", "\n") for each in (text, before, after))
        return _revise(text, before, after, whole).replace("\n", "\r\n")
    if not ends:
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
        if "\r" not in text:
            # Open documents have only LF line ends, whatever their files have.
            before, after = one_line_end(before), one_line_end(after)
    return _revise(text, before, after, whole)


def _revise(text: str, before: str, after: str, whole: bool) -> str:
    places = _places(text, before, whole)
    if len(places) == 1:
        (at,) = places
        if _stands_around(text, at, before, after):
            return text
        return text[:at] + after + text[at + len(before) :]
    if places:
        raise ConflictError("it occurs there more than once")
    return merge_texts(before, text, after, apart=True)


def _places(text: str, piece: str, whole: bool = False) -> list[int]:
    """Return the positions of a piece where it does not cut a line or a word."""
    fits = _is_lines if whole else _is_uncut
    places = []
    at = text.find(piece) if piece else -1
    while at >= 0:
        if fits(text, at, piece):
            places.append(at)
        at = text.find(piece, at + 1)
    return places


def _is_lines(text: str, at: int, piece: str) -> bool:
    """Return True if the piece at this position consists of whole lines."""
    end = at + len(piece)
    return (at == 0 or text[at - 1] == "\n") and (
        piece.endswith("\n") or text[end : end + 1] in ("", "\n")
    )


def _is_uncut(text: str, at: int, piece: str) -> bool:
    """Return True if the piece at this position cuts nothing.

    A piece that ends with a line end has to begin with a line or its text; any other piece has to
    begin and end at the border of a word.
    """
    if not piece.endswith("\n"):
        end = at + len(piece)
        return not (_within_word(text, at) or _within_word(text, end))
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    # A piece that begins with a space includes the indentation: a deeper one does not match.
    return not indent or piece[0] == "\n" or (indent.isspace() and not piece[0].isspace())


def _within_word(text: str, at: int) -> bool:
    """Return True if a word continues across the position: `x = 1` is not in `max = 10`."""
    return 0 < at < len(text) and all(map(_is_of_word, text[at - 1 : at + 1]))


def _is_of_word(letter: str) -> bool:
    # Category Lo: letters of scripts that do not separate words.
    return letter == "_" or (letter.isalnum() and unicodedata.category(letter) != "Lo")


def _stands_around(text: str, at: int, before: str, after: str) -> bool:
    """Return True if the change only adds to the piece and is already there."""
    offset = after.find(before)
    while offset >= 0:
        if offset <= at and text.startswith(after, at - offset):
            return True
        offset = after.find(before, offset + 1)
    return False


def revise_notebook(notebook: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    """Apply a change to a notebook; a piece that is no notebook belongs to a cell's source."""
    try:
        old, new = NOTEBOOK.parse(before), NOTEBOOK.parse(after)
    except ValueError:
        return _revise_source(notebook, before, after)
    return NOTEBOOK.merge(old, notebook, new)


def _revise_source(notebook: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    revised = copy.deepcopy(notebook)
    found = [cell for cell in revised["cells"] if _places(cell["source"], before)]
    if len(found) != 1:
        raise ConflictError("no cell has it" if not found else "several cells have it")
    found[0]["source"] = revise_text(found[0]["source"], before, after)
    return revised
