# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the files really are that an agent names when it asks for something."""

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
"""More than anybody reads before saying yes."""

NAMES_LIMIT = 200
SIZE_LIMIT = 64 * 1024
"""How many names, of how many characters, are looked at: meanwhile everybody else waits."""

_HARMLESS = ("read", "search", "think", "fetch")
_FIELDS = ("path", "file_path", "filePath", "abs_path", "absolute_path", "notebook_path", "uri")


class NamedFiles:
    """Tells people what the names in a question do not: where links lead, and what a file would do."""

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir

    def told(self, session: SessionView, params: Any) -> list[dict[str, Any]]:
        """Return what is worth knowing of the files in `session/request_permission`."""
        call = params.get("toolCall") if isinstance(params, dict) else None
        if not isinstance(call, dict):
            return []
        is_harmless = call.get("kind") in _HARMLESS
        # What is changed is written, whatever the agent calls it.
        names = {
            **dict.fromkeys(named_files(call), not is_harmless),
            **dict.fromkeys(_changed(call), True),
        }
        if len(names) > NAMES_LIMIT or sum(map(len, names)) > SIZE_LIMIT:
            # Nor could anybody look at them who has to decide.
            raise invalid_params(
                f"The question names more files than anybody can look at ({NAMES_LIMIT}): ask about fewer "
                "at a time."
            )
        found = (self._told(session, *name) for name in names.items())
        return list(itertools.islice((told for told in found if len(told) > 1), FILES_LIMIT))

    def _told(self, session: SessionView, name: str, is_written: bool) -> dict[str, Any]:
        told: dict[str, Any] = {"path": name}
        try:
            # The folder itself may be reached through a link; that is no news.
            folder = Path(session.cwd).resolve()
            given = uri_path(name)
            path = Path(os.path.normpath(os.path.join(session.cwd, given)))
            if path.is_relative_to(session.cwd):
                path = folder / path.relative_to(session.cwd)
            target = path.resolve()
        except (OSError, RuntimeError, ValueError, RpcError):
            # Whatever it is, it is no file of this machine.
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
    """Yield the files that a call says it is about."""
    locations, given = call.get("locations"), call.get("rawInput")
    for entry in locations if isinstance(locations, list) else []:
        yield from _path(entry, "path")
    for field in _FIELDS:
        yield from _path(given, field)


def _changed(call: dict[str, Any]) -> Iterator[str]:
    """Yield the files that it shows a change of."""
    content = call.get("content")
    for entry in content if isinstance(content, list) else []:
        yield from _path(entry, "path")


def _path(entry: Any, field: str) -> Iterator[str]:
    path = entry.get(field) if isinstance(entry, dict) else None
    if isinstance(path, str) and 0 < len(path) <= LONGEST:
        yield path
