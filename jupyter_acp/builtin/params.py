# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Checks of what a client sends, with errors that say what was wrong and what is right."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from ..rpc import invalid_params

BLOCK_FIELDS: dict[str, tuple[str, type]] = {
    "text": ("text", str),
    "image": ("data", str),
    "audio": ("data", str),
    "resource_link": ("uri", str),
    "resource": ("resource", dict),
}


def as_object(method: str, params: Any) -> dict[str, Any]:
    """Take no parameters for an empty object."""
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise invalid_params(f"{method}: params must be an object.")
    return params


def text(params: dict[str, Any], name: str) -> str:
    """Return a required, non-empty string."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise invalid_params(f"`{name}` must be a non-empty string, not {_shown(value)}.")
    return value


def folder(params: dict[str, Any], *, required: bool = True) -> str | None:
    """Return `cwd`, which ACP wants absolute."""
    if params.get("cwd") is None and not required:
        return None
    cwd = text(params, "cwd")
    if not PurePath(cwd).is_absolute():
        raise invalid_params(f"`cwd` must be an absolute path, not {cwd!r}.")
    return cwd


def servers(params: dict[str, Any]) -> int:
    """Return how many MCP servers were given."""
    value = params.get("mcpServers")
    if value is not None and not isinstance(value, list):
        raise invalid_params("`mcpServers` must be a list; send [] if there are none.")
    return len(value or ())


def prompt(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a prompt."""
    blocks = params.get("prompt")
    if not isinstance(blocks, list) or not blocks:
        raise invalid_params("`prompt` must be a non-empty list of content blocks.")
    for index, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in BLOCK_FIELDS:
            known = ", ".join(BLOCK_FIELDS)
            raise invalid_params(f"`prompt[{index}].type` must be one of {known}.")
        field, expected = BLOCK_FIELDS[kind]
        if not isinstance(block.get(field), expected):
            raise invalid_params(f"`prompt[{index}].{field}` is missing or of the wrong type.")
    return blocks


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:80]
