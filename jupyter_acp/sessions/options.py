# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a user can choose in a session (mode, model, how much to think), and the ways to tell an agent.

The option that the agent offers for it comes first, then the method that there was before options.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import protocol


class Choice(NamedTuple):
    """Something to choose, and by which names agents know it."""

    categories: tuple[str, ...]
    """Of the option that stands for it."""

    method: str = ""
    """The older method, for agents that have told what can be chosen under `setup`."""

    parameter: str = ""
    setup: str = ""
    offered: tuple[str, str] = ("", "")
    """The list of what can be chosen there, and the name of the id in it."""

    current: str = ""
    """Where it says which is chosen."""

    is_strict: bool = False
    """Whether it goes by names that mean something else as well: then only what is listed counts."""


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
"""By the names that they have as hints in `session/new`."""


WORDS = {
    "mode": "mode",
    "model": "model",
    "variant": "way of thinking",
    "permissionMode": "mode of permissions",
}


class Call(NamedTuple):
    """A request that tells the agent what was chosen."""

    method: str
    params: dict[str, Any]


def calls(choice: Choice, value: Any, setup: dict[str, Any]) -> Iterator[Call]:
    """Return the ways in which a session can be told, the best first; none if it has none."""
    unlisted: list[Call] = []
    for call, is_listed in _offers(choice, value, setup):
        if is_listed:
            yield call
        elif not choice.is_strict:
            # The agent may know more than it has told; it will say if it does not.
            unlisted.append(call)
    yield from unlisted


def _offers(choice: Choice, value: Any, setup: dict[str, Any]) -> Iterator[tuple[Call, bool]]:
    """Return every way, and whether it is one for this value."""
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
    """Return what a request of a window chooses, if there are several ways to do so."""
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
    """Return the option that stands for a choice, if the session has one."""
    for category in choice.categories:
        for option in options(setup):
            if option.get("category") == category:
                return option
    return None


def current(choice: Choice, setup: dict[str, Any]) -> Any:
    """Return what is chosen by the older method, if the session has that."""
    known = setup.get(choice.setup)
    return known.get(choice.current) if isinstance(known, dict) else None


def options(setup: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options of a session."""
    return _dicts(setup.get("configOptions"))


def chosen(setup: dict[str, Any], config_id: Any, value: Any) -> list[dict[str, Any]]:
    """Return the options with one of them chosen, for agents that do not tell them anew."""
    return [
        {**option, "currentValue": value} if option.get("id") == config_id else option
        for option in options(setup)
    ]


def _takes(option: dict[str, Any], value: Any) -> bool:
    """Whether an option has a value among its own, grouped or not."""
    if option.get("type", "select") != "select":
        return isinstance(value, bool)
    listed = _dicts(option.get("options"))
    values = [each.get("value") for each in listed if "value" in each]
    values += [each.get("value") for group in listed for each in _dicts(group.get("options"))]
    return value in values


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
