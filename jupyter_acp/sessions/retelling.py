# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The retelling of a session: its transcript as a text, for an agent that does not know it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from ..context.block import without_context
from ..history.messages import Passage, passages

LONGEST = 60_000
"""Maximum length of a retelling, in characters; the oldest passages are left out."""

LONGEST_PASSAGE = 8_000

_INTRODUCTION = (
    "This session goes on from another one, of which you have no memory. What was said there follows, "
    "for your information; answer only what comes after it."
)
_UNANSWERED = "(This has not been answered. Answer it, too, unless what comes next says otherwise.)"
_NAMES = {"user": "User", "agent": "Agent", "tool": "Tool"}


class Source(Protocol):
    """A source of all messages of a session."""

    async def everything(self) -> list[bytes]:
        """Return all messages until now."""


async def retell(source: Source, unanswered: int | None = None) -> str:
    """Return the retelling, without thoughts, cut at the beginning if it is too long.

    Prompts after the message number `unanswered` are marked as still to be answered.
    """
    return await asyncio.to_thread(_retold, await source.everything(), unanswered)


def _retold(messages: list[bytes], unanswered: int | None) -> str:
    said = [each for each in passages(messages) if each.speaker in _NAMES]
    while said and said[-1].speaker == "user":
        # This prompt is about to be sent and must not appear twice.
        said.pop()
    if unanswered is not None:
        said = [_due(each) if each.seq > unanswered else each for each in said]
        said = [each for each in said if each.seq <= unanswered or each.speaker == "user"]
    told: list[str] = []
    size = 0
    for passage in reversed(said):
        text = _told(passage)
        size += len(text)
        if size > LONGEST and told:
            told.append("(What was said before is left out.)")
            break
        told.append(text)
    return "\n\n".join(reversed(told))


def _due(passage: Passage) -> Passage:
    return passage._replace(text=f"{passage.text.strip()}\n{_UNANSWERED}")


def _told(passage: Passage) -> str:
    text = passage.text
    if passage.speaker == "user":
        # A transcript loaded from the agent contains the context of old prompts.
        text = without_context(text)
    text = text.strip()
    if len(text) > LONGEST_PASSAGE:
        half = LONGEST_PASSAGE // 2
        text = f"{text[:half]}\n(…)\n{text[-half:]}"
    return f"{_NAMES[passage.speaker]}: {text}"


def with_past(prompt: list[Any], past: str, capabilities: Any) -> list[Any]:
    """Return a prompt with the retelling in front, as a resource if the agent accepts those."""
    can_embed = isinstance(capabilities, dict) and capabilities.get("embeddedContext")
    if can_embed:
        resource = {"uri": "jupyter-acp:///transcript", "mimeType": "text/plain", "text": past}
        return [
            {"type": "text", "text": _INTRODUCTION},
            {"type": "resource", "resource": resource},
            *prompt,
        ]
    return [
        {"type": "text", "text": f"{_INTRODUCTION}\n\n<transcript>\n{past}\n</transcript>"},
        *prompt,
    ]


def without_past(text: str) -> str:
    """Return the text of a prompt without its retelling."""
    before, introduction, after = text.partition(_INTRODUCTION)
    if not introduction:
        return text
    return before + (after.partition("</transcript>")[2] or after)
