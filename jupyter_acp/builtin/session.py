# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One open conversation: its folder, its settings, and the turn that runs in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .settings import Settings

if TYPE_CHECKING:
    from .turn import Turn

CAPACITY = 1_000_000
"""Where the meter is full: we have no context window, but people want to see one fill."""


@dataclass
class Session:
    """A conversation that is open in this process."""

    id: str
    cwd: Path
    title: str | None = None
    settings: Settings = field(default_factory=Settings)
    used: int = 0
    servers: int = 0
    allowed: set[str] = field(default_factory=set)
    turn: Turn | None = None

    def usage(self) -> dict[str, Any]:
        """Return the meter: characters, and it says so, for no model counts tokens here."""
        return {
            "sessionUpdate": "usage_update",
            "used": min(self.used, CAPACITY),
            "size": CAPACITY,
            "_meta": {"jupyter-acp": {"unit": "characters"}},
        }


def characters(update: dict[str, Any]) -> int:
    """Return how much of the meter an update takes."""
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    return len(text) if isinstance(text, str) else 0
