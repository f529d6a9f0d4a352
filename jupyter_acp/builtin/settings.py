# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a person can set in a session: the mode and the options, and what each one means."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from typing import Any

from ..rpc import RpcError, invalid_params

ASK, EDIT, READ = "ask", "edit", "read"

MODES: dict[str, tuple[str, str]] = {
    ASK: ("Ask first", "Asks before it writes a file or runs a command."),
    EDIT: ("Edit freely", "Writes files without asking; still asks before it runs a command."),
    READ: ("Read only", "Never writes and never runs anything; edits are only shown."),
}

BRIEF, FULL = "brief", "full"

VERBOSITY: dict[str, tuple[str, str]] = {
    BRIEF: ("Brief", "One or two sentences."),
    FULL: ("Full", "With what it sees, what it can do and how to go on."),
}

SCOPES: dict[str, tuple[str, tuple[str, ...]]] = {
    "all": ("All text files", ()),
    "notebooks": ("Notebooks", (".ipynb",)),
    "python": ("Python files", (".py", ".pyi")),
    "prose": ("Markdown and text", (".md", ".rst", ".txt")),
}

ON, OFF = "on", "off"


@dataclass
class Settings:
    """The choices made in one session."""

    mode: str = ASK
    verbosity: str = FULL
    scope: str = "all"
    thoughts: bool = True

    def set_mode(self, mode: str) -> None:
        """Change the mode."""
        self.mode = _one_of("mode", mode, MODES)

    def set(self, option: str, value: Any) -> None:
        """Change one option by its id, as `session/set_config_option` does."""
        if option == "mode":
            self.set_mode(value)
        elif option == "verbosity":
            self.verbosity = _one_of(option, value, VERBOSITY)
        elif option == "scope":
            self.scope = _one_of(option, value, SCOPES)
        elif option == "thoughts":
            if not isinstance(value, bool):
                value = _one_of(option, value, (ON, OFF)) == ON
            self.thoughts = value
        else:
            known = ", ".join(asdict(self))
            raise invalid_params(f"There is no option {option!r}; there are {known}.")

    def restore(self, saved: dict[str, Any]) -> None:
        """Take what a file holds; a choice that no longer exists falls back to its default."""
        for option, value in saved.items():
            with contextlib.suppress(RpcError):
                self.set(option, value)

    def saved(self) -> dict[str, Any]:
        """Return what `restore` takes."""
        return asdict(self)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return which files a search looks into; none means all."""
        return SCOPES[self.scope][1]

    def modes(self) -> dict[str, Any]:
        """Return the modes as clients of before the options know them."""
        return {
            "currentModeId": self.mode,
            "availableModes": [
                {"id": id, "name": name, "description": description}
                for id, (name, description) in MODES.items()
            ],
        }

    def options(self, *, booleans: bool) -> list[dict[str, Any]]:
        """Return every option; a client that has no boolean controls gets a choice of two."""
        return [
            _select("mode", "Mode", self.mode, _choices(MODES), "mode", "What it may do unasked."),
            _select(
                "verbosity",
                "Answers",
                self.verbosity,
                _choices(VERBOSITY),
                "model_config",
                "How much it says.",
            ),
            _select(
                "scope", "Search in", self.scope, _scopes(), None, "Where /find and /todo look."
            ),
            _thoughts(self.thoughts, booleans),
        ]


def _choices(table: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"value": value, "name": name, "description": description}
        for value, (name, description) in table.items()
    ]


def _scopes() -> list[dict[str, Any]]:
    """Return the scopes in groups: the only option long enough to need them."""
    entries = [{"value": value, "name": name} for value, (name, _) in SCOPES.items()]
    return [
        {"group": "everything", "name": "Everything", "options": entries[:1]},
        {"group": "kind", "name": "One kind of file", "options": entries[1:]},
    ]


def _thoughts(value: bool, booleans: bool) -> dict[str, Any]:
    about = "Tell what it is about to do before it does it."
    if not booleans:
        choices = _choices({ON: ("On", about), OFF: ("Off", "Only the answers.")})
        return _select(
            "thoughts", "Show thoughts", ON if value else OFF, choices, "thought_level", about
        )
    return {
        "id": "thoughts",
        "name": "Show thoughts",
        "description": about,
        "category": "thought_level",
        "type": "boolean",
        "currentValue": value,
    }


def _select(
    id: str,
    name: str,
    value: str,
    options: list[dict[str, Any]],
    category: str | None,
    description: str,
) -> dict[str, Any]:
    option: dict[str, Any] = {
        "id": id,
        "name": name,
        "description": description,
        "type": "select",
        "currentValue": value,
        "options": options,
    }
    if category is not None:
        option["category"] = category
    return option


def _one_of(option: str, value: Any, known: Any) -> str:
    if not isinstance(value, str) or value not in known:
        raise invalid_params(f"{option} must be one of {', '.join(known)}, not {value!r}.")
    return value
