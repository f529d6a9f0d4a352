# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Detection of calls of our own tools among the tool calls that an agent reports.

Agents ask for permission before they call one of our tools, and the tool then asks again, by the
rules and with the real code in the card. The first question can be answered without the user, but
only if it is certain which tool it is about, and that it is about nothing else. A question in none
of the shapes of `call_shapes.py` is left to the user.

An agent without MCP reaches the same tools by its shell, and asks for permission to run our
command: that question is answered in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from ..client.terminals.own_command import is_own_command
from ..client.view import SessionView
from ..protocol import parse
from .call_shapes import (
    FULL_NAME,
    NAMES,
    NAMES_IN_FIELDS,
    SENTENCES,
    ForeignError,
    entries,
    known,
    object_of,
    spelled,
    text_of,
    wrapped,
)
from .call_title import about
from .tool import Services, Tool

COMMAND = "jupyter-acp tool"

_BESIDE_A_COMMAND = {
    "command",
    "cwd",
    "workdir",
    "directory",
    "dir_path",
    "description",
    "timeout",
    "timeout_ms",
    "is_background",
    "run_in_background",
}
"""Fields of a shell tool's input that do not change what our program does."""


class OwnCall(NamedTuple):
    """A call of one of our tools."""

    tool: str
    arguments: dict[str, Any] | None
    """None if the agent has not reported any."""


def own_call(
    tellings: Iterable[Mapping[str, Any]],
    server: str,
    tools: Mapping[str, Tool],
    *,
    is_asked: bool = True,
) -> OwnCall | None:
    """Return the call of one of our tools that an agent reports, or None if that is uncertain.

    Each telling has the fields from the updates of the call, or from a question about it, as
    `sessions/tool_calls.py` keeps them. `server` is the name of our MCP server in the session. A
    call without a question is less critical: it need not have reported its arguments.
    """
    reading = _Reading(server, tools)
    try:
        for telling in tellings:
            if is_asked and telling.get("isChanged"):
                return None
            reading.take(telling)
        own = reading.result()
    except (ForeignError, RecursionError):
        return None
    is_enough = own.arguments is not None or reading.is_certain or not is_asked
    return own if is_enough else None


class OwnCalls:
    """Recognizes the calls of our tools among those of agents."""

    def __init__(
        self,
        name_in: Callable[[str], str | None],
        name_in_use: Callable[[str], str | None],
        services: Services,
        tools: Iterable[Tool],
        program: Sequence[str],
    ) -> None:
        """Take functions for the name of our MCP server in a session: given, and in use.

        `program` is the command that runs our program.
        """
        self._services = services
        self._name_in = name_in
        self._name_in_use = name_in_use
        self._tools = {tool.name: tool for tool in tools}
        self._program = program

    async def explained(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Return the title and card of the tool that an agent wants to call, if it is certain."""
        own = self._asked(session, params)
        if own is None:
            return {}
        tool, told = self._tools[own.tool], {"tool": own.tool}
        if own.arguments is None:
            return told
        try:
            call = await about(self._services, session, tool, parse(tool.arguments, own.arguments))
            card = await tool.card(call) if tool.card is not None else {}
        except Exception:
            # The tool itself reports the error.
            return told
        return {**told, "title": call.title, "content": card.get("content", [])}

    def _asked(self, session: SessionView, params: Any) -> OwnCall | None:
        server = self._name_in_use(session.id)
        if server is None or not isinstance(params, dict):
            return None
        return own_call(session.calls.asked(params.get("toolCall")), server, self._tools)

    def answer(self, session: SessionView, params: Any) -> tuple[str, str] | None:
        """Return the answer to an agent that asks to call one of our tools, and the tool.

        The answer is the only option that allows it once. None if the user has to decide.
        """
        own = self._asked(session, params)
        called = own.tool if own is not None else self._command(session, params)
        if called is None:
            return None
        options = [each for each in entries(params, "options") if isinstance(each, dict)]
        ids = [each.get("optionId") for each in options]
        once = [each.get("optionId") for each in options if each.get("kind") == "allow_once"]
        if len(once) != 1 or not isinstance(once[0], str) or ids.count(once[0]) != 1:
            return None
        return once[0], called

    def _command(self, session: SessionView, params: Any) -> str | None:
        """Return the name of our command if an agent asks to run it and nothing else, or None."""
        if not isinstance(params, dict):
            return None
        call: dict[str, Any] = {}
        for telling in session.calls.asked(params.get("toolCall")):
            call |= telling
        if call.get("kind") != "execute" or call.get("isChanged"):
            return None
        given = call.get("rawInput")
        shows_more = entries(call, "locations") or any(
            not isinstance(each, dict) or each.get("type") == "diff"
            for each in entries(call, "content")
        )
        if shows_more or not isinstance(given, dict) or given.keys() - _BESIDE_A_COMMAND:
            return None
        line = given.get("command")
        if isinstance(line, list):
            line = [str(word) for word in line]
        elif not isinstance(line, str):
            return None
        # The agent runs the command, and the search path of its shell is unknown here.
        is_own = is_own_command(line, self._program, session.id, path="")
        return COMMAND if is_own else None

    def claim(self, session: SessionView, name: str, arguments: Any) -> str | None:
        """Return the id of the call that the agent reports for a call of a tool, if it is known."""
        if (server := self._name_in(session.id)) is None:
            return None
        given = arguments if isinstance(arguments, dict) else {}
        fitting = [
            (call["toolCallId"], own.arguments)
            for call in session.calls
            if (own := own_call([call], server, self._tools, is_asked=False)) is not None
            and own.tool == name
        ]
        # A call with other reported arguments is another call.
        for wanted in (given, None):
            for id, told in fitting:
                if told == wanted and session.calls.claim(id):
                    return str(id)
        return None


class _Reading:
    """The facts about a call from the reports so far."""

    def __init__(self, server: str, tools: Mapping[str, Tool]) -> None:
        self.is_certain = False
        """True if the name alone proves that it is a tool call and no command."""

        self._server = server
        self._tools = tools
        self._found: set[str] = set()
        self._mentioned: set[str] = set()
        """Tools named in texts that a model may have written: they are not sufficient."""

        self._is_field = False
        """True if a field that only the agent writes names the tool."""

        self._titles: set[str] = set()
        """Titles that name no tool."""

        self._kinds: set[str] = set()
        self._places: list[Any] = []
        self._arguments: list[dict[str, Any]] = []

    def take(self, call: Mapping[str, Any]) -> None:
        """Add a report, or raise ForeignError if its shape is unknown."""
        for name in entries(call, "names"):
            self._found.add(known(self._spelled(NAMES_IN_FIELDS), name))
            self._is_field = self.is_certain = True
        self._kinds.add(str(call.get("kind") or "other"))
        self._places += entries(call, "locations")
        if (found := wrapped(call, self._server, self._tools)) is not None:
            self._found.add(found[0])
            self._arguments.append(found[1])
            self._is_field = self.is_certain = True
            return
        self._take_title(call.get("title"))
        if (given := call.get("rawInput")) is not None:
            self._arguments.append(object_of(given))
        for entry in entries(call, "content"):
            text = text_of(entry).strip()
            if text.startswith("{"):
                self._arguments.append(object_of(text))
            elif text:
                self._mentioned.add(known(self._spelled(SENTENCES), text))

    def result(self) -> OwnCall:
        """Return the one call that fits all reports, or raise ForeignError."""
        if len(self._found) != 1 or not self._mentioned <= self._found:
            raise ForeignError
        (name,) = self._found
        tool = self._tools[name]
        titles, kinds = set(), {"other"}
        if self._is_field:
            titles = {tool.title}
            kinds |= {"execute", "read" if tool.reads_only else "edit"}
        if not self._titles <= titles or not self._kinds <= kinds:
            raise ForeignError
        # Empty arguments are not reported yet, or the tool takes none.
        told = [each for each in self._arguments if each] or self._arguments[:1]
        if any(each != told[0] for each in told):
            raise ForeignError
        arguments = told[0] if told else None
        if arguments is not None:
            _check_fit(tool, arguments)
        _check_places(self._places, arguments or {})
        return OwnCall(name, arguments)

    def _take_title(self, title: Any) -> None:
        if not title:
            return
        if not isinstance(title, str):
            raise ForeignError
        if title in (names := self._spelled(NAMES)):
            self._found.add(names[title])
            self.is_certain |= title in self._spelled(FULL_NAME)
        elif title.lstrip().startswith("{"):
            self._arguments.append(object_of(title))
        else:
            self._titles.add(title)

    def _spelled(self, spellings: tuple[str, ...]) -> Mapping[str, str]:
        return spelled(spellings, self._server, tuple(self._tools))


def _check_fit(tool: Tool, arguments: dict[str, Any]) -> None:
    try:
        tool.arguments.model_validate(arguments)
    except ValidationError:
        raise ForeignError from None


def _check_places(places: list[Any], arguments: dict[str, Any]) -> None:
    """Refuse a call whose locations differ from the file in its arguments."""
    path = arguments.get("path")
    for place in places:
        named = place.get("path") if isinstance(place, dict) else None
        if not isinstance(named, str) or not isinstance(path, str):
            raise ForeignError
        if named != path and not named.endswith(f"/{path}"):
            raise ForeignError
