# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The way of a message from an agent to its windows: in order, once, and never lost."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from acpclient import file_there, is_state, scripted, seq


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "early": scripted(early=300),
        "other": scripted(),
        "confused": scripted(session_id="the-one"),
        "old": scripted(
            models={
                "currentModelId": "small",
                "availableModels": [
                    {"modelId": "small", "name": "Small"},
                    {"modelId": "large", "name": "Large"},
                ],
            }
        ),
    }


def flood_numbers(client):
    return [int(text.split()[0]) for text in client.texts()]


async def test_a_response_comes_after_the_updates_that_preceded_it(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["flood", 5000, 50])
    assert response["result"]["stopReason"] == "end_turn"
    assert flood_numbers(window) == list(range(5000))
    assert window.of_sessions()[-1] is response
    seqs = window.seqs(session)
    assert seqs == list(range(1, len(seqs) + 1))


async def test_what_one_read_brought_leaves_in_one_frame(window, tmp_path):
    session = await window.new(tmp_path)
    # In one write: else it is the machine's load that decides what one read brings.
    await window.prompt(session, ["burst", 5000, 50])
    assert flood_numbers(window) == list(range(5000))
    assert window.frames < 2500


async def test_a_stock_client_gets_one_message_a_frame_and_nothing_of_ours(acp_connect, tmp_path):
    client = await acp_connect(ndjson=False)
    session = await client.new(tmp_path)
    await client.prompt(session, ["flood", 200, 50])
    assert client.frames == len(client.received)
    assert flood_numbers(client) == list(range(200))
    methods = {message.get("method") for message in client.received}
    assert methods == {None, "session/update"}
    assert client.updates("user_message_chunk") == []


async def test_updates_before_the_new_session_response_are_kept(window, tmp_path):
    session = await window.new(tmp_path, agent="early")
    await window.prompt(session, ["chunk", "now"])
    assert window.texts() == [*(f"early {n}" for n in range(300)), "now"]


async def test_updates_after_the_prompt_response_arrive(window, tmp_path):
    session = await window.new(tmp_path)
    go = tmp_path / "go"
    response = await window.prompt(
        session, ["chunk", "in time"], ["respond"], file_there(go), ["chunk", "late"]
    )
    go.touch()
    await window.wait(lambda m: window.texts() == ["in time", "late"])
    late = window.updates("agent_message_chunk")[-1]
    assert window.received.index(late) > window.received.index(response)


async def test_updates_of_an_unknown_session_and_unknown_kinds(window, tmp_path):
    session = await window.new(tmp_path)
    stranger = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"nobody","update":{"sessionUpdate":"agent_message_chunk"}}}\n'
    await window.prompt(
        session,
        ["raw", stranger],
        ["raw", '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7}}\n'],
        ["raw", '{"jsonrpc":"2.0","method":"session/update","params":null}\n'],
        ["update", {"sessionUpdate": "made_up_kind", "anything": {"goes": [1, 2]}}],
    )
    (made_up,) = window.updates("made_up_kind")
    assert made_up["params"]["update"]["anything"] == {"goes": [1, 2]}
    assert all(message["params"]["sessionId"] == session for message in window.of("session/update"))


async def test_bad_lines_of_an_agent_do_not_end_the_turn(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(
        session,
        ["raw", "npm warn deprecated\n"],
        ["raw", "[1,2]\n42\n{not json}\n"],
        ["bytes", b'{"a":"\xff"}\n'.hex()],
        ["raw", '{"jsonrpc":"2.0","id":4711,"result":{}}\n'],
        ["chunk", "still here"],
    )
    assert response["result"]["stopReason"] == "end_turn"
    assert window.texts() == ["still here"]


async def test_a_line_of_32_mib(window, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["big", 32 * 1024 * 1024], ["chunk", "after"])
    assert [len(text) for text in window.texts()] == [32 * 1024 * 1024, 5]


async def test_unknown_requests_of_an_agent(window, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["request", "craft/drainMidTurnQueue", {}])
    assert json.loads(window.texts()[0])["code"] == -32601


async def test_two_sessions_with_one_agent_and_one_with_another(window, tmp_path):
    sessions = [await window.new(tmp_path, agent) for agent in ("scripted", "scripted", "other")]
    assert len(set(sessions)) == 3
    for number, session in enumerate(sessions):
        await window.prompt(session, ["chunk", f"hello {number}"])
    for number, session in enumerate(sessions):
        (update,) = [
            m for m in window.updates("agent_message_chunk") if m["params"]["sessionId"] == session
        ]
        assert update["params"]["update"]["content"]["text"] == f"hello {number}"


async def test_a_session_is_not_given_to_another_by_an_agent_that_repeats_its_ids(window, tmp_path):
    session = await window.new(tmp_path, "confused")
    meta = {"jupyter-acp": {"agent": "confused"}}
    second = await window.ask(
        "session/new", {"cwd": str(tmp_path), "mcpServers": [], "_meta": meta}
    )
    assert "has given two sessions the same id" in second["error"]["message"]
    assert len((await window.result("session/list", {}))["sessions"]) == 1
    await window.prompt(session, ["chunk", "still mine"])
    (update,) = window.updates("agent_message_chunk")
    assert update["params"]["sessionId"] == session


async def test_attach_answers_first_and_then_replays_everything(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["flood", 1000, 20])
    other = await acp_connect()
    at = len(other.received)
    answer = await other.attach(session)
    last = window.seqs(session)[-1]
    assert answer["seq"] == last and answer["state"] == "idle" and answer["pending"] == []
    await other.wait(lambda m: seq(m) == last)
    assert "result" in other.of_sessions(at)[0]
    assert other.seqs(session) == list(range(1, last + 1))
    assert flood_numbers(other) == list(range(1000))
    # The user's own words are part of the transcript.
    assert len(other.texts("user_message_chunk")) == 1


async def test_attach_after_a_number_replays_only_what_followed(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["flood", 100, 20])
    other = await acp_connect()
    answer = await other.attach(session, after=50)
    await other.wait(lambda m: seq(m) == answer["seq"])
    assert other.seqs(session) == list(range(51, answer["seq"] + 1))


async def test_attach_beyond_the_end_or_to_nothing_is_refused(window, tmp_path):
    session = await window.new(tmp_path)
    beyond = await window.ask("_jupyter/session/attach", {"sessionId": session, "after": 10**9})
    assert "attach with 0" in beyond["error"]["message"]
    nothing = await window.ask("_jupyter/session/attach", {"sessionId": "nothing"})
    assert nothing["error"]["code"] == -32002
    negative = await window.ask("_jupyter/session/attach", {"sessionId": session, "after": -1})
    assert negative["error"]["code"] == -32602


async def test_random_disconnects_in_a_streaming_turn_lose_and_double_nothing(
    window, acp_connect, tmp_path
):
    session = await window.new(tmp_path)
    chance = random.Random(7)
    turn = await window.start_prompt(
        session, *[step for _ in range(40) for step in (["flood", 250, 400], ["sleep", 0.02])]
    )
    seen: list[int] = []
    last = None
    while last is None or seen[-1] < last:
        client = await acp_connect()
        await client.attach(session, after=seen[-1] if seen else 0)
        if last is None:
            await asyncio.sleep(chance.random() * 0.08)
            if any(m.get("id") == turn and "result" in m for m in window.received):
                last = window.seqs(session)[-1]
        else:
            await client.wait(lambda m: seq(m) == last)
        seen.extend(client.seqs(session))
        await client.close()
    assert seen == list(range(1, last + 1))


async def test_two_windows_share_a_session(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    other = await acp_connect()
    await other.attach(session)
    await window.prompt(session, ["chunk", "one"])
    response = await other.prompt(session, ["chunk", "two"])
    assert response["result"]["stopReason"] == "end_turn"
    last = other.seqs(session)[-1]
    await window.wait(lambda m: seq(m) == last)
    numbered = [[m for m in w.received if seq(m)] for w in (window, other)]
    assert numbered[0] == numbered[1]
    assert window.texts() == ["one", "two"]


async def test_a_turn_goes_on_without_any_window(acp_connect, tmp_path):
    first = await acp_connect()
    session = await first.new(tmp_path)
    await first.start_prompt(session, ["chunk", "a"], ["sleep", 0.5], ["flood", 500, 20])
    await first.wait(lambda m: m.get("method") == "session/update")
    await first.close()
    await asyncio.sleep(1)
    second = await acp_connect()
    await second.attach(session)
    await second.wait(is_state("idle"))
    assert second.texts()[0] == "a" and len(second.texts()) == 501


async def test_a_prompt_during_a_turn_waits_for_its_own(window, tmp_path):
    session = await window.new(tmp_path)
    first = await window.start_prompt(session, ["sleep", 0.3], ["chunk", "first"])
    second = await window.start_prompt(session, ["chunk", "second"])
    await window.response(second)
    assert window.texts() == ["first", "second"]
    order = [m["id"] for m in window.received if m.get("id") in (first, second)]
    assert order == [first, second]


async def test_cancel_ends_the_turn_and_what_is_queued(window, tmp_path):
    session = await window.new(tmp_path)
    running = await window.start_prompt(session, ["until_cancel"])
    queued = await window.start_prompt(session, ["chunk", "never"])
    await window.wait(is_state("running"))
    await window.notify("session/cancel", {"sessionId": session})
    for id in (running, queued):
        assert (await window.response(id))["result"]["stopReason"] == "cancelled"
    assert window.texts() == []
    assert (await window.prompt(session, ["chunk", "again"]))["result"]["stopReason"] == "end_turn"


def named(session, name, *steps):
    """Return a prompt that its sender has given a name."""
    return {
        "sessionId": session,
        "prompt": [{"type": "text", "text": json.dumps(steps)}, {"type": "text", "text": "!"}],
        "_meta": {"jupyter-acp": {"promptId": name}},
    }


async def test_every_window_knows_what_waits(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    first = await window.start("session/prompt", named(session, "p1", ["until_cancel"]))
    await window.wait(is_state("running"))
    second = await window.start("session/prompt", named(session, "p2", ["chunk", "two"]))
    third = await window.start("session/prompt", named(session, "p3", ["chunk", "three"]))
    await window.wait(lambda m: len(m.get("params", {}).get("queued", [])) == 2)
    waiting = [
        {"promptId": "p2", "text": '[["chunk", "two"]]\n!'},
        {"promptId": "p3", "text": '[["chunk", "three"]]\n!'},
    ]
    # One that comes later, as after a reload, is told so with the answer.
    late = await acp_connect()
    assert (await late.attach(session))["queued"] == waiting
    # The one in the middle is not wanted any more; then the first ends.
    await window.notify("$/cancel_request", {"requestId": second})
    await late.wait(lambda m: m.get("params", {}).get("queued") == waiting[1:])
    await window.notify("$/cancel_request", {"requestId": first})
    assert (await window.response(second))["result"]["stopReason"] == "cancelled"
    await window.response(third)
    await late.wait(lambda m: late.texts() == ["three"])
    for client in (window, late):
        told = [m["params"]["queued"] for m in client.of("_jupyter/session/queue")]
        assert told[-2:] == [waiting[1:], []]
        marks = [m["params"]["_meta"]["jupyter-acp"] for m in client.updates("user_message_chunk")]
        assert [mark["promptId"] for mark in marks] == ["p1", "p1", "p3", "p3"]
        # Written down before it has left the queue: nobody misses it in between.
        methods = [
            "left" if m.get("params", {}).get("queued") == [] else "written"
            for m in client.received
            if "queued" in m.get("params", {}) or '"p3"' in json.dumps(m.get("params", {}))
        ]
        assert methods.index("left") > methods.index("written")


async def test_cancelling_the_prompt_request_cancels_the_turn(window, tmp_path):
    session = await window.new(tmp_path)
    id = await window.start_prompt(session, ["until_cancel"])
    await window.wait(is_state("running"))
    await window.notify("$/cancel_request", {"requestId": id})
    assert (await window.response(id))["result"]["stopReason"] == "cancelled"


async def test_an_error_of_the_agent_reaches_the_window_as_it_is(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["fail", -32000, "Log in first"])
    assert response["error"] == {"code": -32000, "message": "Log in first"}
    state = await window.wait(lambda m: is_state("idle")(m) and "error" in m["params"])
    assert state["params"]["error"]["message"] == "Log in first"


async def test_what_an_agent_hides_in_the_data_of_an_error_is_told(window, tmp_path):
    session = await window.new(tmp_path)
    await window.prompt(session, ["fail", -32603, "Internal error", {"details": "No more credit"}])
    state = await window.wait(lambda m: is_state("idle")(m) and "error" in m["params"])
    assert state["params"]["error"]["message"] == "Internal error: No more credit"


async def test_modes_are_told_to_every_window(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    other = await acp_connect()
    await other.attach(session)
    await window.result("session/set_mode", {"sessionId": session, "modeId": "b"})
    update = await other.wait(lambda m: m.get("method") == "session/update")
    assert update["params"]["update"]["currentModeId"] == "b"
    later = await acp_connect()
    assert (await later.attach(session))["modes"]["currentModeId"] == "b"


async def test_models_are_told_to_every_window_that_knows_us(window, acp_connect, tmp_path):
    session = await window.new(tmp_path, "old")
    other = await acp_connect()
    assert (await other.attach(session))["models"]["currentModelId"] == "small"
    stock = await acp_connect(ndjson=False)
    await stock.result("session/load", {"sessionId": session, "cwd": str(tmp_path)})
    refused = await window.ask("session/set_model", {"sessionId": session, "modelId": "none"})
    assert refused["error"]["message"] == "There is no such model."
    await window.result("session/set_model", {"sessionId": session, "modelId": "large"})
    for client in (window, other):
        told = await client.wait(lambda m: m.get("method") == "_jupyter/session/model")
        assert told["params"]["modelId"] == "large"
    later = await acp_connect()
    assert (await later.attach(session))["models"]["currentModelId"] == "large"
    await window.prompt(session, ["chunk", "hi"])
    await stock.wait(lambda m: "hi" in json.dumps(m))
    assert "_jupyter/session/model" not in json.dumps(stock.received)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "cwd"),
        ({"cwd": "relative/path"}, "absolute"),
        ({"cwd": "/no/such/folder/at/all"}, "no folder"),
        ({"cwd": "/", "mcpServers": "none"}, "mcpServers"),
        ({"cwd": "/", "_meta": {"jupyter-acp": {"agent": "nobody"}}}, "no agent `nobody`"),
        ({"cwd": "/", "_meta": {"jupyter-acp": {"agent": 5}}}, "id of an agent"),
        (None, "cwd"),
    ],
)
async def test_a_bad_new_session_is_refused_in_words(window, params, words):
    response = await window.ask("session/new", params)
    assert words in response["error"]["message"]
    listed = await window.result("session/list", {})
    assert listed["sessions"] == []


async def test_the_first_request_must_be_initialize(acp_connect, tmp_path):
    client = await acp_connect(initialize=False)
    response = await client.ask("session/new", {"cwd": str(tmp_path)})
    assert "initialize" in response["error"]["message"]
    assert (await client.ask("_jupyter/nothing"))["error"]["code"] == -32600
    await client.initialize()
    assert (await client.ask("_jupyter/nothing"))["error"]["code"] == -32601


@pytest.mark.parametrize("frame", ["not json", "{", "[]", "7", '{"jsonrpc":"2.0"}', "\n\n"])
async def test_bad_frames_do_not_close_the_socket(window, frame):
    await window.send(frame)
    assert "sessions" in await window.result("session/list", {})


async def test_load_replays_and_then_answers(acp_connect, tmp_path):
    first = await acp_connect()
    session = await first.new(tmp_path)
    await first.prompt(session, ["flood", 300, 20])
    stock = await acp_connect(ndjson=False)
    params = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
    response = await stock.ask("session/load", params)
    assert response["result"]["modes"]["currentModeId"] == "a"
    assert flood_numbers(stock) == list(range(300))
    assert len(stock.updates("user_message_chunk")) == 1
    assert stock.received[-1] is response


async def test_resume_replays_nothing_and_follows(acp_connect, tmp_path):
    first = await acp_connect()
    session = await first.new(tmp_path)
    await first.prompt(session, ["chunk", "past"])
    stock = await acp_connect(ndjson=False)
    await stock.result("session/resume", {"sessionId": session, "cwd": str(tmp_path)})
    await first.prompt(session, ["chunk", "present"])
    await stock.wait(lambda m: stock.texts() == ["present"])


async def test_list_pages_and_filters(window, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    for folder in [here] * 101 + [there]:
        await window.new(folder)
    page = await window.result("session/list", {"cwd": str(here)})
    assert len(page["sessions"]) == 100
    rest = await window.result("session/list", {"cwd": str(here), "cursor": page["nextCursor"]})
    assert len(rest["sessions"]) == 1 and "nextCursor" not in rest
    assert len((await window.result("session/list", {"cwd": str(there)}))["sessions"]) == 1
    assert (await window.ask("session/list", {"cursor": "x"}))["error"]["code"] == -32602


async def test_closing_keeps_the_transcript_and_deleting_does_not(window, acp_connect, tmp_path):
    session = await window.new(tmp_path)
    running = await window.start_prompt(session, ["chunk", "said"], ["until_cancel"])
    await window.wait(lambda m: window.texts() == ["said"])
    await window.result("session/close", {"sessionId": session})
    assert (await window.response(running))["result"]["stopReason"] == "cancelled"
    other = await acp_connect()
    assert (await other.attach(session))["state"] == "closed"
    await other.wait(is_state("closed"))
    assert other.texts() == ["said"]
    await other.result("session/delete", {"sessionId": session})
    gone = await other.ask("_jupyter/session/attach", {"sessionId": session})
    assert gone["error"]["code"] == -32002
