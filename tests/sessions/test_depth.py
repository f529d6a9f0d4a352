# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is nested so deeply that it can be read and not be written again."""

from __future__ import annotations

import asyncio
import json

import pytest
from acpclient import scripted
from steps import saved


def nested(levels):
    """Return JSON that can be read and not written again."""
    return "[" * levels + "]" * levels


DEEP = nested(300)


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "deep": scripted(models=json.loads(DEEP)),
        "nearly-deep": scripted(models=json.loads(nested(252))),
    }


def update(agent_session, kind="agent_message_chunk", text="", more="null"):
    """Return a line with an update."""
    content = f'{{"type": "text", "text": {json.dumps(text)}}}'
    fields = f'"sessionUpdate": "{kind}", "content": {content}, "availableCommands": {more}'
    params = f'{{"sessionId": "{agent_session}", "update": {{{fields}}}}}'
    return f'{{"jsonrpc": "2.0", "method": "session/update", "params": {params}}}\n'


async def test_one_update_that_is_too_deep_takes_no_other_with_it(window, tmp_path):
    first, second = await window.new(tmp_path), await window.new(tmp_path)
    await window.prompt(first, ["whoami"])
    await window.prompt(second, ["whoami"])
    mine, other = window.texts()
    lines = [
        update(mine, text="one"),
        update(mine, more=DEEP),
        update(mine, text="two"),
        update(other, kind="usage_update", more=DEEP),
        update("nobody", more=DEEP),
        update(other, text="three"),
    ]
    response = await window.prompt(first, ["raw", "".join(lines)])
    assert response["result"]["stopReason"] == "end_turn"
    await window.wait(lambda m: window.texts()[2:] == ["one", "two", "three"])
    for session in (first, second):
        seqs = window.seqs(session)
        assert seqs == list(range(1, len(seqs) + 1))


@pytest.mark.parametrize("levels", [300, 252])
async def test_commands_that_are_too_deep_are_not_remembered(
    window, acp, acp_connect, tmp_path, levels
):
    session = await window.new(tmp_path)
    await window.prompt(session, ["whoami"])
    kind = "available_commands_update"
    deep = ["raw", update(window.texts()[-1], kind=kind, more=nested(levels))]
    known = ["update", {"sessionUpdate": kind, "availableCommands": [{"name": "known"}]}]
    for steps in ([known, deep], [["chunk", "on"]]):
        response = await asyncio.wait_for(window.prompt(session, *steps), 30)
        assert response["result"]["stopReason"] == "end_turn"
    other = await acp_connect()
    assert (await other.attach(session))["availableCommands"] == [{"name": "known"}]
    assert (await other.attach(session))["state"] == "idle"
    assert await saved(acp, tmp_path) == ({session}, {session})


@pytest.mark.parametrize("agent", ["deep", "nearly-deep"])
async def test_an_answer_that_is_too_deep_opens_a_session_all_the_same(
    window, acp, tmp_path, agent
):
    session = await window.new(tmp_path, agent)
    assert (await window.prompt(session, ["chunk", "hi"]))["result"]["stopReason"] == "end_turn"
    assert "models" not in await window.attach(session)
    assert await saved(acp, tmp_path) == ({session}, {session})


async def test_a_question_that_is_too_deep_is_not_asked(window, tmp_path):
    session = await window.new(tmp_path)
    ask = ["request", "session/request_permission", {"options": json.loads(nested(250))}]
    await window.prompt(session, ask)
    assert "too deeply" in json.loads(window.texts()[-1])["message"]
    # Nobody waits for an answer, now or at the end.
    assert (await window.attach(session))["pending"] == []
    await window.result("session/close", {"sessionId": session})
