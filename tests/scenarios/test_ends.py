# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Races at the ends: of turns, of sessions, of agents and their input, of windows and the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys

import pytest
from acpclient import is_state, scripted, seq
from server import agents_running
from steps import loading, saved, until

from jupyter_acp.agents.process import AgentProcess
from jupyter_acp.client.documents import disk
from jupyter_acp.client.terminals.service import MAX_OUTPUT_LIMIT
from jupyter_acp.paths import contained
from jupyter_acp.rpc import RpcError
from jupyter_acp.sessions import agent_link as links

CLOSES = {"sessionCapabilities": {"close": {}, "delete": {}}}
LOADS = {"loadSession": True}
OUTPUT = "_jupyter/terminal/output"
COMMANDS = {"sessionUpdate": "available_commands_update", "availableCommands": []}
ODD_META = {
    "_meta": "no object",
    "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "odd"}},
}


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "early": scripted(early=3),
        "prompt": scripted(behind=[COMMANDS]),
        "odd-meta": scripted(early_params=[ODD_META]),
        "odd-kinds": scripted(
            early_params=[
                {"update": {"sessionUpdate": kind}} for kind in (["a"], {"b": 1}, None, 7)
            ]
        ),
        "slow-new": scripted(slow_new=4),
        "slow-load": scripted(capabilities=LOADS, replay=20, replay_pause=0.25),
        "late-load": scripted(capabilities=LOADS, replay=3, replay_late=4),
        "deaf": scripted(close_stdin=True),
        "mute": scripted(mute=True),
        "stubborn": scripted(capabilities=CLOSES, ignore=["session/close", "session/delete"]),
        "willful": scripted(own_mode="c"),
    }


async def slow_reading(journal, monkeypatch):
    """Let nothing be read from the journal until the first event; the second says that it was tried."""
    await journal.flush()
    read, go, asked = journal.read, asyncio.Event(), asyncio.Event()

    async def slow(*args):
        asked.set()
        await go.wait()
        return await read(*args)

    monkeypatch.setattr(journal, "read", slow)
    return go, asked


def new_with(agent, cwd):
    return {"cwd": str(cwd), "mcpServers": [], "_meta": {"jupyter-acp": {"agent": agent}}}


# What a window is sent


async def test_a_stock_client_loads_a_session_with_much_that_is_not_for_it(
    window, acp_connect, tmp_path
):
    session = await window.new(tmp_path)
    # In several messages, so that more than one batch has nothing else in it.
    code = "import time\nfor _ in range(8): print('x' * 120_000, flush=True); time.sleep(0.08)"
    create = {"command": sys.executable, "args": ["-c", code]}
    await window.prompt(session, ["chunk", "before"], ["request", "terminal/create", create])
    await window.wait(lambda m: m.get("method") == "_jupyter/terminal/exit")
    await window.prompt(session, ["chunk", "after"])
    assert sum(len(m["params"]["data"]) for m in window.of(OUTPUT)) > 3 * 256 * 1024
    stock = await acp_connect(ndjson=False)
    response = await stock.ask("session/load", loading(session, tmp_path))
    assert "result" in response and stock.received[-1] is response
    assert stock.of(OUTPUT) == []
    assert (stock.texts()[0], stock.texts()[-1]) == ("before", "after")


async def test_loading_a_session_again_repeats_the_clients_own_words(acp_connect, tmp_path):
    stock = await acp_connect(ndjson=False)
    session = await stock.new(tmp_path)
    await stock.prompt(session, ["chunk", "hello"])
    assert stock.texts("user_message_chunk") == []
    await stock.result("session/load", loading(session, tmp_path))
    assert len(stock.texts("user_message_chunk")) == 1
    assert stock.texts() == ["hello", "hello"]
    await stock.prompt(session, ["chunk", "again"])
    assert len(stock.texts("user_message_chunk")) == 1, "it knows what it has just said"


@pytest.mark.parametrize("ndjson", [True, False])
@pytest.mark.parametrize("agent", ["early", "prompt"])
async def test_no_update_comes_before_the_response_that_names_its_session(
    acp_connect, tmp_path, agent, ndjson
):
    client = await acp_connect(ndjson=ndjson)
    at = len(client.received)
    session = await client.new(tmp_path, agent)
    await client.prompt(session, ["chunk", "now"])
    first, *rest = client.of_sessions(at)
    assert first["result"]["sessionId"] == session
    kinds = [m["params"]["update"]["sessionUpdate"] for m in rest if "update" in str(m)]
    assert ("available_commands_update" in kinds) == (agent == "prompt")
    assert len(client.texts()) == (4 if agent == "early" else 1)


async def test_attaching_again_lets_no_response_overtake_its_turn(
    window, acp, tmp_path, monkeypatch
):
    session = await window.new(tmp_path)
    await window.prompt(session, ["flood", 500, 2000])
    manager = await acp.manager()
    go, asked = await slow_reading(manager._journal, monkeypatch)
    await window.attach(session)
    await asyncio.wait_for(asked.wait(), 30)
    at = len(window.received)
    turn = await window.start_prompt(session, ["chunk", "the end"])
    await until(lambda: '"the end"' in str(manager.get(session).log._chunks))
    await until(lambda: not manager.get(session).running)
    await window.attach(session)
    go.set()
    response = await window.response(turn)
    before = window.received[at : window.received.index(response)]
    numbers = [seq(m) for m in before if seq(m)]
    assert numbers == list(range(1, numbers[-1] + 1))
    assert any("the end" in str(m) for m in before if "agent_message_chunk" in str(m))


async def test_attach_goes_on_in_the_same_run_and_starts_over_in_another(
    window, acp_connect, tmp_path
):
    session = await window.new(tmp_path)
    await window.prompt(session, ["flood", 20, 10])
    initialized = await window.initialize()
    run = initialized["_meta"]["jupyter-acp"]["run"]
    last = window.seqs(session)[-1]
    for told, after in ((run, 12), ("another run", 0), (None, 12)):
        other = await acp_connect()
        params = {"sessionId": session, "after": 12, **({"run": told} if told else {})}
        answer = await other.result("_jupyter/session/attach", params)
        assert (answer["run"], answer["after"]) == (run, after)
        await other.wait(lambda m: seq(m) == last)
        assert other.seqs(session) == list(range(after + 1, last + 1))
    # Numbers of another run may be beyond the end, which is no reason to refuse.
    params = {"sessionId": session, "after": 10**6, "run": "another run"}
    assert (await window.result("_jupyter/session/attach", params))["after"] == 0


async def test_the_run_changes_with_the_server(window, acp, acp_connect, tmp_path):
    run = (await window.initialize())["_meta"]["jupyter-acp"]["run"]
    await acp.stop_extension()
    later = await acp_connect()
    assert (await later.initialize())["_meta"]["jupyter-acp"]["run"] != run


# The end of a session


async def test_a_session_deleted_in_a_turn_that_goes_on_leaves_nothing(
    window, acp, tmp_path, patience
):
    session = await window.new(tmp_path)
    turn = await window.start_prompt(session, ["sleep", 4], ["chunk", "late"])
    await window.wait(is_state("running"))
    await window.result("session/delete", {"sessionId": session})
    await window.response(turn)
    assert await saved(acp, tmp_path) == (set(), set())
    # Answered when the agent is done with the turn.
    other = await window.new(tmp_path)
    await window.prompt(other, ["chunk", "on time"])
    assert await saved(acp, tmp_path) == ({other}, {other})
    assert window.texts() == ["on time"]


async def test_a_terminal_that_ends_after_its_session_was_deleted_leaves_nothing(
    window, acp, tmp_path, monkeypatch
):
    monkeypatch.setattr("jupyter_acp.client.terminals.command.STOP_GRACE", 10)
    session = await window.new(tmp_path)
    command = "trap '' TERM; echo started; while true; do sleep 0.1; echo PRIVATE; done"
    await window.prompt(session, ["request", "terminal/create", {"command": command}])
    await window.wait(lambda m: m.get("method") == OUTPUT)
    (terminal,) = (await acp.manager())._services._terminals._terminals.values()
    await window.result("session/delete", {"sessionId": session})
    assert terminal.running
    await until(lambda: not terminal.running)
    assert await saved(acp, tmp_path) == (set(), set())


async def test_deleting_what_a_lagging_window_follows_does_not_close_the_window(
    window, acp, acp_connect, tmp_path, monkeypatch
):
    session, kept = await window.new(tmp_path), await window.new(tmp_path)
    await window.prompt(session, ["flood", 500, 2000])
    go, asked = await slow_reading((await acp.manager())._journal, monkeypatch)
    lagging = await acp_connect()
    await lagging.attach(session)
    await lagging.attach(kept)
    await asyncio.wait_for(asked.wait(), 30)
    await window.result("session/delete", {"sessionId": session})
    go.set()
    await window.prompt(kept, ["chunk", "still here"])
    await lagging.wait(lambda m: lagging.texts() == ["still here"])
    listed = await lagging.result("session/list", {})
    assert [entry["sessionId"] for entry in listed["sessions"]] == [kept]


async def test_an_agent_that_does_not_answer_cannot_keep_a_session(window, tmp_path, patience):
    session = await window.new(tmp_path, "stubborn")
    await window.prompt(session, ["chunk", "hi"])
    await window.result("session/close", {"sessionId": session})
    await window.result("session/delete", {"sessionId": session})
    assert (await window.result("session/list", {}))["sessions"] == []


async def test_a_prompt_does_not_bring_back_what_is_being_deleted(
    window, acp, acp_connect, tmp_path, patience
):
    other = await acp_connect()
    session = await window.new(tmp_path, "stubborn")
    await window.prompt(session, ["chunk", "hi"])
    deleting = await window.start("session/delete", {"sessionId": session})
    # The agent lets it wait: everything else must not.
    await until(lambda: session not in {each.id for each in acp._manager.all()})
    steps = json.dumps([["chunk", "PRIVATE"]])
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": steps}]}
    assert "There is no session" in (await other.ask("session/prompt", prompt))["error"]["message"]
    assert "result" in await window.response(deleting)
    assert await saved(acp, tmp_path) == (set(), set())


async def test_a_window_that_closes_during_session_new_finds_the_session_later(
    window, acp, acp_connect, tmp_path
):
    hasty = await acp_connect()
    await hasty.start("session/new", new_with("slow-new", tmp_path))
    manager = await acp.manager()
    await until(lambda: manager.links.get("slow-new").agent is not None)
    await hasty.close()
    assert [s for s in manager.all() if s.record.created] == []
    await until(lambda: any(session.record.created for session in manager.all()))
    (entry,) = (await window.result("session/list", {}))["sessions"]
    await window.attach(entry["sessionId"])
    await window.prompt(entry["sessionId"], ["chunk", "found"])
    assert window.texts() == ["found"]
    assert await saved(acp, tmp_path) == ({entry["sessionId"]}, {entry["sessionId"]})


# The end of the server


async def test_nothing_runs_after_a_stop_with_a_queued_prompt(window, acp, tmp_path):
    session = await window.new(tmp_path)
    await window.start_prompt(session, ["sleep", 60])
    await window.start_prompt(session, ["sleep", 60])
    await window.wait(is_state("running"))
    await window.result("session/list", {})
    manager = await acp.manager()
    await asyncio.wait_for(acp.stop_extension(), 30)
    await until(lambda: not manager.running)
    await asyncio.sleep(0.2)
    assert not manager.links.get("scripted").running
    assert agents_running() == []


async def test_a_stop_does_not_wait_for_an_agent_that_is_starting(window, acp, tmp_path):
    await window.start("session/new", new_with("mute", tmp_path))
    manager = await acp.manager()
    await until(agents_running)
    assert not manager.links.get("mute").running
    # An agent has two minutes to start.
    await asyncio.wait_for(acp.stop_extension(), 30)
    await asyncio.sleep(0.2)
    assert agents_running() == []


async def test_windows_are_closed_when_the_server_stops(window, acp, acp_connect, tmp_path):
    other = await acp_connect(ndjson=False)
    await window.new(tmp_path)
    await acp.stop_extension()
    for client in (window, other):
        await asyncio.wait_for(client.closed.wait(), 30)
    again = await acp_connect()
    assert len((await again.result("session/list", {}))["sessions"]) == 1


# The end of an agent


async def test_a_cancel_while_the_past_is_replayed_doubles_nothing(window, acp, tmp_path):
    session = await window.new(tmp_path, "slow-load")
    await window.prompt(session, ["chunk", "before"])
    await window.prompt(session, ["exit", 1])
    turn = await window.start_prompt(session, ["chunk", "never"])
    behind = (await acp.manager()).get(session)
    await until(lambda: behind.transcript.gate is not None and behind.transcript.gate.stopped > 0)
    gate = behind.transcript.gate
    await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    assert gate.stopped < 20
    assert (await window.prompt(session, ["chunk", "after"]))["result"]["stopReason"] == "end_turn"
    assert gate.stopped == 20
    assert window.texts() == ["before", "after"]
    assert len(window.of("_jupyter/session/restored")) == 1


async def test_a_replay_after_the_load_response_doubles_nothing(window, acp, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "late-load")
    await window.prompt(session, ["chunk", "before"])
    await jp_fetch("acp", "agents", "late-load", "restart", method="POST", body="{}")
    await window.prompt(session, ["chunk", "after"])
    assert window.texts() == ["before", "after"]


async def test_an_early_update_whose_meta_is_no_object(window, tmp_path):
    session = await window.new(tmp_path, "odd-meta")
    await window.prompt(session, ["chunk", "now"])
    assert window.texts() == ["odd", "now"]
    seqs = window.seqs(session)
    assert seqs == list(range(1, len(seqs) + 1))


async def test_an_early_update_whose_kind_is_no_text(window, tmp_path):
    session = await window.new(tmp_path, "odd-kinds")
    bad = {"sessionUpdate": ["a"], "content": {}}
    await window.prompt(session, ["update", bad], ["chunk", "now"])
    assert window.texts() == ["now"]


async def test_updates_of_unknown_sessions_do_not_fill_the_memory(window, acp, tmp_path):
    session = await window.new(tmp_path)
    content = {"type": "text", "text": "x" * 1_000_000}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    params = {"sessionId": "nobody", "update": update}
    stray = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}) + "\n"
    await window.prompt(session, *[["raw", stray]] * 8)
    held = (await acp.manager()).links.get("scripted")._early
    assert 0 < sum(len(json.dumps(params)) for _, params in held) <= links.EARLY_LIMIT


async def test_an_agent_that_closes_its_input_but_lives(window, tmp_path):
    response = await window.ask("session/new", new_with("deaf", tmp_path))
    assert "closed its input" in response["error"]["message"]
    await until(lambda: agents_running() == [])


async def test_an_agent_that_writes_while_large_prompts_wait_for_it(window, tmp_path):
    talking, *waiting = [await window.new(tmp_path) for _ in range(3)]
    turn = await window.start_prompt(talking, ["sleep", 1], ["flood", 3000, 500])
    await window.wait(is_state("running"))
    large = [{"type": "text", "text": "[]"}, {"type": "text", "text": "z" * 5_000_000}]
    turns = [
        await window.start("session/prompt", {"sessionId": session, "prompt": large})
        for session in waiting
    ]
    for id in (turn, *turns):
        assert (await window.response(id))["result"]["stopReason"] == "end_turn"
    assert len(window.texts()) == 3000


async def test_restarts_of_a_healthy_agent_are_no_respawns(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path)
    await window.prompt(session, ["exit", 1])
    for _ in range(5):
        response = await jp_fetch("acp", "agents", "scripted", "restart", method="POST", body="{}")
        assert json.loads(response.body)["running"] is True
    assert (await window.prompt(session, ["chunk", "hi"]))["result"]["stopReason"] == "end_turn"


async def test_the_terminals_of_an_agent_that_crashed_are_ended(window, acp, tmp_path):
    session = await window.new(tmp_path)
    create = ["request", "terminal/create", {"command": "sleep 1000"}]
    await window.prompt(session, create, ["exit", 1])
    kept = (await acp.manager())._services._terminals
    await until(lambda: not kept._terminals and not kept._ending)
    ended = await window.wait(lambda m: m.get("method") == "_jupyter/terminal/exit")
    assert ended["params"]["exitStatus"]["signal"] == "SIGTERM"


async def test_stopping_a_process_that_has_ended_signals_nobody():
    process = await AgentProcess.start(
        [sys.executable, "-c", "pass"], env=dict(os.environ), grace=0.5
    )
    await process.wait()
    stranger = await asyncio.create_subprocess_exec("sleep", "1000", start_new_session=True)
    try:
        # What the system does when it gives a number out again.
        process.pid = stranger.pid
        await process.stop()
        process.stop_now()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stranger.wait(), 0.5)
    finally:
        with contextlib.suppress(ProcessLookupError):
            stranger.kill()
        await stranger.wait()


# The end of a turn


async def test_cancelling_a_queued_prompt_leaves_the_running_one_alone(
    window, acp_connect, tmp_path
):
    session = await window.new(tmp_path)
    running = await window.start_prompt(session, ["ask"])
    question = await window.wait(lambda m: m.get("method") == "session/request_permission")
    other = await acp_connect()
    queued = await other.start_prompt(session, ["chunk", "never"])
    await other.notify("$/cancel_request", {"requestId": queued})
    # At once: what is behind it may take hours.
    assert (await other.response(queued))["result"]["stopReason"] == "cancelled"
    answer = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
    assert (await window.response(running))["result"]["stopReason"] == "end_turn"
    assert [json.loads(text) for text in window.texts()] == [answer]


async def test_a_mode_that_the_agent_goes_on_to_wins(window, acp_connect, tmp_path):
    session = await window.new(tmp_path, "willful")
    await window.result("session/set_mode", {"sessionId": session, "modeId": "b"})
    await window.wait(lambda m: len(window.updates("current_mode_update")) == 2)
    modes = [m["params"]["update"]["currentModeId"] for m in window.updates("current_mode_update")]
    assert modes == ["b", "c"]
    other = await acp_connect()
    assert (await other.attach(session))["modes"]["currentModeId"] == "c"


async def test_a_cancel_before_the_agent_has_room_for_the_prompt(
    window, acp, tmp_path, monkeypatch
):
    session = await window.new(tmp_path)
    connection = (await acp.manager()).links.get("scripted").agent.connection
    room, asked = asyncio.Event(), asyncio.Event()

    async def wait_for_room():
        asked.set()
        await room.wait()

    with monkeypatch.context() as patch:
        patch.setattr(connection._outbox, "room", wait_for_room)
        turn = await window.start_prompt(session, ["chunk", "never"])
        await asyncio.wait_for(asked.wait(), 30)
        await window.notify("session/cancel", {"sessionId": session})
        await window.result("session/list", {})
        room.set()
        assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    await window.prompt(session, ["chunk", "again"])
    assert window.texts() == ["again"]


@pytest.mark.parametrize("where", ["params", "block"])
async def test_a_prompt_too_deep_to_be_sent_leaves_nothing_running(window, acp, tmp_path, where):
    session = await window.new(tmp_path)
    deep: dict = {}
    for _ in range(400):
        deep = {"a": deep}
    block = {"type": "text", "text": "[]", **({"_meta": deep} if where == "block" else {})}
    params = {"sessionId": session, "prompt": [block]}
    if where == "params":
        params["_meta"] = deep
    response = await window.ask("session/prompt", params)
    said = response["error"]["message"]
    assert "nested too deeply" in said
    manager = await acp.manager()
    assert manager.running == [] and manager.get(session).record.state == "idle"
    assert manager.links.get("scripted").agent.connection._pending == {}
    await window.prompt(session, ["chunk", "shallow"])
    assert window.texts() == ["shallow"]


# What agents ask of us


async def test_a_command_in_the_background_does_not_hold_up_the_exit(window, tmp_path):
    session = await window.new(tmp_path)
    create = {"command": "sleep 1000 & echo hi"}
    await window.prompt(session, ["request", "terminal/create", create])
    id = json.loads(window.texts()[-1])
    turn = window.prompt(session, ["request", "terminal/wait_for_exit", id])
    await asyncio.wait_for(turn, 30)
    assert json.loads(window.texts()[-1]) == {"exitCode": 0, "signal": None}
    await window.prompt(session, ["request", "terminal/output", id])
    assert json.loads(window.texts()[-1])["output"] == "hi\n"


async def test_what_is_kept_of_a_terminals_output_is_bounded(window, acp, tmp_path):
    session = await window.new(tmp_path)
    create = {"command": "head -c 40000000 /dev/zero", "outputByteLimit": 10**12}
    await window.prompt(session, ["request", "terminal/create", create])
    await window.wait(lambda m: m.get("method") == "_jupyter/terminal/exit")
    (terminal,) = (await acp.manager())._services._terminals._terminals.values()
    output = terminal.output()
    assert len(output["output"]) == MAX_OUTPUT_LIMIT and output["truncated"]


async def test_an_answer_that_is_no_text_becomes_an_error(window, tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    os.symlink(folder, tmp_path / "link")
    session = await window.new(tmp_path)
    path = str(tmp_path / "link" / "none.txt")
    # Of a file that is only to be read, it is said by its real name that it is not there.
    call = {"toolCallId": "r", "kind": "read", "title": "Read", "locations": [{"path": path}]}
    turn = window.prompt(
        session,
        ["update", {"sessionUpdate": "tool_call", "status": "in_progress", **call}],
        ["request", "fs/read_text_file", {"path": path}],
    )
    await asyncio.wait_for(turn, 30)
    error = json.loads(window.texts()[-1])
    assert error["code"] == -32603 and "cannot be sent" in error["message"]


async def test_form_feeds_and_line_separators_end_no_line(window, tmp_path):
    text = "one\n\x0c\ntwo\u2028still\x85two\x1ctoo\nthree\n"
    (tmp_path / "a.py").write_text(text)
    session = await window.new(tmp_path)
    for line, expected in enumerate(text.split("\n")[:-1], 1):
        read = {"path": str(tmp_path / "a.py"), "line": line, "limit": 1}
        await window.prompt(session, ["request", "fs/read_text_file", read])
        assert json.loads(window.texts()[-1]) == {"content": f"{expected}\n"}


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("what", ["read", "write"])
def test_a_folder_that_becomes_a_link_after_the_check_is_refused(tmp_path, what, deep):
    root, outside = tmp_path.resolve() / "root", tmp_path.resolve() / "outside"
    inner = "folder/inner" if deep else "folder"
    for folder, text in ((root / inner, "inside"), (outside / "inner", "secret")):
        folder.mkdir(parents=True)
        (folder / "file").write_text(text)
    (outside / "file").write_text("secret")
    path = contained(str(root / inner / "file"), [str(root)])
    assert disk.read_text(path) == "inside"
    (root / "folder").rename(root / "moved")
    (root / "folder").symlink_to(outside)
    with pytest.raises(RpcError, match="could not be"):
        disk.read_text(path) if what == "read" else disk.write_text(path, "mine")
    found = {file.name: file.read_text() for file in outside.rglob("*") if file.is_file()}
    assert set(found.values()) == {"secret"} and set(found) == {"file"}


async def test_a_file_that_becomes_a_link_after_the_check_is_refused(tmp_path):
    root, secret = tmp_path.resolve() / "root", tmp_path.resolve() / "secret"
    root.mkdir()
    secret.write_text("secret")
    path = contained(str(root / "file"), [str(root)])
    path.symlink_to(secret)
    with pytest.raises(RpcError):
        disk.read_text(path)
    with pytest.raises(RpcError):
        disk.write_text(path, "mine")
    assert secret.read_text() == "secret"
