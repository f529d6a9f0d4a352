# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Incoming requests, from their arrival to their single answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from .errors import CANCELLED, INTERNAL_ERROR, RpcError
from .log import Logger


class Answerer(Protocol):
    """The part of a connection that a request uses for its answer."""

    log: Logger

    def answer(self, request: Request, body: dict[str, Any]) -> None:
        """Send the answer."""

    def notify(self, method: str, params: Any = None, lane: str | None = None) -> None:
        """Send a notification."""

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task when the connection ends."""


class Request:
    """A request of the other side that waits for our answer."""

    __slots__ = ("_answered", "_connection", "id", "lane", "method", "on_cancel", "params")

    def __init__(self, connection: Answerer, id: Any, method: str, params: Any) -> None:
        self._connection = connection
        self._answered = False
        self.id = id
        self.method = method
        self.params = params
        self.on_cancel: Callable[[], object] | None = None
        self.lane: str | None = None
        """The lane of messages that the answer must not overtake."""

    def respond(self, result: Any) -> None:
        """Answer with a result; a second answer is ignored."""
        self._answer({"result": result})

    def fail(self, error: RpcError) -> None:
        """Answer with an error; a second answer is ignored."""
        self._answer({"error": error.to_json()})

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Answer with the result or error of a coroutine; a cancel notification cancels it."""
        task = asyncio.get_running_loop().create_task(work)
        self._connection.keep(task)
        self.follow(task, task.cancel)

    def follow(self, task: asyncio.Future[Any], cancel: Callable[[], object]) -> None:
        """Answer with the result or error of a task that has another owner."""
        task.add_done_callback(self._finish)
        self.on_cancel = cancel

    def cancel(self) -> None:
        """Stop the work, whose end is then the answer."""
        if self.on_cancel is not None:
            self.on_cancel()
        else:
            self.fail(RpcError(CANCELLED, "The request was cancelled."))

    def notify(self, method: str, params: Any) -> None:
        """Send a notification before the answer."""
        self._connection.notify(method, params, self.lane)

    def drop(self) -> None:
        """Stop the work without an answer."""
        self._answered = True
        if self.on_cancel is not None:
            self.on_cancel()

    def _finish(self, task: asyncio.Future[Any]) -> None:
        if task.cancelled():
            self.fail(RpcError(CANCELLED, "The request was cancelled."))
            return
        error = task.exception()
        if error is None:
            self.respond(task.result())
        elif isinstance(error, RpcError):
            self.fail(error)
        else:
            self._connection.log.error("Error while answering %s", self.method, exc_info=error)
            self.fail(RpcError(INTERNAL_ERROR, f"{self.method} failed: {error}"))

    def _answer(self, body: dict[str, Any]) -> None:
        if not self._answered:
            self._answered = True
            self._connection.answer(self, body)
