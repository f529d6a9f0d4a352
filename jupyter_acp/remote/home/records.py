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

from ..git import size_of
from .files import Entry
from .names import shown
from .owner import Owner
from .repository import Head, RepositoryError
from .saved import Saved
from .shadow import RECORDS

KEPT = 20
"""How many things can be undone, in each working tree."""

OLDEST = 30 * 24 * 3600.0
"""For how many seconds."""

LARGEST = 1_000_000_000
"""How many bytes copies may take there; of the latest there are always copies."""

_OPEN = "open"
_FORGOTTEN = 24 * 3600.0


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

    owner: Owner = field(default_factory=Owner.this)
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
        """Keep a record, or keep it anew; until it is done, it is one that has to be closed."""
        folder = self.folder(record.id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not record.done:
            (folder / _OPEN).touch()
        # Names of files need not be text: what JSON escapes, it gives back.
        (folder / "record.new").write_text(json.dumps(asdict(record)), encoding="ascii")
        (folder / "record.new").replace(folder / "record.json")
        if record.done:
            self.close(record.id)

    def close(self, id: str) -> None:
        """Say of a record that nothing of it is left to be done or taken back."""
        (self.folder(id) / _OPEN).unlink(missing_ok=True)

    @property
    def open(self) -> list[Record]:
        """The records of what was begun and neither done nor taken back, the latest first."""
        ids = (path.parent.name for path in self._folder.glob(f"*/{_OPEN}"))
        found = [record for id in ids if is_id(id) and (record := self.find(id)) is not None]
        return sorted(found, key=lambda record: record.time, reverse=True)

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
                "owner": Owner(**data["owner"]),
            }
        )

    def remove(self, id: str) -> None:
        """Forget a record."""
        shutil.rmtree(self.folder(id), ignore_errors=True)

    def prune(self) -> None:
        """Forget the oldest, and what is too old or too large; not what is still to be taken back."""
        with contextlib.suppress(OSError):
            found = [(path.stat().st_mtime, path) for path in self._folder.iterdir()]
            count = size = 0
            for changed, path in sorted(found, reverse=True):
                age = time.time() - changed
                if (path / _OPEN).exists() or not (path / "record.json").exists():
                    # It may be in the making; without a record, nothing can be done with it.
                    is_kept = (path / "record.json").exists() or age < _FORGOTTEN
                elif (path / "replaced").exists():
                    is_kept = age < OLDEST
                else:
                    count, size = count + 1, size + size_of(path)
                    is_kept = age < OLDEST and count <= KEPT and (count == 1 or size <= LARGEST)
                if not is_kept:
                    shutil.rmtree(path, ignore_errors=True)


def prune_all(cache: Path) -> None:
    """Forget what is old in every working tree, also of repositories that are not here any more."""
    for folder in cache.glob(f"*/{RECORDS}"):
        Records(folder).prune()
