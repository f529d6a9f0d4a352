# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents that want to know who asks, and the ways in which they say so."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from acpclient import Client, scripted

METHODS: list[Any] = [
    {"id": "oauth", "name": "Log in", "description": "With an account"},
    {"id": "key", "type": "agent"},
    {"id": "cli", "name": "In a terminal", "type": "terminal", "args": ["--login", "a b"]},
    {
        "id": "other-cli",
        "name": "In a terminal, as it was",
        "_meta": {
            "terminal-auth": {
                "command": "other",
                "args": ["login; rm -rf x"],
                "env": {"HOME": "$y"},
                "label": "Login",
            }
        },
    },
    {"id": "hidden", "type": "terminal", "args": ["\x15rm"]},
    {
        "id": "variables",
        "name": "By variables",
        "type": "env_var",
        "vars": [
            {"name": "SCRIPTED_KEY", "label": "API key", "secret": True},
            {"name": "SCRIPTED_REGION", "optional": True},
            {"name": "JUPYTER_TOKEN"},
            "odd",
        ],
        "link": "https://keys.invalid/",
    },
    {"id": "variable", "type": "env_var", "varName": "OTHER_KEY"},
    {"name": "without an id"},
    "odd",
]


@pytest.fixture
def acp_agents(monkeypatch: Any) -> dict[str, Any]:
    monkeypatch.setenv("JUPYTER_TOKEN", "the server's own")
    monkeypatch.setenv("OTHER_KEY", "from the server's environment")
    closed = scripted(auth_methods=METHODS, login="oauth", capabilities={"auth": {"logout": {}}})
    return {
        "scripted": {**closed, "env": {"SCRIPTED_KEY": "hush"}},
        "silent": scripted(login="oauth"),
        "loads": scripted(
            auth_methods=METHODS, login="oauth", capabilities={"loadSession": True}, replay=2
        ),
        "talking": scripted(
            auth_methods=METHODS, new_error={"code": -32000, "message": "No", "data": "because"}
        ),
    }


async def refused(window: Client, root: Any, agent: str) -> dict[str, Any]:
    meta = {"jupyter-acp": {"agent": agent}}
    answer = await window.ask("session/new", {"cwd": str(root), "mcpServers": [], "_meta": meta})
    return answer["error"]


def ours(error: dict[str, Any]) -> dict[str, Any]:
    return error["data"]["_meta"]["jupyter-acp"]


async def test_a_refusal_tells_how_to_log_in(window, root, acp_agents):
    error = await refused(window, root, "scripted")
    assert (error["code"], error["message"]) == (-32000, "Authentication required")
    assert ours(error)["agent"] == "scripted"
    methods = {method["id"]: method for method in ours(error)["authMethods"]}
    assert list(methods) == [
        "oauth", "key", "cli", "other-cli", "hidden", "variables", "variable"
    ]  # fmt: skip
    assert methods["oauth"] == {**METHODS[0], "type": "agent"}
    assert methods["key"]["name"] == "key"
    argv = acp_agents["scripted"]["argv"]
    assert shlex.split(methods["cli"]["command"]) == [*argv, "--login", "a b"]
    assert methods["other-cli"]["type"] == "terminal"
    assert methods["other-cli"]["command"] == "env 'HOME=$y' other 'login; rm -rf x'"
    assert methods["hidden"]["command"] is None


async def test_variables_are_said_to_be_there_or_not_and_never_told(window, root):
    error = await refused(window, root, "scripted")
    methods = {method["id"]: method for method in ours(error)["authMethods"]}
    assert {v["name"]: v["isSet"] for v in methods["variables"]["variables"]} == {
        "SCRIPTED_KEY": True,
        "SCRIPTED_REGION": False,
        "JUPYTER_TOKEN": False,
    }
    assert [v["optional"] for v in methods["variables"]["variables"]] == [False, True, False]
    assert methods["variables"]["link"] == "https://keys.invalid/"
    assert methods["variable"]["variables"][0]["isSet"] is True
    assert "hush" not in json.dumps(error)
    assert "from the server" not in json.dumps(error)


async def test_after_the_login_the_session_begins_and_after_the_logout_none_does(window, root):
    meta = {"_meta": {"jupyter-acp": {"agent": "scripted"}}}
    await refused(window, root, "scripted")
    wrong = await window.ask("authenticate", {"methodId": "key", **meta})
    assert wrong["error"]["message"] == "That key does not fit."
    await refused(window, root, "scripted")
    await window.result("authenticate", {"methodId": "oauth", **meta})
    session = await window.new(root, "scripted")
    assert (await window.prompt(session, ["chunk", "hi"]))["result"]["stopReason"] == "end_turn"
    await window.result("logout", meta)
    await refused(window, root, "scripted")


async def test_what_the_agent_said_itself_is_kept(window, root):
    error = await refused(window, root, "talking")
    assert error["data"]["details"] == "because"
    assert len(ours(error)["authMethods"]) == 7


async def test_a_refusal_without_any_method_is_left_alone(window, root):
    assert "data" not in await refused(window, root, "silent")


async def test_a_prompt_that_needs_a_login_tells_the_same(window, root):
    meta = {"_meta": {"jupyter-acp": {"agent": "scripted"}}}
    await window.result("authenticate", {"methodId": "oauth", **meta})
    session = await window.new(root, "scripted")
    answer = await window.prompt(session, ["fail", -32000, "Please log in again"])
    assert ours(answer["error"])["agent"] == "scripted"
    other = await window.prompt(session, ["fail", -32603, "Something else"])
    assert "data" not in other["error"]


async def test_only_a_running_agent_that_can_is_offered_the_logout(window, root, jp_fetch):
    async def can() -> dict[str, bool]:
        agents = json.loads((await jp_fetch("acp", "agents")).body)["agents"]
        return {agent["id"]: agent["canLogOut"] for agent in agents}

    assert (await can())["scripted"] is False
    await refused(window, root, "scripted")
    await refused(window, root, "silent")
    assert (await can())["scripted"] is True
    assert (await can())["silent"] is False


async def test_a_session_that_is_loaded_again_after_a_login_is_the_same(
    window: Client, tmp_path: Any, jp_fetch: Any, acp: Any
) -> None:
    to_agent = {"_meta": {"jupyter-acp": {"agent": "loads"}}}
    await window.result("authenticate", {"methodId": "oauth", **to_agent})
    session = await window.new(tmp_path, "loads")
    await window.prompt(session, ["chunk", "before"])
    record = (await acp.manager()).get(session).record
    theirs = record.agent_session
    # The new process knows nobody.
    await jp_fetch("acp", "agents", "loads", "restart", method="POST", body="{}")
    refused = await window.prompt(session, ["chunk", "after"])
    assert refused["error"]["code"] == -32000
    assert refused["error"]["data"]["_meta"]["jupyter-acp"]["authMethods"]
    assert record.agent_session == theirs
    await window.result("authenticate", {"methodId": "oauth", **to_agent})
    await window.prompt(session, ["chunk", "after"])
    assert window.texts() == ["before", "after"]
    assert record.agent_session == theirs
