# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions of the server whose files are in a repository elsewhere: here, and on another server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time

import pytest
from acpclient import is_state, scripted
from gitserver import git, git_server
from server import TOKEN, running

HELLO = {"hello.py": "print('helo')\n", "sub/data.txt": "1\n"}
LOADS = {"loadSession": True, "sessionCapabilities": {"fork": {}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with git_server(tmp_path_factory.mktemp("git")) as server:
        yield server


@pytest.fixture
def ref(server, request):
    name = f"p{abs(hash(request.node.name))}"
    server.create(name, HELLO)
    revision = git(server.root / f"{name}.git", "rev-parse", "main")
    return {"type": "git", "url": server.url(name), "branch": "main", "revision": revision}


@pytest.fixture
def bare(server, ref):
    return server.root / ref["url"].rpartition("/")[2]


@pytest.fixture
def remote(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remote")
    traits = {"remote_schemes": ["http"], "remote_cache": str(folder / "cache")}
    with running(folder, {"scripted": scripted()}, **traits) as server:
        yield server


@pytest.fixture
def trapped(tmp_path_factory):
    """A server that was started in a repository whose modules have the names of others."""
    folder, traps = tmp_path_factory.mktemp("trapped"), tmp_path_factory.mktemp("traps")
    for name in ("argparse", "asyncio", "contextlib", "pydantic", "jupyter_acp", "runpy"):
        (traps / f"{name}.py").write_text(f"open({str(traps / 'sprung')!r}, 'a').write('{name} ')")
    traits = {"remote_schemes": ["http"], "remote_cache": str(folder / "cache")}
    agents = {"scripted": scripted()}
    with running(folder, agents, cwd=traps, default_agent="builtin", **traits) as server:
        yield server


@pytest.fixture
def acp_agents(request):
    methods = [{"id": "key", "name": "With a key"}]
    agents = {
        "scripted": scripted(),
        "loads": scripted(capabilities=LOADS),
        "forgets": scripted(capabilities=LOADS, refuse=["session/load"]),
        "guarded": scripted(auth_methods=methods, login="key"),
    }
    for name in {"remote", "trapped"} & set(request.fixturenames):
        other = request.getfixturevalue(name)
        url = f"ws://127.0.0.1:{other.port}/acp/ws"
        agents["there"] = {"url": url, "headers": {"Authorization": f"token {TOKEN}"}}
        agents["stranger"] = {"url": url, "headers": {"Authorization": "token wr0ng"}}
    return agents


@pytest.fixture
def acp_config(tmp_path):
    return {"remote_schemes": ["http"], "remote_cache": str(tmp_path / "cache")}


async def new(window, cwd, ref, agent=None, **ours):
    meta = {"jupyter-acp": {**({"agent": agent} if agent else {}), **ours}}
    params = {"cwd": str(cwd), "mcpServers": [], "remote": ref, "_meta": meta}
    return await window.ask("session/new", params)


async def until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


def show(bare, revision, path):
    return git(bare, "show", f"{revision}:{path}")


async def test_what_is_open_here_is_not_told_there(window, root, ref, page):
    (root / "here.py").write_text("saved = 1\n")
    await page.open("here.py")
    for session in (await new(window, root, ref))["result"]["sessionId"], await window.new(root):
        await window.prompt(session, ["prompt"])
    away, here = window.texts()
    assert len(json.loads(away)) == 1 and "here.py is open" in here
    (told,) = window.of("_jupyter/prompt/context")
    assert told["params"]["sessionId"] == session


async def test_any_agent_works_on_a_repository(window, root, ref, bare, jp_fetch, tmp_path):
    result = (await new(window, root, ref, progressToken="t1"))["result"]
    session = result["sessionId"]
    assert {m["params"]["token"] for m in window.of("_jupyter/remote/progress")} == {"t1"}
    answer = (await window.prompt(session, ["write", "new.txt", "from afar"]))["result"]
    assert answer["target"] == answer["_meta"]["jupyter-acp"]["target"]
    assert show(bare, answer["target"]["revision"], "new.txt") == "from afar"
    (told,) = window.of("_jupyter/remote/result")
    assert told["params"]["target"] == answer["target"] and told["params"]["number"] == 1
    listed = json.loads((await jp_fetch("acp", "sessions", session)).body)
    assert listed["remote"] == ref
    # Where nobody has a copy of their own, the session is where the agent is.
    assert listed["cwd"].startswith(str(tmp_path / "cache"))
    second = (await window.prompt(session, ["write", "new.txt", "again"]))["result"]["target"]
    assert [m["params"]["number"] for m in window.of("_jupyter/remote/result")] == [1, 2]
    assert second["branch"] == answer["target"]["branch"]


async def test_what_is_here_is_none_of_its_business(window, root, ref):
    (root / "secret.txt").write_text("secret")
    session = (await new(window, root, ref))["result"]["sessionId"]
    await window.prompt(session, ["capabilities"])
    seen = json.loads(window.texts()[-1])
    assert not {"fs", "terminal", "workspace"} & set(seen)
    for method, params in (
        ("fs/read_text_file", {"path": str(root / "secret.txt")}),
        ("fs/write_text_file", {"path": str(root / "x"), "content": "x"}),
        ("terminal/create", {"command": "touch", "args": [str(root / "x")]}),
        ("workspace/open_documents", {}),
    ):
        await window.prompt(session, ["request", method, params])
        assert json.loads(window.texts()[-1])["code"] == -32601
    assert not (root / "x").exists()
    await window.prompt(session, ["mcp"])
    assert json.loads(window.texts()[-1]) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"url": "https://example.org/x"}, "remote_schemes"),
        ({"url": "ext::sh"}, "must not name a program"),
        ({"url": "/etc"}, "a folder is none"),
        ({"branch": "-x"}, "must not begin with a dash"),
        ({"revision": "HEAD"}, "hexadecimal"),
        ({"type": "zip"}, "'zip' is not known here"),
    ],
)
async def test_what_is_refused_starts_nobody(window, root, ref, acp, change, words):
    answer = await new(window, root, {**ref, **change})
    assert answer["error"]["code"] == -32602 and words in answer["error"]["message"]
    assert (await acp.manager()).links.running == []


async def test_what_cannot_be_cloned_leaves_nothing(window, root, ref, jp_fetch, tmp_path):
    answer = await new(window, root, {**ref, "revision": "ab" * 20})
    assert "does not contain the revision" in answer["error"]["message"]
    assert json.loads((await jp_fetch("acp", "sessions")).body)["sessions"] == []
    assert list((tmp_path / "cache").glob("worktrees/*")) == []


HOSTS = {"remote_schemes": ["http"], "remote_hosts": ["*.example.org"]}


@pytest.mark.parametrize("acp_config", [HOSTS])
async def test_only_some_hosts_are_allowed(window, root, ref):
    refused = (await new(window, root, ref))["error"]
    assert refused["code"] == -32602 and "(AcpExtension.remote_hosts)" in refused["message"]


LOCAL = {"remote_schemes": ["http"], "remote_hosts": ["localhost"]}


@pytest.mark.parametrize("acp_config", [LOCAL])
async def test_a_host_that_is_allowed_cannot_send_git_elsewhere(
    window, root, tmp_path, acp_config, ref
):
    moved = {**ref, "url": ref["url"].replace("127.0.0.1", "localhost")}
    assert "result" in await new(window, root, moved)
    with git_server(tmp_path / "moved") as server:
        server.create("p", HELLO)
        server.moved_to = server.host
        revision = git(server.root / "p.git", "rev-parse", "main")
        url = server.url("p").replace("127.0.0.1", "localhost")
        refused = (await new(window, root, {**ref, "url": url, "revision": revision}))["error"]
    assert "redirect" in refused["message"] or "302" in refused["message"]


async def test_credentials_are_kept_nowhere(window, root, acp, tmp_path, jp_fetch, caplog):
    caplog.set_level("DEBUG")
    with git_server(tmp_path / "closed", "s3cret") as server:
        server.create("p", HELLO)
        revision = git(server.root / "p.git", "rev-parse", "main")
        ref = {"type": "git", "branch": "main", "revision": revision}
        result = await new(window, root, {**ref, "url": server.url("p", login=True)})
        session = result["result"]["sessionId"]
        answer = await window.prompt(session, ["write", "a", "1"])
        assert answer["result"]["target"]["url"] == server.url("p")
        # Nor when it does not work.
        server.password = "other"
        assert "could not be brought back" not in "".join(window.texts())
        await window.prompt(session, ["write", "a", "2"])
        assert "could not be brought back" in "".join(window.texts())
        wrong = server.url("q", login=True).replace("other", "s3cret")
        assert "error" in await new(window, root, {**ref, "url": wrong})
        assert "error" in await new(window, root, {**ref, "url": f"{wrong}?x"})
    assert "s3cret" not in json.dumps(window.received)
    assert "s3cret" not in caplog.text
    exported = (await jp_fetch("acp", "sessions", session, "export")).body
    assert b"s3cret" not in exported
    await acp.stop_extension()
    for path in (*tmp_path.glob("journal*"), *(tmp_path / "cache").rglob("*")):
        assert not path.is_file() or b"s3cret" not in path.read_bytes(), path


async def test_a_clone_is_given_up_with_the_request(window, root, server, tmp_path, jp_fetch):
    server.create("big", {f"f{i}": os.urandom(20_000).hex() for i in range(50)})
    revision = git(server.root / "big.git", "rev-parse", "main")
    ref = {"type": "git", "url": server.url("big"), "branch": "main", "revision": revision}
    server.delay = 0.05
    try:
        params = {"cwd": str(root), "mcpServers": [], "remote": ref}
        asked = await window.start("session/new", params)
        cache = tmp_path / "cache"
        await until(lambda: list(cache.glob("mirrors/*.git/objects/pack/tmp_*")))
        await window.notify("$/cancel_request", {"requestId": asked})
        assert (await window.response(asked))["error"]["code"] == -32800
        await until(lambda: not list(cache.glob("sessions/*.json")))
    finally:
        server.delay = 0
    assert json.loads((await jp_fetch("acp", "sessions")).body)["sessions"] == []


async def test_it_goes_on_after_everything_was_stopped(acp_connect, acp, root, ref, bare):
    window = await acp_connect()
    session = (await new(window, root, ref, "loads"))["result"]["sessionId"]
    first = (await window.prompt(session, ["write", "a", "1"]))["result"]["target"]
    await acp.stop_extension()
    later = await acp_connect()
    second = (await later.prompt(session, ["write", "b", "2"]))["result"]["target"]
    assert second["branch"] == first["branch"]
    assert show(bare, second["revision"], "a") == "1"


async def test_an_agent_that_remembers_nothing_goes_on_from_what_came_back(
    acp_connect, acp, root, ref, bare
):
    window = await acp_connect()
    session = (await new(window, root, ref))["result"]["sessionId"]
    await window.prompt(session, ["write", "a", "1"])
    await acp.stop_extension()
    later = await acp_connect()
    second = (await later.prompt(session, ["write", "b", "2"]))["result"]["target"]
    assert show(bare, second["revision"], "a") == "1"
    assert show(bare, second["revision"], "b") == "2"


@pytest.mark.parametrize("agent", ["scripted", "forgets"])
async def test_what_was_not_brought_back_outlives_an_agent_that_remembers_nothing(
    acp_connect, acp, root, ref, bare, server, agent
):
    name = bare.name.removesuffix(".git")
    window = await acp_connect()
    session = (await new(window, root, ref, agent))["result"]["sessionId"]
    first = (await window.prompt(session, ["write", "a", "1"]))["result"]["target"]
    server.refuse_pushes(name)
    await window.prompt(session, ["write", "b", "2"])
    assert "could not be brought back" in "".join(window.texts())
    await acp.stop_extension()
    server.accept_pushes(name)
    later = await acp_connect()
    second = (await later.prompt(session, ["prompt"]))["result"]["target"]
    assert second["branch"] == first["branch"]
    assert show(bare, second["revision"], "b") == "2"
    # It knows nothing of it, so it is told.
    assert "could not be brought back" in "".join(later.texts())


async def test_a_fork_is_about_the_same_repository(window, root, ref, acp):
    session = (await new(window, root, ref, "loads"))["result"]["sessionId"]
    for wanted, words in (
        ({**ref, "url": "ext::sh"}, "must not name a program"),
        ({**ref, "url": ref["url"] + "x"}, "the same files"),
    ):
        params = {"sessionId": session, "cwd": str(root), "remote": wanted}
        refused = (await window.ask("session/fork", params))["error"]
        assert refused["code"] == -32602 and words in refused["message"]
    params = {"sessionId": session, "cwd": str(root), "remote": ref}
    assert (await window.ask("session/fork", params))["result"]["sessionId"]


async def test_what_is_closed_without_its_agent_is_cleared_away_with_it(
    acp_connect, acp, root, ref, bare, tmp_path
):
    window = await acp_connect()
    one, two = [(await new(window, root, ref, "loads"))["result"]["sessionId"] for _ in range(2)]
    for session in (one, two):
        await window.prompt(session, ["write", "a", "1"])
    await acp.stop_extension()
    later = await acp_connect()
    await later.result("session/close", {"sessionId": one})
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 2
    # Its runner starts for another, and hears of it.
    third = (await new(later, root, ref, "loads"))["result"]["sessionId"]
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 2
    # One that it runs for, though not for this session yet, is told at once.
    await later.result("session/close", {"sessionId": two})
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 1
    # What was committed is still there.
    target = (await later.prompt(one, ["write", "b", "2"]))["result"]["target"]
    assert show(bare, target["revision"], "a") == "1" and third not in (one, two)


async def test_closing_and_deleting_clear_away_its_files(window, root, ref, tmp_path):
    closed, session = [(await new(window, root, ref))["result"]["sessionId"] for _ in range(2)]
    await window.prompt(session, ["write", "a", "1"])
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 2
    await window.result("session/close", {"sessionId": closed})
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 1
    await window.result("session/delete", {"sessionId": closed})
    await window.result("session/delete", {"sessionId": session})
    assert list((tmp_path / "cache").glob("worktrees/*")) == []
    assert list((tmp_path / "cache").glob("sessions/*")) == []


async def test_what_is_deleted_without_its_agent_is_cleared_away_with_it(
    acp_connect, acp, root, ref, jp_fetch, tmp_path
):
    window = await acp_connect()
    session = (await new(window, root, ref))["result"]["sessionId"]
    await window.prompt(session, ["write", "a", "1"])
    await acp.stop_extension()
    await jp_fetch("acp", "sessions", session, method="DELETE")
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 1
    later = await acp_connect()
    await new(later, root, ref)
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 1


async def test_a_login_reaches_the_agent_that_wants_it(window, root, ref, bare):
    refused = (await new(window, root, ref, "guarded"))["error"]
    assert refused["data"]["_meta"]["jupyter-acp"]["authMethods"]
    to_agent = {"_meta": {"jupyter-acp": {"agent": "guarded"}}}
    await window.result("authenticate", {"methodId": "key", **to_agent})
    session = (await new(window, root, ref, "guarded"))["result"]["sessionId"]
    answer = await window.prompt(session, ["write", "a", "1"])
    assert show(bare, answer["result"]["target"]["revision"], "a") == "1"


async def test_from_server_to_server(window, remote, root, ref, bare):
    result = (await new(window, root, ref, "there", progressToken="t9", home=True))["result"]
    session = result["sessionId"]
    assert result["_meta"]["jupyter-acp"]["session"]["cwd"] == str(root)
    assert {m["params"]["token"] for m in window.of("_jupyter/remote/progress")} == {"t9"}
    answer = (await window.prompt(session, ["write", "a", "far"]))["result"]
    assert show(bare, answer["target"]["revision"], "a") == "far"
    # Over there it is a session like others, in a folder of its own.
    (theirs,) = remote.get("sessions")["sessions"]
    assert theirs["remote"] == ref and theirs["cwd"].startswith(str(remote.folder / "cache"))
    # What dies comes back.
    await remote.written(lambda _, __, messages: b"remote/result" in messages)
    start = len(window.received)
    remote.signal(signal.SIGKILL)
    remote.start()
    await window.wait(is_state("disconnected"), start)
    second = (await window.prompt(session, ["write", "b", "2"]))["result"]["target"]
    assert show(bare, second["revision"], "a") == "far"
    assert show(bare, second["revision"], "b") == "2"


async def test_a_server_wants_to_know_who_sends_a_session(window, remote, root, ref):
    refused = (await new(window, root, ref, "stranger"))["error"]
    assert "403" in refused["message"] and "wr0ng" not in json.dumps(refused)
    assert remote.get("sessions")["sessions"] == []
    assert not (remote.folder / "cache").exists()


async def test_nothing_is_imported_from_where_the_server_was_started(window, trapped, root, ref):
    session = (await new(window, root, ref, "there"))["result"]["sessionId"]
    words = [{"type": "text", "text": "/help"}]
    answer = await window.ask("session/prompt", {"sessionId": session, "prompt": words})
    assert answer["result"]["stopReason"] == "end_turn"
    assert not (trapped.cwd / "sprung").exists()


async def test_a_stock_client_sends_and_gets_the_proposals_own_fields(acp_connect, root, ref):
    stock = await acp_connect(ndjson=False)
    told = await stock.initialize(stock=True)
    assert told["agentCapabilities"]["_meta"]["jupyter-acp"]["remoteSessions"] is True
    session = (await new(stock, root, ref))["result"]["sessionId"]
    answer = (await stock.prompt(session, ["write", "a", "1"]))["result"]
    assert set(answer["target"]) == {"type", "url", "branch", "revision"}
    assert stock.of("_jupyter/remote/result") == []
