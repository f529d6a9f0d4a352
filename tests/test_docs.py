# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The documentation says what the code does."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acpclient import Client, scripted
from jupyter_core.paths import jupyter_data_dir
from pydantic import BaseModel, TypeAdapter

from jupyter_acp import protocol
from jupyter_acp.app import AcpExtension
from jupyter_acp.client import terminals
from jupyter_acp.paths import uri_path
from jupyter_acp.remote.refs import git_ref
from jupyter_acp.rpc import errors

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
AGENTS = DOCS / "agents.md"
FOLDER = "/home/ada/project"
"""That of the session in the examples."""

MODELS: dict[str, type[BaseModel]] = {
    protocol.INITIALIZE: protocol.InitializeParams,
    protocol.SESSION_NEW: protocol.NewSessionParams,
    protocol.SESSION_PROMPT: protocol.PromptParams,
    protocol.REQUEST_PERMISSION: protocol.SessionParams,
    protocol.ELICIT: protocol.SessionParams,
    protocol.EXT_QUESTION: protocol.SessionParams,
    protocol.READ_FILE: protocol.ReadFileParams,
    protocol.WRITE_FILE: protocol.WriteFileParams,
    protocol.TERMINAL_CREATE: protocol.CreateTerminalParams,
    protocol.TERMINAL_OUTPUT: protocol.TerminalParams,
    protocol.TERMINAL_WAIT: protocol.TerminalParams,
    protocol.TERMINAL_KILL: protocol.TerminalParams,
    protocol.TERMINAL_RELEASE: protocol.TerminalParams,
    protocol.OPEN_DOCUMENTS: protocol.SessionParams,
    protocol.RECENT_DOCUMENTS: protocol.RecentParams,
    protocol.ACTIVE_DOCUMENT: protocol.SessionParams,
}
"""Of the requests that are shown."""

STANDARD = {
    protocol.INITIALIZE: "Initialize",
    protocol.SESSION_NEW: "NewSession",
    protocol.SESSION_PROMPT: "Prompt",
    protocol.REQUEST_PERMISSION: "RequestPermission",
    protocol.ELICIT: "CreateElicitation",
    protocol.READ_FILE: "ReadTextFile",
    protocol.WRITE_FILE: "WriteTextFile",
    protocol.TERMINAL_CREATE: "CreateTerminal",
    protocol.TERMINAL_OUTPUT: "TerminalOutput",
    protocol.TERMINAL_WAIT: "WaitForTerminalExit",
    protocol.TERMINAL_KILL: "KillTerminal",
    protocol.TERMINAL_RELEASE: "ReleaseTerminal",
}
"""What ACP's own library calls those that are not only ours."""

Message = dict[str, Any]


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *DOCS.glob("*.md")]


def fenced(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


def examples() -> list[Message]:
    return [json.loads(block) for block in fenced(AGENTS, "json")]


def exchanges() -> list[tuple[Message, Message]]:
    """What an agent asks of the client, each with the answer that follows it."""
    shown = examples()
    return [
        (request, answer)
        for request, answer in zip(shown, shown[1:], strict=False)
        if "method" in request and "method" not in answer and request.get("id", 0) > 10
    ]


# The tables


def test_the_tables_are_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, DOCS / "tables.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    page = (DOCS / "configuration.md").read_text()
    told = page.split("<!-- /traits -->")[0]
    documented = set(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE))
    assert documented == set(AcpExtension.class_own_traits(config=True))
    assert jupyter_data_dir() not in page
    assert "`sendWithEnter`" in page and "`rules[].decision`" in page


def test_a_table_that_was_changed_by_hand_is_mended() -> None:
    tables = runpy.run_path(str(DOCS / "tables.py"))
    page = (DOCS / "configuration.md").read_text()
    changed = page.replace("`keep_days`", "`kept_days`").replace("`finished`", "`done`")
    assert changed != page
    assert tables["updated"](changed) == page
    with pytest.raises(SystemExit, match="/settings"):
        tables["updated"](page.replace("<!-- /settings -->", ""))


# All pages


def test_every_method_of_ours_is_documented() -> None:
    text = (DOCS / "socket.md").read_text()
    ours = {
        value
        for module in (protocol, terminals)
        for value in vars(module).values()
        if isinstance(value, str) and value.startswith("_jupyter/")
    }
    assert len(ours) > 6
    assert {name for name in ours if name not in text} == set()


def test_links_between_documents_lead_somewhere() -> None:
    for document in documents():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_nobody_is_sent_to_another_project() -> None:
    # The distribution `jupyter-acp` belongs to others.
    for document in documents():
        assert not re.search(r"install jupyter-acp(?!-bridge)", document.read_text())


def test_they_are_a_site_without_a_warning(tmp_path: Path) -> None:
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package)
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", DOCS, tmp_path]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.stem for path in tmp_path.glob("*.html")}
    assert pages >= {path.stem for path in DOCS.glob("*.md")}
    # What is written once in the repository is a page here, and links lead to it.
    assert 'href="changelog.html"' in (tmp_path / "hub.html").read_text()
    assert 'href="architecture.html"' in (tmp_path / "contributing.html").read_text()


# What authors of agents are told


def test_json_is_json() -> None:
    for document in documents():
        for block in fenced(document, "json"):
            json.loads(block)


def test_examples_are_what_the_protocol_says() -> None:
    from acp import schema

    methods: dict[Any, str] = {}
    for message in examples():
        assert message["jsonrpc"] == "2.0"
        if "id" not in message:
            assert message["method"] == protocol.PROGRESS
            continue
        method = message.get("method") or methods[message["id"]]
        methods[message["id"]] = method
        if "method" in message and method in MODELS:
            MODELS[method].model_validate(message["params"])
        if method in STANDARD and "error" not in message:
            kind = "Request" if "method" in message else "Response"
            model: Any = TypeAdapter(getattr(schema, STANDARD[method] + kind))
            model.validate_python(message["params" if kind == "Request" else "result"])
        body = message.get("params") or message.get("result") or {}
        for ref in (body.get("remote"), body.get("target")):
            assert ref is None or git_ref(ref).public() == ref
    shown = {message.get("method") for message in examples()}
    assert set(MODELS) <= shown


async def test_every_method_that_is_served_is_shown(acp: Any) -> None:
    services = (await acp.manager()).services
    assert set(services._services) <= set(MODELS)


def test_every_error_is_explained() -> None:
    codes = {value for value in vars(errors).values() if type(value) is int}
    text = AGENTS.read_text()
    assert len(codes) > 6
    assert {code for code in codes if str(code) not in text} == set()


@pytest.fixture
def acp_config() -> dict[str, Any]:
    sudo = {"kind": "terminal", "match": "sudo *", "decision": "deny"}
    return {"permissions": {"*": [sudo, {"kind": "terminal", "decision": "allow"}]}}


@pytest.fixture
def acp_agents(tmp_path: Path) -> dict[str, Any]:
    """The scripted agent, and the one of the page."""
    (program,) = [block for block in fenced(AGENTS, "python") if "sys.stdin" in block]
    path = tmp_path / "smallest.py"
    path.write_text(program)
    return {"scripted": scripted(), "smallest": {"argv": [sys.executable, str(path)]}}


async def test_agents_are_told_what_is_written(window: Client, root: Path) -> None:
    session = await window.new(root, "scripted")
    await window.prompt(session, ["asked"])
    asked = dict(json.loads(window.texts()[-1]))
    written = {m["method"]: m["params"] for m in reversed(examples()) if "method" in m}
    # A release changes it.
    written["initialize"]["clientInfo"]["version"] = asked["initialize"]["clientInfo"]["version"]
    assert asked["initialize"] == written["initialize"]
    new, told = asked["session/new"], written["session/new"]
    assert set(new) == set(told)
    (server,), (shown,) = new["mcpServers"], told["mcpServers"]
    assert set(server) == set(shown) and server["name"] == shown["name"]
    names = [[Path(arg).name for arg in each["args"]] for each in (server, shown)]
    assert names[0] == names[1]
    tickets = [[(v["name"], len(v["value"])) for v in each["env"]] for each in (server, shown)]
    assert tickets[0] == tickets[1]


async def test_the_server_answers_as_is_written(window: Client, root: Path) -> None:
    (root / "analysis.py").write_text("import csv\n\nprint()\n")
    (root / "data.csv").write_text("time,temperature\n0,21\n")
    session = await window.new(root, "scripted")
    names = {FOLDER: str(root)}

    def here(value: Any) -> Any:
        text = json.dumps(value)
        for written, real in names.items():
            text = text.replace(written, real)
        return json.loads(text)

    written = {request["method"]: answer.get("result") for request, answer in exchanges()}
    answers = [answer for _, answer in exchanges()]
    assert len(answers) > 12
    for request, answer in exchanges():
        method, params = request["method"], {**request["params"]}
        del params["sessionId"]
        if method == protocol.OPEN_DOCUMENTS:
            await window.notify(protocol.WORKSPACE, page_of(written))
        start = len(window.received)
        turn = await window.start_prompt(session, ["request", method, here(params)])
        if method in (protocol.REQUEST_PERMISSION, protocol.ELICIT, protocol.EXT_QUESTION):
            asked = protocol.ELICIT if method == protocol.EXT_QUESTION else method
            question = await window.wait(lambda m, asked=asked: m.get("method") == asked, start)
            result = answer["result"]
            if method == protocol.EXT_QUESTION:
                ((chosen,),) = result["answers"]
                result = {"action": "accept", "content": {"answer1": chosen}}
            await window.send({"jsonrpc": "2.0", "id": question["id"], "result": result})
        await window.response(turn)
        got = json.loads(window.texts()[-1])
        if method == protocol.TERMINAL_CREATE and "result" in answer:
            names[answer["result"]["terminalId"]] = got["terminalId"]
        assert got == here(answer.get("result", answer.get("error"))), method
    wanted = next(r for r, _ in exchanges() if r["method"] == protocol.WRITE_FILE)
    assert (root / "analysis.py").read_text() == wanted["params"]["content"]


def page_of(written: Message) -> Message:
    """What a page tells the server so that agents are answered as is written."""

    def told(document: Message) -> Message:
        path = Path(uri_path(document["uri"])).relative_to(FOLDER).as_posix()
        more = document["_meta"]["jupyter-acp"]
        return {"path": path, "languageId": document["languageId"], **more}

    return {
        "window": "page",
        "full": True,
        "focused": True,
        "documents": [told(each) for each in written[protocol.OPEN_DOCUMENTS]["documents"]],
        "recents": [told(each) for each in written[protocol.RECENT_DOCUMENTS]["documents"]],
        "active": told(written[protocol.ACTIVE_DOCUMENT]["document"])["path"],
    }


async def test_the_smallest_agent_works(window: Client, root: Path) -> None:
    one, other = [await window.new(root, "smallest") for _ in range(2)]
    await window.prompt(one, "what do I see?")
    assert window.texts()[-1] == "You look at nothing."
    document = {"path": "a b.py", "languageId": "python", "kind": "file"}
    page = {"window": "page", "full": True, "documents": [document], "active": "a b.py"}
    await window.notify(protocol.WORKSPACE, page)
    await window.prompt(other, "and now?")
    assert window.texts()[-1] == f"You look at {(root / 'a b.py').as_uri()}."
