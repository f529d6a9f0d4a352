# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents do through us, and rules for it."""

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
    """What is to happen when an agent wants to do one kind of thing with something that matches."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal[Kind, "*"] = "*"
    match: str = "*"
    decision: Decision

    def fits(self, action: Action) -> bool:
        """Whether it says something about an action."""
        if self.kind not in ("*", action.kind):
            return False
        # `git *` must not allow `git log; rm -r .`: what a shell puts together is not one command.
        # Nor is a command that is given more than its line tells, or run somewhere else.
        careful = self.decision == "allow" and action.kind == "terminal" and self.match != "*"
        if careful and not action.is_told:
            return False
        if careful and (_SHELL & set(" ".join(action.subjects))) - set(self.match):
            return False
        if any(fnmatchcase(subject, self.match) for subject in action.subjects):
            return True
        # What is not allowed is not to be had by another spelling of its name.
        is_file = action.kind in ("read", "write")
        return self.decision != "allow" and is_file and self._fits_folded(action)

    def _fits_folded(self, action: Action) -> bool:
        match = folded_pattern(self.match)
        return any(fnmatchcase(folded_path(subject), match) for subject in action.subjects)


Rules = Mapping[str, list[Rule]]
"""Rules by agent; those of `*` are for every agent."""

Details = Callable[[], Awaitable[dict[str, Any]]]


class Action:
    """Something that an agent wants to do."""

    def __init__(
        self, kind: Kind, subjects: Sequence[str], title: str, details: Details | None = None
    ) -> None:
        """Name what it is about in each way that a rule may; the first one is for people.

        `details` are what else a person should see before deciding, as fields of a tool call.
        """
        self.kind = kind
        self.subjects = subjects
        self.title = title
        self.details = details
        self.risk: Risk | None = None
        """What it would do besides what it is named by: then it is asked about, whatever was allowed."""

        self.has_more = False
        """Whether it is given more than it is named by: then that alone allows nothing."""

        self.verb = ""
        """What the user would be doing by saying yes, for the words on the buttons."""

        self.place = ""
        """Where a command is run, if that is not the session's own folder."""

        self.granted_by = subjects
        """What the user must have allowed the agent, one of them, for this to need no question."""

    @property
    def is_told(self) -> bool:
        """Whether what it is named by says all of it."""
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
        """Make one that is about a file: rules name it by its whole path or that in a folder."""
        folders = containing(path, roots)
        names = [str(path), *(path.relative_to(folder).as_posix() for folder in folders)]
        action = cls(kind, list(dict.fromkeys(names)), title, details)
        if kind == "write":
            action.risk = risk_of_writing(path, roots)
        return action


def rules_of(value: Any) -> Rules:
    """Read rules from a configuration; raise ValueError with what is wrong with them."""
    return _RULES.validate_python(value)


_RULES = TypeAdapter(dict[str, list[Rule]])
