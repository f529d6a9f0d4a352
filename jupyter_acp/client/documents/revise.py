# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One change made once more, or taken back, in whatever has become of the text since.

What is told of a change may be a whole file, or only the piece of it that an agent has replaced.
"""

from __future__ import annotations

import copy
import unicodedata
from typing import Any

from .formats import NOTEBOOK, one_line_end
from .merge import ConflictError, merge_texts


def revise_text(text: str, before: str, after: str, *, whole: bool = False) -> str:
    """Return a text in which a change from `before` to `after` is made.

    `whole` says that these were the whole file: then they are no piece from within a line.
    """
    if text == after:
        return text
    if text == before:
        return after
    ends = text.count("\r\n")
    if ends and ends == text.count("\n"):
        # A lone carriage return is no line end there, and stays what it is.
        text, before, after = (each.replace("\r\n", "\n") for each in (text, before, after))
        return _revise(text, before, after, whole).replace("\n", "\r\n")
    if not ends:
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
        if "\r" not in text:
            # Windows hold no other line ends, whatever their files have.
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
    """Return where a piece stands without cutting what stands around it."""
    fits = _is_lines if whole else _is_uncut
    places = []
    at = text.find(piece) if piece else -1
    while at >= 0:
        if fits(text, at, piece):
            places.append(at)
        at = text.find(piece, at + 1)
    return places


def _is_lines(text: str, at: int, piece: str) -> bool:
    """Whether it is lines from their beginning to their end."""
    end = at + len(piece)
    return (at == 0 or text[at - 1] == "\n") and (
        piece.endswith("\n") or text[end : end + 1] in ("", "\n")
    )


def _is_uncut(text: str, at: int, piece: str) -> bool:
    """Whether it begins where a line or its text does if it ends with a line, else at a word."""
    if not piece.endswith("\n"):
        end = at + len(piece)
        return not (_within_word(text, at) or _within_word(text, end))
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    # One that begins with space tells the indentation: it is another where there is more of it.
    return not indent or piece[0] == "\n" or (indent.isspace() and not piece[0].isspace())


def _within_word(text: str, at: int) -> bool:
    """Whether a word goes on across a place, so that `x = 1` is not found in `max = 10`."""
    return 0 < at < len(text) and all(map(_is_of_word, text[at - 1 : at + 1]))


def _is_of_word(letter: str) -> bool:
    # Of letters without case are the scripts that do not part their words.
    return letter == "_" or (letter.isalnum() and unicodedata.category(letter) != "Lo")


def _stands_around(text: str, at: int, before: str, after: str) -> bool:
    """Whether a change that only adds to a piece is made at its place already."""
    offset = after.find(before)
    while offset >= 0:
        if offset <= at and text.startswith(after, at - offset):
            return True
        offset = after.find(before, offset + 1)
    return False


def revise_notebook(notebook: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    """Do the same by cells; a piece that is no notebook is one of a cell's source."""
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
