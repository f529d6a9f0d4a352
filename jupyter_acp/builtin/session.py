# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Conversations: one file of JSON lines each, and what one is while it is open."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import orjson

from ..rpc import RpcError
from ..rpc.errors import NOT_FOUND
from .settings import Settings

STATE_VARIABLE = "JUPYTER_ACP_BUILTIN_STATE"
CAPACITY = 1_000_000
"""Where the meter is full: we have no context window, but people want to see one fill."""

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass
class Session:
    """A conversation; its file holds `cwd`, `title`, `settings` and `update` in lines."""

    path: Path
    cwd: Path = Path()
    title: str | None = None
    settings: Settings = field(default_factory=Settings)
    used: int = 0
    allowed: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        """Return what the client calls it."""
        return self.path.stem

    def write(self, **record: Any) -> None:
        """Add a line; a disk that refuses costs the history, not the conversation."""
        with contextlib.suppress(OSError):
            # The file is not made again: a turn may still run when its session is deleted.
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(file, "ab") as out:
                out.write(orjson.dumps(record) + b"\n")

    def usage(self) -> dict[str, Any]:
        """Return the meter: characters, and it says so, for no model counts tokens here."""
        return {
            "sessionUpdate": "usage_update",
            "used": min(self.used, CAPACITY),
            "size": CAPACITY,
            "_meta": {"jupyter-acp": {"unit": "characters"}},
        }

    def info(self) -> dict[str, Any]:
        """Return what a list tells of it."""
        changed = datetime.fromtimestamp(self.path.stat().st_mtime, timezone.utc)
        updated = changed.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = {"sessionId": self.id, "cwd": str(self.cwd), "updatedAt": updated}
        return told if self.title is None else {**told, "title": self.title}


class Sessions:
    """The folder of all conversations."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        chosen = os.environ.get(STATE_VARIABLE)
        self._folder = Path(chosen) if chosen else Path(state) / "jupyter-acp" / "builtin"

    def has(self, id: str) -> bool:
        """Tell whether there is a file of this conversation."""
        return _ID.fullmatch(id) is not None and self._path(id).is_file()

    def create(self, cwd: Path, past: bytes = b"") -> Session:
        """Begin a conversation; nobody can guess its id."""
        session = Session(self._path(uuid.uuid4().hex), cwd)
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            session.path.touch(mode=0o600)
            session.path.write_bytes(past)
        session.write(cwd=str(cwd))
        return session

    def read(self, id: str) -> tuple[Session, list[dict[str, Any]]]:
        """Return a conversation and its updates; a line that cannot be read is skipped."""
        if not self.has(id):
            raise unknown(id)
        session, updates = Session(self._path(id)), []
        for record in _records(session.path):
            match record:
                case {"cwd": str(cwd)}:
                    session.cwd = Path(cwd)
                case {"title": str(title)}:
                    session.title = title
                case {"settings": dict(settings)}:
                    session.settings.restore(settings)
                case {"update": dict(update)}:
                    updates.append(update)
                    session.used += characters(update)
        return session, updates

    def fork(self, id: str, cwd: Path) -> Session:
        """Copy a conversation."""
        if not self.has(id):
            raise unknown(id)
        copy = self.create(cwd, self._path(id).read_bytes())
        return self.read(copy.id)[0]

    def list(self, cwd: str | None) -> list[dict[str, Any]]:
        """Return those of a folder, or all, the latest first."""
        ids = (path.stem for path in self._folder.glob("*.jsonl"))
        found = [self.read(id)[0].info() for id in ids if self.has(id)]
        found = [info for info in found if cwd in (None, info["cwd"])]
        return sorted(found, key=lambda info: str(info["updatedAt"]), reverse=True)

    def delete(self, id: str) -> None:
        """Forget a conversation; one that is not there is forgotten already."""
        if self.has(id):
            self._path(id).unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.jsonl"


def unknown(id: str) -> RpcError:
    """Refuse an id that belongs to no conversation."""
    return RpcError(NOT_FOUND, f"There is no session {id!r}. session/list tells which there are.")


def characters(update: dict[str, Any]) -> int:
    """Return how much of the meter an update takes."""
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    return len(text) if isinstance(text, str) else 0


def _records(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            yield orjson.loads(line)
