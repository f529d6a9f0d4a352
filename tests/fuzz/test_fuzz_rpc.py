# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Whatever bytes an agent writes, what is a message between them is heard, once and in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_acp.rpc import Connection, Peer, Request, RpcError, method_not_found
from jupyter_acp.rpc.stdio import HEAD_SIZE, LineSplitter, StdioTransport
from jupyter_acp.rpc.transport import DEFAULT_MESSAGE_LIMIT, Oversized
from jupyter_acp.rpc.websocket import WebSocketTransport

LIMIT = 400
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**31, 2**63, -(2**63)])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)


DEEP = "deep"
"""Stands for what can be read and neither be written again nor printed."""


def line_of(message: Any) -> bytes:
    return json.dumps(message).encode().replace(b'"deep"', b"[" * 900 + b"]" * 900) + b"\n"


class Listener(Peer):
    """Writes down what it gets, answers at once, later or by failing, and is told apart by name."""

    stream = "flow"

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_notification(self, method: str, params: Any) -> None:
        self.heard.append(params)
        if method == "fall":
            raise ZeroDivisionError("broken")
        if method == "refuse":
            raise method_not_found(method)

    def on_request(self, request: Request) -> None:
        self.heard.append(request.params)
        if request.method == "later":
            request.run(self._later(request.params))
        elif request.method == "break":
            raise ZeroDivisionError("broken")
        elif request.method == "twice":
            request.respond(1)
            request.respond(2)
        elif request.method != "echo":
            raise method_not_found(request.method)
        else:
            request.respond(request.params)

    async def _later(self, params: Any) -> Any:
        await asyncio.sleep(0)
        return params


class Pipe(asyncio.ReadTransport, asyncio.WriteTransport):
    """Both ends of what the event loop gives a transport, without a kernel in between."""

    def __init__(self) -> None:
        self.is_paused = False
        self.written = b""

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass


class Side:
    """A connection over such a pipe."""

    def __init__(self, limit: int) -> None:
        self.peer = Listener()
        self.pipe = Pipe()
        self.problems: list[Any] = []
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(lambda _, context: self.problems.append(context))
        self.transport = StdioTransport(limit=limit)
        self.transport.connected(self.pipe, self.pipe)
        self.connection = Connection(self.transport, self.peer)
        self.running = self._loop.create_task(self.connection.run())

    async def write(self, data: bytes, cuts: list[int]) -> None:
        """Let the loop read this in these pieces, and other things happen after some of them."""
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            while self.pipe.is_paused:
                await asyncio.sleep(0)
            if start < end:
                self.transport.received(data[start:end])
            if start % 2:
                await asyncio.sleep(0)

    async def answers(self) -> list[dict[str, Any]]:
        """Return all that was answered, which ends with what is asked last."""
        last = b'\n{"jsonrpc":"2.0","id":"last","method":"later","params":["last"]}\n'
        await self.write(last, [])
        for _ in range(10_000):
            lines = [json.loads(line) for line in self.pipe.written.splitlines()]
            if lines and lines[-1].get("id") == "last":
                break
            await asyncio.sleep(0)
        assert lines[-1] == {"jsonrpc": "2.0", "id": "last", "result": ["last"]}
        assert not self.running.done() and not self.problems, self.problems
        return [line for line in lines[:-1] if "method" not in line]


def run(scenario: Any) -> None:
    """Run a coroutine in a loop of its own, and leave alone the one that others may have."""
    loop, problems = asyncio.new_event_loop(), []
    loop.set_exception_handler(lambda _, context: problems.append(context))
    try:
        loop.run_until_complete(scenario)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        # Once round is enough for all of them to end.
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
    assert problems == []


@contextlib.asynccontextmanager
async def side(limit: int = DEFAULT_MESSAGE_LIMIT) -> Any:
    it = Side(limit)
    await asyncio.sleep(0)
    try:
        yield it
    finally:
        await it.connection.close()


@pytest.fixture
def tracebacks(caplog: pytest.LogCaptureFixture) -> Any:
    """What went wrong without being foreseen, since it was last asked; what the listener breaks is.

    Only what we say ourselves: what others have left behind in this process may come at any time.
    """

    def found() -> list[str]:
        raised = [
            r
            for r in caplog.records
            if r.name.startswith("jupyter_acp")
            and r.exc_info
            and r.exc_info[0] is not ZeroDivisionError
        ]
        caplog.clear()
        return [record.getMessage() for record in raised]

    return found


# The log is looked at, and emptied, in every example.
with_log = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

WORDS = [b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\\ud83d", b"\\udc00", b"\xff", b" "]
WORDS += [b'"id"', b'"method"', b'"jsonrpc":"2.0",', b"1", b"01", b"-", b"1e999", b"null", b"\r"]
NOISE = st.binary(max_size=30) | st.lists(st.sampled_from(WORDS), max_size=20).map(b"".join)
HEADS = [
    b'{"id":01,"method":"echo","params":"%s"}',
    b'{"id":"\xff","method":"echo","params":"%s"}',
    b'{"id":"\x01","result":"%s"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 400 + b',"method":"%s"}',
    b'{"jsonrpc":"2.0","id":77,"method":"echo","params":"%s"}',
    b'{"jsonrpc":"2.0","id":77,"result":"%s"}',
    b'{"jsonrpc":"2.0","method":"%s"}',
    b"%s",
]
TOO_LONG = [head % (b"x" * LIMIT) for head in HEADS]
GARBAGE = (NOISE | st.sampled_from(TOO_LONG)).map(lambda noise: noise.replace(b"\n", b" "))
ASKED = ("echo", "later", "twice", "break", "unknown")
TOLD = ("flow", "note", "refuse", "fall")
CUTS = st.lists(st.integers(0, 2000), max_size=20).map(sorted)


@with_log
@given(lines=st.lists(GARBAGE | st.sampled_from(ASKED + TOLD), max_size=30), cuts=CUTS)
@example(lines=[TOO_LONG[0], "echo", "note"], cuts=[])
@example(lines=[TOO_LONG[1], "echo", "note"], cuts=[])
@example(lines=[TOO_LONG[3], "echo", "note"], cuts=[])
def test_messages_between_garbage_arrive_in_order_and_are_answered_once(lines, cuts, tracebacks):
    data = b""
    for number, line in enumerate(lines):
        if isinstance(line, bytes):
            data += line + b"\n"
        else:
            id = {"id": f"mark {number}"} if line in ASKED else {}
            message = {"jsonrpc": "2.0", **id, "method": line, "params": {"mark": number}}
            data += line_of(message)

    async def scenario() -> None:
        async with side(LIMIT) as it:
            await it.write(data, [cut for cut in cuts if cut <= len(data)])
            ids = [str(answer["id"]) for answer in await it.answers()]
            heard = [each["mark"] for each in it.peer.heard if "mark" in (each or ())]
            assert heard == [n for n, line in enumerate(lines) if not isinstance(line, bytes)]
            asked = [f"mark {n}" for n, line in enumerate(lines) if line in ASKED]
            assert sorted(id for id in ids if id.startswith("mark")) == sorted(asked)

    run(scenario())
    assert tracebacks() == []


FIELDS = {
    "jsonrpc": st.just("2.0") | VALUES,
    "method": st.sampled_from([*ASKED, *TOLD, "", "$/cancel_request"]) | VALUES,
    "params": VALUES | st.builds(dict, requestId=SCALARS) | st.just(DEEP),
    "result": VALUES,
    "error": VALUES | st.fixed_dictionaries({}, optional={"code": VALUES, "message": VALUES}),
}
MESSAGES = st.fixed_dictionaries({}, optional=FIELDS)
IDS = st.lists(SCALARS | VALUES | st.just(DEEP), unique_by=json.dumps, max_size=8)


@with_log
@given(messages=st.lists(MESSAGES, max_size=8), ids=IDS)
@example(messages=[{"jsonrpc": "2.0"}], ids=[DEEP])
@example(messages=[{"method": "echo", "params": DEEP}], ids=[1])
def test_whatever_is_asked_by_an_id_is_answered_by_it_exactly_once(messages, ids, tracebacks):
    told = [{**message, "id": id} for message, id in zip(messages, ids, strict=False)]
    lines = list(map(line_of, (*told, *messages[len(told) :])))
    asked = [each["id"] for each in told if isinstance(each.get("method"), str)]
    plain = [id for id in asked if type(id) in (str, int, float) and id != DEEP]

    async def scenario() -> None:
        async with side() as it:
            await it.write(b"".join(lines), [])
            answers = await it.answers()
            assert all(("result" in each) != ("error" in each) for each in answers)
            answered = [json.dumps(answer["id"]) for answer in answers]
            assert [answered.count(json.dumps(id)) for id in plain] == [1] * len(plain)

    run(scenario())
    assert tracebacks() == []


SHAPES = st.sampled_from(["result", "error", "both", "text", "list", "nothing", "deep", "deeper"])
ODD = {
    "text": {"error": "no"},
    "list": {"error": []},
    "nothing": {"result": None, "error": None},
    "deep": {"error": DEEP},
    "deeper": {"error": {"code": True, "message": DEEP, "data": DEEP}},
}
STRANGERS = st.sampled_from([0, -1, 99, "1", True, False, 1.5, None, [1], {"id": 1}, DEEP, 2**63])


@with_log
@given(
    order=st.permutations(range(1, 6)),
    shapes=st.lists(SHAPES, min_size=5, max_size=5),
    strangers=st.lists(st.tuples(STRANGERS, SHAPES), max_size=8),
)
@example(order=[1, 2, 3, 4, 5], shapes=["deep", "deeper", "list", "result", "error"], strangers=[])
@example(order=[1, 2, 3, 4, 5], shapes=["result"] * 5, strangers=[(True, "result"), (DEEP, "text")])
def test_every_answer_goes_to_the_one_who_asked_for_it(order, shapes, strangers, tracebacks):
    lines = b"".join(
        line_of({"id": id, **(ODD.get(shape) or {shape: "a stranger"})}) for id, shape in strangers
    )
    for id, shape in zip(order, shapes, strict=True):
        result, error = {"result": f"for {id}"}, {"error": {"code": id, "message": f"for {id}"}}
        body = {"result": result, "error": error, "both": {**result, **error}, **ODD}[shape]
        # A second answer to the same question is as strange as one to none.
        lines += line_of({"jsonrpc": "2.0", "id": id, **body})
        lines += line_of({"jsonrpc": "2.0", "id": id, "result": "once more"})

    async def scenario() -> None:
        async with side() as it:
            asking = [asyncio.ensure_future(it.connection.request("ask")) for _ in shapes]
            await asyncio.sleep(0)
            await it.write(lines, [])
            await it.answers()
            got = await asyncio.gather(*asking, return_exceptions=True)
            for id, shape in zip(order, shapes, strict=True):
                answer = got[id - 1]
                if shape == "result":
                    assert answer == f"for {id}"
                elif shape == "nothing":
                    assert answer is None
                else:
                    assert isinstance(answer, RpcError)
                    assert shape in ODD or (answer.code, answer.message) == (id, f"for {id}")

    run(scenario())
    assert tracebacks() == []


PIECES = [
    "a",
    "\\\\",
    "\\n",
    '\\"',
    "\\ud83d",
    "\\udc00",
    "\\uDBFF",
    "\\uDFFF",
    "ud83d",
    "udc00",
    "é",
    "😀",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("\\\\ud83d\\udc00")
@example("\\ud83d\\ud83d\\udc00\\udc00")
def test_half_a_surrogate_pair_costs_one_letter_and_nothing_else(text):
    line = f'{{"jsonrpc":"2.0","method":"note","params":["{text}"]}}\n'.encode()

    async def scenario() -> None:
        async with side() as it:
            await it.write(line, [])
            await it.answers()
            assert it.peer.heard[0] == [
                re.sub("[\ud800-\udfff]", "\ufffd", json.loads(f'"{text}"'))
            ]

    run(scenario())


@given(st.lists(st.binary(max_size=60)), st.integers(1, 50))
def test_no_stream_is_held_beyond_the_limit(chunks, limit):
    splitter = LineSplitter(limit)
    lines: list[Any] = []
    for chunk in chunks:
        lines += splitter.feed(chunk)
        assert sum(map(len, splitter._parts)) <= max(limit, HEAD_SIZE)
    lines += splitter.end()
    whole = b"".join(chunks).split(b"\n")
    assert [line.size if isinstance(line, Oversized) else len(line) for line in lines] == [
        len(line) for line in (whole if whole[-1] else whole[:-1])
    ]


class Frames:
    """A socket that brings these frames and takes what is sent."""

    def __init__(self, frames: list[str | bytes]) -> None:
        self.frames, self.sent = frames, []

    async def listen(self, take: Any) -> None:
        for frame in self.frames:
            take(frame)
            await asyncio.sleep(0)
        await asyncio.Event().wait()

    def send(self, frame: bytes) -> asyncio.Future[None]:
        self.sent += frame.split(b"\n")
        taken = asyncio.get_running_loop().create_future()
        taken.set_result(None)
        return taken

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def close(self) -> None: ...


FRAME = GARBAGE | st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(ASKED)


@with_log
@given(frames=st.lists(st.lists(FRAME, max_size=4), max_size=8), several=st.booleans())
def test_messages_between_frames_of_garbage_are_answered_once(frames, several, tracebacks):
    asked, sent = [], []
    for frame in frames:
        parts: list[bytes] = []
        for part in frame:
            if part in ASKED:
                asked.append(f"mark {len(asked)}")
                parts.append(line_of({"id": asked[-1], "method": part, "params": 1})[:-1])
            else:
                parts.append(part.encode() if isinstance(part, str) else part)
        sent += [b"\n".join(parts)] if several else parts

    async def scenario() -> None:
        frames = Frames([*sent, b'{"id":"last","method":"later"}'])
        connection = Connection(WebSocketTransport(frames, several_per_frame=several), Listener())
        running = asyncio.ensure_future(connection.run())
        for _ in range(10_000):
            ids = [str(json.loads(line)["id"]) for line in frames.sent]
            if "last" in ids:
                break
            await asyncio.sleep(0)
        assert not running.done()
        assert sorted(id for id in ids if id.startswith("mark")) == sorted(asked)
        await connection.close()

    run(scenario())
    assert tracebacks() == []
