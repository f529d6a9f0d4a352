# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The sessions of the built-in agent, each stored in a file of JSON lines."""

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
"""Maximum of the usage meter, in characters: there is no real context window to measure."""

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass
class Session:
    """A session; each line of its file has `cwd`, `title`, `settings` or `update`."""

    path: Path
    cwd: Path = Path()
    title: str | None = None
    settings: Settings = field(default_factory=Settings)
    used: int = 0
    allowed: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.path.stem

    def write(self, **record: Any) -> None:
        """Append a line; if the disk refuses it, only the history is lost."""
        with contextlib.suppress(OSError):
            # Do not create the file: a turn may still run when its session is deleted.
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            with os.fdopen(file, "ab") as out:
                out.write(orjson.dumps(record) + b"\n")

    def usage(self) -> dict[str, Any]:
        """Return the usage update, in characters: there is no model that counts tokens."""
        return {
            "sessionUpdate": "usage_update",
            "used": min(self.used, CAPACITY),
            "size": CAPACITY,
            "_meta": {"jupyter-acp": {"unit": "characters"}},
        }

    def info(self) -> dict[str, Any]:
        """Return the description for `session/list`."""
        changed = datetime.fromtimestamp(self.path.stat().st_mtime, timezone.utc)
        updated = changed.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = {"sessionId": self.id, "cwd": str(self.cwd), "updatedAt": updated}
        return told if self.title is None else {**told, "title": self.title}


class Sessions:
    """The folder of all sessions."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        chosen = os.environ.get(STATE_VARIABLE)
        self._folder = Path(chosen) if chosen else Path(state) / "jupyter-acp" / "builtin"

    def has(self, id: str) -> bool:
        """Return True if the session has a file."""
        return _ID.fullmatch(id) is not None and self._path(id).is_file()

    def create(self, cwd: Path, past: bytes = b"") -> Session:
        """Create a session with a random id."""
        session = Session(self._path(uuid.uuid4().hex), cwd)
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            session.path.touch(mode=0o600)
            session.path.write_bytes(past)
        session.write(cwd=str(cwd))
        return session

    def read(self, id: str) -> tuple[Session, list[dict[str, Any]]]:
        """Return a session and its updates; skip invalid lines."""
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
        """Copy a session."""
        if not self.has(id):
            raise unknown(id)
        copy = self.create(cwd, self._path(id).read_bytes())
        return self.read(copy.id)[0]

    def list(self, cwd: str | None) -> list[dict[str, Any]]:
        """Return the sessions of a folder, or all, the latest first."""
        ids = (path.stem for path in self._folder.glob("*.jsonl"))
        found = [self.read(id)[0].info() for id in ids if self.has(id)]
        found = [info for info in found if cwd in (None, info["cwd"])]
        return sorted(found, key=lambda info: str(info["updatedAt"]), reverse=True)

    def delete(self, id: str) -> None:
        """Delete the file of a session, if there is one."""
        if self.has(id):
            self._path(id).unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.jsonl"


def unknown(id: str) -> RpcError:
    """Return the error for an unknown session."""
    return RpcError(NOT_FOUND, f"There is no session {id!r}. session/list tells which there are.")


def characters(update: dict[str, Any]) -> int:
    """Return the number of characters in an update."""
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    return len(text) if isinstance(text, str) else 0


def _records(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            yield orjson.loads(line)
