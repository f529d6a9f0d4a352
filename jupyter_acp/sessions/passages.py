# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What was said, as people would tell it: messages joined from their chunks, and calls of tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import orjson

from .. import protocol

Speaker = Literal["user", "agent", "thought", "tool", "change", "other"]
"""Who says something: `change` goes on with a call of a tool, `other` is any other kind of update."""

_SPEAKERS: dict[str, Speaker] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
    "tool_call": "tool",
}

AFTER = "after"
"""What marks that which was remembered later than it was said: the number of what it was said after."""

ENDED = ("completed", "failed", "cancelled")
"""How calls of tools can end."""


class Passage(NamedTuple):
    """One message, or one call of a tool; or a piece of it."""

    seq: int
    """The number of its first chunk."""

    speaker: Speaker
    key: str
    """What tells it from others: the id of the call or of the message, if it has one."""

    text: str
    """What is said; the title of a call; all of any other update."""


def passages(messages: Iterable[bytes]) -> Iterator[Passage]:
    """Read numbered messages of one session, in order."""
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


def history(messages: Iterable[bytes]) -> Iterator[Passage]:
    """Read all that numbered messages of one session tell of its past, piece by piece.

    They come in the order in which they were said, also if one was remembered later.
    """
    pieces: list[Passage] = []
    remembered: dict[int, list[Passage]] = defaultdict(list)
    for message in messages:
        params = orjson.loads(message)["params"] if b'"session/update"' in message else {}
        if isinstance(params.get("update"), dict):
            mark = params["_meta"][protocol.META]
            piece = piece_of(params["update"], mark["seq"], mark.get("promptId") or "")
            after = mark.get(AFTER)
            (pieces if after is None else remembered[after]).append(piece)
    # What is to come next is the last of them.
    left = [*reversed(pieces), *reversed(remembered.pop(0, []))]
    while left:
        piece = left.pop()
        yield piece
        left += reversed(remembered.pop(piece.seq, []))
    for rest in remembered.values():
        yield from rest


def piece_of(update: dict[str, Any], seq: int = 0, key: str = "") -> Passage:
    """Return what an update says, or what it is like if it is none of those that say something."""
    if (piece := of_update(update, seq, key)) is not None:
        return piece
    kind = update.get("sessionUpdate")
    if kind == "tool_call_update":
        title = update.get("title")
        call = str(update.get("toolCallId") or "")
        return Passage(seq, "change", call, title if isinstance(title, str) else "")
    if kind == "compaction_summary_chunk":
        # As any text it may be cut anew: known by what it is a part of.
        return Passage(seq, "other", kind, str(update.get("compactionId")))
    plain = {name: value for name, value in update.items() if name != "_meta"}
    whole = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()
    return Passage(seq, "other", str(kind), whole)


def of_update(update: Any, seq: int = 0, key: str = "") -> Passage | None:
    """Return what an update says, if it says anything."""
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


def ended_calls(messages: Iterable[bytes]) -> set[str]:
    """Return the ids of the calls that have ended, among numbered messages of one session."""
    ended: set[str] = set()
    for message in messages:
        if b'"toolCallId"' in message and b'"status"' in message:
            update = orjson.loads(message)["params"].get("update")
            if isinstance(update, dict) and update.get("status") in ENDED:
                ended.add(str(update.get("toolCallId")))
    return ended


def text_of(block: Any) -> str:
    """Return the words of a content block, or what it is called."""
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
        # Told from others by its size: nothing else of it can be said in words.
        return f"\n[{block.get('type')} {block.get('mimeType')} {len(block['data'])}]\n"
    return f"\n[{block['type']}]\n" if isinstance(block.get("type"), str) else ""


def _piece(message: bytes) -> Passage | None:
    # Most messages are chunks; nothing else is worth being taken apart.
    if b'"session/update"' not in message:
        return None
    params = orjson.loads(message)["params"]
    mark = params["_meta"][protocol.META]
    return of_update(params.get("update"), mark["seq"], mark.get("promptId") or "")


def _goes_on(before: Passage, piece: Passage) -> bool:
    return before.speaker == piece.speaker and before.key == piece.key
