# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Permissions that agents have requested from users before using a service."""

from __future__ import annotations

import os
import shlex
from typing import Any, NamedTuple

from ...paths import LONGEST, place
from .policy import Action

_ASKED_AS = {
    "read": ("read", "search", "edit"),
    "write": ("edit", "delete", "move"),
    "terminal": ("execute",),
    "run": ("execute",),
    "restart": (),
}
"""Kinds of request that cover an action: permission to read does not cover writing."""

_COMMANDS = ("command", "cmd")
_FILES = (
    "path",
    "paths",
    "file",
    "file_path",
    "filePath",
    "filepath",
    "abs_path",
    "absolute_path",
    "notebook_path",
    "uri",
)
_FOLDERS = ("cwd", "workdir", "working_directory", "workingDirectory", "dir_path", "directory")
"""Fields of a tool's input that name what it is about; other fields are not evidence."""

_SHELL_LINES = ("-c", "-lc", "-ic")


class Grant(NamedTuple):
    """A permission that the user has given once."""

    kind: str
    texts: set[str]
    """Texts that showed the user what the permission is for."""

    folders: set[str]
    """Folders that the request named for a command."""

    def covers(self, action: Action) -> bool:
        """Return True if the user has allowed the action."""
        if self.kind not in _ASKED_AS[action.kind] or self.texts.isdisjoint(action.granted_by):
            return False
        return action.kind != "terminal" or action.place in (self.folders or {""})


class Grants:
    """The permissions of all sessions: each is valid once, until the turn ends."""

    def __init__(self) -> None:
        self._grants: dict[str, list[Grant]] = {}

    def add(self, session_id: str, cwd: str, params: Any, chosen: Any) -> None:
        """Record a permission if the chosen option allows the request; `cwd` is its folder."""
        options = params.get("options")
        meant = [
            str(option.get("kind")).startswith("allow")
            for option in (options if isinstance(options, list) else [])
            if isinstance(option, dict) and option.get("optionId") == chosen is not None
        ]
        # An id that is used for both allowing and rejecting is ambiguous.
        if meant and all(meant):
            grant = _grant(params.get("toolCall"), cwd)
            self._grants.setdefault(session_id, []).append(grant)

    def take(self, session_id: str, action: Action) -> bool:
        """Use up a permission for an action; return False if there is none."""
        grants = self._grants.get(session_id, [])
        for grant in grants:
            if grant.covers(action):
                grants.remove(grant)
                return True
        return False

    def forget(self, session_id: str) -> None:
        """Drop what was granted for the turn."""
        self._grants.pop(session_id, None)


def _grant(tool_call: Any, cwd: str) -> Grant:
    call = tool_call if isinstance(tool_call, dict) else {}
    given = call.get("rawInput")
    given = given if isinstance(given, dict) else {"command": given}
    title, kind = call.get("title"), str(call.get("kind"))
    texts = {title} if isinstance(title, str) else set()
    if kind == "execute":
        texts |= {text for name in _COMMANDS for text in _lines(given.get(name))}
    else:
        locations = call.get("locations")
        places = locations if isinstance(locations, list) else []
        named = [given.get(name) for name in _FILES]
        named += [each.get("path") for each in places if isinstance(each, dict)]
        texts |= {text for each in named for text in _names(each)}
    folders = [given[name] for name in _FOLDERS if isinstance(given.get(name), str)]
    return Grant(kind, texts, {_place(folder, cwd) for folder in folders})


def _place(folder: str, cwd: str) -> str:
    """Return the place of a folder; an invalid one stays as it is, and matches no folder."""
    return place(folder, cwd) if len(folder) <= LONGEST and "\0" not in folder else folder


def _names(value: Any) -> list[str]:
    """Return the files that one field names."""
    named = value if isinstance(value, list) else [value]
    return [each for each in named if isinstance(each, str)]


def _lines(value: Any) -> list[str]:
    """Return the spellings of a command: its words as one line, and the line for a shell."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return []
    is_shell = len(value) == 3 and value[1] in _SHELL_LINES
    by_shell = [value[2]] if is_shell and os.path.basename(value[0]) in ("sh", "bash") else []
    return [shlex.join(value), *by_shell]
