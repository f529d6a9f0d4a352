# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The block of text that a message carries along: its sections, its delimiters, and what is new."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any, NamedTuple

BEGIN = "<jupyter-context>"
END = "</jupyter-context>"
"""Agents repeat what they were sent as the user's words: by these it is known again, and folded."""

WHOLE = "What the user has open in JupyterLab. It is information, not a request."
CHANGED = "What has changed in JupyterLab since the last message. It is information, not a request."

GAP = 2
"""How many characters are between two sections."""

FRAME = len(f"{BEGIN}\n{max(WHOLE, CHANGED, key=len)}\n{END}")
"""How many are around them."""

_DELIMITER = re.compile(r"</?jupyter-context>", re.IGNORECASE)
_IN_TITLE = BEGIN[:13]
"""Agents cut titles off anywhere."""

# By its first sentence, too: users write of delimiters.
_BLOCK = re.compile(
    rf"\s*{BEGIN}\n(?:{re.escape(WHOLE)}|{re.escape(CHANGED)})\n.*?\n{END}", re.DOTALL
)

Image = dict[str, Any]


class Section(NamedTuple):
    """One part of the block, sent again only if it has changed."""

    name: str
    text: str = ""
    images: Sequence[Image] = ()
    is_end: bool = False
    """Whether it only says that what was told by that name is over."""


class State(NamedTuple):
    """What an agent knows."""

    memory: Hashable
    digests: Mapping[str, bytes]
    documents: frozenset[str]
    """Those that it was told are open."""


class Block(NamedTuple):
    """What goes along with one message."""

    text: str
    images: list[Image]
    state: State
    """What the agent knows when it has got it."""

    on_sent: Callable[[], None] = lambda: None
    """Called when it goes to the agent."""

    def content(self, *, takes_images: bool) -> list[dict[str, Any]]:
        """Return it as the content of a prompt."""
        return [{"type": "text", "text": self.text}, *(self.images if takes_images else [])]


class Told:
    """What one session's agent has been told so far, and still remembers."""

    def __init__(self) -> None:
        self.forget()

    def closed(self, documents: Set[str], memory: Hashable) -> list[str]:
        """Return the documents that the agent takes for open and that are not among these."""
        known = self._known(memory)
        return sorted(known.documents - documents) if known is not None else []

    def news(
        self, sections: Sequence[Section], memory: Hashable, documents: Set[str] = frozenset()
    ) -> Block | None:
        """Return what the agent has not been told, or None if that is nothing.

        `memory` is another value whenever the agent may have forgotten what it was told.
        """
        state = self._known(memory)
        known = state.digests if state is not None else {}
        digests = {section.name: _digest(section) for section in sections}
        new = [
            section
            for section in sections
            if digests[section.name] != known.get(section.name)
            and (section.name in known or not section.is_end)
        ]
        if not new:
            return None
        texts = [_DELIMITER.sub("[jupyter-context]", section.text) for section in new]
        text = "\n\n".join([WHOLE if state is None else CHANGED, *texts])
        images = [image for section in new for image in section.images]
        after = State(memory, digests, frozenset(documents))
        return Block(f"{BEGIN}\n{text}\n{END}", images, after)

    def note(self, block: Block) -> None:
        """Take note that the agent has got a block, and keeps it."""
        self._state = block.state

    def forget(self) -> None:
        """Tell everything again: what the agent remembers is not known any more."""
        self._state = State(None, {}, frozenset())

    def _known(self, memory: Hashable) -> State | None:
        return self._state if memory == self._state.memory else None


def without_context(text: str) -> str:
    """Return the user's own words of a message that an agent repeats."""
    return _BLOCK.sub("", text) if BEGIN in text else text


def title_without_context(title: str) -> str:
    """Return the user's own words of a title that an agent makes of a message."""
    return title.partition(_IN_TITLE)[0].rstrip()


def _digest(section: Section) -> bytes:
    digest = hashlib.sha256(section.text.encode("utf-8", "surrogatepass"))
    for image in section.images:
        digest.update(str(image.get("data")).encode())
    return digest.digest()
