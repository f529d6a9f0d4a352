# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which tool calls of an agent are calls of our own tools, from what the agent tells of them.

Agents ask for leave before they call a tool of ours, and our tool then asks again, by the rules and
with the real code in the card. The first question can be answered without the user, but only if it
is certain which tool it is about, and that it is about nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from ..client.view import SessionView
from .arguments import Arguments
from .tool import title_of

LONGEST_WORDS = 200
"""How long the words beside a tool's name may be, in characters, that say no more than the name."""

_SPELLINGS = (
    "mcp__{server}__{tool}",
    "mcp_{server}_{tool}",
    "mcp.{server}.{tool}",
    "mcp/{server}/{tool}",
    "{server}__{tool}",
    "{server}_{tool}",
    "{server}.{tool}",
    "{server}/{tool}",
    "{server}:{tool}",
    "{tool} ({server} MCP Server)",
    "Tool: {server}/{tool}",
)


class OwnCall(NamedTuple):
    """A call of one of our tools."""

    tool: str
    arguments: dict[str, Any] | None
    """None if the agent has told none."""


class _ForeignError(Exception):
    """The call is not, or not only, one of our tools."""


def own_call(
    call: Mapping[str, Any], server: str, tools: Mapping[str, type[Arguments]]
) -> OwnCall | None:
    """Return which of our tools a call is of, or None if that is not certain.

    `server` is the name that our MCP server has in the session.
    """
    names = {
        spelling.format(tool=tool, server=server): tool for tool in tools for spelling in _SPELLINGS
    }
    try:
        wrapped = _wrapped(call, server, tools)
        tool = _name(call, names, wrapped)
        told: list[dict[str, Any] | None] = (
            [*_told(call, names, tool)] if wrapped is None else [wrapped.arguments]
        )
        _check_places(call, told)
        for arguments in told:
            if arguments != told[0] or not _fits(tools[tool], arguments):
                return None
    except _ForeignError:
        return None
    return OwnCall(tool, told[0] if told else None)


class OwnCalls:
    """Knows the calls of our tools among those of agents."""

    def __init__(
        self, name_in: Callable[[str], str | None], tools: Mapping[str, type[Arguments]]
    ) -> None:
        """Take how to learn what our MCP server is called in a session, and the tools by name."""
        self._name_in = name_in
        self._tools = tools

    def answer(self, session: SessionView, params: Any) -> tuple[str, OwnCall] | None:
        """Return how to answer an agent that asks for leave to call a tool of ours.

        That is the one option that allows it once, or None if the user has to look at it.
        """
        call = session.calls.asked(params.get("toolCall") if isinstance(params, dict) else None)
        server = self._name_in(session.id)
        own = own_call(call, server, self._tools) if server is not None else None
        options = _entries(params, "options")
        once = [
            option["optionId"]
            for option in options
            if isinstance(option, dict) and option.get("kind") == "allow_once"
        ]
        ids = [option.get("optionId") for option in options if isinstance(option, dict)]
        if own is None or len(once) != 1 or ids.count(once[0]) != 1 or not isinstance(once[0], str):
            return None
        return once[0], own

    def claim(self, session: SessionView, name: str, arguments: Any) -> str | None:
        """Return the id of the agent's call in progress that a call of a tool is, if it is known."""
        if (server := self._name_in(session.id)) is None:
            return None
        given = arguments if isinstance(arguments, dict) else {}
        fitting = [
            (call["toolCallId"], own.arguments)
            for call in session.calls
            if (own := own_call(call, server, self._tools)) is not None and own.tool == name
        ]
        # Those that have told other arguments are other calls.
        for wanted in (given, None):
            for id, told in fitting:
                if told == wanted and session.calls.claim(id):
                    return str(id)
        return None


def _wrapped(
    call: Mapping[str, Any], server: str, tools: Mapping[str, type[Arguments]]
) -> OwnCall | None:
    """Return the call in an input that is not the tool's own, but tells of it."""
    given = call.get("rawInput")
    if not isinstance(given, dict):
        return None
    if {"server", "tool"} <= given.keys() <= {"server", "tool", "arguments"}:
        tool, arguments = given["tool"], given.get("arguments")
        named = given["server"]
    elif isinstance(asked := given.get("request"), dict) and "server_name" in given:
        # Older Codex passes on the question of its own engine, with the title instead of the name.
        about = asked.get("_meta")
        about = about if isinstance(about, dict) else {}
        title = about.get("tool_title")
        if call.get("title") != f"Approve {title}":
            raise _ForeignError
        tool = next((name for name in tools if title_of(name) == title), None)
        arguments, named = about.get("tool_params"), given["server_name"]
    else:
        return None
    if named != server or not isinstance(tool, str) or tool not in tools:
        raise _ForeignError
    for entry in _entries(call, "content"):
        _text(entry)
    return OwnCall(tool, _object(arguments if arguments is not None else {}))


def _name(call: Mapping[str, Any], names: Mapping[str, str], wrapped: OwnCall | None) -> str:
    """Return the tool that is named where the model cannot write, or by the whole title."""
    title = call.get("title")
    found = [_known(name, names) for name in _structured(call)]
    if wrapped is not None:
        if not found and title != f"Approve {title_of(wrapped.tool)}":
            # What a model gives to another tool may look like this: then its title is another's.
            found.append(_known(title, names))
        found.append(wrapped.tool)
    elif isinstance(title, str) and title in names:
        found.append(names[title])
    if len(set(found)) != 1:
        raise _ForeignError
    return found[0]


def _structured(call: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the names of tools in the fields that agents write themselves."""
    if call.get("name") is not None:
        yield call["name"]
    meta = call.get("_meta")
    for corner in (meta, *(meta.values() if isinstance(meta, dict) else ())):
        if isinstance(corner, dict) and corner.get("toolName") is not None:
            yield corner["toolName"]


def _known(name: Any, names: Mapping[str, str]) -> str:
    if not isinstance(name, str) or name not in names:
        raise _ForeignError
    return names[name]


def _told(call: Mapping[str, Any], names: Mapping[str, str], tool: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments wherever they are told; refuse what else is told."""
    given = call.get("rawInput")
    if given is not None:
        yield _object(_json(given) if isinstance(given, str) else given)
    title = call.get("title")
    if isinstance(title, str) and title.lstrip().startswith("{"):
        yield _object(_json(title))
    for entry in _entries(call, "content"):
        text = _text(entry).strip()
        if text.startswith("{"):
            yield _object(_json(text))
        elif text and not _says_only_the_name(text, tool, names):
            raise _ForeignError


def _says_only_the_name(text: str, tool: str, names: Mapping[str, str]) -> bool:
    is_line = len(text) <= LONGEST_WORDS and "\n" not in text
    return is_line and any(text.endswith(name) for name, of in names.items() if of == tool)


def _check_places(call: Mapping[str, Any], told: list[dict[str, Any] | None]) -> None:
    """Refuse a call that is at another file than its arguments say."""
    path = (told[0] or {}).get("path") if told else None
    for place in _entries(call, "locations"):
        named = place.get("path") if isinstance(place, dict) else None
        if not isinstance(named, str) or not isinstance(path, str):
            raise _ForeignError
        if named != path and not named.endswith(f"/{path}"):
            raise _ForeignError


def _fits(schema: type[Arguments], arguments: dict[str, Any] | None) -> bool:
    try:
        schema.model_validate(arguments)
    except ValidationError:
        return False
    return True


def _entries(call: Mapping[str, Any], field: str) -> list[Any]:
    entries = call.get(field)
    return entries if isinstance(entries, list) else []


def _text(entry: Any) -> str:
    block = entry.get("content") if isinstance(entry, dict) else None
    text = block.get("text") if isinstance(block, dict) else None
    if not isinstance(text, str) or entry.get("type") != "content":
        # A diff, a terminal, an image: more than a tool's arguments.
        raise _ForeignError
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise _ForeignError from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _ForeignError
    return value
