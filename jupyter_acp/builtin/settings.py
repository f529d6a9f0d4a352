# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The settings of a session: its mode, and one option of every type that clients support."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from typing import Any

from ..rpc import RpcError, invalid_params

ASK, EDIT, READ = "ask", "edit", "read"

MODES = {
    ASK: ("Ask first", "Asks before it writes a file or runs a command."),
    EDIT: ("Edit freely", "Writes files without asking; still asks before it runs a command."),
    READ: ("Read only", "Never writes and never runs anything; edits are only shown."),
}
SCOPES: dict[str, tuple[str, tuple[str, ...]]] = {
    "all": ("All text files", ()),
    "notebooks": ("Notebooks", (".ipynb",)),
    "python": ("Python files", (".py", ".pyi")),
    "prose": ("Markdown and text", (".md", ".rst", ".txt")),
}
KNOWN: dict[str, list[Any]] = {
    "mode": list(MODES),
    "scope": list(SCOPES),
    "thoughts": [True, False],
}


@dataclass
class Settings:
    """The mode and the options of one session."""

    mode: str = ASK
    scope: str = "all"
    thoughts: bool = True

    def set(self, option: str, value: Any) -> None:
        """Change one option by its id."""
        if option not in KNOWN:
            raise invalid_params(f"There is no option {option!r}; there are {', '.join(KNOWN)}.")
        if value not in KNOWN[option]:
            known = ", ".join(map(str, KNOWN[option]))
            raise invalid_params(f"{option} must be one of {known}, not {value!r}.")
        setattr(self, option, value)

    def restore(self, saved: dict[str, Any]) -> None:
        """Apply saved settings; values that no longer exist fall back to the default."""
        for option, value in saved.items():
            with contextlib.suppress(RpcError):
                self.set(option, value)

    def saved(self) -> dict[str, Any]:
        """Return the settings in the format of `restore`."""
        return asdict(self)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of files to search; none means all files."""
        return SCOPES[self.scope][1]

    def modes(self) -> dict[str, Any]:
        """Return the modes in the older format, for clients without support for options."""
        modes = [
            {"id": id, "name": name, "description": about} for id, (name, about) in MODES.items()
        ]
        return {"currentModeId": self.mode, "availableModes": modes}

    def options(self, *, booleans: bool) -> list[dict[str, Any]]:
        """Return the options that the client can show."""
        modes = [{"value": each.pop("id"), **each} for each in self.modes()["availableModes"]]
        scopes = [{"value": value, "name": name} for value, (name, _) in SCOPES.items()]
        # Only this list is long enough to need groups.
        groups = [
            {"group": "everything", "name": "Everything", "options": scopes[:1]},
            {"group": "kind", "name": "One kind of file", "options": scopes[1:]},
        ]
        mode = {
            "id": "mode",
            "name": "Mode",
            "description": "What it may do unasked.",
            "category": "mode",
            "type": "select",
            "currentValue": self.mode,
            "options": modes,
        }
        scope = {
            "id": "scope",
            "name": "Search in",
            "description": "Where /find and /todo look.",
            "type": "select",
            "currentValue": self.scope,
            "options": groups,
        }
        thoughts = {
            "id": "thoughts",
            "name": "Show thoughts",
            "description": "Tell what it is about to do before it does it.",
            "category": "thought_level",
            "type": "boolean",
            "currentValue": self.thoughts,
        }
        return [mode, scope, thoughts] if booleans else [mode, scope]
