# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One JSON-RPC connection: ids, pending requests, cancellation, and strict order of arrival."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any, Protocol

import orjson

from .errors import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNAVAILABLE,
    RpcError,
    invalid_params,
)
from .log import Logger
from .outbox import Outbox, Queue
from .request import Request
from .transport import Oversized, Transport

CANCEL = "$/cancel_request"

MOST_REQUESTS = 1000
"""Maximum number of unanswered requests of the other side."""

ROW_LENGTH = 100
"""Maximum number of messages parsed at once; more would make the garbage collector scan them."""

_ID_TYPES = (str, int, float)
"""Types of valid ids; `bool` is excluded although it is a subclass of `int`."""

Done = Callable[[Any, RpcError | None], None]
"""Receives the result of a request, or its error."""

# Matches every escape, so that no match begins inside another one. The last alternative is a lone
# surrogate.
_ESCAPE = re.compile(
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_LEADING_ID = re.compile(
    rb'\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?(?:\s*"method"\s*:\s*"([^"\\]*)"\s*,)?'
    rb'\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*,(?:\s*"method"\s*:\s*"([^"\\]*)")?'
)


class Store(Protocol):
    """A store for received messages, which may be slower than the connection."""

    def keeps_up(self) -> bool:
        """Process the received messages; return True if there is room for more."""

    async def room(self) -> None:
        """Wait until there is room for more."""


class Peer(Protocol):
    """Receives the messages of the other side, in the order in which they were written."""

    stream: str = ""
    """The method of frequent notifications, if any; they are passed on in rows."""

    def on_request(self, request: Request) -> None:
        """Handle a request; answer it now or later, exactly once."""

    def on_notification(self, method: str, params: Any) -> None:
        """Handle a notification."""

    def on_stream(self, row: list[Any]) -> None:
        """Handle the parameters of consecutive `stream` notifications."""
        for params in row:
            self.on_notification(self.stream, params)


class Connection:
    """Sends and receives JSON-RPC messages over one transport.

    All messages are handled in one loop, in order and without awaiting. A response therefore never
    overtakes a notification that was written before it.
    """

    def __init__(
        self,
        transport: Transport,
        peer: Peer,
        *,
        outbox: Outbox | None = None,
        name: str = "connection",
        log: Logger | None = None,
        store: Store | None = None,
    ) -> None:
        """Pause reading while the outbox or the store has no room."""
        self.log = log or logging.getLogger(__name__)
        self._transport = transport
        self._peer = peer
        self._outbox = outbox or Queue()
        self._name = name
        self._store = store
        self._waiting: asyncio.Task[None] | None = None
        self._last_id = 0
        self._pending: dict[int | str, Done] = {}
        self._incoming: dict[Any, Request] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended: RpcError | None = None

    @property
    def ended(self) -> RpcError | None:
        """The reason why the connection has ended, or None while it is open."""
        return self._ended

    async def run(self) -> None:
        """Exchange messages until the transport ends; then the owner calls `end` with the reason."""
        loop = asyncio.get_running_loop()
        failed = loop.create_future()

        def fail(error: BaseException) -> None:
            self.log.debug("%s: writing failed: %s", self._name, error)
            if not failed.done():
                failed.set_result(None)

        self._outbox.start(self._transport.write, fail)
        reading = loop.create_task(self._transport.run(self._receive_batch))
        try:
            # If one direction fails, requests cannot be answered, so the connection has ended.
            await asyncio.wait({reading, failed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reading.cancel()

    async def close(self, error: RpcError | None = None) -> None:
        """Close the transport and fail all pending requests."""
        self.end(error or RpcError(UNAVAILABLE, f"The {self._name} was closed."))
        await self._transport.close()

    async def close_transport(self) -> None:
        """Close the transport only; the owner later calls `end` with the reason."""
        await self._transport.close()

    def end(self, error: RpcError) -> None:
        """Fail every pending request with this error, and cancel the work on incoming requests."""
        if self._ended is not None:
            return
        self._ended = error
        self._outbox.close()
        pending, self._pending = self._pending, {}
        for done in pending.values():
            self._tell(done, None, error)
        for task in list(self._tasks):
            task.cancel()

    async def request(
        self, method: str, params: Any = None, *, note: Callable[[Any], None] | None = None
    ) -> Any:
        """Send a request and wait for its result; if cancelled, cancel it at the other side, too.

        `note` receives the result in the order of arrival, before any later message.
        """
        await self._outbox.room()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(result: Any, error: RpcError | None) -> None:
            if future.done():
                return
            if error is None and note is not None:
                try:
                    note(result)
                except RpcError as refused:
                    error = refused
                except Exception as problem:
                    # Fail the request, or its caller would wait for ever.
                    self.log.exception(
                        "%s: error while taking the answer to %s", self._name, method
                    )
                    error = RpcError(INTERNAL_ERROR, f"{method} failed: {problem}")
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)

        id = self.call(method, params, done)
        try:
            return await future
        except asyncio.CancelledError:
            if id in self._pending:
                self.notify(CANCEL, {"requestId": id})
            raise

    def call(
        self,
        method: str,
        params: Any,
        done: Done,
        *,
        id: str | None = None,
        lane: str | None = None,
    ) -> int | str:
        """Send a request; call `done` in the order of arrival, before any later message."""
        key: int | str
        if id is None:
            self._last_id += 1
            key = self._last_id
        else:
            key = id
        if self._ended is not None:
            self._tell(done, None, self._ended)
            return key
        try:
            self._send({"jsonrpc": "2.0", "id": key, "method": method, "params": params}, lane)
        except TypeError as problem:
            # Params from elsewhere may be nested too deeply: orjson can read, but not write them.
            self._tell(done, None, invalid_params(f"{method} cannot be passed on: {problem}."))
            return key
        self._pending[key] = done
        return key

    def forget(self, id: int | str) -> None:
        """Ignore the answer to a request."""
        self._pending.pop(id, None)

    def notify(self, method: str, params: Any = None, lane: str | None = None) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params}, lane)

    @property
    def is_full(self) -> bool:
        """True if the other side leaves too many answers unread."""
        return self._outbox.full

    async def room(self) -> None:
        """Wait until the outbox has room."""
        await self._outbox.room()

    def answer(self, request: Request, body: dict[str, Any]) -> None:
        """Send the answer to a request; `Request` prevents a second one."""
        self._incoming.pop(request.id, None)
        head = {"jsonrpc": "2.0", "id": request.id}
        try:
            self._send({**head, **body}, request.lane, answer=True)
        except TypeError as problem:
            self.log.error(
                "%s: the answer to %s is not JSON: %s", self._name, request.method, problem
            )
            error = RpcError(INTERNAL_ERROR, f"The answer to {request.method} cannot be sent.")
            self._send({**head, "error": error.to_json()}, request.lane, answer=True)

    def cancel(self, params: Any) -> None:
        """Cancel the request that a cancel notification names; it is still answered."""
        id = params.get("requestId") if isinstance(params, dict) else None
        request = self._incoming.get(id) if type(id) in _ID_TYPES else None
        if request is not None:
            request.cancel()

    def drop(self, id: Any) -> None:
        """Stop the work on a request without an answer, as MCP requires."""
        request = self._incoming.pop(id, None) if type(id) in _ID_TYPES else None
        if request is not None:
            request.drop()

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task when the connection ends."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _tell(self, done: Done, result: Any, error: RpcError | None) -> None:
        try:
            done(result, error)
        except Exception:
            self.log.exception("%s: error while taking an answer", self._name)

    def _send(
        self, message: dict[str, Any], lane: str | None = None, *, answer: bool = False
    ) -> None:
        if self._ended is None:
            # The slice copies the bytes: orjson's result keeps an allocation that is kilobytes larger.
            data = orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)[:-1]
            self._outbox.put(data, lane, answer=answer)

    def _receive_batch(self, messages: list[bytes | Oversized]) -> None:
        for start in range(0, len(messages), ROW_LENGTH):
            self._take(messages[start : start + ROW_LENGTH])
        self._outbox.flusher.flush()
        keeps_up = self._store is None or self._store.keeps_up()
        # To bound memory, stop reading from a side that does not read our answers.
        if self._outbox.full or not keeps_up:
            self._transport.pause()
            if self._waiting is None:
                self._waiting = asyncio.get_running_loop().create_task(self._wait_for_room())
                self.keep(self._waiting)

    def _take(self, messages: list[bytes | Oversized]) -> None:
        stream = self._peer.stream
        row: list[Any] = []
        for raw in messages:
            try:
                message = orjson.loads(raw)  # type: ignore[arg-type]
                if (
                    type(message) is dict
                    and message.get("method") == stream
                    and "id" not in message
                ):
                    # The fast path for nearly all messages.
                    row.append(message.get("params"))
                    continue
                self._hand_on(row)
                self._receive(message)
            except orjson.JSONDecodeError as error:
                self._hand_on(row)
                self._not_json(raw, error)
            except RpcError as error:
                self.log.warning("%s: refused a notification: %s", self._name, error.brief)
            except Exception:
                self.log.exception("%s: error while taking a message", self._name)
        self._hand_on(row)

    def _hand_on(self, row: list[Any]) -> None:
        """Pass a row of notifications to the peer, before any later message."""
        if not row:
            return
        try:
            self._peer.on_stream(row)
        except Exception:
            self.log.exception("%s: error while taking %d messages", self._name, len(row))
        row.clear()

    async def _wait_for_room(self) -> None:
        while self._outbox.full:
            await self._outbox.room()
        if self._store is not None:
            await self._store.room()
        self._waiting = None
        self._transport.resume()

    def _receive(self, message: Any) -> None:
        if type(message) is not dict:
            kind = "batches are not taken" if type(message) is list else "not an object"
            self.log.warning("%s: ignored a message: %s", self._name, kind)
            self._refuse(None, RpcError(INVALID_REQUEST, f"Message refused: {kind}."))
            return
        method = message.get("method")
        if type(method) is str:
            if "id" in message:
                self._requested(message["id"], method, message.get("params"))
            elif method == CANCEL:
                self.cancel(message.get("params"))
            else:
                self._peer.on_notification(method, message.get("params"))
        elif "result" in message or "error" in message:
            self._answered(message)
        elif "jsonrpc" in message or method is not None:
            self.log.warning("%s: ignored a message that is no request or answer", self._name)
            self._refuse(
                _plain(message.get("id")),
                RpcError(INVALID_REQUEST, "Message refused: it has no method, result or error."),
            )
        else:
            self.log.warning("%s: ignored an object that is not JSON-RPC", self._name)

    def _requested(self, id: Any, method: str, params: Any) -> None:
        if type(id) not in _ID_TYPES and id is not None:
            self._refuse(None, RpcError(INVALID_REQUEST, "A request id is a string or a number."))
            return
        if len(self._incoming) >= MOST_REQUESTS:
            words = f"{MOST_REQUESTS:,} requests wait for their answers: send fewer at a time."
            self._refuse(id, RpcError(UNAVAILABLE, words))
            return
        request = Request(self, id, method, params)
        self._incoming[id] = request
        try:
            self._peer.on_request(request)
        except RpcError as error:
            request.fail(error)
        except Exception as error:
            self.log.exception("%s: error while taking %s", self._name, method)
            request.fail(RpcError(INTERNAL_ERROR, f"{method} failed: {error}"))

    def _answered(self, message: dict[str, Any]) -> None:
        id: Any = message.get("id")
        done = self._pending.pop(id, None) if type(id) in _ID_TYPES else None
        if done is None:
            if id is None and "error" in message:
                told = RpcError.from_json(message["error"])
                self.log.warning("%s: reports an %s", self._name, told.brief)
                return
            self.log.warning(
                "%s: ignored a response to id %r: nothing with that id is waiting",
                self._name,
                _plain(id),
            )
            return
        error = message.get("error")
        if error is not None:
            self._tell(done, None, RpcError.from_json(error))
        else:
            self._tell(done, message.get("result"), None)

    def _refuse(self, id: Any, error: RpcError) -> None:
        self._send({"jsonrpc": "2.0", "id": id, "error": error.to_json()})

    def _not_json(self, raw: bytes | Oversized, error: ValueError) -> None:
        if isinstance(raw, Oversized):
            self._refuse_oversized(raw)
        elif raw and not raw.isspace():
            repaired = _ESCAPE.sub(lambda escape: escape[1] or rb"\ufffd", raw)
            if repaired == raw:
                self._refuse_text(raw, error)
            else:
                # A lone surrogate: JavaScript writes it when it cuts a text inside an emoji.
                self._take([repaired])

    def _refuse_text(self, raw: bytes, error: ValueError) -> None:
        self.log.warning("%s: ignored %d bytes that are not JSON (%s)", self._name, len(raw), error)
        # The content may be private, so it is logged at debug level only.
        self.log.debug("%s: they began with %r", self._name, raw[:200])
        # Do not answer stray prints on stdout: an agent that prints what it cannot read would print
        # our answer, and so on for ever.
        if raw.lstrip()[:1] in (b"{", b"["):
            self._refuse(None, RpcError(PARSE_ERROR, f"Message refused: it is not JSON ({error})."))

    def _refuse_oversized(self, message: Oversized) -> None:
        error = RpcError(
            INVALID_REQUEST,
            f"Message refused: its {message.size:,} bytes are over the configured limit.",
        )
        self.log.warning("%s: %s", self._name, error.message)
        known = _LEADING_ID.match(message.head)
        try:
            id = orjson.loads(known[2]) if known is not None else None
        except orjson.JSONDecodeError:
            # The pattern matched, but it is not a valid id.
            id = None
        if known is None or id is None:
            self._refuse(None, error)
        elif known[1] is not None or known[3] is not None:
            self._refuse(id, error)
        elif done := self._pending.pop(id, None):
            self._tell(done, None, error)


def _plain(id: Any) -> Any:
    """Return a valid id, else None: other values may be nested too deeply to be sent back."""
    return id if type(id) in _ID_TYPES else None
