# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Export and import of a session as JSON lines: its record first, then its messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from .. import protocol
from ..rpc import invalid_params
from .record import TITLE_LIMIT, SessionRecord, is_acceptable, is_writable, now

FORMAT = 1
_KEPT = ("agent", "cwd", "title", "created", "updated", "metadata")
_METHODS = {
    protocol.SESSION_UPDATE,
    protocol.STATE,
    protocol.RESTORED,
    protocol.NOTICE,
    protocol.RELOADED,
    protocol.MODEL,
    protocol.SERVERS,
    protocol.RESOLVED,
    protocol.DECIDED,
    protocol.CONTEXT,
    protocol.TOOL,
    protocol.FILE_CHANGED,
    protocol.CHANGE_DECIDED,
    protocol.RESULT,
    protocol.TERMINAL_BEGAN,
    protocol.TERMINAL_PRINTED,
    protocol.TERMINAL_ENDED,
}
"""The methods of numbered messages; any other would break the count in windows."""


def head(record: SessionRecord) -> bytes:
    """Return the first line of an exported file."""
    known = record.to_json()
    session = {"id": record.id, **{key: known[key] for key in _KEPT if key in known}}
    return orjson.dumps({protocol.META: {"format": FORMAT}, "session": session})


def read(lines: Iterator[bytes], id: str) -> tuple[SessionRecord, list[bytes]]:
    """Read an exported file as a session with this id; errors name the line."""
    record = _record(_object(next(lines, b""), 1), id)
    messages: list[bytes] = []
    for number, line in enumerate(lines, 2):
        if line.strip():
            messages.append(_message(_object(line, number), number, id, len(messages) + 1))
    record.seq = len(messages)
    return record, messages


def _record(first: dict[str, Any], id: str) -> SessionRecord:
    mark, session = first.get(protocol.META), first.get("session")
    if not isinstance(mark, dict) or not isinstance(session, dict):
        raise invalid_params("line 1: this is not a session that was exported from here.")
    if mark.get("format") != FORMAT:
        raise invalid_params(f"line 1: written by another version (format {mark.get('format')}).")
    kept = {key: session[key] for key in _KEPT if key in session}
    wrong = [
        key
        for key, value in kept.items()
        if not isinstance(value, dict if key == "metadata" else str)
    ]
    if not wrong and not is_acceptable(kept.get("metadata", {})):
        raise invalid_params("line 1: the metadata are too much, or nested too deeply.")
    if wrong or not kept.get("agent") or not kept.get("cwd"):
        raise invalid_params(
            f"line 1: {', '.join(wrong) or 'agent and cwd'} must be there as text."
        )
    # The agent's session id is not imported: it means nothing to the agents of this server.
    kept["title"] = kept.get("title", "")[:TITLE_LIMIT]
    # Use the current time, so that retention neither deletes the session first nor keeps it longest.
    return SessionRecord.from_json({**kept, "id": id, "state": "closed", "updated": now()})


def _message(message: dict[str, Any], number: int, id: str, seq: int) -> bytes:
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str) or method not in _METHODS:
        raise invalid_params(f"line {number}: not a message of a transcript.")
    if not isinstance(params, dict):
        raise invalid_params(f"line {number}: a message without params.")
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    ours = meta.get(protocol.META)
    mark = {**(ours if isinstance(ours, dict) else {}), "seq": seq}
    params = {**params, "sessionId": id, "_meta": {**meta, protocol.META: mark}}
    if not is_writable(params):
        raise invalid_params(f"line {number}: nested too deeply.")
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def _object(line: bytes, number: int) -> dict[str, Any]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise invalid_params(f"line {number}: {error}.") from None
    if not isinstance(found, dict):
        raise invalid_params(f"line {number}: must be an object.")
    return found
