# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Everything dies at random while agents talk, and in the end everybody has the same transcript.

`CHAOS_SECONDS` makes it longer, `CHAOS_SEED` makes it another; a seed repeats what is done, not when
the machine gets to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import time
import uuid
from typing import Any

import psutil
import pytest
from acpclient import Client, scripted, seq
from server import TOKEN, Server, running
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

SECONDS = float(os.environ.get("CHAOS_SECONDS", "60"))
SEED = int(os.environ.get("CHAOS_SEED", "20261118"))
CHUNKS = 40
QUIET = 60.0
"""How long it may take until all is well again, in seconds."""

MORE = 120.0
"""For how much longer it may go on until enough has happened, in seconds."""

LAG = 5.0
"""How long after an answer has come it may be read, in seconds, on a machine with much to do."""

MOMENT = 10.0
"""How long it may take there until what was said is on disk, in seconds."""

LOADS = {"loadSession": True, "sessionCapabilities": {"resume": {}}}


class Window:
    """A page as the front end is one: it keeps what it has seen and asks for the rest."""

    def __init__(self, server: Server, sessions: list[str]) -> None:
        self._server = server
        self._sessions = sessions
        self._run = ""
        self.transcripts: dict[str, list[dict[str, Any]]] = {session: [] for session in sessions}
        self.client: Client | None = None
        self._connecting = asyncio.Lock()

    async def connected(self) -> Client:
        """Return the connection, made anew until it holds."""
        async with self._connecting:
            while self.client is None or self.client.closed.is_set():
                await self.drop()
                try:
                    await asyncio.wait_for(self.connect(), 20)
                except Exception:
                    # The server dies at any moment, and each has another word for it.
                    await asyncio.sleep(0.2)
            return self.client

    async def connect(self) -> None:
        """Connect and follow every session from where it was left."""
        request = HTTPRequest(
            f"ws://127.0.0.1:{self._server.port}/acp/ws",
            headers={"Authorization": f"token {TOKEN}"},
        )
        client = Client(await websocket_connect(request, subprotocols=["acp.ndjson"]))
        told = await client.initialize()
        run = told["_meta"]["jupyter-acp"]["run"]
        if run != self._run:
            # Another server may have given the last numbers to other messages.
            self.transcripts = {session: [] for session in self._sessions}
            self._run = run
        for session in self._sessions:
            after = len(self.transcripts[session])
            params = {"sessionId": session, "after": after, "run": run}
            await client.result("_jupyter/session/attach", params)
        self.client = client

    async def drop(self) -> None:
        """Lose the connection, keeping what came over it."""
        if self.client is None:
            return
        client, self.client = self.client, None
        with contextlib.suppress(Exception):
            await asyncio.wait_for(client.close(), 5)
        self.take(client)

    def take(self, client: Client) -> None:
        """Take over what has come."""
        for message in client.received:
            number = seq(message)
            session = message.get("params", {}).get("sessionId") if number else None
            if session in self.transcripts:
                transcript = self.transcripts[session]
                assert number == len(transcript) + 1, "one after the other, and each once"
                transcript.append(message)
        client.received.clear()


class Chaos:
    """A server, two windows, and somebody who breaks things."""

    def __init__(self, server: Server, sessions: list[str], chance: random.Random) -> None:
        self.server = server
        self.sessions = sessions
        self.windows = [Window(server, sessions), Window(server, sessions)]
        self.chance = chance
        self.done: dict[str, int] = {}
        self.prompts = 0
        self.ended: dict[int, float] = {}
        """The prompts whose turns are known to have ended well, and when."""

        self.broken: list[tuple[float, str]] = []
        """What was broken, and when."""

        self.killed: list[float] = []
        """When the server was killed without a chance to save its last moments."""

        self._end = time.monotonic() + SECONDS
        self._is_over = False

    @property
    def goes_on(self) -> bool:
        """Whether more is to come: until the time is up, or later if too little has happened."""
        late = time.monotonic() - self._end
        # Once is for all: what is enough now may be less after another kill.
        self._is_over = self._is_over or late > MORE or (late > 0 and self.is_enough)
        return not self._is_over

    @property
    def is_enough(self) -> bool:
        """Whether there is something to look at, of all that may happen."""
        certain = len(self.certain()) * CHUNKS
        return len(self.ended) > SECONDS / 10 and certain > SECONDS * 5 and len(self.done) == 3

    async def talk(self) -> None:
        """Prompt one session after the other, whatever becomes of it."""
        while self.goes_on:
            self.prompts += 1
            session = self.chance.choice(self.sessions)
            steps = [
                step
                for number in range(CHUNKS)
                for step in (["chunk", f"{self.prompts}:{number} "], ["sleep", 0.01])
            ]
            client = await self.chance.choice(self.windows).connected()
            with contextlib.suppress(Exception):
                answer = await asyncio.wait_for(client.prompt(session, *steps), 10)
                if answer.get("result", {}).get("stopReason") == "end_turn":
                    self.ended[self.prompts] = time.monotonic()
            await asyncio.sleep(0.05)

    async def watch(self) -> None:
        """Keep both windows open."""
        while self.goes_on:
            for window in self.windows:
                await window.connected()
            await asyncio.sleep(0.1)

    async def destroy(self) -> None:
        """Break something every now and then."""
        ways = [self.kill_agent, self.kill_agent, self.cut, self.cut, self.cut, self.kill_server]
        # Each of them at least once.
        first = self.chance.sample([self.kill_agent, self.cut, self.kill_server], 3)
        while self.goes_on:
            await asyncio.sleep(self.chance.uniform(0.3, 1.5))
            if not self.goes_on:
                break
            way = first.pop() if first else self.chance.choice(ways)
            self.done[way.__name__] = self.done.get(way.__name__, 0) + 1
            self.broken.append((time.monotonic(), way.__name__))
            await way()

    async def kill_agent(self) -> None:
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                if any(part.endswith("scripted.py") for part in process.cmdline()):
                    process.kill()
                    return

    async def cut(self) -> None:
        if (client := self.chance.choice(self.windows).client) is not None:
            client.socket.close()

    async def kill_server(self) -> None:
        number = self.chance.choice([signal.SIGKILL, signal.SIGTERM])
        if number == signal.SIGKILL:
            self.killed.append(time.monotonic())
            self.broken.append((time.monotonic(), "without warning"))
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.server.signal, number)
        await loop.run_in_executor(None, self.server.start)

    def after(self, prompt: int) -> list[str]:
        """Return what was broken after a turn had ended, and how long after it."""
        ended = self.ended[prompt]
        return [f"{at - ended:.1f} {what}" for at, what in self.broken if at > ended - 2][:10]

    def certain(self) -> set[int]:
        """The prompts of which nothing may be missing: what was said was saved before any kill."""
        return {
            prompt
            for prompt, ended in self.ended.items()
            if not any(-LAG < killed - ended < MOMENT for killed in self.killed)
        }

    def processes(self) -> list[psutil.Process]:
        """Return everything that was started by any of our servers."""
        mark = os.environ["ACP_CHAOS"]
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                is_ours = process.environ().get("ACP_CHAOS") == mark
                if is_ours and process.pid != os.getpid() and process.status() != "zombie":
                    found.append(process)
        return found


def places_in(text: str) -> list[tuple[int, int]]:
    """Return which chunks of which prompts a text is made of; agents may join them."""
    return [(int(p), int(n)) for p, _, n in (part.partition(":") for part in text.split()) if n]


def told_around(messages: list[dict[str, Any]], place: tuple[int, int]) -> str:
    """Return what a transcript has from where something is told first to where it is told again."""
    word = f"{place[0]}:{place[1]} "
    lines = []
    for message in messages:
        params = dict(message["params"])
        meta = params.pop("_meta", {}).get("jupyter-acp", {})
        lines.append(f"{meta.get('seq')} {message['method']} {json.dumps(params)[-160:]}")
    found = [i for i, line in enumerate(lines) if word in line.replace(chr(34), " ")]
    return "\n".join(lines[max(found[0] - 5, 0) : found[-1] + 5])


def journal_of(server: Server, session: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    while True:
        page = server.get(f"sessions/{session}/messages?limit=1000&after={len(messages)}")
        messages += page["messages"]
        if len(messages) >= page["seq"]:
            return messages


@pytest.mark.timeout(SECONDS + MORE + 180)
async def test_whatever_dies_everybody_ends_with_the_same_transcript(tmp_path, monkeypatch):
    monkeypatch.setenv("ACP_CHAOS", uuid.uuid4().hex)
    agents = {
        "resumes": scripted(capabilities=LOADS),
        "loads": scripted(capabilities={"loadSession": True}, replay=3, replay_late=2),
        "repeats": scripted(capabilities={"loadSession": True}, replay="all"),
        "forgets": scripted(),
    }
    chance = random.Random(SEED)
    with running(tmp_path, agents) as server:
        first = Window(server, [])
        await first.connect()
        assert first.client is not None
        sessions = [await first.client.new(tmp_path, agent) for agent in agents]
        await first.drop()
        chaos = Chaos(server, sessions, chance)
        await asyncio.gather(chaos.talk(), chaos.watch(), chaos.destroy())

        # Peace: both windows come back, all turns end, and everybody has everything.
        deadline = time.monotonic() + QUIET
        while True:
            for window in chaos.windows:
                window.take(await window.connected())
            states = {each["state"] for each in server.get("sessions")["sessions"]}
            journals = {session: journal_of(server, session) for session in sessions}
            transcripts = [window.transcripts for window in chaos.windows]
            is_over = "running" not in states and transcripts == [journals, journals]
            if is_over or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.2)
        assert "running" not in states
        for window in chaos.windows:
            for session in sessions:
                assert window.transcripts[session] == journals[session]
            await window.drop()
        server.signal(signal.SIGTERM)
        for _ in range(600):
            if not chaos.processes():
                break
            await asyncio.sleep(0.1)
        assert chaos.processes() == []

    said, answered = 0, set()
    for messages in journals.values():
        assert [seq(message) for message in messages] == list(range(1, len(messages) + 1))
        spoken = [
            message["params"]["update"]["content"]["text"]
            for message in messages
            if message["method"] == "session/update"
            and message["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
        ]
        places = [place for text in spoken for place in places_in(text)]
        odd = next((i for i in range(1, len(places)) if places[i] <= places[i - 1]), None)
        assert odd is None, f"each chunk once, and in order: {told_around(messages, places[odd])}"
        said += len(places)
        for prompt in chaos.certain() & {prompt for prompt, _ in places}:
            heard = [number for each, number in places if each == prompt]
            assert heard == list(range(CHUNKS)), (
                f"nothing is missing from a turn that ended: {chaos.after(prompt)}\n"
                + told_around(messages, (prompt, heard[-1]))
            )
        asked = [
            message["params"]["update"]["content"]["text"]
            for message in messages
            if message["method"] == "session/update"
            and message["params"]["update"]["sessionUpdate"] == "user_message_chunk"
        ]
        assert len(asked) == len(set(asked)), "each question once"
        answered |= {prompt for prompt, _ in places}
    db = sqlite3.connect(server.journal)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    # It was not quiet all the time.
    assert chaos.certain() and chaos.certain() <= answered
    assert len(chaos.ended) > SECONDS / 10 and said > SECONDS * 5, (len(chaos.ended), said)
    assert set(chaos.done) == {"kill_agent", "cut", "kill_server"}, chaos.done
    counts = {"prompts": chaos.prompts, "certain": len(chaos.certain()), "chunks": said}
    print(json.dumps({"seed": SEED, **counts, **chaos.done}))
