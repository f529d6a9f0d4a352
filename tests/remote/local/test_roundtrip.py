# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""From the user's repository to a session elsewhere and back, over the socket of the server."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import signal
import subprocess
import sys

import pytest
from acpclient import scripted
from gitserver import git, git_server
from server import TOKEN, running

from jupyter_acp.remote.local import action as doing
from jupyter_acp.remote.local.working_tree import switch
from jupyter_acp.sessions import remote_results

FILES = {"hello.py": "print('helo')\n", "sub/data.txt": "1\n", "other.txt": "x\n"}
RESULT = "_jupyter/remote/result"


@pytest.fixture
def server(tmp_path):
    with git_server(tmp_path / "srv", "s3cret") as server:
        server.create("p", FILES)
        yield server


@pytest.fixture
def ada(server, tmp_path, monkeypatch):
    """Who works here, and knows the password."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    helper = f"store --file={tmp_path}/passwords"
    git(tmp_path, "config", "--global", "credential.helper", helper)
    git(tmp_path, "config", "--global", "user.name", "Ada")
    git(tmp_path, "config", "--global", "user.email", "ada@example.org")
    (tmp_path / "passwords").write_text(f"http://ada:s3cret@{server.host}\n")


@pytest.fixture
def home(root, server, ada):
    """A clone in the folder of the server, whose address has the password in it."""
    git(root, "clone", "-q", server.url("p", login=True), "p")
    return root / "p"


@pytest.fixture
def remote(tmp_path_factory, ada):
    """Another server."""
    folder = tmp_path_factory.mktemp("remote")
    traits = {"remote_schemes": ["http"], "remote_cache": str(folder / "cache")}
    with running(folder, {"scripted": scripted()}, **traits) as other:
        yield other


@pytest.fixture
def acp_agents(request):
    agents = {"scripted": scripted(), "broken": {"argv": [sys.executable, "-c", "exit(1)"]}}
    if "remote" in request.fixturenames:
        other = request.getfixturevalue("remote")
        url = f"ws://127.0.0.1:{other.port}/acp/ws"
        agents["there"] = {"url": url, "headers": {"Authorization": f"token {TOKEN}"}}
    return agents


@pytest.fixture
def acp_config(tmp_path):
    return {"remote_schemes": ["http"], "remote_cache": str(tmp_path / "cache")}


async def until(holds, seconds=30):
    """Wait for what is done in the background."""
    for _ in range(seconds * 20):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("It has not come about.")


async def ask(window, method, **params):
    return await window.result(f"_jupyter/remote/{method}", params)


async def begin(window, home, ref=None, agent="scripted"):
    ref = ref or (await ask(window, "inspect", cwd=str(home)))["ref"]
    meta = {"jupyter-acp": {"home": True, "agent": agent}}
    params = {"cwd": str(home), "mcpServers": [], "remote": ref, "_meta": meta}
    return (await window.result("session/new", params))["sessionId"]


async def work(window, session, *steps):
    """Let the agent work, and return what has come back when it is here."""
    count = len(window.of(RESULT))
    await window.prompt(session, *steps)
    found = await window.wait(
        lambda m: (
            m.get("method") == RESULT
            and m["params"]["state"] in ("ready", "failed")
            and window.of(RESULT).index(m) >= count
        )
    )
    assert found["params"]["state"] == "ready", found
    return found["params"]["number"]


def state(home):
    """Everything that must not change by itself."""
    return (
        git(home, "rev-parse", "HEAD"),
        git(home, "symbolic-ref", "HEAD"),
        git(home, "for-each-ref", "refs/heads", "refs/remotes"),
        git(home, "ls-files", "-s"),
        {p.name: p.read_bytes() for p in home.rglob("*") if p.is_file() and ".git" not in p.parts},
    )


async def test_a_result_comes_home_and_is_merged(window, home, server, jp_fetch):
    described = await ask(window, "inspect", cwd=str(home / "sub"))
    assert described["url"] == server.url("p") and described["folder"] == "sub"
    assert described["pushed"] and described["changeCount"] == 0
    before = state(home)
    session = await begin(window, home)
    number = await work(window, session, ["write", "hello.py", "print('hello')\n"])
    states = [m["params"]["state"] for m in window.of(RESULT)]
    assert states == ["there", "fetching", "ready"]
    assert state(home) == before
    target = window.of(RESULT)[-1]["params"]["target"]
    assert git(home, "rev-parse", f"refs/jupyter-acp/{session}/1") == target["revision"]
    review = await ask(window, "review", sessionId=session, number=number)
    assert [each["path"] for each in review["files"]["files"]] == ["hello.py"]
    assert review["commits"]["total"] == 1
    file = await ask(window, "file", sessionId=session, number=number, path="hello.py")
    assert (file["before"]["text"], file["after"]["text"]) == (
        "print('helo')\n",
        "print('hello')\n",
    )
    done = await ask(window, "act", sessionId=session, number=number, action="merge")
    assert "fast-forward" in done["message"]
    assert (home / "hello.py").read_text() == "print('hello')\n"
    assert git(home, "status", "--porcelain") == ""
    await ask(window, "act", sessionId=session, number=number, action="undo")
    assert state(home)[:2] == before[:2] and state(home)[4] == before[4]
    # Several are kept, each for itself.
    second = await work(window, session, ["write", "more.txt", "more"])
    assert second == 2
    await ask(window, "act", sessionId=session, number=2, action="checkout", branch="taken")
    assert git(home, "rev-parse", "--abbrev-ref", "HEAD") == "taken"
    assert (home / "more.txt").read_text() == "more"
    await ask(window, "act", sessionId=session, number=1, action="discard")
    assert git(home, "for-each-ref", "--format=%(refname)", "refs/jupyter-acp").endswith("/2")
    assert "s3cret" not in json.dumps(window.received)
    await window.result("session/delete", {"sessionId": session})
    assert git(home, "for-each-ref", "refs/jupyter-acp") == ""


async def test_work_that_is_nowhere_else_is_pushed_first(window, home, server):
    (home / "hello.py").write_text("print('mine')\n")
    (home / "new.txt").write_text("new\n")
    before = state(home)
    described = await ask(window, "inspect", cwd=str(home))
    assert {(c["status"], c["path"]) for c in described["changes"]} == {
        ("M", "hello.py"),
        ("?", "new.txt"),
    }
    params = {"cwd": str(home), "uncommitted": True, "progressToken": "t1"}
    ref = (await ask(window, "push", **params))["ref"]
    assert ref["branch"].startswith("acp/scratch/") and state(home) == before
    assert {m["params"]["token"] for m in window.of("_jupyter/remote/progress")} <= {"t1"}
    session = await begin(window, home, ref)
    number = await work(window, session, ["write", "new.txt", "new and changed\n"])
    # What is not committed here is what it began with, but nowhere else as far as git knows.
    params = {"sessionId": session, "number": number, "action": "merge"}
    error = (await window.ask("_jupyter/remote/act", params))["error"]
    assert error["data"] == {"reason": "dirty", "files": ["hello.py", "new.txt"]}
    assert "the result contains it" in error["message"] and state(home) == before
    git(home, "stash", "-u")
    done = await ask(window, "act", sessionId=session, number=number, action="merge")
    assert done == {"message": "Merged into main (fast-forward)."}
    assert (home / "hello.py").read_text() == "print('mine')\n"
    assert (home / "new.txt").read_text() == "new and changed\n"
    assert git(home, "status", "--porcelain") == ""
    await ask(window, "act", sessionId=session, number=number, action="undo")
    git(home, "stash", "pop")
    assert state(home) == before
    # The branch is not needed longer than the session.
    bare = server.root / "p.git"
    assert git(bare, "rev-parse", ref["branch"]) == ref["revision"]
    await window.result("session/delete", {"sessionId": session})
    await until(lambda: "acp/scratch" not in git(bare, "branch"))


async def test_what_was_pushed_for_a_session_that_never_began_is_deleted(
    window, home, server, monkeypatch
):
    (home / "new.txt").write_text("new\n")
    bare = server.root / "p.git"
    ref = (await ask(window, "push", cwd=str(home), uncommitted=True))["ref"]
    params = {"cwd": str(home), "mcpServers": [], "remote": {**ref, "revision": "ab" * 20}}
    meta = {"jupyter-acp": {"home": True}}
    assert "error" in await window.ask("session/new", {**params, "_meta": meta})
    # Somebody else's: it is not at what was asked for.
    assert "acp/scratch" in git(bare, "branch")
    session = await begin(window, home, ref)
    await window.result("session/delete", {"sessionId": session})
    await until(lambda: "acp/scratch" not in git(bare, "branch"))
    ref = (await ask(window, "push", cwd=str(home), uncommitted=True))["ref"]
    broken = {**params, "remote": ref, "_meta": {"jupyter-acp": {"home": True, "agent": "broken"}}}
    assert "error" in await window.ask("session/new", broken)
    await until(lambda: "acp/scratch" not in git(bare, "branch"))
    monkeypatch.setattr(remote_results, "UNUSED", 0.1)
    await ask(window, "push", cwd=str(home), uncommitted=True)
    await until(lambda: "acp/scratch" not in git(bare, "branch"))


async def test_what_another_server_made_comes_home_and_is_merged(window, remote, home, server):
    (home / "hello.py").write_text("print('mine')\n")
    ref = (await ask(window, "push", cwd=str(home), uncommitted=True))["ref"]
    before = state(home)
    session = await begin(window, home, ref, "there")
    number = await work(window, session, ["write", "hello.py", "far\n"], ["write", "n", "n\n"])
    (theirs,) = remote.get("sessions")["sessions"]
    assert theirs["remote"] == ref and state(home) == before
    review = await ask(window, "review", sessionId=session, number=number)
    assert [each["path"] for each in review["files"]["files"]] == ["hello.py", "n"]
    file = await ask(window, "file", sessionId=session, number=number, path="hello.py")
    assert (file["before"]["text"], file["after"]["text"]) == ("print('mine')\n", "far\n")
    git(home, "stash")
    done = await ask(window, "act", sessionId=session, number=number, action="merge")
    assert done == {"message": "Merged into main (fast-forward)."}
    assert (home / "hello.py").read_text() == "far\n" and (home / "n").read_text() == "n\n"
    assert git(home, "status", "--porcelain") == ""
    target = window.of(RESULT)[-1]["params"]["target"]
    assert git(home, "rev-parse", "HEAD") == target["revision"]
    assert git(server.root / "p.git", "rev-parse", target["branch"]) == target["revision"]
    assert "s3cret" not in json.dumps(window.received)


async def test_a_fork_has_results_of_its_own(window, home, server):
    (home / "new.txt").write_text("new\n")
    ref = (await ask(window, "push", cwd=str(home), uncommitted=True))["ref"]
    session = await begin(window, home, ref)
    await work(window, session, ["write", "a", "1"])
    (home / "new.txt").unlink()
    params = {"sessionId": session, "cwd": str(home), "mcpServers": []}
    fork = (await window.result("session/fork", params))["sessionId"]
    await ask(window, "review", sessionId=fork, number=1)
    await ask(window, "act", sessionId=fork, number=1, action="discard")
    await ask(window, "act", sessionId=session, number=1, action="merge")
    await ask(window, "act", sessionId=session, number=1, action="undo")
    other = (await window.result("session/fork", params))["sessionId"]
    await ask(window, "review", sessionId=other, number=1)
    await window.result("session/delete", {"sessionId": session})
    # What it began with is needed as long as there is one of them.
    await ask(window, "act", sessionId=other, number=1, action="merge")
    assert (home / "a").read_text() == "1"
    bare = server.root / "p.git"
    assert git(bare, "rev-parse", ref["branch"]) == ref["revision"]
    for each in (fork, other):
        await window.result("session/delete", {"sessionId": each})
    await until(lambda: "acp/scratch" not in git(bare, "branch"))
    assert git(home, "for-each-ref", "refs/jupyter-acp") == ""


async def test_what_is_done_is_known_also_if_its_window_is_gone(
    window, home, acp, acp_connect, monkeypatch
):
    session = await begin(window, home)
    number = await work(window, session, ["write", "a", "1"])
    begun, going = asyncio.Event(), asyncio.Event()

    async def slow(*args):
        begun.set()
        await going.wait()
        await switch(*args)

    monkeypatch.setattr(doing, "switch", slow)
    params = {"sessionId": session, "number": number, "action": "merge"}
    asking = asyncio.ensure_future(window.ask("_jupyter/remote/act", params))
    await begun.wait()
    await window.close()
    asking.cancel()
    await asyncio.sleep(0.1)
    going.set()
    result = (await acp.manager()).get(session).record.results[0]
    await until(lambda: result["state"] == "merged")
    assert (home / "a").read_text() == "1"
    later = await acp_connect()
    await ask(later, "act", sessionId=session, number=number, action="undo")
    assert not (home / "a").exists()


async def test_a_fetch_can_be_stopped_and_begun_again(window, home, server):
    session = await begin(window, home)
    # It would take minutes to come.
    server.delay = 0.5
    before = len(server.requests)
    await window.prompt(session, ["write", "a", secrets.token_hex(300_000)])
    fetch = "POST /p.git/git-upload-pack"
    await until(lambda: fetch in server.requests[before:])
    await ask(window, "stop", sessionId=session, number=1)
    await until(lambda: [m["params"]["state"] for m in window.of(RESULT)][-1] == "there")
    assert [m["params"]["state"] for m in window.of(RESULT)] == ["there", "fetching", "there"]
    assert git(home, "for-each-ref", "refs/jupyter-acp") == ""
    server.delay = 0.0
    await ask(window, "fetch", sessionId=session, number=1)
    await until(lambda: window.of(RESULT)[-1]["params"]["state"] == "ready")


@pytest.mark.parametrize("action", ["merge", "pick", "checkout"])
async def test_what_stands_in_the_way_is_named_and_nothing_is_done(window, home, action):
    session = await begin(window, home)
    number = await work(window, session, ["write", "hello.py", "theirs\n"], ["write", "n", "n"])
    (home / "hello.py").write_text("mine\n")
    before = state(home)
    params = {"sessionId": session, "number": number, "action": action, "branch": "b"}
    error = (await window.ask("_jupyter/remote/act", params))["error"]
    assert "hello.py" in error["message"] and error["data"]["files"] == ["hello.py"]
    assert state(home) == before
    assert window.of(RESULT)[-1]["params"]["state"] == "ready"


async def test_a_conflict_is_named_and_nothing_is_done(window, home):
    session = await begin(window, home)
    number = await work(window, session, ["write", "hello.py", "theirs\n"])
    (home / "hello.py").write_text("mine\n")
    git(home, "commit", "-qam", "Mine")
    before = state(home)
    params = {"sessionId": session, "number": number, "action": "merge"}
    error = (await window.ask("_jupyter/remote/act", params))["error"]
    assert error["data"] == {"reason": "conflict", "files": ["hello.py"]}
    assert state(home) == before


async def test_a_result_that_is_not_what_was_named_is_refused(window, home, server):
    session = await begin(window, home)
    await work(window, session, ["write", "a", "1"])
    other = git(server.root / "p.git", "rev-parse", "main")
    (target,) = [m["params"]["target"] for m in window.of(RESULT)][-1:]
    git(server.root / "p.git", "update-ref", f"refs/heads/{target['branch']}", other)
    git(home, "update-ref", "-d", f"refs/jupyter-acp/{session}/1")
    await ask(window, "fetch", sessionId=session, number=1)
    failed = await window.wait(
        lambda m: m.get("method") == RESULT and m["params"]["state"] == "failed"
    )
    assert "does not contain" in failed["params"]["message"]
    assert git(home, "for-each-ref", "refs/jupyter-acp") == ""


async def test_what_was_not_fetched_is_fetched_later(window, home, server, acp, acp_connect):
    session = await begin(window, home)
    await work(window, session, ["write", "a", "1"])
    await acp.stop_extension()
    git(home, "update-ref", "-d", f"refs/jupyter-acp/{session}/1")
    later = await acp_connect()
    answer = await later.ask(
        "_jupyter/remote/act", {"sessionId": session, "number": 1, "action": "merge"}
    )
    assert "Fetch it again" in answer["error"]["message"]
    await later.attach(session)
    await ask(later, "fetch", sessionId=session, number=1)
    await later.wait(
        lambda m: m.get("method") == RESULT and m["params"]["state"] == "ready", len(later.received)
    )
    await ask(later, "act", sessionId=session, number=1, action="pick")
    assert (home / "a").read_text() == "1" and git(home, "status", "--porcelain") == "A  a"


@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        ("inspect", {"cwd": "relative"}, "absolute"),
        ("inspect", {"cwd": "ROOT"}, "repository"),
        ("review", {"sessionId": "nobody", "number": 1}, "no session"),
        ("act", {"sessionId": "PLAIN", "number": 1, "action": "merge"}, "no repository here"),
        ("act", {"sessionId": "HOME", "number": 1, "action": "merge"}, "no result 1"),
        ("act", {"sessionId": "HOME", "number": 1, "action": "push"}, "action"),
        ("file", {"sessionId": "HOME", "number": 7, "path": "x"}, "no result 7"),
    ],
)
async def test_what_makes_no_sense_is_refused(window, root, home, method, params, words):
    if params.get("sessionId") == "PLAIN":
        params = {**params, "sessionId": await window.new(root)}
    if params.get("sessionId") == "HOME":
        params = {**params, "sessionId": await begin(window, home)}
    if params.get("cwd") == "ROOT":
        params = {"cwd": str(root)}
    error = (await window.ask(f"_jupyter/remote/{method}", params))["error"]
    assert words in error["message"]


async def test_an_agent_that_names_another_repository_is_not_followed(window, home, server, root):
    server.create("q", FILES)
    session = await begin(window, home)
    other = git(server.root / "q.git", "rev-parse", "main")
    target = {"type": "git", "url": server.url("q"), "branch": "main", "revision": other}
    await window.prompt(session, ["respond", {"stopReason": "end_turn", "target": target}])
    failed = await window.wait(
        lambda m: m.get("method") == RESULT and m["params"]["state"] == "failed"
    )
    assert "another repository" in failed["params"]["message"]
    evil = {**target, "branch": "--upload-pack=touch x"}
    await window.prompt(session, ["respond", {"stopReason": "end_turn", "target": evil}])
    notice = await window.wait(lambda m: m.get("method") == "_jupyter/session/notice")
    assert "cannot be used" in notice["params"]["message"]


async def test_what_a_killed_server_was_fetching_can_be_fetched_again(
    window, home, acp, acp_connect
):
    session = await begin(window, home)
    await work(window, session, ["write", "a", "1"])
    # As the journal has it after a kill in the middle.
    (await acp.manager()).get(session).record.results[0]["state"] = "fetching"
    (await acp.manager()).get(session).changed()
    await acp.stop_extension()
    later = await acp_connect()
    await later.attach(session)
    expected = ["there", "fetching", "ready", "there"]
    await later.wait(lambda _: [m["params"]["state"] for m in later.of(RESULT)] == expected)
    assert (await acp.manager()).get(session).record.results[0]["state"] == "there"


async def test_only_the_last_action_is_offered_to_be_undone(window, home):
    session = await begin(window, home)
    for number in (1, 2):
        await work(window, session, ["write", "a", f"{number}"])
        await ask(window, "act", sessionId=session, number=number, action="merge")
    last = {}
    for message in window.of(RESULT):
        last[message["params"]["number"]] = message["params"]
    assert (last[1]["state"], last[1]["undo"]) == ("merged", None)
    params = {"sessionId": session, "number": 1, "action": "undo"}
    error = (await window.ask("_jupyter/remote/act", params))["error"]
    assert "nothing to undo" in error["message"]
    await ask(window, "act", sessionId=session, number=2, action="undo")
    assert (home / "a").read_text() == "1"


async def test_an_undo_of_an_older_version_is_offered_no_more(window, home, acp):
    session = await begin(window, home)
    await work(window, session, ["write", "a", "1"])
    await ask(window, "act", sessionId=session, number=1, action="merge")
    # As a journal has it where copies of 20 actions were kept.
    (await acp.manager()).get(session).record.results[0]["undo"] = "0" * 32
    params = {"sessionId": session, "number": 1, "action": "undo"}
    error = (await window.ask("_jupyter/remote/act", params))["error"]
    assert error["data"]["reason"] == "unknownRecord"
    told = window.of(RESULT)[-1]["params"]
    assert (told["state"], told["undo"]) == ("merged", None)


DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from gitworld import POLICY
from jupyter_acp.remote.git import Git
from jupyter_acp.remote.local.isolated import IsolatedRepository
from jupyter_acp.remote.local.merge import merge
from jupyter_acp.remote.local.record import Move
from jupyter_acp.remote.local.repository import Repository
from jupyter_acp.remote.local.results import Result

async def dying(*args):
    os.kill(os.getpid(), signal.SIGKILL)

async def main(home, cache, result):
    repository = await Repository.find(Path(home), Git(policy=POLICY))
    async with IsolatedRepository.of(repository, Path(cache)) as isolated:
        await merge(isolated, Result.model_validate_json(result))

Move.make = dying
asyncio.run(main(*sys.argv[1:]))
"""


def merge_and_die(home, cache, fetched):
    """Let a server be killed when the files are written."""
    path = os.pathsep.join(sys.path)
    dead = subprocess.run(
        [sys.executable, "-c", DYING, str(home), str(cache), json.dumps(fetched)],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert dead.returncode == -signal.SIGKILL


async def test_what_a_killed_server_left_half_done_is_named(
    window, home, acp, acp_connect, tmp_path, caplog
):
    session = await begin(window, home)
    await work(window, session, ["write", "hello.py", "theirs\n"], ["write", "n", "n"])
    before = state(home)
    fetched = (await acp.manager()).get(session).record.results[0]["fetched"]
    await acp.stop_extension()
    merge_and_die(home, tmp_path / "cache" / "home", fetched)
    half = state(home)
    assert half != before
    later = await acp_connect()
    await until(lambda: "“merge” was interrupted" in caplog.text)
    (problem,) = (await ask(later, "inspect", cwd=str(home)))["problems"]
    assert (problem["code"], problem["blocking"]) == ("halfDone", False)
    assert problem["message"] in caplog.text and before[0] in problem["message"]
    params = {"sessionId": session, "number": 1, "action": "pick"}
    error = (await later.ask("_jupyter/remote/act", params))["error"]
    assert error["data"]["reason"] == "halfDone" and state(home) == half
    command = problem["message"].partition("run: ")[2]
    await asyncio.to_thread(subprocess.run, shlex.split(command), check=True)
    assert state(home) == before and git(home, "status", "--porcelain") == ""
    await ask(later, "act", sessionId=session, number=1, action="merge")
