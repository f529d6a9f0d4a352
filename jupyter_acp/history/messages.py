# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Passages of a transcript: messages joined from their chunks, and tool calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import orjson

from .. import protocol

Speaker = Literal["user", "agent", "thought", "tool"]

_SPEAKERS: dict[str, Speaker] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
    "tool_call": "tool",
}


class Passage(NamedTuple):
    """One message or tool call, or a piece of a message."""

    seq: int
    """The number of its first chunk."""

    speaker: Speaker
    key: str
    """The id of the tool call or the message, or empty."""

    text: str
    """The text of the message, or the title of the tool call."""


def passages(messages: Iterable[bytes]) -> Iterator[Passage]:
    """Yield the passages in consecutive numbered messages of one session."""
    joined: Passage | None = None
    texts: list[str] = []
    for message in messages:
        piece = _piece(message)
        if piece is None:
            continue
        if joined is not None and piece.speaker != "tool" and _goes_on(joined, piece):
            texts.append(piece.text)
            continue
        if joined is not None:
            yield joined._replace(text="".join(texts))
        joined, texts = piece, [piece.text]
    if joined is not None:
        yield joined._replace(text="".join(texts))


def of_update(update: Any, seq: int = 0, key: str = "") -> Passage | None:
    """Return the passage in an update, or None."""
    if not isinstance(update, dict):
        return None
    kind = update.get("sessionUpdate")
    speaker = _SPEAKERS.get(kind) if isinstance(kind, str) else None
    if speaker is None:
        return None
    if speaker == "tool":
        title, call = update.get("title"), update.get("toolCallId")
        return Passage(seq, speaker, str(call or ""), title if isinstance(title, str) else "")
    id = update.get("messageId")
    return Passage(
        seq, speaker, key or (id if isinstance(id, str) else ""), text_of(update.get("content"))
    )


def text_of(block: Any) -> str:
    """Return the text of a content block, or its name in brackets."""
    if not isinstance(block, dict):
        return ""
    if isinstance(block.get("text"), str):
        return str(block["text"])
    resource = block.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("uri"), str):
        return f"\n[{resource['uri']}]\n"
    for name in ("title", "name", "uri"):
        if isinstance(block.get(name), str):
            return f"\n[{block[name]}]\n"
    if isinstance(block.get("data"), str):
        # The size distinguishes it from other blocks of its type.
        return f"\n[{block.get('type')} {block.get('mimeType')} {len(block['data'])}]\n"
    return f"\n[{block['type']}]\n" if isinstance(block.get("type"), str) else ""


def _piece(message: bytes) -> Passage | None:
    # Do not parse messages that cannot be an update.
    if b'"session/update"' not in message:
        return None
    params = orjson.loads(message)["params"]
    mark = params["_meta"][protocol.META]
    return of_update(params.get("update"), mark["seq"], mark.get("promptId") or "")


def _goes_on(before: Passage, piece: Passage) -> bool:
    return before.speaker == piece.speaker and before.key == piece.key
