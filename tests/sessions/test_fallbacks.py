# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent offers, crossed with what is wanted of it: the best way is taken, and none is tried
twice with an agent that did not know it."""

from __future__ import annotations

import json

import pytest
from acpclient import scripted

EXTENSIONS = (
    "sessionList",
    "sessionFork",
    "sessionTerminate",
    "sessionMetadata",
    "sessionEventsPoll",
)
STANDARD = ("list", "resume", "fork", "close", "delete")
EXT = "_sandboxagent/session/"


def capabilities(*, standard=(), extensions=(), load=False):
    return {
        "loadSession": load,
        "sessionCapabilities": {name: {} for name in standard},
        "_meta": {"sandboxagent.dev": {"extensions": dict.fromkeys(extensions, True)}},
    }


ALL = capabilities(standard=STANDARD, extensions=EXTENSIONS, load=True)
LIES = [f"session/{name}" for name in STANDARD]
LIES_TOO = [
    *LIES,
    "session/load",
    *(f"{EXT}{n}" for n in ("list", "fork", "terminate", "events", "set_metadata")),
]

OFFERS = {
    "everything": {"capabilities": ALL},
    "standard": {"capabilities": capabilities(standard=STANDARD, load=True)},
    "extensions": {"capabilities": capabilities(extensions=EXTENSIONS, load=True)},
    "nothing": {"capabilities": {}},
    "denied": {
        # Said in so many words that it cannot.
        "capabilities": {
            "loadSession": False,
            "sessionCapabilities": dict.fromkeys(STANDARD),
            "_meta": {"sandboxagent.dev": {"extensions": dict.fromkeys(EXTENSIONS, False)}},
        }
    },
    "lies": {"capabilities": ALL, "refuse": LIES},
    "lies-always": {"capabilities": ALL, "refuse": LIES_TOO},
}

EXPECTED: dict[str, dict[str, list[str]]] = {
    "list": {
        "everything": ["session/list"],
        "standard": ["session/list"],
        "extensions": [f"{EXT}list"],
        "lies": ["session/list", f"{EXT}list"],
        "lies-always": ["session/list", f"{EXT}list"],
    },
    "resume": {
        "everything": ["session/resume"],
        "standard": ["session/resume"],
        "extensions": ["session/load"],
        "nothing": ["session/new"],
        "denied": ["session/new"],
        "lies": ["session/resume", "session/load"],
        "lies-always": ["session/resume", "session/load", "session/new"],
    },
    "fork": {
        "everything": ["session/fork"],
        "standard": ["session/fork"],
        "extensions": [f"{EXT}fork"],
        "nothing": ["session/new"],
        "denied": ["session/new"],
        "lies": ["session/fork", f"{EXT}fork"],
        "lies-always": ["session/fork", f"{EXT}fork", "session/new"],
    },
    "close": {
        "everything": ["session/close"],
        "standard": ["session/close"],
        "extensions": [f"{EXT}terminate"],
        "lies": ["session/close", f"{EXT}terminate"],
        "lies-always": ["session/close", f"{EXT}terminate"],
    },
    "delete": {
        "everything": ["session/close", "session/delete"],
        "standard": ["session/close", "session/delete"],
        "extensions": [f"{EXT}terminate"],
        "lies": ["session/close", f"{EXT}terminate", "session/delete"],
        "lies-always": ["session/close", f"{EXT}terminate", "session/delete"],
    },
    "metadata": {
        "everything": [f"{EXT}set_metadata"],
        "extensions": [f"{EXT}set_metadata"],
        "lies": [f"{EXT}set_metadata"],
        "lies-always": [f"{EXT}set_metadata"],
    },
    "events": {
        "everything": [f"{EXT}events"],
        "extensions": [f"{EXT}events"],
        "lies": [f"{EXT}events"],
        "lies-always": [f"{EXT}events"],
    },
}
"""The requests that the agent gets for each, in order; none where none is named."""

REMEMBERED = {
    "list": [],
    "fork": ["session/new"],
    "close": [],
    "delete": [],
    "metadata": [],
    "events": [],
}
"""What an agent that lies always is asked for the second time."""


@pytest.fixture
def acp_agents():
    return {name: scripted(**options) for name, options in OFFERS.items()}


async def asked(window, tmp_path, agent):
    """Return what the agent was asked so far, by a session of its own for that."""
    witness = await window.new(tmp_path, agent)
    await window.prompt(witness, ["asked"])
    return [method for method, _ in json.loads(window.texts()[-1])]


async def want(window, tmp_path, jp_fetch, agent, capability, session):
    params = {"sessionId": session}
    if capability == "list":
        return await window.result("session/list", {})
    if capability == "resume":
        await jp_fetch("acp", "agents", agent, "restart", method="POST", body="{}")
        return await window.prompt(session, ["chunk", "back"])
    if capability == "fork":
        return await window.result("session/fork", {**params, "cwd": str(tmp_path)})
    if capability == "metadata":
        body = {**params, "metadata": {"title": "Named", "skills": ["one"]}}
        return await window.result(f"{EXT}set_metadata", body)
    if capability == "events":
        return await window.result(f"{EXT}events", params)
    return await window.result(f"session/{capability}", params)


@pytest.mark.parametrize("agent", OFFERS)
@pytest.mark.parametrize("capability", EXPECTED)
async def test_the_best_way_is_taken(window, tmp_path, jp_fetch, agent, capability):
    session = await window.new(tmp_path, agent)
    await window.prompt(session, ["chunk", "hello"])
    # What is resumed is resumed with a new process, which was asked for `initialize`.
    before = 1 if capability == "resume" else len(await asked(window, tmp_path, agent))
    result = await want(window, tmp_path, jp_fetch, agent, capability, session)
    got = (await asked(window, tmp_path, agent))[before:]
    *got, witness = [method for method in got if method != "session/prompt"]
    assert witness == "session/new"
    assert got == EXPECTED[capability].get(agent, [])

    if capability in REMEMBERED and agent == "lies-always":
        before = len(await asked(window, tmp_path, agent))
        another = await window.new(tmp_path, agent)
        await want(window, tmp_path, jp_fetch, agent, capability, another)
        again = (await asked(window, tmp_path, agent))[before:]
        # Besides the session that was made for it, and the witness.
        extra = [method for method in again if method != "session/prompt"]
        extra.remove("session/new")
        extra.remove("session/new")
        assert extra == REMEMBERED[capability], "asked once, and remembered"

    # Whatever the agent can: the user gets what was wanted.
    if capability == "fork":
        copied = await jp_fetch("acp", "sessions", result["sessionId"], "messages")
        assert b"hello" in copied.body
    elif capability == "resume":
        assert result["result"]["stopReason"] == "end_turn"
        assert window.texts().count("hello") == 1
    elif capability == "metadata":
        listed = json.loads((await jp_fetch("acp", "sessions", session)).body)
        assert listed["title"] == "Named" and listed["metadata"]["skills"] == ["one"]
    elif capability == "events":
        own = agent in ("everything", "extensions", "lies")
        assert (result["events"] == ["theirs"]) is own
        assert own or "hello" in json.dumps(result["events"])
    elif capability == "close":
        assert json.loads((await jp_fetch("acp", "sessions", session)).body)["state"] == "closed"
    elif capability == "delete":
        sessions = json.loads((await jp_fetch("acp", "sessions")).body)["sessions"]
        assert session not in [each["id"] for each in sessions]
