# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Mode, model, variant and mode of permissions: told in the way that the agent offers."""

from __future__ import annotations

import copy
import json

import pytest
from acpclient import scripted

OPTIONS = [
    {
        "id": "m",
        "name": "Mode",
        "type": "select",
        "category": "mode",
        "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    },
    {
        "id": "llm",
        "name": "Model",
        "type": "select",
        "category": "model",
        "currentValue": "small",
        # In groups, as some agents have many.
        "options": [
            {"group": "g", "name": "G", "options": [{"value": "small", "name": "S"}]},
            {"group": "h", "name": "H", "options": [{"value": "large", "name": "L"}]},
        ],
    },
    {
        "id": "effort",
        "name": "Effort",
        "type": "select",
        "category": "thought_level",
        "currentValue": "low",
        "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
    },
]
MODELS = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "S"}, {"modelId": "large", "name": "L"}],
}
SET = "session/set_config_option"

AGENTS = {
    "options": {"options": OPTIONS, "modes": False},
    "both": {"options": OPTIONS, "models": MODELS},
    "older": {"models": MODELS},
    "nothing": {"modes": False},
    "lies": {"options": OPTIONS, "models": MODELS, "refuse": [SET]},
    "lies-always": {
        "options": OPTIONS,
        "models": MODELS,
        "refuse": [SET, "session/set_mode", "session/set_model"],
    },
}

OTHERS = {
    "forgets": {"options": OPTIONS, "models": MODELS},
    "loads": {
        "options": OPTIONS,
        "models": MODELS,
        "capabilities": {"loadSession": True},
        "load_setup": True,
    },
    "insists": {
        "models": MODELS,
        "capabilities": {"loadSession": True},
        "load_setup": True,
    },
}
"""Agents that go back to their own choices when they are started again."""

EXPECTED = {
    "mode": {
        "options": [SET],
        "both": [SET],
        "older": ["session/set_mode"],
        "lies": [SET, "session/set_mode"],
        "lies-always": [SET, "session/set_mode"],
    },
    "model": {
        "options": [SET],
        "both": [SET],
        "older": ["session/set_model"],
        "lies": [SET, "session/set_model"],
        "lies-always": [SET, "session/set_model"],
    },
    "variant": {"options": [SET], "both": [SET], "lies": [SET], "lies-always": [SET]},
    "permissionMode": {
        "options": [SET],
        "both": [SET],
        "older": ["session/set_mode"],
        "lies": [SET, "session/set_mode"],
        "lies-always": [SET, "session/set_mode"],
    },
}
VALUES = {"mode": "b", "model": "large", "variant": "high", "permissionMode": "b"}


TWINS = [
    {**OPTIONS[0], "id": "first"},
    {**OPTIONS[0], "id": "second"},
]


@pytest.fixture
def acp_agents():
    agents = {**AGENTS, **OTHERS, "twins": {"options": TWINS}}
    return {name: scripted(**copy.deepcopy(options)) for name, options in agents.items()}


async def asked(window, session):
    await window.prompt(session, ["asked"])
    said = json.loads(window.texts()[-1])
    return [[method, params] for method, params in said if method.startswith("session/set_")]


def works(what, agent):
    return agent not in ("nothing", "lies-always") and (what, agent) not in [
        ("variant", "older"),
        ("variant", "lies"),
    ]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("what", EXPECTED)
async def test_a_choice_is_told_in_the_best_way(window, tmp_path, agent, what):
    session = await window.new(tmp_path, agent)
    params = {"sessionId": session, "metadata": {what: VALUES[what]}}
    answer = await window.ask("_sandboxagent/session/set_metadata", params)
    assert [method for method, _ in await asked(window, session)] == EXPECTED[what].get(agent, [])
    has_way = bool(EXPECTED[what].get(agent))
    assert ("result" in answer) is (works(what, agent) or not has_way)
    if has_way and not works(what, agent):
        assert f"{agent} offers no such" in answer["error"]["message"]
    if works(what, agent) and agent != "older":
        index = {"model": 1, "variant": 2}.get(what, 0)
        shown = (await window.attach(session))["configOptions"][index]
        assert shown["currentValue"] == VALUES[what], "however it was told"
    # A way that was not known is not tried again, by no session.
    if "lies" in agent:
        other = await window.new(tmp_path, agent)
        before = len(await asked(window, other))
        params["sessionId"] = other
        await window.ask("_sandboxagent/session/set_metadata", params)
        again = [method for method, _ in (await asked(window, other))[before:]]
        assert SET not in again


@pytest.mark.parametrize(
    ("agent", "method"), [("options", SET), ("both", SET), ("older", "session/set_mode")]
)
async def test_a_client_that_sets_a_mode_need_not_know_how(window, tmp_path, agent, method):
    session = await window.new(tmp_path, agent)
    await window.result("session/set_mode", {"sessionId": session, "modeId": "b"})
    ((got, _),) = await asked(window, session)
    assert got == method
    attached = await window.attach(session)
    if method == SET:
        assert attached["configOptions"][0]["currentValue"] == "b"
    else:
        assert attached["modes"]["currentModeId"] == "b"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/set_mode", {"modeId": "nowhere"}),
        ("session/set_model", {"modelId": "nowhere"}),
        (SET, {"configId": "m", "value": "refused"}),
    ],
)
async def test_what_the_agent_refuses_is_told_and_the_old_value_stays(
    window, tmp_path, method, params
):
    agent = "both" if method == SET else "older"
    session = await window.new(tmp_path, agent)
    before = await window.attach(session)
    answer = await window.ask(method, {"sessionId": session, **params})
    assert answer["error"]["message"] in (
        "There is no such mode.",
        "There is no such model.",
        "This choice is not for you.",
    )
    after = await window.attach(session)
    for key in ("modes", "models", "configOptions"):
        assert after.get(key) == before.get(key)


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_new_session_is_told_what_it_is_to_be_like(window, tmp_path, agent):
    hints = {"mode": "b", "model": "large", "variant": "high", "skills": ["x"], "title": "Mine"}
    result = await window.result(
        "session/new",
        {
            "cwd": str(tmp_path),
            "mcpServers": [],
            "_meta": {"jupyter-acp": {"agent": agent}, "sandboxagent.dev": hints},
        },
    )
    session = result["sessionId"]
    assert result["_meta"]["jupyter-acp"]["session"]["title"] == "Mine"
    assert result["_meta"]["jupyter-acp"]["session"]["metadata"]["skills"] == ["x"]
    if agent in ("options", "both"):
        assert [each["currentValue"] for each in result["configOptions"]] == ["b", "large", "high"]
    if agent == "older":
        assert result["modes"]["currentModeId"] == "b"
        assert result["models"]["currentModelId"] == "large"
    await window.prompt(session, ["asked"])
    ((_, new),) = [each for each in json.loads(window.texts()[-1]) if each[0] == "session/new"]
    assert new["_meta"]["sandboxagent.dev"] == hints, "where there is no other way, this is one"
    notices = [m["params"]["message"] for m in window.of("_jupyter/session/notice")]
    assert bool([each for each in notices if "could not be set to" in each]) is ("lies" in agent)


async def test_an_option_that_is_named_is_that_one(window, tmp_path):
    session = await window.new(tmp_path, "twins")
    params = {"sessionId": session, "configId": "second", "value": "b"}
    await window.result(SET, params)
    ((_, got),) = await asked(window, session)
    assert got["configId"] == "second"


async def test_what_cannot_be_chosen_keeps_nothing_else_from_being_said(window, tmp_path, jp_fetch):
    session = await window.new(tmp_path, "nothing")
    metadata = {"title": "Mine", "variant": "high"}
    params = {"sessionId": session, "metadata": metadata}
    await window.result("_sandboxagent/session/set_metadata", params)
    known = json.loads((await jp_fetch("acp", "sessions", session)).body)
    assert (known["title"], known["metadata"]) == ("Mine", metadata)


async def restarted(window, jp_fetch, agent):
    await jp_fetch("acp", "agents", agent, "restart", method="POST", body="{}")


@pytest.mark.parametrize("agent", ["forgets", "loads"])
async def test_what_was_chosen_is_chosen_again_when_the_agent_is_back(
    window, tmp_path, jp_fetch, agent
):
    session = await window.new(tmp_path, agent)
    await window.result("session/set_mode", {"sessionId": session, "modeId": "b"})
    await window.result("session/set_model", {"sessionId": session, "modelId": "large"})
    params = {"sessionId": session, "configId": "effort", "value": "high"}
    await window.result(SET, params)
    await restarted(window, jp_fetch, agent)
    now = await window.attach(session)
    values = {option["id"]: option["currentValue"] for option in now["configOptions"]}
    assert values == {"m": "b", "llm": "large", "effort": "high"}
    # The agent knows it, not only we.
    await window.prompt(session, ["asked"])
    told = [params for method, params in json.loads(window.texts()[-1]) if method == SET]
    assert {(each["configId"], each["value"]) for each in told} >= {("m", "b"), ("effort", "high")}


async def test_what_cannot_be_chosen_again_is_said_and_shown(window, tmp_path, jp_fetch, acp):
    session = await window.new(tmp_path, "insists")
    await window.result("session/set_mode", {"sessionId": session, "modeId": "b"})
    record = (await acp.manager()).get(session).record
    # As if the agent had lost a mode that it had.
    record.setup["modes"]["currentModeId"] = "gone"
    await restarted(window, jp_fetch, "insists")
    assert (await window.attach(session))["modes"]["currentModeId"] == "a"
    await window.wait(lambda m: m.get("method") == "_jupyter/session/notice")
    notice = window.of("_jupyter/session/notice")[0]
    assert "could not be set to gone again: There is no such mode." in notice["params"]["message"]
    # Whoever replays the transcript ends where the agent is.
    assert window.updates("current_mode_update")[-1]["params"]["update"]["currentModeId"] == "a"


async def test_a_session_that_begins_afresh_is_told_its_hints_again(window, tmp_path, jp_fetch):
    meta = {"sandboxagent.dev": {"permissionMode": "plan", "requestedSessionId": "mine"}}
    params = {
        "cwd": str(tmp_path),
        "mcpServers": [],
        "_meta": {**meta, "jupyter-acp": {"agent": "nothing"}},
    }
    session = (await window.result("session/new", params))["sessionId"]
    await window.prompt(session, ["chunk", "x"])
    await restarted(window, jp_fetch, "nothing")
    await window.result("session/fork", {"sessionId": session, "cwd": str(tmp_path)})
    await window.prompt(session, ["asked"])
    told = next(text for text in window.texts() if "session/new" in text)
    news = [params for method, params in json.loads(told) if method == "session/new"]
    assert [each["_meta"]["sandboxagent.dev"] for each in news] == [{"permissionMode": "plan"}] * 2
