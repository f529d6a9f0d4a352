# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The choices of a session (mode, model, thinking level), and the requests that make them.

The agent's config option comes first, then the method that ACP had before config options.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import protocol


class Choice(NamedTuple):
    """A kind of choice, and the names that agents use for it."""

    categories: tuple[str, ...]
    """Categories of the config options for this choice."""

    method: str = ""
    """The older method, for agents that list the values in the field `setup`."""

    parameter: str = ""
    setup: str = ""
    offered: tuple[str, str] = ("", "")
    """The list of values in that field, and the name of their id."""

    current: str = ""
    """The field with the current value."""

    is_strict: bool = False
    """True if its names have other meanings, too: then only listed values are sent."""


_MODES = (protocol.SET_MODE, "modeId", "modes", ("availableModes", "id"), "currentModeId")
_MODELS = (
    protocol.SET_MODEL,
    "modelId",
    "models",
    ("availableModels", "modelId"),
    "currentModelId",
)

CHOICES: dict[str, Choice] = {
    "mode": Choice(("mode",), *_MODES),
    "model": Choice(("model",), *_MODELS),
    "variant": Choice(("thought_level",)),
    "permissionMode": Choice(("permission_mode", "permissions", "mode"), *_MODES, is_strict=True),
}
"""Choices by the names of their hints in `session/new`."""


WORDS = {
    "mode": "mode",
    "model": "model",
    "variant": "way of thinking",
    "permissionMode": "mode of permissions",
}


class Call(NamedTuple):
    """A request that sends a choice to the agent."""

    method: str
    params: dict[str, Any]


def calls(choice: Choice, value: Any, setup: dict[str, Any]) -> Iterator[Call]:
    """Yield the requests that can make a choice, the best first."""
    unlisted: list[Call] = []
    for call, is_listed in _offers(choice, value, setup):
        if is_listed:
            yield call
        elif not choice.is_strict:
            # The agent may accept values that it does not list, else it answers with an error.
            unlisted.append(call)
    yield from unlisted


def _offers(choice: Choice, value: Any, setup: dict[str, Any]) -> Iterator[tuple[Call, bool]]:
    """Yield every request for a choice, with True if the agent lists the value."""
    for category in choice.categories:
        for option in options(setup):
            if option.get("category") == category:
                params = {"configId": option.get("id"), "value": value}
                yield Call(protocol.SET_CONFIG_OPTION, params), _takes(option, value)
    known = setup.get(choice.setup)
    if isinstance(known, dict):
        listed, id = choice.offered
        ids = [each.get(id) for each in _dicts(known.get(listed))]
        yield Call(choice.method, {choice.parameter: value}), value in ids


def choice_of(method: str, params: dict[str, Any], setup: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the name and value of the choice that a window's request makes, or None."""
    if method == protocol.SET_MODE:
        return "mode", params.get("modeId")
    if method == protocol.SET_MODEL:
        return "model", params.get("modelId")
    if method == protocol.SET_CONFIG_OPTION:
        for option in options(setup):
            if option.get("id") == params.get("configId"):
                for name in ("mode", "model"):
                    if option.get("category") in CHOICES[name].categories:
                        return name, params.get("value")
    return None


def option_for(choice: Choice, setup: dict[str, Any]) -> dict[str, Any] | None:
    """Return the config option for a choice, or None."""
    for category in choice.categories:
        for option in options(setup):
            if option.get("category") == category:
                return option
    return None


def current(choice: Choice, setup: dict[str, Any]) -> Any:
    """Return the current value for the older method, or None."""
    known = setup.get(choice.setup)
    return known.get(choice.current) if isinstance(known, dict) else None


def options(setup: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the config options of a session."""
    return _dicts(setup.get("configOptions"))


def chosen(setup: dict[str, Any], config_id: Any, value: Any) -> list[dict[str, Any]]:
    """Return the options with one value changed, for agents that do not send the new options."""
    return [
        {**option, "currentValue": value} if option.get("id") == config_id else option
        for option in options(setup)
    ]


def _takes(option: dict[str, Any], value: Any) -> bool:
    """Return True if an option lists a value, grouped or not."""
    if option.get("type", "select") != "select":
        return isinstance(value, bool)
    listed = _dicts(option.get("options"))
    values = [each.get("value") for each in listed if "value" in each]
    values += [each.get("value") for group in listed for each in _dicts(group.get("options"))]
    return value in values


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
