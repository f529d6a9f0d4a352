# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Nothing waits for ever in silence: what takes too long is given up, and it is said what to do."""

from __future__ import annotations

import pytest
from acpclient import scripted

LOADS = {"loadSession": True, "sessionCapabilities": {"fork": {}, "resume": {}}}


@pytest.fixture
def acp_agents(jp_root_dir):
    return {
        "scripted": scripted(),
        "no-new": scripted(ignore=["session/new"]),
        "no-mode": scripted(ignore=["session/set_mode"]),
        "no-fork": scripted(capabilities=LOADS, ignore=["session/fork"]),
        "no-end": scripted(
            capabilities={"sessionCapabilities": {"list": {}}},
            listed=[[{"sessionId": "one", "cwd": str(jp_root_dir)}], None],
        ),
        "no-resume": scripted(capabilities=LOADS, ignore=["session/resume"], replay=2),
    }


@pytest.fixture
def acp_config():
    return {"request_timeout": 5.0}


def said(error, agent, method):
    assert f"{agent} did not answer `{method}` within 5 s." in error["message"]
    assert "AcpExtension.request_timeout" in error["message"]


async def test_a_session_that_does_not_begin(window, tmp_path, jp_fetch):
    meta = {"jupyter-acp": {"agent": "no-new"}}
    params = {"cwd": str(tmp_path), "mcpServers": [], "_meta": meta}
    said((await window.ask("session/new", params))["error"], "no-new", "session/new")
    assert (await window.result("session/list", {}))["sessions"] == []


async def test_a_choice_that_is_not_taken(window, tmp_path):
    session = await window.new(tmp_path, "no-mode")
    answer = await window.ask("session/set_mode", {"sessionId": session, "modeId": "b"})
    said(answer["error"], "no-mode", "session/set_mode")
    assert (await window.attach(session))["modes"]["currentModeId"] == "a"


async def test_a_fork_that_does_not_come(window, tmp_path):
    session = await window.new(tmp_path, "no-fork")
    params = {"sessionId": session, "cwd": str(tmp_path)}
    said((await window.ask("session/fork", params))["error"], "no-fork", "session/fork")
    assert len((await window.result("session/list", {}))["sessions"]) == 1


async def test_a_session_that_does_not_resume_is_loaded(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "no-resume")
    await window.prompt(session, ["chunk", "before"])
    await window.prompt(session, ["exit", 1])
    await window.prompt(session, ["chunk", "after"])
    assert window.of("_jupyter/session/restored")[-1]["params"]["how"] == "load"
    assert window.texts() == ["before", "after"]


async def test_a_turn_may_take_longer(window, tmp_path):
    session = await window.new(tmp_path)
    response = await window.prompt(session, ["sleep", 7], ["chunk", "at last"])
    assert response["result"]["stopReason"] == "end_turn" and window.texts() == ["at last"]


async def test_sessions_that_are_listed_without_end(window, tmp_path):
    own = await window.new(tmp_path, "no-end")
    listed = (await window.result("session/list", {}))["sessions"]
    assert [each["_meta"]["jupyter-acp"]["agent"] for each in listed] == ["no-end", "no-end"]
    assert listed[0]["sessionId"] == own
