# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The block of context in a message: its sections, its delimiters, and what is new."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any, NamedTuple

BEGIN = "<jupyter-context>"
END = "</jupyter-context>"
"""Delimiters that mark the block when an agent repeats a message, so that it can be folded."""

WHOLE = "What the user has open in JupyterLab. It is information, not a request."
CHANGED = "What has changed in JupyterLab since the last message. It is information, not a request."

GAP = 2
"""Number of characters between two sections."""

FRAME = len(f"{BEGIN}\n{max(WHOLE, CHANGED, key=len)}\n{END}")
"""Number of characters around the sections."""

_DELIMITER = re.compile(r"</?jupyter-context>", re.IGNORECASE)
_IN_TITLE = BEGIN[:13]
"""Start of the delimiter, as agents may cut titles anywhere."""

# Match the first sentence, too: users may write about the delimiters.
_BLOCK = re.compile(
    rf"\s*{BEGIN}\n(?:{re.escape(WHOLE)}|{re.escape(CHANGED)})\n.*?\n{END}", re.DOTALL
)

Image = dict[str, Any]


class Section(NamedTuple):
    """A part of the block, sent again only if it has changed."""

    name: str
    text: str = ""
    images: Sequence[Image] = ()
    is_end: bool = False
    """True if it only says that an earlier section of this name no longer applies."""


class State(NamedTuple):
    """The context that an agent has received."""

    memory: Hashable
    digests: Mapping[str, bytes]
    documents: frozenset[str]
    """Documents that were reported as open."""


class Block(NamedTuple):
    """The context for one message."""

    text: str
    images: list[Image]
    state: State
    """State of the agent after it has received the block."""

    on_sent: Callable[[], None] = lambda: None
    """Called when the block is sent to the agent."""

    def content(self, *, takes_images: bool) -> list[dict[str, Any]]:
        """Return the block as content of a prompt."""
        return [{"type": "text", "text": self.text}, *(self.images if takes_images else [])]


class Told:
    """Tracks the context that a session's agent has received and still remembers."""

    def __init__(self) -> None:
        self.forget()

    def closed(self, documents: Set[str], memory: Hashable) -> list[str]:
        """Return the documents that were reported as open and are not among `documents`."""
        known = self._known(memory)
        return sorted(known.documents - documents) if known is not None else []

    def news(
        self, sections: Sequence[Section], memory: Hashable, documents: Set[str] = frozenset()
    ) -> Block | None:
        """Return a block with the sections that are new to the agent, or None.

        `memory` changes whenever the agent may have forgotten the context.
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
        """Record that the agent has received a block."""
        self._state = block.state

    def forget(self) -> None:
        """Drop the state, so that everything is sent again."""
        self._state = State(None, {}, frozenset())

    def _known(self, memory: Hashable) -> State | None:
        return self._state if memory == self._state.memory else None


def without_context(text: str) -> str:
    """Return a message that an agent repeats, without the block."""
    return _BLOCK.sub("", text) if BEGIN in text else text


def title_without_context(title: str) -> str:
    """Return a title that an agent derives from a message, without the block."""
    return title.partition(_IN_TITLE)[0].rstrip()


def _digest(section: Section) -> bytes:
    digest = hashlib.sha256(section.text.encode("utf-8", "surrogatepass"))
    for image in section.images:
        digest.update(str(image.get("data")).encode())
    return digest.digest()
