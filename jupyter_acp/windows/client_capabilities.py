# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The capabilities of a client at the socket, which decide what is sent to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from .. import protocol
from ..sessions import sandboxagent_extension
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
"""The kinds of updates that need a client capability, with the path of that capability."""


class Wording(NamedTuple):
    """A question in the format of one client."""

    method: str
    params: dict[str, Any]
    translated: Callable[[Any], Any]
    """Converts the client's answer into the format of the original question."""


class Client:
    """Evaluates the `clientCapabilities` of a client."""

    def __init__(self, capabilities: dict[str, Any]) -> None:
        self.knows_us = protocol.META in _dict(capabilities.get("_meta"))
        """True for our front end, and for other clients that support our extensions of ACP."""

        offered = extensions(capabilities)
        self.takes_metadata = offered.get("sessionMetadata") is True
        self._takes_questions = offered.get("requestQuestion") is True
        self._modes = [mode for mode in ("form", "url") if _has(capabilities, "elicitation", mode)]
        self._can_run_logins = _has(capabilities, "auth", "terminal")
        self._unknown = [kind for kind, path in _OPTIONAL.items() if not _has(capabilities, *path)]
        kinds = "|".join(self._unknown) or "(?!)"
        self._may_be_unknown = re.compile(f'"sessionUpdate":"({kinds})"'.encode())

    def takes(self, message: bytes) -> bool:
        """Return True if a client without our extensions understands a logged message."""
        if message.startswith(_OURS):
            return False
        # Search the bytes first: these kinds are rare, and parsing is slow. A match may also come
        # from the arguments of a tool call.
        return not self._may_be_unknown.search(message) or _kind(message) not in self._unknown

    def logins(self, methods: list[Any]) -> list[Any]:
        """Return the agent's `authMethods` that the client supports."""
        return [
            method
            for method in methods
            if self._can_run_logins or _dict(method).get("type") != "terminal"
        ]

    def wording(self, question: Question) -> Wording | None:
        """Return a question in a format that the client supports, or None."""
        form = question.params
        as_it_is = Wording(question.method, form, lambda answer: answer)
        if question.method != protocol.ELICIT or self.knows_us:
            return as_it_is
        in_extension = self._takes_questions and sandboxagent_extension.as_question(
            form, question.original
        )
        if in_extension and question.original is not None:
            return _in_extension(form, in_extension)
        if form.get("mode", "form") in self._modes:
            return as_it_is
        return _in_extension(form, in_extension) if in_extension else None


def _in_extension(form: dict[str, Any], params: dict[str, Any]) -> Wording:
    return Wording(
        protocol.EXT_QUESTION,
        params,
        lambda answer: sandboxagent_extension.as_form_answer(form, answer),
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
