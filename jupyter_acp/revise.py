# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One change made once more, or taken back, in whatever has become of the text since.

What is told of a change may be a whole file, or only the piece of it that an agent has replaced.
"""

from __future__ import annotations

import copy
from typing import Any

from .formats import NOTEBOOK, one_line_end
from .merge import ConflictError, merge_texts


def revise_text(text: str, before: str, after: str) -> str:
    """Return a text in which a change from `before` to `after` is made."""
    ends = text.count("\r\n")
    if ends and ends == text.count("\n"):
        return _revise(one_line_end(text), one_line_end(before), one_line_end(after)).replace(
            "\n", "\r\n"
        )
    if not ends:
        # Windows hold no other line ends, whatever their files have.
        before, after = one_line_end(before), one_line_end(after)
    return _revise(text, before, after)


def _revise(text: str, before: str, after: str) -> str:
    places = _places(text, before)
    if len(places) == 1:
        return text[: places[0]] + after + text[places[0] + len(before) :]
    if places:
        raise ConflictError("it occurs there more than once")
    return merge_texts(before, text, after, apart=True)


def _places(text: str, piece: str) -> list[int]:
    """Return where a piece stands; one of whole lines stands at the beginning of a line."""
    places = []
    at = text.find(piece) if piece else -1
    while at >= 0:
        if not piece.endswith("\n") or at == 0 or text[at - 1] == "\n":
            places.append(at)
        at = text.find(piece, at + 1)
    return places


def revise_notebook(notebook: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    """Do the same by cells; a piece that is no notebook is one of a cell's source."""
    try:
        old, new = NOTEBOOK.parse(before), NOTEBOOK.parse(after)
    except ValueError:
        return _revise_source(notebook, before, after)
    return NOTEBOOK.merge(old, notebook, new)


def _revise_source(notebook: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    revised = copy.deepcopy(notebook)
    found = [cell for cell in revised["cells"] if before and before in cell["source"]]
    if len(found) != 1:
        raise ConflictError("no cell has it" if not found else "several cells have it")
    found[0]["source"] = revise_text(found[0]["source"], before, after)
    return revised
