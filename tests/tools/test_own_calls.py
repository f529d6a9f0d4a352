# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents ask before they call our own tools: answered here if it is nothing else."""

from __future__ import annotations

import asyncio
import functools
import json
import shlex
import subprocess

import pytest
from mcpclient import connected, decide, servers

from jupyter_acp.app import PERMISSION_EVENT
from jupyter_acp.sessions.tool_calls import ToolCalls
from jupyter_acp.tools import toolbox
from jupyter_acp.tools.cli import ADMIT, program
from jupyter_acp.tools.own_calls import own_call

ASK = "session/request_permission"
TOOLS = {tool.name: tool for tool in toolbox.TOOLS}
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


def engine(**more):
    """The question of Codex's own engine, as an older bridge to it passes it on."""
    message = 'Allow the jupyter MCP server to run tool "edit_cell"?'
    shown = "\n".join(f"- {name}: {value}" for name, value in sorted(EDIT.items()))
    meta = {
        "codex_approval_kind": "mcp_tool_call",
        "persist": ["session", "always"],
        "tool_title": "Edit cell",
        "tool_description": TOOLS["edit_cell"].description,
        "tool_params": EDIT,
        "tool_params_display": [],
    }
    words = [message, "Server: jupyter", meta["tool_description"], f"Arguments:\n{shown}"]
    return {
        "title": "Approve Edit cell",
        "content": [said("\n\n".join(words))],
        "rawInput": {
            "turn_id": "1",
            "server_name": "jupyter",
            "id": "mcp_tool_call_approval_c1",
            "request": {"mode": "form", "_meta": meta, "message": message, "requested_schema": {}},
        },
        **more,
    }


CERTAIN = {
    "a name in a field": [named("mcp__jupyter__edit_cell", rawInput=EDIT)],
    "a name at the root": [
        {"name": "mcp__jupyter__edit_cell", "title": "Edit cell", "kind": "edit", "rawInput": EDIT}
    ],
    "a name in a field, JSON as title": [
        {
            "_meta": {"toolName": "mcp__jupyter__edit_cell"},
            "title": json.dumps(EDIT),
            "rawInput": EDIT,
        }
    ],
    "as Claude tells it": [
        named("mcp__jupyter__edit_cell", name="mcp__jupyter__edit_cell", rawInput={}, kind="other"),
        named("mcp__jupyter__edit_cell", rawInput={"cell_id": "a3"}),
        named("mcp__jupyter__edit_cell", rawInput={"cell_id": "a3", "source": EDIT["source"][:4]}),
        named("mcp__jupyter__edit_cell", rawInput=EDIT, kind="other", content=[]),
    ],
    "as Gemini tells it": [
        {
            "title": "edit_cell (jupyter MCP Server)",
            "content": [said(json.dumps(EDIT))],
            "locations": [],
            "kind": "other",
        }
    ],
    "as Kimi tells it": [
        {"title": "mcp__jupyter__edit_cell", "kind": "other", "content": [said("")]},
        {"content": [said(json.dumps(EDIT)[:9])]},
        {"content": [said(json.dumps(EDIT))]},
        {
            "title": "mcp__jupyter__edit_cell",
            "content": [said("Requesting approval to Approve mcp__jupyter__edit_cell")],
        },
    ],
    "as Codex tells it": [
        {
            "title": "mcp.jupyter.edit_cell",
            "kind": "execute",
            "rawInput": {"server": "jupyter", "tool": "edit_cell", "arguments": EDIT},
            "_meta": {"is_mcp_tool_call": True},
        },
        {"kind": "execute"},
    ],
    "as an older Codex tells it": [
        {
            "title": "Tool: jupyter/edit_cell",
            "rawInput": {"server": "jupyter", "tool": "edit_cell", "arguments": EDIT},
        },
        engine(),
    ],
    "the question of an engine alone": [engine()],
    "as OpenCode tells it": [
        {"title": "jupyter_edit_cell", "kind": "other", "locations": [], "rawInput": {}},
        {"title": "jupyter_edit_cell", "kind": "other", "locations": [], "rawInput": EDIT},
        {"title": "jupyter_edit_cell", "rawInput": {}},
    ],
    "input as text": [{"title": "jupyter_edit_cell", "rawInput": json.dumps(EDIT)}],
    "its own file": [
        {
            "title": "jupyter_edit_cell",
            "rawInput": {**EDIT, "path": "n.ipynb"},
            "locations": [{"path": "/work/n.ipynb"}],
        }
    ],
}


def read(updates, server="jupyter"):
    """What a question is about whose call has told something before: the last of it is asked."""
    calls = ToolCalls()
    for update in updates[:-1]:
        calls.take({"toolCallId": "c1", **update})
    return own_call(calls.asked({"toolCallId": "c1", **updates[-1]}), server, TOOLS)


@pytest.mark.parametrize("updates", CERTAIN.values(), ids=CERTAIN)
def test_a_call_of_our_own(updates):
    own = read(updates)
    assert own is not None and own.tool == "edit_cell"
    assert {**own.arguments, "path": None} == {**EDIT, "path": None}
    # Under another name of our server it is somebody else's tool.
    assert read(updates, "jupyteracp") is None


def test_arguments_that_are_not_told():
    assert read([named("mcp__jupyter__run_cell")]) == ("run_cell", None)
    assert read([{"title": "run_cell (jupyter MCP Server)"}]) == ("run_cell", None)
    wrapped = {"server": "jupyter", "tool": "read_notebook"}
    told = {"title": "mcp.jupyter.read_notebook", "rawInput": wrapped}
    assert read([told]) == ("read_notebook", {})
    assert read([{"title": "jupyter_read_notebook", "rawInput": {}}]) == ("read_notebook", {})
    # Else it may be a command: enough to know whose row it is, not to allow it.
    title = {"title": "jupyter_run_cell"}
    assert read([title]) is None
    assert own_call([title], "jupyter", TOOLS, is_asked=False) == ("run_cell", None)


def shell(command, description=""):
    """How Gemini asks whether it may run a command: the description is the model's."""
    words = f"[current working directory /work] ({description})"
    return {"title": command, "content": [said(words)], "locations": [], "kind": "execute"}


def changed(call, old, new):
    """A call in which something else stands wherever something was."""
    told = json.dumps(call)
    assert old in told
    return json.loads(told.replace(old, new))


RUN = {"server": "jupyter", "tool": "run_code", "arguments": {"code": "1"}}
UNCERTAIN = {
    "a title that only contains it": {"title": "Run jupyter_edit_cell now", "rawInput": EDIT},
    "our name in the title, another's in the field": {
        **named("mcp__evil__edit_cell", rawInput=EDIT),
        "title": "mcp__jupyter__edit_cell",
    },
    "a shell": {**named("Bash", rawInput={"command": "rm"}), "title": "mcp__jupyter__edit_cell"},
    "two of ours": {**named("mcp__jupyter__edit_cell"), "title": "mcp__jupyter__run_code"},
    "a command beside the name": {**named("mcp__jupyter__edit_cell"), "title": "rm -rf ."},
    "a program in the folder": shell("jupyter/run_code", "run_code (jupyter MCP Server"),
    "a program by a path": {"title": "jupyter/run_code", "rawInput": {"code": "1"}},
    "a program on the path": shell("jupyter_run_code", "jupyter_run_code"),
    "a program whose description is what it needs": {
        **shell("jupyter_run_code"),
        "content": [said('{"code": "1"}')],
    },
    "a line that ends with the name": {
        "title": "jupyter_run_code",
        "rawInput": {"code": "1"},
        "content": [said("rm -rf ~ # jupyter_run_code")],
    },
    "another tool in the sentence": {
        "title": "jupyter_run_code",
        "rawInput": {"code": "1"},
        "content": [said("Requesting approval to jupyter_edit_cell")],
    },
    "another kind": {"title": "jupyter_edit_cell", "rawInput": EDIT, "kind": "delete"},
    "a kind that the tool cannot have": named("jupyter_edit_cell", rawInput=EDIT, kind="read"),
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
        "rawInput": {"code": "1"},
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
    "what a model may give to another's tool": {"title": "mcp__evil__x", "rawInput": RUN},
    "the same, with words for a title": {"title": "Look at it", "rawInput": RUN},
    "the same, with words that another shape has": {"title": "Approve Run code", "rawInput": RUN},
    "the same, for another of ours": {"title": "mcp.jupyter.edit_cell", "rawInput": RUN},
    "more in the wrapping": {
        "title": "mcp.jupyter.run_code",
        "rawInput": {**RUN, "command": "rm"},
    },
    "words beside the wrapping": {
        "title": "mcp.jupyter.run_code",
        "rawInput": RUN,
        "content": [said("$ rm -rf ~")],
    },
    "another server": {
        "title": "mcp.jupyter.run_code",
        "rawInput": {**RUN, "server": "evil"},
    },
    "an engine's question in the input of a shell": {
        "title": "Approve Run code",
        "kind": "execute",
        "rawInput": {
            "command": "rm -rf ~",
            "server_name": "jupyter",
            "request": {"_meta": {"tool_title": "Run code", "tool_params": {"code": "1"}}},
        },
    },
    "an engine's question, and a command": changed(engine(), '"turn_id"', '"command"'),
    "an engine's question, and more in it": changed(engine(), '"mode"', '"then"'),
    "an engine's question of another kind": changed(engine(), "mcp_tool_call", "exec"),
    "an engine's question in other words": changed(engine(), "to run tool", "to do"),
    "an engine's question for another server": changed(engine(), "jupyter", "evil"),
    "an engine's question, and other words beside": engine(content=[said("rm -rf ~")]),
    "an engine's question that shows other arguments": changed(engine(), "- cell_id", "- id"),
    "an engine's question under another title": engine(title="Approve"),
    "no such tool": {"title": "mcp__jupyter__rm"},
    "the tool's name alone": {"title": "edit_cell", "rawInput": EDIT},
    "no JSON": {"title": "jupyter_edit_cell", "rawInput": "{"},
    "JSON without end": {"title": "jupyter_edit_cell", "content": [said('{"a":' * 100_000)]},
    "a title without end": named("jupyter_edit_cell", rawInput=EDIT) | {"title": '{"a":' * 100_000},
    "a list": {"title": ["jupyter_edit_cell"], "name": 3, "content": 7, "locations": "x"},
    "a kind that is none": {"title": "jupyter_edit_cell", "rawInput": EDIT, "kind": ["other"]},
}


@pytest.mark.parametrize("call", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_call_that_may_be_something_else(call):
    assert read([call]) is None
    # Nor does it become one by what else is told.
    for tool, arguments in (("run_code", {"code": "1"}), ("edit_cell", EDIT)):
        assert read([call, {"title": f"mcp__jupyter__{tool}", "rawInput": arguments}]) is None


@pytest.mark.parametrize("call", [{}, {"title": "jupyter_run_code", "kind": "other"}])
def test_a_call_of_which_too_little_is_told(call):
    assert read([call]) is None
    assert read([call, {"title": "jupyter_run_code", "rawInput": {"code": "1"}}]) is not None


NAME = {"title": "jupyter_run_code"}
ASKED = {**NAME, "rawInput": {"code": "1"}}
TAKEN_BACK = {
    "a command": [{**NAME, "rawInput": {"command": "rm"}}, ASKED],
    "a title": [{"title": "rm"}, ASKED],
    "a name in a field": [
        {"_meta": {"v": {"toolName": "Bash"}}},
        {**ASKED, "_meta": {"v": {}}},
    ],
    "a name in a corner that is gone": [
        {"_meta": {"v": {"toolName": "Bash"}}},
        {**ASKED, "_meta": {"v": None, "toolName": "jupyter_run_code"}},
    ],
    "a name among too many": [*({"name": f"x{n}"} for n in range(20)), ASKED],
    "a change": [{"content": [{"type": "diff", "path": "/x", "newText": "y"}]}, ASKED],
    "words": [{"content": [said("$ rm")]}, ASKED],
    "other arguments": [{"content": [said('{"command": "rm')]}, ASKED],
    "a place": [{"locations": [{"path": "/home/u/.bashrc"}]}, ASKED],
    "a kind": [{"kind": "delete"}, {**ASKED, "kind": "other"}],
    "what cannot be compared": [{"rawInput": functools.reduce(lambda x, _: {"a": x}, range(5000))}],
}


@pytest.mark.parametrize("updates", TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_what_was_told_is_not_taken_back(updates):
    again = {**ASKED, "content": [said('{"code": "1"}')], "locations": [{"path": "n.ipynb"}]}
    assert read([ASKED]) is not None
    # Neither in the question nor in an update before it.
    assert read(updates) is None
    assert read([*updates, ASKED]) is None
    assert read([*updates, again, ASKED]) is None


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


@pytest.fixture
def in_use(window, session, jp_asyncio_loop):
    """Our MCP server as the agent has started it, which stays connected."""
    (entry,) = jp_asyncio_loop.run_until_complete(servers(window, session))
    shim = subprocess.Popen(
        [entry["command"], *entry["args"]],
        env={item["name"]: item["value"] for item in entry["env"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    shim.stdin.write(json.dumps(ping).encode() + b"\n")
    shim.stdin.flush()
    answer = jp_asyncio_loop.run_in_executor(None, shim.stdout.readline)
    assert b"result" in jp_asyncio_loop.run_until_complete(answer)
    yield entry
    shim.kill()
    shim.communicate()


async def test_the_user_is_not_asked_by_the_agent_for_our_tools(
    window, session, in_use, jp_serverapp
):
    events = []

    async def listen(logger, schema_id, data):
        events.append(data)

    await window.prompt(session, ["request", "terminal/create", {"command": "true"}])
    jp_serverapp.event_logger.add_listener(schema_id=PERMISSION_EVENT, listener=listen)
    call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
    assert await questions(window, session, asking(call)) == []
    answer = {"outcome": {"outcome": "selected", "optionId": "once"}}
    assert json.loads(window.texts()[-1]) == answer
    decided = window.of("_jupyter/permission_decided")[-1]["params"]
    told = {"kind": "tool", "subject": "edit_cell", "decision": "allow", "by": "own tool"}
    assert told.items() <= decided.items() and decided["toolCallId"] == "c1"
    # As of any other decision, those are told who keep an eye on the server.
    assert [{key: event[key] for key in told} for event in events] == [told]
    assert events[0]["agent"] == "scripted" and events[0]["session"] == session


async def test_an_agent_that_has_not_started_our_server_cannot_mean_it(window, session):
    call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
    (question,) = await questions(window, session, asking(call))
    assert "tool" not in question["_meta"]["jupyter-acp"]
    (entry,) = await servers(window, session)
    # The command reaches the same tools, and says nothing of what the agent has started.
    reader, writer = await asyncio.open_unix_connection(entry["args"][-1])
    writer.write(ADMIT + session.encode() + b"\n" + b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert b"result" in await asyncio.wait_for(reader.readline(), 10)
    assert len(await questions(window, session, asking(call))) == 1
    writer.close()
    async with connected(entry):
        assert await questions(window, session, asking(call)) == []
    # Some connect for each call, after the question.
    assert await questions(window, session, asking(call)) == []
    # Another run of the agent has to start it anew.
    await window.prompt(session, ["exit", 3])
    assert len(await questions(window, session, asking(call))) == 1


async def test_a_name_that_another_server_has_taken_is_not_in_use(window, session, acp, in_use):
    """As when a session is loaded again, with other servers than before."""
    manager = await acp.manager()
    tools, known = manager.services._tools, manager.get(session)
    assert tools.name_in_use(session) == "jupyter"
    await tools.servers(known, [])
    assert tools.name_in_use(session) == "jupyter"
    await tools.servers(known, [{"name": "jupyter"}])
    assert tools.name_in(session) == "jupyteracp" and tools.name_in_use(session) is None


def shell(command, **more):
    """A question about a command, as several agents tell it."""
    return {"title": str(command), "kind": "execute", "rawInput": {"command": command}, **more}


async def test_an_agent_that_asks_for_our_command_is_answered(window, session):
    """As agents without MCP do: what the tool does is asked when it is called."""
    own = [*program(), "tool", "--session", session]
    line = f'{shlex.join(own)} run_cell --json \'{{"cell_id": "a"}}\''
    beside = {"command": line, "cwd": "/anywhere", "description": "Run the cell"}
    for call in (
        shell(line),
        shell([*own, "run_cell"]),
        shell(["/bin/bash", "-lc", line]),
        shell(line, rawInput=beside, title="Run the cell", content=[said("Run the cell")]),
    ):
        assert await questions(window, session, asking(call)) == [], call
    decided = window.of("_jupyter/permission_decided")[-1]["params"]
    assert (decided["subject"], decided["by"]) == ("jupyter-acp tool", "own tool")


async def test_a_command_that_may_be_something_else_is_a_card(window, session):
    own = f"{shlex.join(program())} tool --session"
    line = f"{own} {session} --list"
    diff = {"type": "diff", "path": "/x", "oldText": "", "newText": "x"}
    for call in (
        shell(f"{line}; touch x"),
        shell(f"{own} other --list"),
        shell(f"jupyter-acp tool --session {session} --list"),
        shell(line, kind="edit"),
        shell(line, rawInput={"command": line, "env": {"PYTHONPATH": "."}}),
        shell(line, rawInput={"command": line, "stdin": "x"}),
        shell(line, rawInput={"command": [line, 1]}),
        shell(line, content=[diff]),
        shell(line, locations=[{"path": "/x"}]),
        {"title": line, "kind": "execute"},
    ):
        assert len(await questions(window, session, asking(call))) == 1, call


async def test_what_the_updates_of_the_call_have_told_counts(window, session, in_use):
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
        [{"kind": "allow_once", "name": "Yes"}, NO],
    ],
)
async def test_options_that_leave_a_doubt(window, session, options, in_use):
    call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
    start = len(window.received)
    turn = await window.start_prompt(session, asking(call, options), ["chunk", "done"])
    question = await window.wait(lambda m: m.get("method") == ASK, start)
    assert question["params"]["options"] == options
    # What it is about is certain all the same.
    assert question["params"]["_meta"]["jupyter-acp"]["tool"] == "edit_cell"
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    assert not window.of("_jupyter/permission_decided")


@pytest.fixture
def notebook(root):
    path = root / "n.ipynb"
    sources = (("a1", "x = 1"), ("a2", ""), ("a3", "print(x)"))
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**code, "id": id, "source": source} for id, source in sources]
    spec = {"name": "python3", "display_name": "Python", "language": "python"}
    content = {"cells": cells, "metadata": {"kernelspec": spec}}
    path.write_text(json.dumps({**content, "nbformat": 4, "nbformat_minor": 5}))
    return path


DOUBT = [ONCE, {**ONCE, "optionId": "other"}, NO]
"""Which of them would allow it, only the user can say."""

SHOWN = {
    "run_cell": ({"cell_id": "a3"}, "Run cell 3 of n.ipynb"),
    "run_cells": ({"first": 1}, "Run cell 3 of n.ipynb"),
    "run_code": ({"code": "1 + 1"}, "Run code in the kernel of n.ipynb"),
    "edit_cell": ({"cell_id": "a1", "source": "x = 2"}, "Edit cell 1 of n.ipynb"),
    "insert_cell": ({"source": "y"}, "Insert a cell into n.ipynb"),
    "delete_cell": ({"cell_id": "a1"}, "Delete cell 1 of n.ipynb"),
    "move_cell": ({"cell_id": "a1", "after": "a3"}, "Move cell 1 of n.ipynb"),
    "read_notebook": ({}, "Read n.ipynb"),
    "create_notebook": ({"path": "new.ipynb"}, "Create new.ipynb"),
}


@pytest.mark.parametrize("tool", SHOWN)
async def test_a_card_of_the_agents_says_what_our_own_would(
    window, session, notebook, in_use, tool
):
    given, title = SHOWN[tool]
    given = {"path": "n.ipynb", **given}
    call = named(f"mcp__jupyter__{tool}", rawInput=given)
    (question,) = await questions(window, session, asking(call, DOUBT))
    told = question["_meta"]["jupyter-acp"]
    asks = dict.fromkeys(("read", "write", "run"), "ask")
    async with connected(in_use) as mcp:
        await mcp.text("read_notebook", path="n.ipynb")
        await window.notify("_jupyter/settings/update", {"defaults": asks})
        await window.result("session/list", {})
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused(tool, **given))
        own = (await decide(window, "deny", start))["toolCall"]
        await calling
    assert told["tool"] == tool and told["title"] == own["title"] == title
    assert told["content"] == own.get("content", [])
    # What the agent has sent is as it was.
    assert question["toolCall"] == {"toolCallId": "c1", **call}


async def test_a_card_of_the_agents_about_a_kernel(window, session, notebook, in_use):
    async with connected(in_use) as mcp:
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("run_code", path="n.ipynb", code="1"))
        await decide(window, "allow", start)
        await calling
    for tool, title, words in (
        ("restart_kernel", "Restart the kernel of n.ipynb", "variables are lost"),
        ("interrupt_kernel", "Interrupt the kernel of n.ipynb", "may be lost"),
    ):
        call = named(f"mcp__jupyter__{tool}", rawInput={"path": "n.ipynb"}, toolCallId=tool)
        (question,) = await questions(window, session, asking(call, DOUBT))
        told = question["_meta"]["jupyter-acp"]
        assert told["title"] == title and words in json.dumps(told["content"])


@pytest.mark.parametrize(
    "given",
    [
        {"path": "n.ipynb", "cell_id": "nope", "source": ""},
        {"path": "missing.ipynb", "cell_id": "a1", "source": ""},
        {"path": "/etc/n.ipynb", "cell_id": "a1", "source": ""},
        {"cell_id": "a1", "source": ""},
        None,
    ],
)
async def test_a_card_of_the_agents_about_what_is_not_there(
    window, session, notebook, in_use, given
):
    call = named("mcp__jupyter__edit_cell", **({} if given is None else {"rawInput": given}))
    (question,) = await questions(window, session, asking(call, DOUBT))
    told = question["_meta"]["jupyter-acp"]
    assert told["tool"] == "edit_cell" and not {"title", "content"} & told.keys()


async def test_what_cannot_be_read_is_a_card(window, session, in_use):
    deep = '{"a":' * 100_000
    call = {"title": "jupyter_run_code", "content": [said(deep)]}
    assert len(await questions(window, session, asking(call))) == 1
    announced = {"sessionUpdate": "tool_call", "toolCallId": "c2", "title": deep, "content": 7}
    turn = await window.start_prompt(session, ["update", announced], ["until_cancel"])
    await window.wait(lambda m: '"c2"' in json.dumps(m))
    async with connected(in_use) as mcp:
        # Nor does it keep our tools from looking for their calls.
        await mcp.json("list_kernels")
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)


async def test_a_server_of_the_users_own_by_our_name(window, root):
    """Its tools are its own, whatever they are called."""
    theirs = {"name": "jupyter", "command": "true", "args": [], "env": []}
    params = {"cwd": str(root), "mcpServers": [theirs]}
    session = (await window.result("session/new", params))["sessionId"]
    _, entry = await servers(window, session)
    assert entry["name"] == "jupyteracp"
    async with connected(entry):
        call = named("mcp__jupyter__edit_cell", rawInput=EDIT)
        assert len(await questions(window, session, asking(call))) == 1
        call = named("mcp__jupyteracp__edit_cell", rawInput=EDIT)
        assert await questions(window, session, asking({**call, "toolCallId": "c2"})) == []


async def test_a_server_whose_tools_could_have_the_names_of_ours(window, root):
    """`mcp_jupyter_edit_cell` would be a tool of a server `mcp`, too."""
    theirs = {"name": "MCP", "command": "true", "args": [], "env": []}
    params = {"cwd": str(root), "mcpServers": [theirs]}
    session = (await window.result("session/new", params))["sessionId"]
    _, entry = await servers(window, session)
    async with connected(entry):
        call = named("mcp_jupyter_edit_cell", rawInput=EDIT)
        assert len(await questions(window, session, asking(call))) == 1


async def test_what_the_tool_does_is_asked_once_by_us(window, session, root, in_use):
    """The agent announces a call and asks for it; what is shown is one call, and one question."""
    cell = {"cell_type": "code", "id": "a3", "metadata": {}, "source": "print(41 + 1)"}
    cell |= {"outputs": [], "execution_count": None}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "n.ipynb").write_text(json.dumps(content))
    arguments = {"cell_id": "a3", "path": "n.ipynb"}
    call = named("mcp__jupyter__run_cell", rawInput=arguments)
    announced = {"sessionUpdate": "tool_call", "toolCallId": "c1", "status": "pending", **call}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    start = len(window.received)
    steps = [["update", announced], asking(call), ["until_cancel"], ["update", done]]
    turn = await window.start_prompt(session, *steps)
    await window.wait(lambda m: m.get("method") == "_jupyter/permission_decided", start)
    async with connected(in_use) as mcp:
        running = asyncio.ensure_future(mcp.text("run_cell", **arguments))
        question = await decide(window, "allow", start)
        assert "42" in await running
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    assert [option["name"] for option in question["options"]] == [
        "Run",
        "Run everything in this notebook in this session",
        "Don't run",
    ]
    assert "print(41 + 1)" in json.dumps(question["toolCall"])
    told = window.received[start:]
    assert len([m for m in told if m.get("method") == ASK and "id" in m]) == 1
    decided = [m["params"] for m in told if m.get("method") == "_jupyter/permission_decided"]
    assert [(each["by"], each.get("toolCallId")) for each in decided] == [
        ("own tool", "c1"),
        ("user", None),
    ]
    records = [m["params"] for m in told if m.get("method") == "_jupyter/tool"]
    assert [(each["status"], each["toolCallId"]) for each in records] == [
        ("in_progress", "c1"),
        ("completed", "c1"),
    ]


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
