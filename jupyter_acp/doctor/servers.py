# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The check of configured MCP servers."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .findings import Finding, bad, good

if TYPE_CHECKING:
    from ..app import AcpExtension


def servers(extension: AcpExtension) -> list[Finding]:
    """Check the program and the secrets of each server of the administrator and the user."""
    known = extension.servers()
    known.set_user_servers(_of_user(Path(extension.journal)))
    return [
        bad(f"{name or 'A server without a name'} is not available in sessions", problem)
        if problem
        else good(f"{name} is available to agents that support its transport")
        for name, problem in known.problems()
    ]


def _of_user(journal: Path) -> list[dict[str, Any]]:
    """Return the servers in the user's settings as last stored in the journal."""
    try:
        db = sqlite3.connect(f"{journal.as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            row = db.execute("SELECT value FROM facts WHERE key='settings'").fetchone()
        finally:
            db.close()
    except sqlite3.Error:
        # There is no journal yet, or another check reports its problem.
        return []
    found: list[dict[str, Any]] = json.loads(row[0]).get("servers", []) if row else []
    return found
