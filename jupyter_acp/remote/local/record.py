# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The running action in the user's repository and the last one, in two small files.

An action is written down before anything changes, so that it is known if the server is killed.
When it is done, its note is kept for undo.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from .repository import Head, Repository


@dataclass(frozen=True)
class Move:
    """A change of a reference; HEAD may refer to another reference."""

    ref: str
    old: str | None
    new: str | None
    message: str

    @property
    def back(self) -> Move:
        """The reverse change."""
        return Move(self.ref, self.new, self.old, f"undo: {self.message}")

    async def make(self, repository: Repository) -> None:
        """Change the reference, unless somebody else has changed it."""
        git, message = repository.git, ("-m", self.message)
        if self.new is None:
            await git.run("update-ref", *message, "-d", self.ref, self.old or "")
        elif self.ref != "HEAD":
            nothing = "0" * len(self.new)
            await git.run("update-ref", *message, self.ref, self.new, self.old or nothing)
        elif self.new.startswith("refs/"):
            await git.run("symbolic-ref", *message, "HEAD", self.new)
        else:
            await git.run("update-ref", "--no-deref", *message, "HEAD", self.new)


@dataclass(frozen=True)
class Action:
    """A change from one state of HEAD, index and files to another."""

    kind: str
    before: Head
    after: Head
    old: str
    """The tree of the files before."""

    new: str
    message: str
    moves: Sequence[Move] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def undoing(self) -> Action:
        """The action that undoes this one."""
        return replace(
            self,
            kind="undo",
            before=self.after,
            after=self.before,
            old=self.new,
            new=self.old,
            message=f"Undone: {self.message}",
            moves=[move.back for move in reversed(self.moves)],
        )


class Records:
    """The notes about actions in one working tree."""

    def __init__(self, place: Path) -> None:
        self._begun = place / "begun.json"
        self._last = place / "last.json"

    @property
    def begun(self) -> Action | None:
        """The action that is running, or that a killed server did not finish."""
        return _read(self._begun)

    @property
    def last(self) -> Action | None:
        """The action that can be undone."""
        return _read(self._last)

    def begin(self, action: Action) -> None:
        """Write down an action before anything changes."""
        self._begun.write_text(json.dumps(asdict(action)), encoding="ascii")

    def give_up(self) -> None:
        """Delete the note of an action that left nothing behind."""
        self._begun.unlink(missing_ok=True)

    def finish(self, action: Action) -> None:
        """Make an action the last one; after an undo there is none."""
        if action.kind == "undo":
            self._last.unlink(missing_ok=True)
            self.give_up()
        else:
            self._begun.replace(self._last)


def _read(file: Path) -> Action | None:
    # A server killed while it writes leaves an incomplete note and an unchanged repository.
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        data = json.loads(file.read_text(encoding="ascii"))
        heads = {name: Head(**data[name]) for name in ("before", "after")}
        return Action(**{**data, **heads, "moves": [Move(**move) for move in data["moves"]]})
    return None
