# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a client at the socket can take: nothing is sent to it, or asked of it, that it does not know."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from .. import protocol
from ..sessions import sandboxagent
from ..sessions.fallbacks import extensions, is_set

if TYPE_CHECKING:
    from ..sessions.questions import Question

_OURS = b'{"jsonrpc":"2.0","method":"_jupyter/'

_OPTIONAL = {
    "notice": ("session", "notices"),
    "compaction_update": ("session", "compaction"),
    "compaction_summary_chunk": ("session", "compaction"),
    "plan_update": ("plan",),
    "plan_removed": ("plan",),
    "subagent_update": ("subagents",),
    "session_message": ("subagents",),
    "session_message_chunk": ("subagents",),
}
"""The kinds of updates that a client has to ask for, and where in its capabilities it does."""


class Wording(NamedTuple):
    """A question as one client knows it."""

    method: str
    params: dict[str, Any]
    translated: Callable[[Any], Any]
    """Returns the client's answer in the words that the question was put in."""


class Client:
    """A client by its `clientCapabilities`."""

    def __init__(self, capabilities: dict[str, Any]) -> None:
        self.knows_us = protocol.META in _dict(capabilities.get("_meta"))
        """Whether it is our front end, or one that has learnt its words."""

        offered = extensions(capabilities)
        self.takes_metadata = offered.get("sessionMetadata") is True
        self._takes_questions = offered.get("requestQuestion") is True
        self._modes = [mode for mode in ("form", "url") if _has(capabilities, "elicitation", mode)]
        self._can_run_logins = _has(capabilities, "auth", "terminal")
        self._unknown = [kind for kind, path in _OPTIONAL.items() if not _has(capabilities, *path)]
        kinds = "|".join(self._unknown) or "(?!)"
        self._may_be_unknown = re.compile(f'"sessionUpdate":"({kinds})"'.encode())

    def takes(self, message: bytes) -> bool:
        """Whether it can make sense of a logged message, if it does not know us."""
        if message.startswith(_OURS):
            return False
        # As bytes, since nearly none is of these kinds; a call may have one in its arguments.
        return not self._may_be_unknown.search(message) or _kind(message) not in self._unknown

    def logins(self, methods: list[Any]) -> list[Any]:
        """Return those of an agent's `authMethods` that it can do."""
        return [
            method
            for method in methods
            if self._can_run_logins or _dict(method).get("type") != "terminal"
        ]

    def wording(self, question: Question) -> Wording | None:
        """Return how to ask it a question, or None if it knows no way to be asked."""
        form = question.params
        as_it_is = Wording(question.method, form, lambda answer: answer)
        if question.method != protocol.ELICIT or self.knows_us:
            return as_it_is
        in_extension = self._takes_questions and sandboxagent.as_question(form, question.original)
        if in_extension and question.original is not None:
            return _in_extension(form, in_extension)
        if form.get("mode", "form") in self._modes:
            return as_it_is
        return _in_extension(form, in_extension) if in_extension else None


def _in_extension(form: dict[str, Any], params: dict[str, Any]) -> Wording:
    return Wording(
        protocol.EXT_QUESTION, params, lambda answer: sandboxagent.as_form_answer(form, answer)
    )


def _kind(message: bytes) -> Any:
    return _dict(orjson.loads(message)["params"].get("update")).get("sessionUpdate")


def _has(capabilities: dict[str, Any], *path: str) -> bool:
    value: Any = capabilities
    for name in path:
        value = _dict(value).get(name)
    return is_set(value)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
