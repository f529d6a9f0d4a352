# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The block of text that a message carries along: its sections, its delimiters, and what is new."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

BEGIN = "<jupyter-context>"
END = "</jupyter-context>"
"""Agents repeat what they were sent as the user's words: by these it is known again, and folded."""

WHOLE = "What the user has open in JupyterLab. It is information, not a request."
CHANGED = "What has changed in JupyterLab since the last message. It is information, not a request."

_DELIMITER = re.compile(r"</?jupyter-context>", re.IGNORECASE)
_BLOCK = re.compile(rf"\s*{BEGIN}\n.*?(?:\n{END}|\Z)", re.DOTALL)

Image = dict[str, Any]


class Section(NamedTuple):
    """One part of the block, sent again only if it has changed."""

    name: str
    text: str
    images: Sequence[Image] = ()


class Block(NamedTuple):
    """What goes along with one message."""

    text: str
    images: list[Image]

    def content(self, *, takes_images: bool) -> list[dict[str, Any]]:
        """Return it as the content of a prompt."""
        return [{"type": "text", "text": self.text}, *(self.images if takes_images else [])]


class Told:
    """What one session's agent has been told so far, and still remembers."""

    def __init__(self) -> None:
        self._memory: Hashable = None
        self._digests: dict[str, bytes] = {}

    def news(self, sections: Sequence[Section], memory: Hashable) -> Block | None:
        """Return what the agent has not been told, or None if that is nothing.

        `memory` is another value whenever the agent may have forgotten what it was told.
        """
        is_whole = memory != self._memory
        known = {} if is_whole else self._digests
        digests = {section.name: _digest(section) for section in sections}
        new = [section for section in sections if digests[section.name] != known.get(section.name)]
        self._memory, self._digests = memory, digests
        if not new:
            return None
        texts = [_DELIMITER.sub("[jupyter-context]", section.text) for section in new]
        text = "\n\n".join([WHOLE if is_whole else CHANGED, *texts])
        images = [image for section in new for image in section.images]
        return Block(f"{BEGIN}\n{text}\n{END}", images)

    def forget(self) -> None:
        """Tell everything again: what the agent remembers is not known any more."""
        self._memory = None


def without_context(text: str) -> str:
    """Return the user's own words of a message that an agent repeats."""
    return _BLOCK.sub("", text) if BEGIN in text else text


def _digest(section: Section) -> bytes:
    digest = hashlib.sha256(section.text.encode("utf-8", "surrogatepass"))
    for image in section.images:
        digest.update(str(image.get("data")).encode())
    return digest.digest()
