# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The server as a whole: signals, sudden death, and windows that do not read."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import time

import pytest
from acpclient import is_state, scripted, seq
from server import TOKEN, Server, carrying, running, whole_family
from steps import connect

from jupyter_acp.agents.process import MARK

FAMILY = scripted(children=["plain", "setsid"], ignore_eof=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_nothing_is_left_after_a_signal(tmp_path, number):
    with running(tmp_path, {"family": FAMILY}) as server:
        client = await connect(server)
        session = await client.new(tmp_path)
        await client.prompt(session, ["env"])
        mark = json.loads(client.texts()[0])[MARK]
        await whole_family(mark)
        await client.start_prompt(session, ["sleep", 30])
        await client.wait(is_state("running"))
        await asyncio.get_running_loop().run_in_executor(None, server.signal, number)
        assert carrying(mark) == []


async def test_after_kill_9_everything_older_than_a_moment_is_there(tmp_path):
    with running(tmp_path, {"scripted": scripted(capabilities={"loadSession": True})}) as server:
        client = await connect(server)
        session = await client.new(tmp_path)
        await client.prompt(session, ["flood", 5000, 100])
        await client.start_prompt(session, ["flood", 50, 100], ["sleep", 30])
        await client.wait(lambda m: "49 xxx" in str(m), start=5000)
        last = client.seqs(session)[-1]
        await server.written(lambda _, number, __: number >= last)
        server.signal(signal.SIGKILL)
        server.start()
        (listed,) = server.get("sessions")["sessions"]
        assert listed["id"] == session and listed["state"] == "disconnected"
        assert "stopped during the turn" in listed["error"]
        again = await connect(server)
        await again.attach(session)
        await again.wait(lambda m: seq(m) == last)
        numbered = [m for m in client.received if seq(m)]
        assert [m for m in again.received if seq(m)][: len(numbered)] == numbered
        response = await again.prompt(session, ["chunk", "and on"])
        assert response["result"]["stopReason"] == "end_turn"


@pytest.mark.timeout(300)
async def test_kill_9_in_a_flood_leaves_a_whole_beginning(tmp_path):
    with running(tmp_path, {"scripted": scripted()}) as server:
        for _ in range(2):
            client = await connect(server)
            session = await client.new(tmp_path)
            await client.start_prompt(session, ["flood", 1_000_000, 100])
            await client.wait(lambda m, c=client: len(c.received) > 20_000)
            await server.written(lambda id, number, _: id == session and number > 5000)
            server.signal(signal.SIGKILL)
            with sqlite3.connect(server.journal) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            server.start()
            numbers: list[int] = []
            while page := server.get(
                f"sessions/{session}/messages?after={len(numbers)}&limit=1000"
            )["messages"]:
                numbers.extend(seq(m) for m in page)
            assert numbers == list(range(1, len(numbers) + 1))
            assert len(numbers) > 5000


class Deaf:
    """A window that asks for a session and then reads nothing."""

    def __init__(self, server: Server) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.settimeout(20)
        self.socket.sendall(
            f"GET /acp/ws HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: acp.ndjson\r\n"
            f"Authorization: token {TOKEN}\r\n\r\n".encode()
        )
        assert b" 101 " in self.socket.recv(4096)

    def send(self, id: int, method: str, params: object) -> None:
        data = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
        head = bytes([0x81, 0x80 | 126]) + len(data).to_bytes(2, "big") + b"\0\0\0\0"
        self.socket.sendall(head + data)

    def wait(self, text: bytes) -> None:
        """Read no further than to what is wanted."""
        read = b""
        while text not in read:
            chunk = self.socket.recv(1024)
            assert chunk, "it was closed"
            read += chunk

    def is_dropped(self) -> bool:
        """Read whatever is there and see whether it ends."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if not self.socket.recv(1 << 20):
                    return True
            except ConnectionError:
                return True
        return False


async def test_a_window_that_does_not_read_is_dropped_and_slows_nobody(tmp_path):
    with running(tmp_path, {"scripted": scripted()}, window_buffer=1024 * 1024) as server:
        client = await connect(server)
        session = await client.new(tmp_path)
        deaf = Deaf(server)
        meta = {"_meta": {"jupyter-acp": {}}}
        deaf.send(1, "initialize", {"protocolVersion": 1, "clientCapabilities": meta})
        deaf.send(2, "_jupyter/session/attach", {"sessionId": session, "after": 0})
        # From here on everything is new to it.
        await asyncio.get_running_loop().run_in_executor(None, deaf.wait, b'"id":2')
        response = await client.prompt(session, ["flood", 40_000, 500])
        assert response["result"]["stopReason"] == "end_turn"
        assert len(client.texts()) == 40_000
        for _ in range(300):
            if "it does not read what it is sent" in server.log.read_text():
                break
            await asyncio.sleep(0.1)
        assert deaf.is_dropped()
        again = await connect(server)
        answer = await again.attach(session, after=client.seqs(session)[-1] - 100)
        await again.wait(lambda m: seq(m) == answer["seq"])
        assert len(again.seqs(session)) == 100
