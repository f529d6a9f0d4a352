# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What was done to the user's repository, kept so that it can be undone, or put right after a crash."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
import uuid
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from .files import Entry
from .names import shown
from .repository import Head, RepositoryError
from .saved import Saved

KEPT = 20
"""How many things can be undone, in each working tree."""


def new_id() -> str:
    """Return a name for a record."""
    return uuid.uuid4().hex


def is_id(name: object) -> TypeGuard[str]:
    """Return whether a name can be a record's: it will be a folder's, too."""
    return isinstance(name, str) and re.fullmatch(r"[0-9a-f]{32}", name) is not None


@dataclass(frozen=True)
class Move:
    """A reference that refers to something else; HEAD may refer to another reference."""

    ref: str
    old: str | None
    new: str | None
    message: str

    @property
    def back(self) -> Move:
        """The same the other way round."""
        return Move(self.ref, self.new, self.old, f"undo: {self.message}")


@dataclass(frozen=True)
class Record:
    """One thing that was done."""

    action: str
    session: str
    number: int
    head: Head
    after: Head
    old: str
    """What was checked out, as a tree."""

    new: str
    message: str
    moves: Collection[Move] = ()
    before: Collection[Entry] = ()
    saved: Saved = field(default_factory=Saved)
    done: bool = False
    undoes: str = ""
    """The record that is undone by it, whose copies it puts back."""

    time: float = field(default_factory=time.time)
    id: str = field(default_factory=new_id)

    def public(self) -> dict[str, Any]:
        """Return what is shown, and the id by which it can be undone."""
        return {
            "id": self.id,
            "action": self.action,
            "session": self.session,
            "number": self.number,
            "branch": shown(self.after.branch) if self.after.branch else None,
            "revision": self.after.revision,
            "message": shown(self.message),
            "time": self.time,
        }


class Records:
    """The records of one working tree, each in a folder with the copies that it needs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder(self, id: str) -> Path:
        """Return where a record and its copies are."""
        if not is_id(id):
            raise RepositoryError("unknownRecord", "There is nothing to be undone under this name.")
        return self._folder / id

    def copies(self, id: str) -> Path:
        """Return where the files are that a record keeps."""
        return self.folder(id) / "files"

    def replaced(self, id: str) -> Path:
        """Return where that is kept which was not ours and had to make way; mostly there is nothing."""
        return self.folder(id) / "replaced"

    def index(self, id: str) -> Path:
        """Return where the index is that a record keeps."""
        return self.folder(id) / "index"

    def write(self, record: Record) -> None:
        """Keep a record, or keep it anew."""
        folder = self.folder(record.id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Names of files need not be text: what JSON escapes, it gives back.
        (folder / "record.new").write_text(json.dumps(asdict(record)), encoding="ascii")
        (folder / "record.new").replace(folder / "record.json")

    def find(self, id: str) -> Record | None:
        """Return a record if it is kept."""
        try:
            data = json.loads((self.folder(id) / "record.json").read_text(encoding="ascii"))
        except OSError:
            return None
        return Record(
            **{
                **data,
                "head": Head(**data["head"]),
                "after": Head(**data["after"]),
                "moves": [Move(**move) for move in data["moves"]],
                "before": [Entry(*entry) for entry in data["before"]],
                "saved": Saved(**data["saved"]),
            }
        )

    def remove(self, id: str) -> None:
        """Forget a record."""
        shutil.rmtree(self.folder(id), ignore_errors=True)

    def prune(self) -> None:
        """Forget the oldest."""
        with contextlib.suppress(OSError):
            found = [path for path in self._folder.iterdir() if path.is_dir()]
            found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
            for path in found[KEPT:]:
                shutil.rmtree(path, ignore_errors=True)
