# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Questions of an agent to the user: every window shows them, the first answer counts."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Callable
from typing import Any, Protocol

import orjson

from .. import protocol
from ..rpc import Logger, RpcError
from ..rpc.errors import UNAVAILABLE

COUNT_LIMIT = 100
SIZE_LIMIT = 64 * 1024 * 1024
"""Maximum number of open questions of a session, and their maximum total size in bytes."""


class Asker(Protocol):
    """A window that can put a question to its user."""

    def can_ask(self, question: Question) -> bool:
        """Return True if the window is allowed and able to show the question."""

    def ask(self, question: Question, done: Callable[[Any, RpcError | None], None]) -> None:
        """Show the question and call `done` with the answer or an error."""

    def withdraw(self, question: Question) -> None:
        """Hide the question, because it was answered elsewhere."""

    def tell_queue(self, session: str, queued: list[dict[str, Any]]) -> None:
        """Show the queued prompts of a session."""

    def tell_metadata(self, session: str, metadata: dict[str, Any]) -> None:
        """Show the metadata of a session."""

    def forget(self, session: str) -> None:
        """Stop showing a session, because it was deleted."""


class Question:
    """One request that waits for an answer of the user."""

    def __init__(
        self, method: str, params: dict[str, Any], original: dict[str, Any] | None = None
    ) -> None:
        self.id = uuid.uuid4().hex
        self.method = method
        self.params = params
        self.original = original
        """The agent's parameters, if it asked by the extension `sandboxagent.dev`."""
        self.size = len(orjson.dumps(params))
        """Size of the parameters in bytes."""
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked: list[Asker] = []


class Questions:
    """The open questions of one session."""

    def __init__(
        self,
        windows: Callable[[], list[Asker]],
        log: Logger,
    ) -> None:
        self._windows = windows
        self._log = log
        self._open: dict[str, Question] = {}

    @property
    def ids(self) -> list[str]:
        """The ids of the open questions."""
        return list(self._open)

    def put(
        self, method: str, params: dict[str, Any], original: dict[str, Any] | None = None
    ) -> Question:
        """Put a question to every window, now and when it attaches; without windows, it stays open."""
        question = Question(method, _writable(params), original)
        params = question.params
        size = question.size + sum(each.size for each in self._open.values())
        if self._open and (len(self._open) >= COUNT_LIMIT or size > SIZE_LIMIT):
            raise RpcError(
                UNAVAILABLE,
                f"{len(self._open)} questions are open in this session, more than a person can look "
                "at. Wait for answers before you ask again.",
            )
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        ours = meta.get(protocol.META)
        ours = ours if isinstance(ours, dict) else {}
        params["_meta"] = {**meta, protocol.META: {**ours, "requestId": question.id}}
        self._open[question.id] = question
        for window in self._windows():
            self._ask(question, window)
        return question

    def repeat(self, window: Asker) -> None:
        """Put the open questions to a window that has just attached."""
        for question in list(self._open.values()):
            self._ask(question, window)

    def left(self, window: Asker) -> None:
        """Expect no answer from a window that has detached."""
        for question in self._open.values():
            if window in question.asked:
                question.asked.remove(window)

    def cancel(self) -> None:
        """Answer every open question as cancelled."""
        for question in list(self._open.values()):
            self._resolve(question, cancelled(question.method))

    def withdraw(self, question: Question) -> None:
        """Cancel a question that the agent has withdrawn."""
        if question.id in self._open:
            self._resolve(question, cancelled(question.method))

    def _ask(self, question: Question, window: Asker) -> None:
        if not window.can_ask(question):
            # The question stays open for a window that can.
            return
        if window not in question.asked:
            question.asked.append(window)
        window.ask(question, lambda result, error: self._answer(question, window, result, error))

    def _answer(
        self, question: Question, window: Asker, result: Any, error: RpcError | None
    ) -> None:
        if question.id not in self._open:
            return
        if error is None:
            problem = check(question, result)
            if problem is None:
                self._resolve(question, result)
            else:
                # The question stays open: an invalid answer must never count as consent.
                self._log.warning("An answer to %s was refused: %s", question.method, problem)
            return
        if window in question.asked:
            question.asked.remove(window)
        if not question.asked and window in self._windows():
            # Every window that was asked has answered with an error.
            del self._open[question.id]
            if not question.future.done():
                question.future.set_exception(error)

    def _resolve(self, question: Question, result: Any) -> None:
        del self._open[question.id]
        if not question.future.done():
            question.future.set_result(result)
        for window in question.asked:
            window.withdraw(question)


def _writable(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters that can be encoded: file names may contain lone surrogates."""
    try:
        orjson.dumps(params)
    except orjson.JSONEncodeError:
        text = json.dumps(params).encode()
        params = orjson.loads(_LONE.sub(rb"\\ufffd", text))
    return params


_LONE = re.compile(rb"\\ud[89a-f][0-9a-f]{2}")


def cancelled(method: str) -> dict[str, Any]:
    """Return the answer "cancelled" to a request of this method."""
    if method == protocol.ELICIT:
        return {"action": "cancel"}
    return {"outcome": {"outcome": "cancelled"}}


def check(question: Question, result: Any) -> str | None:
    """Return the problem with an answer, or None if it is valid."""
    if not isinstance(result, dict):
        return "it is not an object"
    if question.method == protocol.ELICIT:
        action = result.get("action")
        return None if action in ("accept", "decline", "cancel") else f"unknown action {action!r}"
    outcome = result.get("outcome")
    kind = outcome.get("outcome") if isinstance(outcome, dict) else None
    if kind == "cancelled":
        return None
    if kind != "selected":
        return f"unknown outcome {kind!r}"
    options = question.params.get("options")
    offered = [option.get("optionId") for option in options or [] if isinstance(option, dict)]
    chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
    return None if chosen in offered else f"option {chosen!r} was not offered"
