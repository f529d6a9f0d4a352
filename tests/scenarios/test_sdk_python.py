# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The PyPI `agent-client-protocol` SDK as a client that has never heard of us."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import acp
import pytest
from acp.connection import StreamDirection, StreamEvent
from acp.schema import AllowedOutcome, ClientCapabilities, DeniedOutcome, RequestPermissionResponse
from acp.ws.client import create_websocket_stream
from acpclient import Loop, scripted


class Stock(acp.Client):
    """What an editor would write against the SDK, plus a record of the raw messages."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.questions: list[Any] = []
        self.wire: list[dict[str, Any]] = []
        self.chosen: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.asked = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    def observe(self, event: StreamEvent) -> None:
        # The SDK runs a task per notification: only here is the order that of the socket.
        if event.direction is StreamDirection.INCOMING:
            self.wire.append(event.message)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> RequestPermissionResponse:
        self.questions.append((session_id, tool_call, options))
        self.asked.set()
        chosen = await self.chosen
        if not chosen:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen)
        )

    def texts(self, kind: str = "agent_message_chunk") -> list[str]:
        return [u.content.text for u in self.updates if u.session_update == kind]

    async def prompt(self, session: str, *steps: Any) -> acp.PromptResponse:
        return await self.agent.prompt(session, [acp.text_block(json.dumps(steps))])

    async def new(self, cwd: Any) -> str:
        return (await self.agent.new_session(str(cwd))).session_id


Connect = Callable[[], Awaitable[Stock]]


@pytest.fixture
def acp_agents() -> dict[str, Any]:
    return {"scripted": scripted(capabilities={"promptCapabilities": {"image": True}})}


@pytest.fixture
def sdk_connect(
    acp: Any,
    http_server: Any,
    jp_http_port: int,
    jp_base_url: str,
    jp_auth_header: Any,
    jp_asyncio_loop: Loop,
) -> Iterator[Connect]:
    """Open clients with the SDK's own websocket transport: no subprotocol, one message a frame."""
    clients: list[Stock] = []

    async def connect() -> Stock:
        stream = await create_websocket_stream(
            f"ws://localhost:{jp_http_port}{jp_base_url}acp/ws", headers=jp_auth_header
        )
        client = Stock()
        connect_to_agent(client, stream)
        clients.append(client)
        await client.agent.initialize(1, ClientCapabilities())
        return client

    yield connect
    for client in clients:
        jp_asyncio_loop.run_until_complete(client.agent.close())


def connect_to_agent(client: Stock, stream: Any) -> None:
    # The fixture above is called like the SDK's module.
    acp.connect_to_agent(client, stream, observers=[client.observe])


@pytest.fixture
def stock(sdk_connect: Connect, jp_asyncio_loop: Loop) -> Stock:
    return jp_asyncio_loop.run_until_complete(sdk_connect())


async def soon(event: asyncio.Event) -> None:
    await asyncio.wait_for(event.wait(), 20)


async def until(true: Callable[[], Any]) -> None:
    async def look() -> None:
        while not true():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), 20)


async def test_initialize_tells_what_the_agent_behind_us_can_do(stock):
    answer = await stock.agent.initialize(1, ClientCapabilities())
    assert answer.protocol_version == 1
    assert answer.agent_info.name == "jupyter_acp"
    assert answer.agent_capabilities.load_session is True
    assert answer.agent_capabilities.session_capabilities.list is not None
    # Of the agent, not of us: the SDK's default is false.
    assert answer.agent_capabilities.prompt_capabilities.image is True
    assert answer.agent_capabilities.prompt_capabilities.audio is False


async def test_new_session(stock, tmp_path):
    answer = await stock.agent.new_session(str(tmp_path))
    assert answer.session_id
    assert answer.modes.current_mode_id == "a"
    assert [mode.id for mode in answer.modes.available_modes] == ["a", "b"]


async def test_chunks_come_in_order_and_before_the_response(stock, tmp_path):
    session = await stock.new(tmp_path)
    before = len(stock.wire)
    answer = await stock.prompt(session, ["flood", 500, 20])
    assert answer.stop_reason == "end_turn"
    assert [int(text.split()[0]) for text in stock.texts()] == list(range(500))
    turn = stock.wire[before:]
    assert turn[-1]["result"]["stopReason"] == "end_turn"
    # A client that has not heard of us gets nothing that it could not have expected.
    assert {message.get("method") for message in turn[:-1]} == {"session/update"}
    # Its own prompt is no news to it.
    assert stock.texts("user_message_chunk") == []


async def test_nothing_comes_that_the_client_has_not_said_it_takes(stock, tmp_path):
    session = await stock.new(tmp_path)
    kinds = ("notice", "compaction_update", "compaction_summary_chunk", "plan_update")
    form = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    title = {"metadata": {"title": "Named"}}
    before = len(stock.wire)
    turn = asyncio.ensure_future(
        stock.prompt(
            session,
            *(["update", {"sessionUpdate": kind, "compactionId": "c"}] for kind in kinds),
            ["notify", "_sandboxagent/session/metadata_update", title],
            ["chunk", "asking"],
            ["request", "elicitation/create", form],
        )
    )
    await until(lambda: stock.texts() == ["asking"])
    await stock.agent.cancel(session)
    assert (await turn).stop_reason == "cancelled"
    *came, _ = stock.wire[before:]
    assert {message.get("method") for message in came} == {"session/update"}
    told = {message["params"]["update"]["sessionUpdate"] for message in came}
    assert told == {"session_info_update", "agent_message_chunk"}
    # The agent was answered all the same.
    assert [json.loads(text) for text in stock.texts()[1:]] == [{"action": "cancel"}]


async def test_permission(stock, tmp_path):
    session = await stock.new(tmp_path)
    turn = asyncio.ensure_future(stock.prompt(session, ["ask"]))
    await soon(stock.asked)
    assert not turn.done()
    ((asked_in, tool_call, options),) = stock.questions
    assert asked_in == session
    assert tool_call.title == "do it"
    assert [option.kind for option in options] == ["allow_once", "reject_once"]
    stock.chosen.set_result("yes")
    assert (await turn).stop_reason == "end_turn"
    outcome = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert [json.loads(text) for text in stock.texts()] == [outcome]


async def test_cancel(stock, tmp_path):
    session = await stock.new(tmp_path)
    turn = asyncio.ensure_future(stock.prompt(session, ["chunk", "go"], ["until_cancel"]))
    await until(lambda: stock.texts() == ["go"])
    assert not turn.done()
    await stock.agent.cancel(session)
    assert (await turn).stop_reason == "cancelled"
    assert (await stock.prompt(session, ["chunk", "on"])).stop_reason == "end_turn"
    assert stock.texts() == ["go", "on"]


async def test_cancel_while_a_permission_is_open(stock, tmp_path):
    session = await stock.new(tmp_path)
    turn = asyncio.ensure_future(stock.prompt(session, ["ask"]))
    await soon(stock.asked)
    await stock.agent.cancel(session)
    assert (await turn).stop_reason == "cancelled"
    # As the protocol asks of a client, and too late: it must neither count nor break anything.
    stock.chosen.set_result("")
    assert (await stock.prompt(session, ["chunk", "on"])).stop_reason == "end_turn"
    assert stock.texts() == [json.dumps({"outcome": {"outcome": "cancelled"}}), "on"]


async def test_load_replays_everything_before_it_answers(stock, sdk_connect, tmp_path):
    session = await stock.new(tmp_path)
    await stock.prompt(session, ["flood", 50, 10])
    live = stock.texts()
    other = await sdk_connect()
    answer = await other.agent.load_session(str(tmp_path), session)
    assert answer.modes.current_mode_id == "a"
    replay = [m for m in other.wire if m.get("method") == "session/update"]
    assert other.wire[-1]["result"]["modes"], "the answer must follow the replay"
    kinds = [m["params"]["update"]["sessionUpdate"] for m in replay]
    assert kinds == ["user_message_chunk", "session_info_update"] + ["agent_message_chunk"] * 50
    # The SDK may still be busy with the last ones: it answers a load without waiting for them.
    await until(lambda: len(other.texts()) == 50)
    assert other.texts() == live
    (said,) = other.texts("user_message_chunk")
    assert json.loads(said) == [["flood", 50, 10]]


async def test_both_clients_follow_a_loaded_session(stock, sdk_connect, tmp_path):
    session = await stock.new(tmp_path)
    other = await sdk_connect()
    await other.agent.load_session(str(tmp_path), session)
    await other.prompt(session, ["chunk", "to both"])
    await until(lambda: stock.texts() == ["to both"])
    assert other.texts() == ["to both"]
    # Only the one that did not write it has to be told what was asked.
    assert len(stock.texts("user_message_chunk")) == 1
    assert other.texts("user_message_chunk") == []


async def test_list(stock, tmp_path):
    session = await stock.new(tmp_path)
    await stock.prompt(session, ["chunk", "hello"])
    (tmp_path / "other").mkdir()
    elsewhere = await stock.new(tmp_path / "other")
    everything = await stock.agent.list_sessions()
    assert {info.session_id for info in everything.sessions} == {session, elsewhere}
    (info,) = (await stock.agent.list_sessions(cwd=str(tmp_path))).sessions
    assert (info.session_id, info.cwd) == (session, str(tmp_path))
    assert info.title == json.dumps([["chunk", "hello"]])
    assert info.updated_at


async def test_set_mode(stock, tmp_path):
    session = await stock.new(tmp_path)
    await stock.agent.set_session_mode(session, "b")
    await until(lambda: stock.updates)
    assert [u.current_mode_id for u in stock.updates] == ["b"]


async def test_errors_are_the_protocols_own(stock, tmp_path):
    with pytest.raises(acp.RequestError) as missing:
        await stock.prompt("nobody", ["chunk", "x"])
    assert missing.value.code == -32002
    with pytest.raises(acp.RequestError) as relative:
        await stock.agent.new_session("not/absolute")
    assert relative.value.code == -32602
    session = await stock.new(tmp_path)
    with pytest.raises(acp.RequestError, match="out of quota") as failed:
        await stock.prompt(session, ["fail", -32000, "out of quota"])
    assert failed.value.code == -32000
