# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which tool calls of an agent are calls of our own tools, from what the agent tells of them.

Agents ask for leave before they call a tool of ours, and our tool then asks again, by the rules and
with the real code in the card. The first question can be answered without the user, but only if it
is certain which tool it is about, and that it is about nothing else. Whatever has not one of the
shapes of `shapes.py` is for the user to look at.

An agent without MCP reaches the same tools by its shell, and asks for leave to run our command: that is
answered in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from ..client.terminals.own_command import is_own_command
from ..client.view import SessionView
from ..protocol import parse
from .about import about
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
"""The fields of a shell tool's input that change nothing of what our program does."""


class OwnCall(NamedTuple):
    """A call of one of our tools."""

    tool: str
    arguments: dict[str, Any] | None
    """None if the agent has told none."""


def own_call(
    tellings: Iterable[Mapping[str, Any]],
    server: str,
    tools: Mapping[str, Tool],
    *,
    is_asked: bool = True,
) -> OwnCall | None:
    """Return which of our tools a call is of, or None if that is not certain.

    Each telling is what the updates of the call have told, or a question about it, as
    `sessions/tool_calls.py` has them. `server` is the name that our MCP server has in the session. With a
    call that nobody asks about less is at stake: it need not have told its arguments.
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
    """Knows the calls of our tools among those of agents."""

    def __init__(
        self,
        name_in: Callable[[str], str | None],
        name_in_use: Callable[[str], str | None],
        services: Services,
        tools: Iterable[Tool],
        program: Sequence[str],
    ) -> None:
        """Take how to learn what our MCP server is called in a session, and where it is in use.

        `program` are the words that run our command.
        """
        self._services = services
        self._name_in = name_in
        self._name_in_use = name_in_use
        self._tools = {tool.name: tool for tool in tools}
        self._program = program

    async def explained(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Return what our own card would say of what an agent asks leave for, if it is certain."""
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
            # The tool itself will say what is wrong with it.
            return told
        return {**told, "title": call.title, "content": card.get("content", [])}

    def _asked(self, session: SessionView, params: Any) -> OwnCall | None:
        server = self._name_in_use(session.id)
        if server is None or not isinstance(params, dict):
            return None
        return own_call(session.calls.asked(params.get("toolCall")), server, self._tools)

    def answer(self, session: SessionView, params: Any) -> tuple[str, str] | None:
        """Return how to answer an agent that asks for leave to call a tool of ours, and which.

        The answer is the one option that allows it once. None if the user has to look at it.
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
        """Return the name of our command if an agent asks for leave to run it and nothing else."""
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
        # The agent runs it: where its shell looks for programs is not known here.
        is_own = is_own_command(line, self._program, session.id, path="")
        return COMMAND if is_own else None

    def claim(self, session: SessionView, name: str, arguments: Any) -> str | None:
        """Return the id of the agent's call in progress that a call of a tool is, if it is known."""
        if (server := self._name_in(session.id)) is None:
            return None
        given = arguments if isinstance(arguments, dict) else {}
        fitting = [
            (call["toolCallId"], own.arguments)
            for call in session.calls
            if (own := own_call([call], server, self._tools, is_asked=False)) is not None
            and own.tool == name
        ]
        # Those that have told other arguments are other calls.
        for wanted in (given, None):
            for id, told in fitting:
                if told == wanted and session.calls.claim(id):
                    return str(id)
        return None


class _Reading:
    """What is known of a call after some of what was told of it."""

    def __init__(self, server: str, tools: Mapping[str, Tool]) -> None:
        self.is_certain = False
        """Whether the name alone says that it is a call of a tool, and no command."""

        self._server = server
        self._tools = tools
        self._found: set[str] = set()
        self._mentioned: set[str] = set()
        """The tools that are named where a model may write, too: they decide nothing."""

        self._is_field = False
        """Whether it is named in a field that only the agent writes."""

        self._titles: set[str] = set()
        """Those that name no tool."""

        self._kinds: set[str] = set()
        self._places: list[Any] = []
        self._arguments: list[dict[str, Any]] = []

    def take(self, call: Mapping[str, Any]) -> None:
        """Take what was told, in one of the shapes that are known."""
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
        """Return the one call that it all fits."""
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
        # What is empty is about to be told, or there is nothing to tell.
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
    """Refuse a call that is at another file than its arguments say."""
    path = arguments.get("path")
    for place in places:
        named = place.get("path") if isinstance(place, dict) else None
        if not isinstance(named, str) or not isinstance(path, str):
            raise ForeignError
        if named != path and not named.endswith(f"/{path}"):
            raise ForeignError
