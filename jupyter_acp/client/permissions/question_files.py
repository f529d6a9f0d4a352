# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Facts about the files that an agent names in a question: link targets and risks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...paths import LONGEST, innermost, uri_path
from ...rpc import RpcError, invalid_params
from ..view import SessionView
from .protected_files import risk_of_writing

FILES_LIMIT = 50
"""Maximum number of files with facts in one question."""

NAMES_LIMIT = 200
SIZE_LIMIT = 64 * 1024
"""Maximum number of names and of their characters: checking them blocks the event loop."""

_HARMLESS = ("read", "search", "think", "fetch")
_FIELDS = ("path", "file_path", "filePath", "abs_path", "absolute_path", "notebook_path", "uri")


class NamedFiles:
    """Adds to questions what file names do not show: link targets, and risks of writing."""

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir

    def told(self, session: SessionView, params: Any) -> list[dict[str, Any]]:
        """Return the facts about the files in `session/request_permission`."""
        call = params.get("toolCall") if isinstance(params, dict) else None
        if not isinstance(call, dict):
            return []
        is_harmless = call.get("kind") in _HARMLESS
        # A file with a diff is written, whatever kind the agent reports.
        names = {
            **dict.fromkeys(named_files(call), not is_harmless),
            **dict.fromkeys(_changed(call), True),
        }
        if len(names) > NAMES_LIMIT or sum(map(len, names)) > SIZE_LIMIT:
            # The user could not check so many files either.
            raise invalid_params(
                f"The question names more files than anybody can look at ({NAMES_LIMIT}): ask about fewer "
                "at a time."
            )
        found = (self._told(session, *name) for name in names.items())
        return list(itertools.islice((told for told in found if len(told) > 1), FILES_LIMIT))

    def _told(self, session: SessionView, name: str, is_written: bool) -> dict[str, Any]:
        told: dict[str, Any] = {"path": name}
        try:
            # The session's folder may itself be a link: that is not reported.
            folder = Path(session.cwd).resolve()
            given = uri_path(name)
            path = Path(os.path.normpath(os.path.join(session.cwd, given)))
            if path.is_relative_to(session.cwd):
                path = folder / path.relative_to(session.cwd)
            target = path.resolve()
        except (OSError, RuntimeError, ValueError, RpcError):
            # The name cannot be a file of this machine.
            return told
        roots = [*session.roots, self._root_dir]
        if target != path:
            told["leadsTo"] = str(target)
        if innermost(target, roots) is None:
            told["isOutside"] = True
        if is_written and (risk := risk_of_writing(target, roots)):
            told["risk"] = risk.id
        return told


def named_files(call: dict[str, Any]) -> Iterator[str]:
    """Yield the files that a tool call names."""
    locations, given = call.get("locations"), call.get("rawInput")
    for entry in locations if isinstance(locations, list) else []:
        yield from _path(entry, "path")
    for field in _FIELDS:
        yield from _path(given, field)


def _changed(call: dict[str, Any]) -> Iterator[str]:
    """Yield the files of which a tool call shows a diff."""
    content = call.get("content")
    for entry in content if isinstance(content, list) else []:
        yield from _path(entry, "path")


def _path(entry: Any, field: str) -> Iterator[str]:
    path = entry.get(field) if isinstance(entry, dict) else None
    if isinstance(path, str) and 0 < len(path) <= LONGEST:
        yield path
