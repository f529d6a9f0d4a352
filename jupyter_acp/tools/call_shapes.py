# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The shapes in which agents report a call of an MCP tool: exact names, sentences and fields.

Any other shape raises `ForeignError`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from .tool import Tool

FULL_NAME = ("{tool} ({server} MCP Server)",)
"""Cannot be a command line, so it is sufficient even without arguments."""

NAMES = (
    *FULL_NAME,
    "mcp__{server}__{tool}",
    "mcp_{server}_{tool}",
    "mcp.{server}.{tool}",
    "{server}__{tool}",
    "{server}_{tool}",
    "{server}.{tool}",
    "{server}:{tool}",
)
NAMES_IN_FIELDS = (*NAMES, "mcp/{server}/{tool}", "{server}/{tool}")
"""Also with slashes, which in a title could be the path of a program."""

SENTENCES = (
    *NAMES,
    *(f"Approve {name}" for name in NAMES),
    *(f"Requesting approval to {name}" for name in NAMES),
    *(f"Requesting approval to Approve {name}" for name in NAMES),
)

_WRAPPED = {"server", "tool", "arguments"}
_WRAPPED_TITLES = ("mcp.{server}.{tool}", "Tool: {server}/{tool}")

_EVENT = {"turn_id", "server_name", "id", "request"}
_REQUEST = {"mode", "_meta", "message", "requested_schema"}
_META = {
    "codex_approval_kind",
    "persist",
    "tool_title",
    "tool_description",
    "tool_params",
    "tool_params_display",
}
_MESSAGE = ('Allow the {server} MCP server to run tool "{tool}"?',)


class ForeignError(Exception):
    """A call is not, or not only, a call of one of our tools."""


@functools.lru_cache(maxsize=100)
def spelled(spellings: tuple[str, ...], server: str, tools: tuple[str, ...]) -> Mapping[str, str]:
    """Return a map from the spellings of our tools' names to the names."""
    return {each.format(server=server, tool=tool): tool for tool in tools for each in spellings}


def known(names: Mapping[str, str], words: Any) -> str:
    """Return the tool that a text names, or raise ForeignError."""
    if not isinstance(words, str) or words not in names:
        raise ForeignError
    return names[words]


def wrapped(
    call: Mapping[str, Any], server: str, tools: Mapping[str, Tool]
) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and its arguments if the call's input names the tool, else None.

    Codex reports its calls, and the questions of its own engine, in this way.
    """
    given = call.get("rawInput")
    if not isinstance(given, dict):
        return None
    if {"server", "tool"} <= given.keys():
        return _wrapped(call, given, server, tools)
    if {"server_name", "request"} <= given.keys():
        return _question(call, given, server, tools)
    return None


def _wrapped(
    call: Mapping[str, Any], given: dict[str, Any], server: str, tools: Mapping[str, Tool]
) -> tuple[str, dict[str, Any]]:
    # The input of another tool may look the same, but its title differs.
    tool = known(spelled(_WRAPPED_TITLES, server, tuple(tools)), call.get("title"))
    is_whole = not given.keys() - _WRAPPED and not entries(call, "content")
    if not is_whole or given["server"] != server or given["tool"] != tool:
        raise ForeignError
    arguments = given.get("arguments")
    return tool, object_of(arguments) if arguments is not None else {}


def _question(
    call: Mapping[str, Any], given: dict[str, Any], server: str, tools: Mapping[str, Tool]
) -> tuple[str, dict[str, Any]]:
    request = object_of(given["request"])
    meta = object_of(request.get("_meta"))
    if given.keys() - _EVENT or request.keys() - _REQUEST or meta.keys() - _META:
        raise ForeignError
    tool = tools[known(spelled(_MESSAGE, server, tuple(tools)), request.get("message"))]
    if (
        given["server_name"] != server
        or meta.get("codex_approval_kind") != "mcp_tool_call"
        or meta.get("tool_title") != tool.title
        or call.get("title") != f"Approve {tool.title}"
    ):
        raise ForeignError
    arguments = object_of(meta.get("tool_params"))
    about = f"{request['message']}\n\nServer: {server}"
    for entry in entries(call, "content"):
        words, _, shown = text_of(entry).partition("\n\nArguments:\n")
        if words not in (about, f"{about}\n\n{tool.description}"):
            raise ForeignError
        if shown and shown != _listed(arguments) and object_of(shown) != arguments:
            raise ForeignError
    return tool.name, arguments


def _listed(arguments: dict[str, Any]) -> str:
    told = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in sorted(arguments.items())
    }
    return "\n".join(f"- {name}: {value}" for name, value in told.items())


def entries(call: Mapping[str, Any], field: str) -> list[Any]:
    """Return the list in a field, or an empty one."""
    listed = call.get(field)
    return listed if isinstance(listed, list) else []


def text_of(entry: Any) -> str:
    """Return the text of an entry in a call's content, or raise ForeignError."""
    block = entry.get("content") if isinstance(entry, dict) else None
    text = block.get("text") if isinstance(block, dict) else None
    if not isinstance(text, str) or entry.get("type") != "content":
        # A diff, a terminal, an image: more than a tool's arguments.
        raise ForeignError
    return text


def object_of(value: Any) -> dict[str, Any]:
    """Return an object that is given as such or as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ForeignError from None
    if not isinstance(value, dict):
        raise ForeignError
    return value
