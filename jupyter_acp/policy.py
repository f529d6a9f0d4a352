# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents do through us, and rules for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from .paths import containing, innermost

Kind = Literal["read", "write", "terminal", "run"]
Decision = Literal["allow", "ask", "deny"]

_SHELL = set(";|&`$()<>\n\\")
_STARTS_SOMETHING = ("jupyter_*config.py", "jupyter_*config.json", "ipython_config.py")
_RUNS_BY_ITSELF = {"sitecustomize.py", "usercustomize.py"}


class Rule(BaseModel):
    """What is to happen when an agent wants to do one kind of thing with something that matches."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["read", "write", "terminal", "run", "*"] = "*"
    match: str = "*"
    decision: Decision

    def fits(self, action: Action) -> bool:
        """Whether it says something about an action."""
        if self.kind not in ("*", action.kind):
            return False
        # `git *` must not allow `git log; rm -r .`: what a shell puts together is not one command,
        # nor is a command that is told to load something else.
        careful = self.decision == "allow" and action.kind == "terminal" and self.match != "*"
        if careful and action.is_unusual:
            return False
        if careful and (_SHELL & set(" ".join(action.subjects))) - set(self.match):
            return False
        return any(fnmatchcase(subject, self.match) for subject in action.subjects)


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
        self.is_unusual = False
        """Whether there is more to it than what it is named by: then it is always looked at."""

        self.granted_by = subjects
        """What the user must have allowed the agent, one of them, for this to need no question."""

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
        return cls(kind, list(dict.fromkeys(names)), title, details)


def needs_permission(path: Path, roots: Sequence[str]) -> bool:
    """Whether a file is one that agents should not touch by the way.

    Hidden files and folders, `.git` and `.ssh` among them, and files that run without being asked.
    """
    root = innermost(path, roots)
    parts = path.relative_to(root).parts if root is not None else path.parts
    name = path.name.lower()
    return (
        any(part.startswith(".") for part in parts)
        or name in _RUNS_BY_ITSELF
        or any(fnmatchcase(name, pattern) for pattern in _STARTS_SOMETHING)
    )


def rules_of(value: Any) -> Rules:
    """Read rules from a configuration; raise ValueError with what is wrong with them."""
    return _RULES.validate_python(value)


_RULES = TypeAdapter(dict[str, list[Rule]])
