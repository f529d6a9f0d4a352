# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""JSON-RPC over real pipes: order, cancellation, backpressure, and every kind of bad input."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_acp.rpc import Connection, Peer, Request, RpcError, method_not_found
from jupyter_acp.rpc.errors import CANCELLED, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from jupyter_acp.rpc.outbox import Queue
from jupyter_acp.rpc.stdio import LineSplitter, StdioTransport
from jupyter_acp.rpc.transport import Oversized
from jupyter_acp.rpc.websocket import WebSocketTransport

MIB = 1024 * 1024


class Recorder(Peer):
    """A peer that writes down what it gets and answers a few methods."""

    stream = "flow"

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.cancelled = asyncio.Event()

    def on_notification(self, method: str, params: Any) -> None:
        self.events.append((method, params))

    def on_stream(self, row: list[Any]) -> None:
        self.events.append(("flow", list(row)))
        if "break" in row:
            raise ZeroDivisionError("broken")

    def on_request(self, request: Request) -> None:
        self.events.append((request.method, request.params))
        if request.method == "echo":
            request.respond(request.params)
        elif request.method == "wait":
            request.run(self._wait())
        elif request.method == "delay":
            request.run(self._delay(request.params))
        elif request.method == "break":
            raise ZeroDivisionError("broken")
        else:
            raise method_not_found(request.method)

    async def _wait(self) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def _delay(self, seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds


async def _streams(read: int, write: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb")
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(write, "wb")
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


class Side:
    """Our end of a pipe pair as a connection, and the other end as bytes."""

    def __init__(self, connection: Connection, peer: Recorder, reader: Any, writer: Any) -> None:
        self.connection, self.peer, self.reader, self.writer = connection, peer, reader, writer

    async def write(self, data: bytes | dict[str, Any]) -> None:
        self.writer.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")
        await self.writer.drain()

    async def read(self) -> dict[str, Any]:
        line = await asyncio.wait_for(self.reader.readline(), 20)
        message: dict[str, Any] = json.loads(line)
        return message

    async def still_lives(self) -> None:
        """A request after whatever came before is answered."""
        await self.write({"jsonrpc": "2.0", "id": "alive", "method": "echo", "params": [1]})
        while (message := await self.read()).get("id") != "alive":
            pass
        assert message["result"] == [1]


@contextlib.asynccontextmanager
async def side(limit: int = 64 * MIB, queue: int = 4 * MIB) -> Any:
    our_input, their_output = os.pipe()
    their_input, our_output = os.pipe()
    their_reader, their_writer = await _streams(their_input, their_output)
    peer = Recorder()
    transport = await StdioTransport.over(
        os.fdopen(our_input, "rb"), os.fdopen(our_output, "wb"), limit=limit
    )
    connection = Connection(transport, peer, outbox=Queue(queue))
    running = asyncio.ensure_future(connection.run())
    try:
        yield Side(connection, peer, their_reader, their_writer)
    finally:
        await connection.close()
        their_writer.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_request_and_response_in_both_directions():
    async with side() as it:
        await it.write({"jsonrpc": "2.0", "id": 7, "method": "echo", "params": {"a": 1}})
        assert await it.read() == {"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}
        asked = asyncio.ensure_future(it.connection.request("hello", {"b": 2}))
        request = await it.read()
        assert request["method"] == "hello" and request["params"] == {"b": 2}
        await it.write({"jsonrpc": "2.0", "id": request["id"], "result": "hi"})
        assert await asked == "hi"


async def test_an_error_response_raises():
    async with side() as it:
        asked = asyncio.ensure_future(it.connection.request("hello"))
        request = await it.read()
        error = {"code": -32000, "message": "log in first", "data": {"x": 1}}
        await it.write({"jsonrpc": "2.0", "id": request["id"], "error": error})
        with pytest.raises(RpcError) as caught:
            await asked
        assert caught.value.to_json() == error


async def test_an_answer_that_cannot_be_taken_is_an_error_for_the_one_who_waits():
    def note(result):
        raise TypeError("Recursion limit reached")

    async with side() as it:
        asked = asyncio.ensure_future(it.connection.request("hello", note=note))
        request = await it.read()
        await it.write({"jsonrpc": "2.0", "id": request["id"], "result": "hi"})
        with pytest.raises(RpcError, match="hello failed: Recursion limit reached"):
            await asyncio.wait_for(asked, 10)
        await it.still_lives()


async def test_concurrent_requests_are_answered_as_they_finish():
    async with side() as it:
        for id, seconds in enumerate((0.3, 0.0)):
            await it.write({"jsonrpc": "2.0", "id": id, "method": "delay", "params": seconds})
        assert [(await it.read())["id"] for _ in range(2)] == [1, 0]


async def test_a_response_never_overtakes_what_was_written_before_it():
    async with side() as it:
        seen: list[int] = []
        it.connection.call("go", None, lambda result, error: seen.append(len(it.peer.events)))
        request = await it.read()
        burst = b"".join(
            json.dumps({"jsonrpc": "2.0", "method": "n", "params": n}).encode() + b"\n"
            for n in range(500)
        )
        response = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": None}).encode()
        await it.write(burst + response + b"\n" + burst)
        await it.still_lives()
        assert seen == [500]
        assert [params for method, params in it.peer.events if method == "n"] == [
            *range(500),
            *range(500),
        ]


@pytest.mark.parametrize("started", [True, False])
async def test_they_cancel_a_request_of_theirs(started):
    async with side() as it:
        wait = b'{"jsonrpc":"2.0","id":1,"method":"wait"}\n'
        await it.write(wait)
        if started:
            await it.still_lives()
        await it.write({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
        answer = await it.read()
        assert answer["id"] == 1 and answer["error"]["code"] == CANCELLED
        assert it.peer.cancelled.is_set() == started


async def test_we_cancel_a_request_of_ours():
    async with side() as it:
        asked = asyncio.ensure_future(it.connection.request("slow"))
        request = await it.read()
        asked.cancel()
        cancel = await it.read()
        assert cancel["method"] == "$/cancel_request"
        assert cancel["params"] == {"requestId": request["id"]}
        # The late answer is no surprise and harms nobody.
        await it.write({"jsonrpc": "2.0", "id": request["id"], "result": 1})
        await it.still_lives()


async def test_unknown_request_and_unknown_notification():
    async with side() as it:
        await it.write({"jsonrpc": "2.0", "id": 1, "method": "craft/unknown"})
        assert (await it.read())["error"]["code"] == METHOD_NOT_FOUND
        await it.write({"jsonrpc": "2.0", "method": "craft/unknown"})
        await it.still_lives()


async def test_a_handler_that_breaks_is_an_error_for_the_caller_only():
    async with side() as it:
        await it.write({"jsonrpc": "2.0", "id": 1, "method": "break"})
        assert "broken" in (await it.read())["error"]["message"]
        await it.still_lives()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":\n', PARSE_ERROR),
        (b'{"text":"\xff\xfe"}\n', PARSE_ERROR),
        (b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]\n', INVALID_REQUEST),
        (b"42\n", INVALID_REQUEST),
        (b'"text"\n', INVALID_REQUEST),
        (b"null\n", INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":5}\n', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"echo"}\n', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":5,"method":7}\n', INVALID_REQUEST),
    ],
)
async def test_bad_messages_are_refused_and_the_connection_lives(line, code):
    async with side() as it:
        await it.write(line)
        assert (await it.read())["error"]["code"] == code
        await it.still_lives()


@pytest.mark.parametrize("line", [b"\n", b"  \r\n", b"Starting up...\n", b'{"level":"info"}\n'])
async def test_noise_on_stdout_is_passed_over_without_an_answer(line):
    async with side() as it:
        await it.write(line)
        await it.write({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": 3})
        assert (await it.read())["result"] == 3


async def test_half_a_surrogate_pair_loses_no_message():
    async with side() as it:
        await it.write(b'{"jsonrpc":"2.0","id":1,"method":"echo","params":"a\\ud83d"}\n')
        assert (await it.read())["result"] == "a\ufffd"


async def test_a_stream_is_taken_in_rows_and_nothing_overtakes_it():
    def flow(params):
        return {"jsonrpc": "2.0", "method": "flow", "params": params}

    lines = [
        flow(1),
        flow(2),
        {"jsonrpc": "2.0", "method": "other", "params": 3},
        flow(4),
        b'{"jsonrpc":"2.0","method":"flow","params":"5\\ud83d"}',
        flow(6),
        b"noise",
        flow("break"),
        {"jsonrpc": "2.0", "id": 1, "method": "echo", "params": 7},
        {"jsonrpc": "2.0", "id": 2, "method": "flow", "params": 8},
        flow(9),
    ]
    async with side() as it:
        data = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        await it.write(b"\n".join(data) + b"\n")
        await it.still_lives()
        assert it.peer.events[:-1] == [
            ("flow", [1, 2]),
            ("other", 3),
            ("flow", [4]),
            ("flow", ["5\ufffd"]),
            ("flow", [6]),
            ("flow", ["break"]),
            ("echo", 7),
            ("flow", 8),
            ("flow", [9]),
        ]


async def test_a_response_to_an_id_never_sent_and_a_second_response_are_logged(caplog):
    async with side() as it:
        with caplog.at_level(logging.WARNING):
            await it.write({"jsonrpc": "2.0", "id": 99, "result": 1})
            asked = asyncio.ensure_future(it.connection.request("hello"))
            request = await it.read()
            for _ in range(2):
                await it.write({"jsonrpc": "2.0", "id": request["id"], "result": "once"})
            assert await asked == "once"
            await it.still_lives()
        logged = [
            r.getMessage() for r in caplog.records if "nothing with that id" in r.getMessage()
        ]
        assert len(logged) == 2 and "99" in logged[0] and str(request["id"]) in logged[1]


async def test_a_line_of_32_mib_works():
    async with side() as it:
        text = "x" * (32 * MIB)
        it.writer.write(json.dumps({"jsonrpc": "2.0", "method": "n", "params": text}).encode())
        await it.write(b"\n")
        await it.still_lives()
        assert it.peer.events[0] == ("n", text)


@pytest.mark.parametrize("position", ["before", "after"])
async def test_a_request_over_the_limit_is_refused_by_its_id(position):
    async with side(limit=MIB) as it:
        head = '"method":"echo","id":5' if position == "before" else '"id":5,"method":"echo"'
        await it.write(f'{{"jsonrpc":"2.0",{head},"params":"{"x" * 2 * MIB}"}}\n'.encode())
        refusal = await it.read()
        assert refusal["id"] == 5 and "over the configured limit" in refusal["error"]["message"]
        await it.still_lives()


async def test_a_response_over_the_limit_fails_the_request_that_waits_for_it():
    async with side(limit=MIB) as it:
        asked = asyncio.ensure_future(it.connection.request("hello"))
        id = (await it.read())["id"]
        await it.write(f'{{"jsonrpc":"2.0","id":{id},"result":"{"x" * 2 * MIB}"}}\n'.encode())
        with pytest.raises(RpcError, match="over the configured limit"):
            await asked
        await it.still_lives()


async def test_half_a_line_then_the_end():
    async with side() as it:
        await it.write(b'{"jsonrpc":"2.0","method":"n"}\n{"jsonrpc":"2.0","met')
        it.writer.close()
        for _ in range(3000):
            if it.peer.events:
                break
            await asyncio.sleep(0.01)
        assert it.peer.events == [("n", None)]


async def test_pending_requests_fail_when_the_connection_ends():
    async with side() as it:
        asked = asyncio.ensure_future(it.connection.request("hello"))
        await it.read()
        it.connection.end(RpcError(-32010, "the agent is gone"))
        with pytest.raises(RpcError, match="the agent is gone"):
            await asked
        with pytest.raises(RpcError, match="the agent is gone"):
            await it.connection.request("again")


async def test_a_reader_that_stops_makes_the_sender_wait():
    async with side(queue=MIB) as it:
        sent = 0

        async def flood() -> None:
            nonlocal sent
            while True:
                await it.connection.room()
                it.connection.notify("n", "x" * 65536)
                sent += 65536

        flooding = asyncio.ensure_future(flood())
        held = -1
        while sent != held or not sent:
            held = sent
            await asyncio.sleep(0.5)
            assert sent < 3 * MIB, "the sender did not wait"
        while sent < held + 10 * MIB:
            assert await asyncio.wait_for(it.reader.read(MIB), 30)
        flooding.cancel()


async def test_who_does_not_read_our_answers_is_not_read_either():
    async with side(queue=MIB) as it:
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": "x" * 65536})
        it.writer.transport.set_write_buffer_limits(high=1 << 30)
        for _ in range(500):
            it.writer.write(request.encode() + b"\n")
        await asyncio.sleep(0.5)
        assert len(it.peer.events) < 100


@given(st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" "))), st.data())
@settings(max_examples=200, deadline=None)
def test_lines_are_the_same_however_the_stream_is_cut(lines, data):
    stream = b"".join(line + b"\n" for line in lines)
    splitter = LineSplitter(limit=20)
    got: list[Any] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        got.extend(splitter.feed(stream[:size]))
        stream = stream[size:]
    assert got == [line if len(line) <= 20 else Oversized(line[:1024], len(line)) for line in lines]
    assert splitter.end() == []


def test_a_line_without_end_is_held_in_bounded_memory():
    splitter = LineSplitter(limit=MIB)
    for _ in range(1000):
        assert splitter.feed(b"x" * 65536) == []
    assert sum(map(len, splitter._parts)) <= 2 * MIB
    (line,) = splitter.feed(b"\n")
    assert isinstance(line, Oversized) and line.size == 1000 * 65536


class Frames:
    """A socket that gets these frames and keeps what is sent."""

    def __init__(self, *frames: str) -> None:
        self.frames, self.sent = frames, []

    async def listen(self, take: Any) -> None:
        for frame in self.frames:
            take(frame)

    def send(self, frame: bytes) -> asyncio.Future[None]:
        self.sent.append(frame)
        return asyncio.get_running_loop().create_future()

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass

    async def close(self) -> None:
        pass


async def test_websocket_framing():
    several, single = Frames('{"a":1}\n{"b":2}', '{"c":3}'), Frames('{"a":1}')
    got: list[Any] = []
    transport = WebSocketTransport(several, several_per_frame=True)
    await transport.run(got.append)
    assert got == [[b'{"a":1}', b'{"b":2}'], [b'{"c":3}']]
    transport.write(b"1\n2")
    WebSocketTransport(single, several_per_frame=False).write(b"1\n2")
    assert (several.sent, single.sent) == ([b"1\n2"], [b"1", b"2"])
