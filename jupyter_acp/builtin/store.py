# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Conversations on disk: a file of JSON lines each, so that they survive a crash."""

from __future__ import annotations

import base64
import logging
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import orjson

from ..rpc import RpcError, invalid_params
from ..rpc.errors import INTERNAL_ERROR, NOT_FOUND

STATE_VARIABLE = "JUPYTER_ACP_BUILTIN_STATE"
PAGE = 50
FORMAT = 1

_ID = re.compile(r"[0-9a-f]{32}")
_log = logging.getLogger(__name__)


@dataclass
class Conversation:
    """What a file holds."""

    id: str
    cwd: str
    title: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    updates: list[dict[str, Any]] = field(default_factory=list)


class Store:
    """The folder of all conversations.

    A file is a header, then records `title`, `settings` and `update` in the order in which they
    happened. The title comes before the first update: a list never reads further than that.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.trouble: str | None = None

    @classmethod
    def of_this_user(cls) -> Store:
        """Return the store that the environment names, or the user's own."""
        if chosen := os.environ.get(STATE_VARIABLE):
            return cls(Path(chosen))
        state = os.environ.get("XDG_STATE_HOME")
        base = Path(state) if state else Path.home() / ".local" / "state"
        return cls(base / "jupyter-acp" / "builtin")

    def create(self, cwd: str) -> str:
        """Begin a conversation and return its id, which nobody can guess."""
        id = uuid.uuid4().hex
        self._write(id, [_header(id, cwd)])
        return id

    def append(self, id: str, kind: str, value: Any) -> None:
        """Add a record; a disk that refuses costs the history, not the conversation."""
        self._write(id, [orjson.dumps({kind: value})], create=False)

    def has(self, id: str) -> bool:
        """Tell whether there is such a conversation."""
        return _ID.fullmatch(id) is not None and self._path(id).is_file()

    def read(self, id: str) -> Conversation:
        """Return a whole conversation, or say what is wrong with its file."""
        lines = self._lines(id)
        conversation = Conversation(id, self._cwd(id, lines[0] if lines else b""))
        for number, line in enumerate(lines[1:], start=2):
            try:
                record = orjson.loads(line)
                kind, value = next(iter(record.items()))
            except (ValueError, AttributeError, StopIteration) as error:
                raise self._damaged(id, number, str(error)) from None
            if kind == "title" and isinstance(value, str):
                conversation.title = value
            elif kind == "settings" and isinstance(value, dict):
                conversation.settings = value
            elif kind == "update" and isinstance(value, dict):
                conversation.updates.append(value)
            else:
                raise self._damaged(id, number, f"{kind!r} is no record of ours")
        return conversation

    def move(self, id: str, cwd: str) -> None:
        """Note that a conversation goes on in another folder."""
        lines = self._lines(id)
        self._replace(id, [_header(id, cwd), *lines[1:]])

    def fork(self, source: str, cwd: str) -> str:
        """Copy a conversation and return the id of the copy."""
        lines = self._lines(source)
        self._cwd(source, lines[0] if lines else b"")
        id = uuid.uuid4().hex
        self._write(id, [_header(id, cwd), *lines[1:]])
        return id

    def delete(self, id: str) -> None:
        """Forget a conversation; one that is not there is forgotten already."""
        if _ID.fullmatch(id):
            self._path(id).unlink(missing_ok=True)

    def page(self, cwd: str | None, cursor: str | None) -> dict[str, Any]:
        """Return one page of `session/list`, the latest first."""
        after = _decode(cursor) if cursor is not None else None
        found: list[dict[str, Any]] = []
        last: tuple[int, str] | None = None
        for changed, id in self._latest_first():
            # A place in the order, not a count: new conversations do not shift the pages.
            if after is not None and (changed, id) >= after:
                continue
            info = self._info(id, changed)
            if info is None or (cwd is not None and info["cwd"] != cwd):
                continue
            if len(found) == PAGE and last is not None:
                return {"sessions": found, "nextCursor": _encode(last)}
            found.append(info)
            last = (changed, id)
        return {"sessions": found}

    def _latest_first(self) -> list[tuple[int, str]]:
        found = []
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    id, dot, suffix = entry.name.partition(".")
                    if dot and suffix == "jsonl" and _ID.fullmatch(id):
                        found.append((entry.stat().st_mtime_ns, id))
        except FileNotFoundError:
            return []
        return sorted(found, reverse=True)

    def _info(self, id: str, changed: int) -> dict[str, Any] | None:
        try:
            with self._path(id).open("rb") as file:
                info: dict[str, Any] = {"sessionId": id, "cwd": self._cwd(id, file.readline())}
                for record in _until_first_update(file):
                    if isinstance(record.get("title"), str):
                        info["title"] = record["title"]
        except (OSError, RpcError, ValueError) as error:
            # One damaged file must not hide the others; loading it tells what is wrong.
            _log.warning("Left out of the list: %s", error)
            return None
        moment = datetime.fromtimestamp(changed / 1e9, timezone.utc)
        info["updatedAt"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return info

    def _lines(self, id: str) -> list[bytes]:
        if not self.has(id):
            raise unknown_session(id)
        *lines, tail = self._path(id).read_bytes().split(b"\n")
        if tail:
            # The stump of a record that a crash cut off: what came before it is whole.
            self._replace(id, lines)
        return lines

    def _cwd(self, id: str, header: bytes) -> str:
        try:
            record = orjson.loads(header)
            cwd = record["cwd"]
            if record["sessionId"] != id or not isinstance(cwd, str):
                raise ValueError("it belongs to another session")
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(id, 1, str(error)) from None
        return str(cwd)

    def _write(self, id: str, records: list[bytes], *, create: bool = True) -> None:
        flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT if create else 0)
        try:
            if create:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path(id), flags, 0o600), "wb") as out:
                out.write(b"\n".join(records) + b"\n")
            self.trouble = None
        except FileNotFoundError:
            # Deleted while a turn was running: what it still says must not bring it back.
            return
        except OSError as error:
            if self.trouble is None:
                _log.warning("The conversation is not kept: %s", error)
            self.trouble = str(error)

    def _replace(self, id: str, lines: list[bytes]) -> None:
        path = self._path(id)
        other = path.with_suffix(".new")
        other.write_bytes(b"\n".join([*lines, b""]))
        other.chmod(0o600)
        other.replace(path)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.jsonl"

    def _damaged(self, id: str, line: int, reason: str) -> RpcError:
        return RpcError(
            INTERNAL_ERROR,
            f"Session {id} cannot be opened: line {line} of {self._path(id)} is damaged "
            f"({reason}). Repair the file, or delete the session.",
        )


def unknown_session(id: str) -> RpcError:
    """Refuse an id that belongs to no conversation."""
    return RpcError(NOT_FOUND, f"There is no session {id!r}. session/list tells which there are.")


def _header(id: str, cwd: str) -> bytes:
    return orjson.dumps({"format": FORMAT, "sessionId": id, "cwd": cwd})


def _until_first_update(file: Any) -> Iterator[dict[str, Any]]:
    for line in file:
        if line.startswith(b'{"update"'):
            return
        record = orjson.loads(line)
        if isinstance(record, dict):
            yield record


def _encode(place: tuple[int, str]) -> str:
    return base64.urlsafe_b64encode(f"{place[0]}:{place[1]}".encode()).decode()


def _decode(cursor: str) -> tuple[int, str]:
    try:
        changed, id = base64.urlsafe_b64decode(cursor.encode()).decode().split(":")
        return int(changed), id
    except ValueError:
        raise invalid_params(f"cursor {cursor!r} is not one that session/list returned.") from None
