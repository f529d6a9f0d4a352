# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""From the user's repository to a session elsewhere and back, over the socket of the server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import scripted
from gitserver import git, git_server

FILES = {"hello.py": "print('helo')\n", "sub/data.txt": "1\n", "other.txt": "x\n"}
RESULT = "_jupyter/remote/result"


@pytest.fixture
def server(tmp_path):
    with git_server(tmp_path / "srv", "s3cret") as server:
        server.create("p", FILES)
        yield server


@pytest.fixture
def home(root, server, tmp_path, monkeypatch):
    """A clone in the folder of the server, whose address has the password in it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    helper = f"store --file={tmp_path}/passwords"
    git(tmp_path, "config", "--global", "credential.helper", helper)
    git(tmp_path, "config", "--global", "user.name", "Ada")
    git(tmp_path, "config", "--global", "user.email", "ada@example.org")
    (tmp_path / "passwords").write_text(f"http://ada:s3cret@{server.host}\n")
    git(root, "clone", "-q", server.url("p", login=True), "p")
    return root / "p"


@pytest.fixture
def acp_agents():
    return {"scripted": scripted()}


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


async def begin(window, home, ref=None):
    ref = ref or (await ask(window, "inspect", cwd=str(home)))["ref"]
    meta = {"jupyter-acp": {"home": True}}
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
    # What is not committed here is what it began with: taking it in overwrites nothing else.
    answer = await window.ask(
        "_jupyter/remote/act", {"sessionId": session, "number": number, "action": "merge"}
    )
    assert "error" in answer or (home / "hello.py").read_text() == "print('mine')\n"


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
    assert "not at" in failed["params"]["message"]
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


DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from gitworld import POLICY
from jupyter_acp.remote.git import Git
from jupyter_acp.remote.home import actions
from jupyter_acp.remote.home.repository import Repository
from jupyter_acp.remote.home.results import Result
from jupyter_acp.remote.home.shadow import Shadow
from jupyter_acp.remote.home.working import Plan

async def dying(self):
    await carry_out(self)
    os.kill(os.getpid(), signal.SIGKILL)

async def main(home, cache, result):
    repository = await Repository.find(Path(home), Git(policy=POLICY))
    async with Shadow.of(repository, Path(cache)) as shadow:
        await actions.merge(shadow, Result.model_validate_json(result))

carry_out, Plan.carry_out = Plan.carry_out, dying
asyncio.run(main(*sys.argv[1:]))
"""


def merge_and_die(home, cache, fetched):
    """Let a server be killed when the files are written."""
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    dead = subprocess.run(
        [sys.executable, "-c", DYING, str(home), str(cache), json.dumps(fetched)],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert dead.returncode == -signal.SIGKILL


@pytest.mark.parametrize("how", ["start", "inspect"])
async def test_what_a_killed_server_left_half_done_is_put_right(
    window, home, acp, acp_connect, tmp_path, how
):
    session = await begin(window, home)
    await work(window, session, ["write", "hello.py", "theirs\n"], ["write", "n", "n"])
    before = state(home)
    fetched = (await acp.manager()).get(session).record.results[0]["fetched"]
    if how == "start":
        await acp.stop_extension()
    merge_and_die(home, tmp_path / "cache" / "home", fetched)
    assert state(home) != before
    # As git advises.
    (home / ".git" / "index.lock").unlink()
    if how == "start":
        await acp_connect()
        await until(lambda: state(home) == before)
    else:
        assert (await ask(window, "inspect", cwd=str(home)))["changeCount"] == 0
    assert state(home) == before
    assert git(home, "status", "--porcelain") == ""
