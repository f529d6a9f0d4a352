# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""MCP servers of the user and the administrator: who gets them, with which secrets, and who sees those."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

import pytest
from acpclient import is_state, scripted
from gitserver import git, git_server
from mcpclient import connected
from server import TOKEN, running

from jupyter_acp.client.mcp_servers import SECRETS_FILE, Server, Servers
from jupyter_acp.client.secrets import SecretError, Secrets

FRONT_END = Path(__file__).parents[2] / "labextension"
SETTINGS = "_jupyter/settings/update"
SECRET = "correct-horse-battery"
OTHER = "staple-of-the-server"
PYTHON = os.path.abspath(sys.executable)
MCP = {"mcpCapabilities": {"http": True, "sse": True}}
ISSUES = {"name": "issues", "command": PYTHON, "args": ["-m", "issues"]}
WEB = {"name": "web", "type": "http", "url": "https://example.org/mcp"}
STREAM = {"name": "stream", "type": "sse", "url": "https://example.org/sse"}


@pytest.fixture
def acp_agents():
    return {
        "scripted": scripted(),
        "calls": scripted(capabilities={**MCP, "loadSession": True}),
        "resumes": scripted(capabilities={"sessionCapabilities": {"resume": {}}}),
        "forks": scripted(capabilities={"sessionCapabilities": {"fork": {}}}),
    }


@pytest.fixture
def secrets(jp_config_dir):
    """Write the user's file."""

    def write(text: str, mode: int = 0o600) -> Path:
        path = jp_config_dir / SECRETS_FILE
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


async def set_up(window, *servers):
    await window.notify(SETTINGS, {"servers": list(servers)})


async def given(window, session, folder):
    """What the agent of a session was given besides our own tools; it says so to nobody."""
    told = folder / "given.json"
    await window.prompt(session, ["tell_mcp", str(told)])
    entries = json.loads(told.read_text())
    told.unlink()
    return [entry for entry in entries if "JUPYTER_ACP_TICKET" not in str(entry)]


def shown(window, session):
    """What windows know of them now."""
    told = [m["params"] for m in window.of("_jupyter/session/servers")]
    mine = [params["servers"] for params in told if params["sessionId"] == session]
    return mine[-1] if mine else None


def notices(window):
    told = [m["params"]["message"] for m in window.of("_jupyter/session/notice")]
    return [words for words in told if words.startswith("This session has no MCP server")]


async def test_agents_get_what_they_can_take(window, root, tmp_path):
    await set_up(window, ISSUES, WEB, STREAM)
    session = await window.new(root, "calls")
    assert await given(window, session, tmp_path) == [
        {"name": "issues", "command": PYTHON, "args": ["-m", "issues"], "env": []},
        {"type": "http", "name": "web", "url": "https://example.org/mcp", "headers": []},
        {"type": "sse", "name": "stream", "url": "https://example.org/sse", "headers": []},
    ]
    assert [(each["name"], each["state"]) for each in shown(window, session)] == [
        ("issues", "on"),
        ("web", "on"),
        ("stream", "on"),
    ]
    session = await window.new(root, "scripted")
    assert [each["name"] for each in await given(window, session, tmp_path)] == ["issues"]
    assert shown(window, session) == [
        {"name": "issues", "type": "stdio", "state": "on"},
        {"name": "web", "type": "http", "state": "unsupported"},
        {"name": "stream", "type": "sse", "state": "unsupported"},
    ]


async def test_nothing_is_said_where_nothing_is_set_up(window, root):
    session = await window.new(root)
    await window.prompt(session, ["chunk", "hello"])
    assert shown(window, session) is None


async def test_a_program_is_told_by_its_path(window, root, tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "my-server").write_text("#!/bin/sh\n")
    (folder / "my-server").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    await set_up(window, {"name": "mine", "command": "my-server"})
    session = await window.new(root)
    (entry,) = await given(window, session, tmp_path)
    assert entry["command"] == str(folder / "my-server")


SERVER = """#!{python}
import json, os, sys
from mcp.server import MCPServer

server = MCPServer("mine")

@server.tool()
def told(names: list[str]) -> str:
    return json.dumps([sys.argv, {{name: os.environ.get(name) for name in names}}])

server.run()
"""


async def test_a_real_one_starts_from_what_the_agent_is_given(
    window, root, tmp_path, secrets, monkeypatch
):
    program = tmp_path / "bin" / "my-server"
    program.parent.mkdir()
    program.write_text(SERVER.format(python=PYTHON))
    program.chmod(0o700)
    secrets(f"OF_FILE={SECRET}")
    monkeypatch.setenv("OF_SERVER", OTHER)
    env = {"FIRST": "${OF_FILE}", "SECOND": "Bearer ${OF_SERVER}", "PLAIN": "as it is"}
    args = ["--all", "${OF_FILE}"]
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        await set_up(window, {"name": "mine", "command": "my-server", "args": args, "env": env})
        session = await window.new(root)
        (entry,) = await given(window, session, tmp_path)
    # Nor is it on the path of whoever starts it.
    async with connected(entry) as client:
        argv, variables = await client.json("told", names=[*env, "OF_FILE", "OF_SERVER"])
    assert argv == [str(program), *args], "arguments can be seen by others: no secret is put there"
    assert variables == {
        "FIRST": SECRET,
        "SECOND": f"Bearer {OTHER}",
        "PLAIN": "as it is",
        "OF_FILE": None,
        "OF_SERVER": None,
    }


async def test_a_server_that_is_off_is_not_there(window, root, tmp_path):
    await set_up(window, {**ISSUES, "enabled": False})
    session = await window.new(root)
    assert await given(window, session, tmp_path) == [] and shown(window, session) is None


async def test_secrets_are_looked_up_when_a_session_begins(
    window, root, tmp_path, secrets, monkeypatch
):
    monkeypatch.setenv("OF_SERVER", OTHER)
    monkeypatch.setenv("IN_BOTH", "of the environment")
    secrets(f"# mine\nOF_FILE={SECRET}\nexport IN_BOTH='of the file'\n\nEMPTY=\n")
    env = {"A": "${OF_FILE}", "B": "x-${OF_SERVER}-${IN_BOTH}", "C": "$OF_FILE {OF_FILE}", "D": ""}
    headers = {"Authorization": "Bearer ${OF_FILE}", "X-Empty": "${EMPTY}"}
    await set_up(window, {**ISSUES, "env": env}, {**WEB, "headers": headers})
    session = await window.new(root, "calls")
    issues, web = await given(window, session, tmp_path)
    assert issues["env"] == [
        {"name": "A", "value": SECRET},
        {"name": "B", "value": f"x-{OTHER}-of the file"},
        {"name": "C", "value": "$OF_FILE {OF_FILE}"},
        {"name": "D", "value": ""},
    ]
    assert web["headers"] == [
        {"name": "Authorization", "value": f"Bearer {SECRET}"},
        {"name": "X-Empty", "value": ""},
    ]
    secrets("OF_FILE=another\nEMPTY=\n")
    session = await window.new(root, "calls")
    issues, _ = await given(window, session, tmp_path)
    assert issues["env"][0] == {"name": "A", "value": "another"}


@pytest.mark.parametrize("agent", ["scripted", "calls", "resumes"])
async def test_secrets_are_told_to_nobody_else(
    window, acp, acp_connect, root, tmp_path, secrets, jp_fetch, caplog, capfd, monkeypatch, agent
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OF_SERVER", OTHER)
    secrets(f"OF_FILE={SECRET}")
    env = {"A": "${OF_FILE}", "B": "${OF_SERVER}"}
    bad = {**WEB, "headers": {"A": "${OF_FILE}", "B": "${NOWHERE}"}}
    await set_up(window, {**ISSUES, "env": env}, bad, {**ISSUES, "env": env})
    session = await window.new(root, agent)
    (entry,) = await given(window, session, tmp_path)
    assert SECRET in str(entry) and OTHER in str(entry), "it must be told to the agent"
    await window.start_prompt(session, ["exit", 3])
    await window.wait(is_state("disconnected"))
    await window.prompt(session, ["chunk", "again"])
    told = [json.dumps(window.received)]
    for path in ("sessions", f"sessions/{session}", f"sessions/{session}/messages", "agents"):
        told.append((await jp_fetch("acp", *path.split("/"))).body.decode())
    later = await acp_connect()
    await later.attach(session)
    await later.result("session/load", {"sessionId": session, "cwd": "/", "mcpServers": []})
    told.append(json.dumps(later.received))
    await acp.stop_extension()
    journals = [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("journal.sqlite*")]
    assert any("${OF_FILE}" in text for text in journals), "the settings are kept there"
    captured = capfd.readouterr()
    told += [*journals, caplog.text, captured.out, captured.err]
    assert not [text for text in told if SECRET in text or OTHER in text]


async def test_an_unknown_secret_leaves_its_server_out(window, root, tmp_path, jp_config_dir):
    await set_up(window, {**ISSUES, "env": {"A": "${NOT_THERE}"}}, {**ISSUES, "name": "other"})
    session = await window.new(root)
    (entry,) = await given(window, session, tmp_path)
    assert entry["name"] == "other"
    missing, other = shown(window, session)
    assert (missing["state"], other["state"]) == ("failed", "on")
    (notice,) = notices(window)
    assert "“issues”" in notice and "There is no secret NOT_THERE" in notice
    assert str(jp_config_dir / SECRETS_FILE) in notice and "chmod 600" in notice


@pytest.mark.parametrize("name", ["JUPYTER_TOKEN", "JPY_API_TOKEN", "JUPYTERHUB_COOKIE_SECRET"])
async def test_the_servers_own_secrets_are_none(window, root, tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, OTHER)
    await set_up(window, {**ISSUES, "env": {"A": f"${{{name}}}"}})
    session = await window.new(root)
    assert await given(window, session, tmp_path) == []
    (notice,) = notices(window)
    assert f"{name} belongs to the Jupyter server" in notice and OTHER not in notice


@pytest.mark.skipif(os.name != "posix", reason="only there files have modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o622])
async def test_a_file_that_others_can_get_at_counts_for_nothing(
    window, root, tmp_path, secrets, monkeypatch, mode
):
    monkeypatch.setenv("A_SECRET", OTHER)
    path = secrets(f"A_SECRET={SECRET}", mode)
    await set_up(window, {**ISSUES, "env": {"A": "${A_SECRET}"}}, {**ISSUES, "name": "plain"})
    session = await window.new(root)
    (entry,) = await given(window, session, tmp_path)
    assert entry["name"] == "plain", "what needs no secret must not wait for one"
    (notice,) = notices(window)
    assert f"Others can get at {path} ({mode:o}). Run: chmod 600 {path}" in notice
    path.chmod(0o600)
    session = await window.new(root)
    assert len(await given(window, session, tmp_path)) == 2


@pytest.mark.skipif(os.name != "posix", reason="only there is a pipe a file")
def test_what_is_no_file_of_text(tmp_path):
    path = tmp_path / "secrets.env"

    def problem():
        with pytest.raises(SecretError) as error:
            Secrets.read(path).filled("${HOME}")
        return str(error.value)

    os.mkfifo(path, 0o600)
    assert f"{path} is not a file" in problem()
    path.unlink()
    path.touch(0o600)
    path.write_bytes(b"HOME=\xff\xfe")
    assert "is not UTF-8 text" in problem()
    path.write_bytes(b"HOME=" + b"x" * 1024 * 1024)
    assert "is larger than" in problem()
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.env")
    assert Secrets.read(path).filled("${HOME}") == os.environ["HOME"], (
        "a link to nothing is no file"
    )
    (tmp_path / "elsewhere.env").touch(0o644)
    assert "Others can get at" in problem(), "what counts is what the link leads to"


def test_secrets_do_not_show_themselves(tmp_path):
    path = tmp_path / "secrets.env"
    path.touch(0o600)
    path.write_text(f"A={SECRET}")
    read = Secrets.read(path)
    assert read.filled("${A}") == SECRET and SECRET not in repr(read)


WRONG = [
    ({"command": "python3"}, "`name`"),
    ({**ISSUES, "name": "my server"}, "letters, digits, underscores or hyphens"),
    ({**ISSUES, "name": "a/../b"}, "letters, digits, underscores or hyphens"),
    ({"name": "x"}, "It has no command"),
    ({"name": "x", "command": "  "}, "It has no command"),
    ({"name": "x", "command": "./here"}, "the name of a program or an absolute path"),
    ({"name": "x", "command": "no-such-program-here"}, "There is no program no-such-program-here"),
    ({**ISSUES, "args": ["a\0b"]}, "NUL"),
    ({**ISSUES, "env": {"A=B": "x"}}, "has no usable name"),
    ({**ISSUES, "env": {"A": "x\0"}}, "The value of the environment variable A"),
    ({**ISSUES, "env": {"A": 1}}, "`env.A`"),
    ({**ISSUES, "more": 1}, "`more`"),
    ({"name": "x", "type": "http"}, "Its URL must be one such as"),
    ({"name": "x", "url": f"ftp://me:{SECRET}@example.org"}, "Its URL must be one such as"),
    ({"name": "x", "url": f"https://me:{SECRET}@[example.org"}, "Its URL must be one such as"),
    ({**WEB, "type": "websocket"}, "`type`"),
    ({**WEB, "headers": {"A": "x\r\nB: y"}}, "The value of the header A has a line break"),
    ({**WEB, "headers": {"A b": "x"}}, "has no usable name"),
]


@pytest.mark.parametrize(("server", "words"), WRONG)
async def test_what_is_wrong_with_one_harms_no_other(tmp_path, server, words):
    servers = Servers({}, tmp_path / "none")
    servers.set_user_servers([server, {**ISSUES, "name": "good"}])
    entries, (told, good) = await servers.given(MCP, [])
    assert [entry["name"] for entry in entries] == ["good"] and good["state"] == "on"
    assert told["state"] == "failed" and words in told["message"]
    assert SECRET not in str(told)


def test_the_page_of_the_settings_knows_the_same_fields():
    schema = json.loads((FRONT_END / "schema" / "mcp.json").read_text())
    items = schema["properties"]["servers"]["items"]
    fields = {}
    for part in (items, items["then"], items["else"]):
        fields.update(part["properties"])
    assert set(fields) == set(Server.model_fields)
    assert [each["const"] for each in fields["type"]["oneOf"]] == ["stdio", "http", "sse"]


async def test_an_agent_with_odd_capabilities_gets_programs_only(tmp_path):
    servers = Servers({}, tmp_path / "none")
    servers.set_user_servers([ISSUES, WEB])
    for odd in ({}, {"mcpCapabilities": True}, {"mcpCapabilities": {"http": "yes"}}):
        entries, _ = await servers.given(odd, [])
        assert [entry["name"] for entry in entries] == ["issues"]


async def test_a_client_keeps_the_names_that_it_gives(window, root, tmp_path):
    await set_up(window, ISSUES)
    own = {"name": "Issues", "command": "/bin/true", "args": [], "env": []}
    params = {"cwd": str(root), "mcpServers": [own]}
    session = (await window.result("session/new", params))["sessionId"]
    assert await given(window, session, tmp_path) == [own]
    assert shown(window, session)[0]["state"] == "failed"


async def test_a_restored_session_gets_what_is_set_up_by_then(
    window, acp, acp_connect, root, tmp_path
):
    await set_up(window, ISSUES)
    sessions = [await window.new(root, agent) for agent in ("scripted", "calls", "resumes")]
    await set_up(window, WEB, {**ISSUES, "name": "newer"}, {**ISSUES, "name": "broken", "url": 1})
    # Whose agent runs goes on with what it was given.
    assert [each["name"] for each in await given(window, sessions[0], tmp_path)] == ["issues"]
    await acp.stop_extension()
    # Without a window that would say it again.
    later = await acp_connect()
    for session, names in zip(sessions, (["newer"], ["web", "newer"], ["newer"]), strict=True):
        await later.attach(session)
        told = await given(later, session, tmp_path)
        assert [each["name"] for each in told] == names
        assert [each["name"] for each in shown(later, session)] == ["web", "newer", "broken"]
    count = len(notices(later))
    await later.start_prompt(sessions[0], ["exit", 3])
    await later.wait(is_state("disconnected"))
    await later.prompt(sessions[0], ["chunk", "again"])
    assert not [each for each in notices(later)[count:] if "broken" in each], "it is known"
    await set_up(later)
    await later.start_prompt(sessions[0], ["exit", 3])
    await later.wait(is_state("disconnected"), len(later.received))
    assert await given(later, sessions[0], tmp_path) == []
    assert shown(later, sessions[0]) == []


async def test_the_parts_of_the_settings_do_not_touch_each_other(
    window, acp, acp_connect, root, tmp_path
):
    rules = {"scripted": [{"kind": "read", "match": ".env", "decision": "allow"}]}
    (root / ".env").write_text("x")
    await window.notify(SETTINGS, {"rules": rules})
    await set_up(window, ISSUES)
    await window.result("session/list", {})
    await acp.stop_extension()
    later = await acp_connect()
    session = await later.new(root)
    assert [each["name"] for each in await given(later, session, tmp_path)] == ["issues"]
    read = ["request", "fs/read_text_file", {"path": str(root / ".env")}]
    await later.prompt(session, read)
    assert json.loads(later.texts()[-1]) == {"content": "x"}
    await later.notify(SETTINGS, {"rules": {}})
    session = await later.new(root)
    assert [each["name"] for each in await given(later, session, tmp_path)] == ["issues"]


async def test_the_built_in_agent_gets_none(window, root):
    await set_up(window, ISSUES)
    session = await window.new(root, "builtin")
    block = {"type": "text", "text": "hello"}
    await window.result("session/prompt", {"sessionId": session, "prompt": [block]})
    assert shown(window, session) is None


async def test_a_fork_gets_its_own(window, root, tmp_path):
    await set_up(window, ISSUES)
    session = await window.new(root, "forks")
    await set_up(window, {**ISSUES, "name": "newer"})
    params = {"sessionId": session, "cwd": str(root)}
    copy = (await window.result("session/fork", params))["sessionId"]
    for id, name in ((session, "issues"), (copy, "newer")):
        assert [each["name"] for each in await given(window, id, tmp_path)] == [name]
        assert [each["name"] for each in shown(window, id)] == [name]


class TestElsewhere:
    """Sessions and agents that are not on this machine."""

    @pytest.fixture
    def far(self, tmp_path_factory):
        with running(tmp_path_factory.mktemp("far"), {"scripted": scripted()}) as server:
            yield server

    @pytest.fixture
    def acp_agents(self, far):
        url = f"ws://127.0.0.1:{far.port}/acp/ws"
        there = {"url": url, "headers": {"Authorization": f"token {TOKEN}"}}
        return {"scripted": scripted(), "there": there}

    @pytest.fixture
    def acp_config(self, tmp_path):
        return {"remote_schemes": ["http"], "remote_cache": str(tmp_path / "cache")}

    async def test_get_none(self, window, root, tmp_path, tmp_path_factory):
        await set_up(window, ISSUES)
        far_away = await window.new(root, "there")
        with git_server(tmp_path_factory.mktemp("git")) as server:
            server.create("p", {"a.txt": "a"})
            revision = git(server.root / "p.git", "rev-parse", "main")
            ref = {"type": "git", "url": server.url("p"), "branch": "main", "revision": revision}
            params = {"cwd": str(root), "mcpServers": [], "remote": ref}
            remote = (await window.result("session/new", params))["sessionId"]
            for session in (far_away, remote):
                assert await given(window, session, tmp_path) == []
                assert shown(window, session) is None
        assert await given(window, await window.new(root), tmp_path), "here they are"


class TestAdministrator:
    """Servers that no user can change."""

    @pytest.fixture
    def acp_config(self):
        servers = {
            "issues": {"command": PYTHON, "env": {"A": "${OF_SERVER}"}},
            "docs": {"url": "https://example.org/mcp"},
            "odd": "python3",
        }
        return {"mcp_servers": servers}

    async def test_come_first(self, window, root, tmp_path, monkeypatch):
        monkeypatch.setenv("OF_SERVER", OTHER)
        await set_up(window, {**ISSUES, "args": ["mine"]}, {"name": "docs", "enabled": False})
        session = await window.new(root, "calls")
        issues, docs = await given(window, session, tmp_path)
        assert issues["args"] == [] and issues["env"] == [{"name": "A", "value": OTHER}]
        assert docs["type"] == "http" and docs["url"] == "https://example.org/mcp"
        assert [(each["name"], each["state"]) for each in shown(window, session)] == [
            ("issues", "on"),
            ("docs", "on"),
            ("odd", "failed"),
            ("issues", "failed"),
        ]
