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
    if "\r\n" in text:
        plain = revise_text(one_line_end(text), one_line_end(before), one_line_end(after))
        return plain.replace("\n", "\r\n")
    places = text.count(before) if before else 0
    if places == 1:
        return text.replace(before, after)
    if places > 1:
        raise ConflictError("it occurs there more than once")
    return merge_texts(before, text, after)


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
