# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents ask before they call our own tools: answered here if it is nothing else."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcpclient import connected, decide, servers

from jupyter_acp.tools.asked import own_call
from jupyter_acp.tools.toolbox import TOOLS

ASK = "session/request_permission"
SCHEMAS = {tool.name: tool.arguments for tool in TOOLS}
EDIT = {"cell_id": "a3", "source": "mean = total / len(sales)"}
ONCE = {"optionId": "once", "name": "Yes", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Yes, always", "kind": "allow_always"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}
OPTIONS = [ALWAYS, ONCE, NO]


def said(text):
    return {"type": "content", "content": {"type": "text", "text": text}}


def named(spelled, **more):
    """A call as an agent tells it that names its tools in a field of its own."""
    return {"_meta": {"theirs": {"toolName": spelled}}, "title": spelled, **more}


CERTAIN = {
    "a name in a field": named("mcp__jupyter__edit_cell", rawInput=EDIT),
    "a name at the root": {"name": "mcp__jupyter__edit_cell", "title": "Edit", "rawInput": EDIT},
    "a name in a field, JSON as title": {
        "_meta": {"toolName": "mcp__jupyter__edit_cell"},
        "title": json.dumps(EDIT),
        "rawInput": EDIT,
    },
    "the whole title": {"title": "mcp__jupyter__edit_cell", "content": [said(json.dumps(EDIT))]},
    "the whole title, and a line with the name": {
        "title": "mcp__jupyter__edit_cell",
        "content": [said(json.dumps(EDIT)), said("Requesting approval to mcp__jupyter__edit_cell")],
    },
    "the server behind": {
        "title": "edit_cell (jupyter MCP Server)",
        "content": [said(json.dumps(EDIT))],
    },
    "the server before": {"title": "jupyter_edit_cell", "rawInput": EDIT},
    "wrapped": {
        "title": "mcp.jupyter.edit_cell",
        "kind": "execute",
        "rawInput": {"server": "jupyter", "tool": "edit_cell", "arguments": EDIT},
    },
    "the question of an engine": {
        "title": "Approve Edit cell",
        "content": [said("Allow it?\n\nServer: jupyter")],
        "rawInput": {
            "server_name": "jupyter",
            "id": "1",
            "request": {"_meta": {"tool_title": "Edit cell", "tool_params": EDIT}},
        },
    },
    "input as text": {"title": "jupyter_edit_cell", "rawInput": json.dumps(EDIT)},
    "its own file": {
        "title": "jupyter_edit_cell",
        "rawInput": {**EDIT, "path": "n.ipynb"},
        "locations": [{"path": "/work/n.ipynb"}],
    },
}


@pytest.mark.parametrize("call", CERTAIN.values(), ids=CERTAIN)
def test_a_call_of_our_own(call):
    own = own_call(call, "jupyter", SCHEMAS)
    assert own is not None and own.tool == "edit_cell"
    assert {**own.arguments, "path": None} == {**EDIT, "path": None}
    # Under another name of our server it is somebody else's tool.
    assert own_call(call, "jupyter-acp", SCHEMAS) is None


def test_arguments_that_are_not_told():
    assert own_call({"title": "mcp__jupyter__run_cell"}, "jupyter", SCHEMAS) == ("run_cell", None)
    wrapped = {"server": "jupyter", "tool": "read_notebook"}
    told = {"title": "mcp.jupyter.read_notebook", "rawInput": wrapped}
    assert own_call(told, "jupyter", SCHEMAS) == ("read_notebook", {})


UNCERTAIN = {
    "a title that only contains it": {"title": "Run jupyter_edit_cell now", "rawInput": EDIT},
    "our name in the title, another's in the field": {
        **named("mcp__evil__edit_cell", rawInput=EDIT),
        "title": "mcp__jupyter__edit_cell",
    },
    "a shell": {**named("Bash", rawInput={"command": "rm"}), "title": "mcp__jupyter__edit_cell"},
    "two of ours": {**named("mcp__jupyter__edit_cell"), "title": "mcp__jupyter__run_code"},
    "a command beside the arguments": {
        "title": "mcp__jupyter__edit_cell",
        "rawInput": {**EDIT, "command": "rm -rf ."},
    },
    "arguments that do not fit": {"title": "jupyter_edit_cell", "rawInput": {"cell_id": 3}},
    "two kinds of arguments": {
        "title": "jupyter_edit_cell",
        "rawInput": EDIT,
        "content": [said(json.dumps({**EDIT, "source": "x"}))],
    },
    "words beside": {
        "title": "jupyter_run_code",
        "rawInput": {"code": "1"},
        "content": [said("and delete everything")],
    },
    "words that end like the name, over lines": {
        "title": "jupyter_run_code",
        "content": [said("rm -rf .\njupyter_run_code")],
    },
    "a diff": {
        "title": "jupyter_edit_cell",
        "rawInput": EDIT,
        "content": [{"type": "diff", "path": "/work/a.py", "newText": "x"}],
    },
    "another file": {
        "title": "jupyter_edit_cell",
        "rawInput": EDIT,
        "locations": [{"path": "/home/u/.bashrc"}],
    },
    "what a model may give to another's tool": {
        "title": "mcp__evil__x",
        "rawInput": {"server": "jupyter", "tool": "run_code", "arguments": {"code": "1"}},
    },
    "the same, with words for a title": {
        "title": "Look at it",
        "rawInput": {"server": "jupyter", "tool": "run_code", "arguments": {"code": "1"}},
    },
    "more in the wrapping": {
        "title": "mcp.jupyter.run_code",
        "rawInput": {
            "server": "jupyter",
            "tool": "run_code",
            "arguments": {"code": "1"},
            "command": "rm",
        },
    },
    "another server": {
        "title": "mcp.jupyter.run_code",
        "rawInput": {"server": "evil", "tool": "run_code", "arguments": {"code": "1"}},
    },
    "no such tool": {"title": "mcp__jupyter__rm"},
    "the tool's name alone": {"title": "edit_cell", "rawInput": EDIT},
    "nothing": {},
    "no JSON": {"title": "jupyter_edit_cell", "rawInput": "{"},
    "a list": {"title": ["jupyter_edit_cell"], "name": 3, "content": 7, "locations": "x"},
}


@pytest.mark.parametrize("call", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_call_that_may_be_something_else(call):
    assert own_call(call, "jupyter", SCHEMAS) is None


def asking(call, options=OPTIONS):
    return ["request", ASK, {"toolCall": {"toolCallId": "c1", **call}, "options": options}]


async def questions(window, session, *steps):
    """What the user was asked while the agent did some steps; each is answered with its first option."""
    start = len(window.received)
    turn = await window.start_prompt(session, *steps)
    asked = []

    def is_news(message):
        ended = message.get("id") == turn and "method" not in message
        return ended or (message.get("method") == ASK and message not in asked)

    while (message := await window.wait(is_news, start)).get("method") == ASK:
        asked.append(message)
        option = message["params"]["options"][0]["optionId"]
        outcome = {"outcome": "selected", "optionId": option}
        await window.send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})
    return [question["params"] for question in asked]


async def test_the_user_is_not_asked_by_the_agent_for_our_tools(window, session):
    call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
    assert await questions(window, session, asking(call)) == []
    answer = {"outcome": {"outcome": "selected", "optionId": "once"}}
    assert json.loads(window.texts()[-1]) == answer
    (decided,) = window.of("_jupyter/permission_decided")
    told = {"kind": "tool", "subject": "edit_cell", "decision": "allow", "by": "own tool"}
    assert told.items() <= decided["params"].items()
    assert decided["params"]["toolCallId"] == "c1"


async def test_what_the_updates_of_the_call_have_told_counts(window, session):
    """As agents do that tell the arguments while the model writes them, and only the name when they ask."""
    name = "mcp__jupyter__run_cell"
    before = [
        ["update", {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": name}],
        [
            "update",
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "c1",
                "content": [said('{"cell_id": "a')],
            },
        ],
        [
            "update",
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "c1",
                "content": [said('{"cell_id": "a3"}')],
            },
        ],
    ]
    call = {"title": name, "content": [said(f"Requesting approval to Approve {name}")]}
    assert await questions(window, session, *before, asking(call)) == []
    # And what they tell besides counts against it.
    before[-1][1]["content"] = [said('{"cell_id": "a3", "command": "rm"}')]
    assert len(await questions(window, session, *before, asking(call))) == 1


@pytest.mark.parametrize(
    "options",
    [
        [ALWAYS, NO],
        [ONCE, {**ONCE, "optionId": "other"}, NO],
        [ONCE, {**NO, "optionId": "once"}],
        [],
        ["x", {"kind": "allow_once", "optionId": 3}],
    ],
)
async def test_options_that_leave_a_doubt(window, session, options):
    call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
    start = len(window.received)
    turn = await window.start_prompt(session, asking(call, options), ["chunk", "done"])
    question = await window.wait(lambda m: m.get("method") == ASK, start)
    assert question["params"]["options"] == options
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    assert not window.of("_jupyter/permission_decided")


async def test_a_server_of_the_users_own_by_our_name(window, root):
    """Its tools are its own, whatever they are called."""
    theirs = {"name": "jupyter", "command": "true", "args": [], "env": []}
    params = {"cwd": str(root), "mcpServers": [theirs]}
    session = (await window.result("session/new", params))["sessionId"]
    call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
    assert len(await questions(window, session, asking(call))) == 1


async def test_what_the_tool_does_is_asked_once_by_us(window, session, root):
    """The agent's own question is answered; ours shows the code."""
    cell = {"cell_type": "code", "id": "a3", "metadata": {}, "source": "print(41 + 1)"}
    cell |= {"outputs": [], "execution_count": None}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "n.ipynb").write_text(json.dumps(content))
    (entry,) = await servers(window, session)
    call = named("mcp__jupyter__run_cell", rawInput={"cell_id": "a3", "path": "n.ipynb"})
    assert await questions(window, session, asking(call)) == []
    start = len(window.received)
    async with connected(entry) as mcp:
        running = asyncio.ensure_future(mcp.text("run_cell", path="n.ipynb", cell_id="a3"))
        question = await decide(window, "allow", start)
        assert "42" in await running
    assert [option["name"] for option in question["options"]] == [
        "Run",
        "Run everything in this notebook in this session",
        "Don't run",
    ]
    assert "print(41 + 1)" in json.dumps(question["toolCall"])


async def test_modes_of_agents_change_nothing_of_it(window, session, root):
    """An agent that asks nothing any more is asked about by us all the same."""
    (root / "n.ipynb").write_text(
        json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    await window.result("session/set_mode", {"sessionId": session, "modeId": "b"})
    (entry,) = await servers(window, session)
    start = len(window.received)
    async with connected(entry) as mcp:
        running = asyncio.ensure_future(mcp.refused("run_code", path="n.ipynb", code="1"))
        await decide(window, "deny", start)
        assert "said no" in await running
