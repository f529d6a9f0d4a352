# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent asks the user: put to every window, answered by the first."""

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
"""How many questions may be open in a session, and how long they may be together, in bytes."""


class Asker(Protocol):
    """A window that can put a question to its user."""

    def can_ask(self, question: Question) -> bool:
        """Whether it may, and knows how to."""

    def ask(self, question: Question, done: Callable[[Any, RpcError | None], None]) -> None:
        """Show it."""

    def withdraw(self, question: Question) -> None:
        """Take it back: it was answered elsewhere."""

    def tell_queue(self, session: str, queued: list[dict[str, Any]]) -> None:
        """Show what waits to be said in a session."""

    def tell_metadata(self, session: str, metadata: dict[str, Any]) -> None:
        """Take note of what is said of a session."""

    def forget(self, session: str) -> None:
        """Show nothing of a session any more: there is none."""


class Question:
    """One request that waits for a person."""

    def __init__(
        self, method: str, params: dict[str, Any], original: dict[str, Any] | None = None
    ) -> None:
        self.id = uuid.uuid4().hex
        self.method = method
        self.params = params
        self.original = original
        """What the agent has asked, if that was in the words of `sandboxagent.dev`."""
        self.size = len(orjson.dumps(params))
        """In bytes."""
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
        """The ids of those that nobody has answered yet."""
        return list(self._open)

    def put(
        self, method: str, params: dict[str, Any], original: dict[str, Any] | None = None
    ) -> Question:
        """Ask every window now, and every later one as it comes; nobody answers by default."""
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
        """Ask a window that has just come."""
        for question in list(self._open.values()):
            self._ask(question, window)

    def left(self, window: Asker) -> None:
        """Expect no answer from a window that has gone."""
        for question in self._open.values():
            if window in question.asked:
                question.asked.remove(window)

    def cancel(self) -> None:
        """Answer everything as cancelled, in the words of each method."""
        for question in list(self._open.values()):
            self._resolve(question, cancelled(question.method))

    def withdraw(self, question: Question) -> None:
        """The agent itself does not want to know any more."""
        if question.id in self._open:
            self._resolve(question, cancelled(question.method))

    def _ask(self, question: Question, window: Asker) -> None:
        if not window.can_ask(question):
            # It waits for one that can, as it does while there is none.
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
                # It stays open: an answer that makes no sense is no answer, least of all a yes.
                self._log.warning("An answer to %s was refused: %s", question.method, problem)
            return
        if window in question.asked:
            question.asked.remove(window)
        if not question.asked and window in self._windows():
            # Every window that could be asked has said that it cannot ask this after all.
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
    """Return a question as it can be sent: names of files may be no text."""
    try:
        orjson.dumps(params)
    except orjson.JSONEncodeError:
        text = json.dumps(params).encode()
        params = orjson.loads(_LONE.sub(rb"\\ufffd", text))
    return params


_LONE = re.compile(rb"\\ud[89a-f][0-9a-f]{2}")


def cancelled(method: str) -> dict[str, Any]:
    """Return the answer that says that nobody decided."""
    if method == protocol.ELICIT:
        return {"action": "cancel"}
    return {"outcome": {"outcome": "cancelled"}}


def check(question: Question, result: Any) -> str | None:
    """Say what is wrong with an answer, or nothing."""
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
