# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Actions of agents on services, and rules for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ...paths import containing
from .protected_files import Risk, folded_path, folded_pattern, risk_of_writing

Kind = Literal["read", "write", "terminal", "run", "restart"]
Decision = Literal["allow", "ask", "deny"]

_SHELL = set(";|&`$()<>!\n\\")


class Rule(BaseModel):
    """A decision for actions of one kind whose subjects match a pattern."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal[Kind, "*"] = "*"
    match: str = "*"
    decision: Decision

    def fits(self, action: Action) -> bool:
        """Return True if the rule applies to an action."""
        if self.kind not in ("*", action.kind):
            return False
        # `git *` must not allow `git log; rm -r .`, which a shell runs as two commands, nor a
        # command with variables that its line does not show, or in another folder.
        careful = self.decision == "allow" and action.kind == "terminal" and self.match != "*"
        if careful and not action.is_told:
            return False
        if careful and (_SHELL & set(" ".join(action.subjects))) - set(self.match):
            return False
        if any(fnmatchcase(subject, self.match) for subject in action.subjects):
            return True
        # Another spelling of a file's name must not avoid the rule.
        is_file = action.kind in ("read", "write")
        return self.decision != "allow" and is_file and self._fits_folded(action)

    def _fits_folded(self, action: Action) -> bool:
        match = folded_pattern(self.match)
        return any(fnmatchcase(folded_path(subject), match) for subject in action.subjects)


Rules = Mapping[str, list[Rule]]
"""Rules by agent; those of `*` apply to every agent."""

Details = Callable[[], Awaitable[dict[str, Any]]]


class Action:
    """An operation that an agent wants to perform."""

    def __init__(
        self, kind: Kind, subjects: Sequence[str], title: str, details: Details | None = None
    ) -> None:
        """Take the subjects, all names that rules may match; users see the first one.

        `details` returns what the user should see before deciding, as fields of a tool call.
        """
        self.kind = kind
        self.subjects = subjects
        self.title = title
        self.details = details
        self.risk: Risk | None = None
        """Side effect of the action; with one, the user is asked whatever was allowed before."""

        self.has_more = False
        """True if the subjects do not show everything: then they are not enough to allow it."""

        self.verb = ""
        """Verb for the labels of the buttons."""

        self.place = ""
        """Folder of a command, if it is not the session's own."""

        self.granted_by = subjects
        """Texts of which the user must have allowed one for the action to need no question."""

    @property
    def is_told(self) -> bool:
        """True if the subjects describe the whole action."""
        return not self.has_more and not self.place

    @classmethod
    def on_file(
        cls,
        kind: Kind,
        path: Path,
        roots: Sequence[str],
        title: str,
        details: Details | None = None,
    ) -> Action:
        """Return an action on a file; rules match its absolute path or its path in a folder."""
        folders = containing(path, roots)
        names = [str(path), *(path.relative_to(folder).as_posix() for folder in folders)]
        action = cls(kind, list(dict.fromkeys(names)), title, details)
        if kind == "write":
            action.risk = risk_of_writing(path, roots)
        return action


def rules_of(value: Any) -> Rules:
    """Return the rules in a configuration; raise ValueError if they are invalid."""
    return _RULES.validate_python(value)


_RULES = TypeAdapter(dict[str, list[Rule]])
