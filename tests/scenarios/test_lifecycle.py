# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents that crash, hang, and leave children behind; sessions that outlive them."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import psutil
import pytest
from acpclient import is_state, scripted, seq
from server import agents_running, carrying, is_agent, whole_family

from jupyter_acp.agents import supervisor
from jupyter_acp.agents.process import MARK, AgentProcess, end_marked

RESUME = {"sessionCapabilities": {"resume": {}}, "loadSession": True}
RESTORED = "_jupyter/session/restored"


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(stderr="warming up"),
        "resumes": scripted(capabilities=RESUME, replay=5),
        "loads": scripted(capabilities={"loadSession": True}, replay=5),
        "lies": scripted(capabilities=RESUME, refuse=["session/resume", "session/load"]),
        "half-lies": scripted(capabilities=RESUME, refuse=["session/resume"], replay=5),
        "mute": scripted(mute=True, stderr="I am thinking"),
        "future": scripted(protocol=2),
        "slow-stop": scripted(capabilities={"loadSession": True}, ignore_eof=True),
        "family": scripted(children=["plain", "setsid"], ignore_eof=True),
        "secretive": {**scripted(), "env": {"MY_KEY": "mine"}},
        "needs-login": scripted(new_error={"code": -32000, "message": "Authentication required"}),
        "missing": {"argv": ["no-such-program-anywhere"]},
        "broken": {"argv": [sys.executable, "-c", "raise SystemExit('cannot work')"]},
    }


async def mark_of(window, session) -> str:
    """The mark of the agent behind a session."""
    await window.prompt(session, ["env"])
    return json.loads(window.texts()[-1])[MARK]


async def test_a_crash_is_told_with_status_and_stderr(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(
        session, ["chunk", "so far"], ["stderr", "out of memory\n", 1], ["exit", 3]
    )
    message = response["error"]["message"]
    assert "scripted" in message and "status 3" in message and "out of memory" in message
    state = await window.wait(is_state("disconnected"))
    assert "status 3" in state["params"]["error"]["message"]
    assert state["params"]["error"]["stderr"][-1] == "out of memory"
    assert len([m for m in window.received if is_state("disconnected")(m)]) == 1
    assert window.texts() == ["so far"]


async def test_the_status_is_told_though_stderr_does_not_end(window, tmp_path, monkeypatch):
    async def never(process):
        await asyncio.Event().wait()

    session = await window.new(tmp_path)
    monkeypatch.setattr(AgentProcess, "wait", never)
    assert "status 3" in (await window.prompt(session, ["exit", 3]))["error"]["message"]


async def test_a_signal_is_named(window, tmp_path):
    session = await window.new(tmp_path)
    (agent,) = carrying(await mark_of(window, session))
    turn = await window.start_prompt(session, ["sleep", 30])
    agent.kill()
    assert "SIGKILL" in (await window.response(turn))["error"]["message"]


@pytest.mark.parametrize(
    ("agent", "how"),
    [
        ("resumes", "resume"),
        ("loads", "load"),
        ("half-lies", "load"),
        ("lies", "new"),
        ("scripted", "new"),
    ],
)
async def test_the_next_prompt_brings_the_agent_back(window, tmp_path, agent, how):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "before"])
    await window.prompt(session, ["exit", 1])
    response = await window.prompt(session, ["chunk", "after"])
    assert response["result"]["stopReason"] == "end_turn"
    (restored,) = window.of(RESTORED)
    assert restored["params"]["how"] == how
    assert window.texts() == ["before", "after"], "the replay was taken for news"
    seqs = window.seqs(session)
    assert seqs == list(range(1, len(seqs) + 1))


async def test_restart_restores_the_sessions(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "resumes")
    await window.prompt(session, ["exit", 1])
    await window.wait(is_state("disconnected"))
    response = await jp_fetch("acp", "agents", "resumes", "restart", method="POST", body="{}")
    assert json.loads(response.body)["running"] is True
    assert (await window.wait(lambda m: m.get("method") == RESTORED))["params"]["how"] == "resume"
    assert (await window.prompt(session, ["chunk", "hi"]))["result"]["stopReason"] == "end_turn"


async def test_restart_of_a_healthy_agent(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "resumes")
    await jp_fetch("acp", "agents", "resumes", "restart", method="POST", body="{}")
    await window.wait(lambda m: m.get("method") == RESTORED)
    assert (await window.prompt(session, ["chunk", "hi"]))["result"]["stopReason"] == "end_turn"


async def test_a_prompt_during_a_restart_keeps_its_agent(window, acp, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "slow-stop")
    manager = await acp.manager()
    link = manager.links.get("slow-stop")
    restart = asyncio.ensure_future(
        jp_fetch("acp", "agents", "slow-stop", "restart", method="POST", body="{}")
    )
    while link.running:
        await asyncio.sleep(0.001)
    turn = await window.start_prompt(session, ["chunk", "one"], ["until_cancel"])
    await restart
    await window.wait(lambda m: window.texts() == ["one"])
    assert manager.get(session).record.state == "running"
    await window.notify("session/cancel", {"sessionId": session})
    assert (await window.response(turn))["result"]["stopReason"] == "cancelled"
    await window.prompt(session, ["chunk", "two"])
    assert window.texts() == ["one", "two"] and len(window.of(RESTORED)) == 1


async def test_after_three_respawns_in_a_minute_it_stays_down(window, tmp_path, monkeypatch):
    # However long that takes here.
    monkeypatch.setattr(supervisor, "RESPAWN_WINDOW", 3600.0)
    session = await window.new(tmp_path, "resumes")
    for _ in range(4):
        assert "status 5" in (await window.prompt(session, ["exit", 5]))["error"]["message"]
    refused = (await window.prompt(session, ["chunk", "x"]))["error"]["message"]
    assert "stays down" in refused and "status 5" in refused and "Try again in" in refused
    assert window.texts() == []


@pytest.mark.parametrize("acp_config", [{"initialize_timeout": 10.0}])
async def test_an_agent_that_never_answers_initialize(window, tmp_path):
    response = await window.ask(
        "session/new", {"cwd": str(tmp_path), "_meta": {"jupyter-acp": {"agent": "mute"}}}
    )
    message = response["error"]["message"]
    assert "within 10 s" in message and "scripted.py" in message and "I am thinking" in message
    assert agents_running() == []


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("missing", "no-such-program-anywhere"),
        ("broken", "cannot work"),
        ("future", "version 2"),
        ("needs-login", "Authentication required"),
    ],
)
async def test_an_agent_that_cannot_start_says_why(window, tmp_path, agent, words):
    response = await window.ask(
        "session/new", {"cwd": str(tmp_path), "_meta": {"jupyter-acp": {"agent": agent}}}
    )
    assert words in response["error"]["message"]


async def test_half_a_line_and_then_the_end(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["chunk", "whole"], ["half"])
    assert "status 0" in response["error"]["message"]
    assert window.texts() == ["whole"]


async def test_a_flood_of_stderr_is_drained_and_its_end_kept(window, tmp_path, acp):
    session = await window.new(tmp_path)
    line = "x" * 1023 + "\n"
    server = psutil.Process()
    memory = [server.memory_info().rss]
    turn = await window.start_prompt(
        session, ["stderr", line * 1024, 1024], ["stderr", "the end\n", 1], ["chunk", "drained"]
    )
    agent = (await acp.manager()).links.get("scripted").agent
    for _ in range(2000):
        memory.append(server.memory_info().rss)
        if agent.stderr[-1:] == ["the end"]:
            break
        await asyncio.sleep(0.05)
    assert (await window.response(turn))["result"]["stopReason"] == "end_turn"
    lines = agent.stderr
    assert len(lines) == 200 and lines[-1] == "the end" and lines[0] == line.strip()
    # A gigabyte went through it.
    assert max(memory) - memory[0] < 64 * 1024 * 1024


async def test_the_environment_is_the_users_without_the_servers_secrets(
    window, tmp_path, monkeypatch
):
    for name in ("JUPYTER_TOKEN", "JPY_API_TOKEN", "JUPYTERHUB_API_TOKEN"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the user's")
    session = await window.new(tmp_path, "secretive")
    await window.prompt(session, ["env"])
    environment = json.loads(window.texts()[0])
    assert "secret" not in environment.values()
    assert environment["ANTHROPIC_API_KEY"] == "the user's"
    assert environment["MY_KEY"] == "mine"
    assert environment["PATH"] == os.environ["PATH"]


async def test_children_die_with_a_stopped_agent(window, tmp_path, acp):
    mark = await mark_of(window, await window.new(tmp_path, "family"))
    await whole_family(mark)
    await (await acp.manager()).links.get("family").stop("Enough.")
    assert carrying(mark) == []


async def test_children_die_with_a_killed_agent(window, tmp_path):
    session = await window.new(tmp_path, "family")
    mark = await mark_of(window, session)
    (agent,) = [process for process in await whole_family(mark) if is_agent(process)]
    turn = await window.start_prompt(session, ["sleep", 30])
    agent.kill()
    assert "SIGKILL" in (await window.response(turn))["error"]["message"]
    for _ in range(300):
        if not carrying(mark):
            break
        await asyncio.sleep(0.1)
    assert carrying(mark) == []


async def test_only_marked_processes_are_ended():
    waiting = [sys.executable, "-c", "input()"]
    bystander = await AgentProcess.start(waiting, env=dict(os.environ), grace=2)
    victim = await AgentProcess.start(waiting, env=dict(os.environ), grace=2)
    await victim.stop()
    assert psutil.pid_exists(bystander.pid)
    assert end_marked(bystander._mark, bystander.pid, 2) == []
    await bystander.wait()


async def test_sessions_survive_a_restart_of_the_server(window, tmp_path, acp, acp_connect):
    session = await window.new(tmp_path, "loads")
    await window.prompt(session, ["chunk", "before the restart"])
    last = window.seqs(session)[-1]
    await window.close()
    await acp.stop_extension()
    later = await acp_connect()
    listed = (await later.result("session/list", {}))["sessions"]
    assert [(s["sessionId"], s["_meta"]["jupyter-acp"]["state"]) for s in listed] == [
        (session, "disconnected")
    ]
    assert (await later.attach(session))["seq"] >= last
    await later.prompt(session, ["chunk", "after it"])
    assert later.texts() == ["before the restart", "after it"]
    assert later.of(RESTORED)[0]["params"]["how"] == "load"
    seqs = [seq(m) for m in later.received if seq(m)]
    assert seqs == list(range(1, len(seqs) + 1))
