# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Any agent as a remote agent: `python -m jupyter_acp.remote`, with a real git server."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import time

import psutil
import pytest
from conftest import AGENTS
from gitserver import git, git_server

from jupyter_acp.agents.process import AgentProcess
from jupyter_acp.remote.git import Git, GitError
from jupyter_acp.remote.refs import GitRemoteRef, Policy
from jupyter_acp.remote.runner import cache as caches
from jupyter_acp.remote.runner import mirror as mirrors
from jupyter_acp.remote.runner import sweeper
from jupyter_acp.remote.runner.cache import Cache, Keeping
from jupyter_acp.remote.runner.worktree import Author
from jupyter_acp.rpc import Connection, Peer, RpcError

HELLO = {"hello.py": "print('helo')\n", "sub/data.txt": "1\n"}


class Client(Peer):
    """A client over stdio, as plain as can be."""

    def __init__(self):
        self.updates = []
        self.progress = []
        self.asked = []

    async def start(self, *argv, capabilities=None, env=None):

        command = [sys.executable, "-m", "jupyter_acp.remote", *argv]
        self.process = await AgentProcess.start(command, env={**os.environ, **(env or {})}, grace=5)
        self.connection = Connection(self.process.wire, self)
        self._run = asyncio.ensure_future(self.connection.run())
        result = await self.ask(
            "initialize",
            protocolVersion=1,
            clientCapabilities=capabilities
            or {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
        )
        self.capabilities = result["agentCapabilities"]
        return self

    async def ask(self, method, **params):
        return await asyncio.wait_for(self.connection.request(method, params), 60)

    def on_request(self, request):
        self.asked.append((request.method, request.params))
        if request.method == "session/request_permission":
            option = next(o for o in request.params["options"] if o["kind"] == "allow_once")
            request.respond({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
        else:
            raise RpcError(-32601, "Not here.")

    def on_notification(self, method, params):
        if method == "_jupyter/remote/progress":
            self.progress.append(params)
        else:
            self.updates.append(params)

    async def new(self, ref, **params):
        body = {"cwd": "/nowhere", "mcpServers": [], "remote": ref, **params}
        return await self.ask("session/new", **body)

    async def prompt(self, session, *steps, text=None):
        text = text if text is not None else json.dumps(steps)
        return await self.ask(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}]
        )

    def said(self):
        return "".join(
            each["update"]["content"]["text"]
            for each in self.updates
            if each["update"]["sessionUpdate"] == "agent_message_chunk"
        )

    async def stop(self):
        await self.process.stop()
        self._run.cancel()


@pytest.fixture
def server(tmp_path):
    with git_server(tmp_path / "srv") as server:
        server.create("p", HELLO)
        yield server


@pytest.fixture
def ref(server):
    return ref_of(server, "p")


def ref_of(server, name):
    revision = git(server.root / f"{name}.git", "rev-parse", "main")
    return {"type": "git", "url": server.url(name), "branch": "main", "revision": revision}


@pytest.fixture
def start(tmp_path, jp_asyncio_loop):
    clients = []

    async def start(*argv, options=None, **more):
        client = Client()
        clients.append(client)
        client.cache = tmp_path / "cache"
        agent = [] if argv and argv[0] == "--agent" else scripted(options)
        await client.start(
            "--cache", str(tmp_path / "cache"), "--scheme", "http", *argv, *agent, **more
        )
        return client

    yield start
    for client in clients:
        jp_asyncio_loop.run_until_complete(client.stop())


def scripted(options=None):
    return ["--", sys.executable, str(AGENTS / "scripted.py"), json.dumps(options or {})]


def show(server, name, revision, path):
    return git(server.root / f"{name}.git", "show", f"{revision}:{path}")


async def test_the_six_steps_with_the_built_in_agent(start, server, ref):
    client = await start("--agent", "builtin")
    assert client.capabilities["_meta"]["jupyter-acp"]["remoteSessions"] is True
    session = (await client.new(ref))["sessionId"]
    answer = await client.prompt(session, text="/edit hello.py helo => hello")
    assert "target" in answer, client.said()
    target = answer["target"]
    assert answer["_meta"]["jupyter-acp"]["target"] == target
    assert target["branch"] == f"acp/{session}" and target["url"] == ref["url"]
    assert git(server.root / "p.git", "rev-parse", target["branch"]) == target["revision"]
    assert show(server, "p", target["revision"], "hello.py") == "print('hello')"
    assert git(server.root / "p.git", "rev-parse", "main") == ref["revision"]


async def test_the_six_steps_with_an_agent_that_has_never_heard_of_it(start, server, ref):
    client = await start()
    result = await client.new(ref)
    session = result["sessionId"]
    await client.prompt(session, ["capabilities"])
    # The work is over there: nothing of the client's files is offered.
    seen = json.loads(client.said())
    assert "fs" not in seen and "terminal" not in seen and "workspace" not in seen
    answer = await client.prompt(session, ["write", "new.txt", "from afar"], ["chunk", "done"])
    assert answer["stopReason"] == "end_turn"
    assert show(server, "p", answer["target"]["revision"], "new.txt") == "from afar"
    log = git(server.root / "p.git", "log", "-1", "--format=%B%n%P", answer["target"]["revision"])
    assert "ACP-Agent: scripted" in log and f"ACP-Session: {session}" in log
    assert log.endswith(ref["revision"])


async def test_no_change_is_no_branch_and_no_target(start, server, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    assert "target" not in await client.prompt(session, ["chunk", "nothing"])
    assert git(server.root / "p.git", "branch", "--list", "acp/*") == ""
    first = (await client.prompt(session, ["write", "a", "1"]))["target"]
    assert "target" not in await client.prompt(session, ["chunk", "nothing more"])
    second = (await client.prompt(session, ["write", "a", "2"]))["target"]
    assert second["branch"] == first["branch"] and second["revision"] != first["revision"]
    parent = git(server.root / "p.git", "rev-parse", f"{second['revision']}^")
    assert parent == first["revision"]


async def test_what_the_agent_has_committed_itself_comes_along(start, server, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    line = (
        "cd $0 && echo x > mine && git add mine && git -c user.name=A -c user.email=a@b "
        "commit -qm 'By the agent' && echo y > rest"
    )
    where = client.cache / "worktrees" / session
    answer = await client.prompt(session, ["shell", line.replace("$0", str(where))])
    log = git(server.root / "p.git", "log", "--format=%s", answer["target"]["revision"], "-3")
    assert log.splitlines()[1:] == ["By the agent", "First"]
    assert show(server, "p", answer["target"]["revision"], "rest") == "y"


REPOSITORY = (
    "git init -q {0} && cd {0} && echo x > x && {1} git config filter.x.clean 'touch {2}; cat' && "
    "git config core.fsmonitor 'touch {2}' && echo '* filter=x' > .gitattributes"
)
COMMIT = "git add x && git -c user.name=A -c user.email=a@b commit -qm Own &&"


@pytest.mark.parametrize("commit", ["", COMMIT], ids=["empty", "with a commit"])
async def test_a_repository_in_the_repository_is_left_out(start, server, ref, tmp_path, commit):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    where, mark = client.cache / "worktrees" / session, tmp_path / "sprung"
    line = f"cd {where} && echo 1 > mine && " + REPOSITORY.format("tool", commit, mark)
    answer = await client.prompt(session, ["shell", line])
    assert "- tool: a repository of its own" in client.said()
    revision = answer["target"]["revision"]
    assert git(server.root / "p.git", "ls-tree", "-r", "--name-only", revision).split() == [
        "hello.py",
        "mine",
        "sub/data.txt",
    ]
    client.updates.clear()
    # Also if the agent puts it into the index, and every time again; it is told once.
    line = f"cd {where} && echo 2 > mine && echo y > tool/x && (git add tool || true)"
    mark.unlink(missing_ok=True)
    answer = await client.prompt(session, ["shell", line], ["shell", f"rm -f {mark}"])
    assert not mark.exists() and "left out" not in client.said()
    revision = answer["target"]["revision"]
    assert "tool" not in git(server.root / "p.git", "ls-tree", "--name-only", revision)
    assert (where / "tool" / "x").read_text() == "y\n"


async def test_what_is_written_into_a_submodule_is_said_to_be_left_out(start, server, ref):
    work = server.root / ".work-p"
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{ref['revision']},lib")
    git(work, "commit", "-qm", "A submodule")
    git(work, "push", "-q", "origin", "main")
    client = await start()
    session = (await client.new(ref_of(server, "p")))["sessionId"]
    answer = await client.prompt(session, ["write", "lib/a", "1"], ["write", "b", "2"])
    assert "- lib: a submodule" in client.said()
    tree = git(server.root / "p.git", "ls-tree", answer["target"]["revision"], "lib")
    assert tree.split()[2] == ref["revision"]
    assert show(server, "p", answer["target"]["revision"], "b") == "2"


async def test_all_kinds_of_changes_come_back_but_not_what_jupyter_leaves(start, server, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    where = client.cache / "worktrees" / session
    line = (
        f"cd {where} && rm hello.py && mkdir hello.py && echo 1 > hello.py/in && rm -r sub && "
        "echo 2 > sub && ln -s sub link && chmod +x sub && mkdir .ipynb_checkpoints .Git && "
        "echo 3 > .ipynb_checkpoints/x && echo 4 > .Git/config && echo '*.log' > .gitignore && "
        "echo 5 > a.log && printf 6 > 'a b\nc'"
    )
    answer = await client.prompt(session, ["shell", line])
    assert "- .Git/config: of a name that git keeps for itself" in client.said()
    tree = git(server.root / "p.git", "ls-tree", "-r", "-z", answer["target"]["revision"])
    found = {entry.split("\t")[1]: entry.split()[0] for entry in tree.split("\0") if entry}
    assert found == {
        ".gitignore": "100644",
        "a b\nc": "100644",
        "hello.py/in": "100644",
        "link": "120000",
        "sub": "100755",
    }


@pytest.mark.parametrize(
    ("argv", "steps", "words"),
    [
        (("--files", "3"), [["write", "b", "1"], ["write", "c", "1"]], "has 4 files; 3 are allowed"),
        (("--size", "1"), [["shell", "head -c 2000000 /dev/zero > $0/b"]], "2 MB; 1 MB are allowed"),
        (("--size", "1"), [["shell", f"cd $0 && head -c 2000000 /dev/zero > x && {COMMIT} true"]],
         "2 MB; 1 MB are allowed"),
    ],
    ids=["files", "size", "size of a commit"],
)  # fmt: skip
async def test_what_the_agent_makes_has_limits_too(start, server, ref, argv, steps, words):
    client = await start(*argv)
    session = (await client.new(ref))["sessionId"]
    where = client.cache / "worktrees" / session
    steps = [[part.replace("$0", str(where)) for part in step] for step in steps]
    answer = await client.prompt(session, *steps, ["chunk", "done"])
    assert answer["stopReason"] == "end_turn" and "target" not in answer
    assert "could not be brought back" in client.said() and words in client.said()
    # What was not committed yet is not copied, either.
    assert ("It is kept as commit" in client.said()) == ("git add" in str(steps))
    assert git(server.root / "p.git", "branch", "--list", "acp/*") == ""
    # It is still there, to be made smaller.
    undo = f"cd {where} && rm -f b c && git reset -q --hard {ref['revision']} && echo 1 > a"
    target = (await client.prompt(session, ["shell", undo]))["target"]
    assert show(server, "p", target["revision"], "a") == "1"


async def test_a_lock_that_nobody_holds_any_more_is_taken_away(start, server, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    (admin,) = client.cache.glob(f"mirrors/*.git/worktrees/{session}")
    for name in ("index.lock", "HEAD.lock"):
        (admin / name).write_text("")
        target = (await client.prompt(session, ["write", "a", name]))["target"]
        assert show(server, "p", target["revision"], "a") == name


async def test_a_session_without_a_repository_passes_straight_through(start, tmp_path):
    client = await start()
    plain = (await client.ask("session/new", cwd=str(tmp_path), mcpServers=[]))["sessionId"]
    await client.prompt(plain, ["capabilities"])
    seen = json.loads(client.said())
    assert seen["fs"]["readTextFile"] is True and seen["terminal"] is True
    answer = await client.prompt(plain, ["request", "fs/read_text_file", {"path": "/x"}])
    assert "target" not in answer and client.asked[-1][0] == "fs/read_text_file"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"url": "https://example.org/x.git"}, "only http://"),
        ({"url": "ext::evil"}, "must not name a program"),
        ({"url": "/etc"}, "a folder is none"),
        ({"branch": "--upload-pack=touch x"}, "must not begin with a dash"),
        ({"branch": "a:refs/heads/main"}, "not a name that git allows"),
        ({"revision": "main"}, "hexadecimal digits"),
        ({"type": "svn"}, "'svn' is not known here"),
        ({"branch": "missing"}, "couldn't find remote ref"),
        ({"revision": "ab" * 20}, "does not contain the revision abababababab"),
    ],
)
async def test_what_is_refused_leaves_nothing(start, server, ref, tmp_path, change, words):
    client = await start()
    with pytest.raises(RpcError, match=words):
        await client.new({**ref, **change})
    assert list((tmp_path / "cache").glob("worktrees/*")) == []
    assert list((tmp_path / "cache").glob("sessions/*")) == []
    assert (await client.new(ref))["sessionId"]


async def test_a_reference_in_our_corner_of_the_metadata_counts_as_well(start, ref):
    client = await start()
    meta = {"jupyter-acp": {"remote": ref, "progressToken": "t1", "folder": "sub"}}
    result = await client.ask("session/new", cwd="/nowhere", mcpServers=[], _meta=meta)
    assert result["_meta"]["jupyter-acp"]["remote"] == ref
    assert {each["token"] for each in client.progress} == {"t1"}
    assert {each["percent"] for each in client.progress} >= {100}
    await client.prompt(result["sessionId"], ["write", "here", "x"])
    answer = await client.prompt(result["sessionId"], ["write", "here", "y"])
    assert answer["target"]["revision"]


@pytest.mark.parametrize("folder", ["..", "/etc", "missing", "sub/../..", ".git", "hello.py"])
async def test_a_folder_that_is_none_of_the_repository(start, ref, folder):
    client = await start()
    with pytest.raises(RpcError, match="folder"):
        await client.new(ref, _meta={"jupyter-acp": {"folder": folder}})


async def test_a_push_that_is_refused_ends_the_turn_and_keeps_the_work(start, server, ref):
    server.refuse_pushes("p", "Not on a Friday.")
    client = await start()
    session = (await client.new(ref))["sessionId"]
    answer = await client.prompt(session, ["write", "a", "1"], ["chunk", "done"])
    assert answer["stopReason"] == "end_turn" and "target" not in answer
    assert "could not be brought back" in client.said() and "Not on a Friday." in client.said()
    assert "It is kept as commit" in client.said()
    server.accept_pushes("p")
    # Nothing new, and yet there is something to bring back.
    answer = await client.prompt(session, ["chunk", "again"])
    assert show(server, "p", answer["target"]["revision"], "a") == "1"


async def test_a_fork_begins_where_the_other_is(start, server, ref):
    client = await start(options={"capabilities": {"sessionCapabilities": {"fork": {}}}})
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    fork = (await client.ask("session/fork", sessionId=session, cwd="/nowhere"))["sessionId"]
    assert fork != session
    target = (await client.prompt(fork, ["write", "b", "2"]))["target"]
    assert target["branch"] == f"acp/{fork}"
    assert show(server, "p", target["revision"], "a") == "1"
    assert "target" not in await client.prompt(session, ["chunk", "x"])


async def test_two_sessions_on_one_repository_at_once(start, server, ref, tmp_path):
    client = await start()
    one, two = [(await client.new(ref))["sessionId"] for _ in range(2)]
    first = await client.prompt(one, ["write", "a", "1"])
    second = await client.prompt(two, ["write", "a", "2"])
    assert show(server, "p", first["target"]["revision"], "a") == "1"
    assert show(server, "p", second["target"]["revision"], "a") == "2"
    assert len(list((tmp_path / "cache" / "mirrors").glob("*.git"))) == 1
    # The second one had nothing to fetch.
    assert sum("git-upload-pack" in each for each in server.requests if "POST" in each) <= 2


@pytest.mark.parametrize("processes", [1, 2])
async def test_many_sessions_begin_and_end_at_once(start, server, tmp_path, processes):
    clients = [await start() for _ in range(processes)]
    for number in range(3):
        # The first time they all want to clone it, then they all find it.
        name = f"q{number // 2}"
        if number % 2 == 0:
            server.create(name, HELLO)
        ref = ref_of(server, name)
        opened = [(client, client.new(ref)) for client in clients * (6 // processes)]
        results = await asyncio.gather(*(new for _, new in opened), return_exceptions=True)
        assert [each for each in results if isinstance(each, BaseException)] == []
        sessions = [each["sessionId"] for each in results]
        assert len(set(sessions)) == len(opened)
        work = [
            *(
                client.ask("session/close", sessionId=id)
                for (client, _), id in zip(opened[::2], sessions[::2], strict=True)
            ),
            *(client.new(ref) for client in clients),
            *(
                client.prompt(id, ["write", "a", id])
                for (client, _), id in zip(opened[1::2], sessions[1::2], strict=True)
            ),
        ]
        done = await asyncio.gather(*work, return_exceptions=True)
        assert [each for each in done if isinstance(each, BaseException)] == []
        for id, answer in zip(sessions[1::2], done[-len(sessions[1::2]) :], strict=True):
            assert show(server, name, answer["target"]["revision"], "a") == id


async def test_what_one_agent_sets_holds_in_no_other_session(start, server, ref, tmp_path):
    client = await start("--author", "Bob <bob@example.org>")
    one, two = [(await client.new(ref))["sessionId"] for _ in range(2)]
    mark = tmp_path / "sprung"
    line = (
        f"cd {client.cache / 'worktrees' / one} && git config user.name Mallory && "
        f"git config filter.x.clean 'touch {mark}; cat' && git config filter.x.required true && "
        f"git config core.sshCommand 'touch {mark}' && git config url.http://x/.insteadOf http:// && "
        'echo "* filter=x" > "$(git rev-parse --git-path info/attributes)" || '
        'mkdir "$(dirname $(git rev-parse --git-path info/attributes))"'
    )
    await client.prompt(one, ["shell", line], ["shell", line])
    await client.prompt(one, ["shell", line])
    target = (await client.prompt(two, ["write", "a", "1"]))["target"]
    assert show(server, "p", target["revision"], "a") == "1" and not mark.exists()
    log = git(server.root / "p.git", "log", "-1", "--format=%an %ae", target["revision"])
    assert log == "Bob bob@example.org"
    assert (await client.new(ref_of(server, "p")))["sessionId"] and not mark.exists()


async def test_a_branch_of_that_name_is_left_to_its_owner(start, server, ref):
    git(server.root / "p.git", "branch", "results", ref["revision"])
    client = await start("--branch", "results")
    session = (await client.new(ref))["sessionId"]
    target = (await client.prompt(session, ["write", "a", "1"]))["target"]
    assert target["branch"] == "results-2"
    assert git(server.root / "p.git", "rev-parse", "results") == ref["revision"]
    # And stays with it.
    assert (await client.prompt(session, ["write", "a", "2"]))["target"]["branch"] == "results-2"


LOADS = {"capabilities": {"loadSession": True}}


async def test_a_session_is_resumed_where_it_was(start, server, ref):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    first = (await client.prompt(session, ["write", "a", "1"]))["target"]
    # Half-way through the next turn everything dies.
    asking = asyncio.ensure_future(client.prompt(session, ["write", "b", "2"], ["sleep", 100]))
    path = client.cache / "worktrees" / session / "b"
    await until(path.exists)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    second = (await again.prompt(session, ["write", "c", "3"]))["target"]
    assert second["branch"] == first["branch"]
    for name, text in (("a", "1"), ("b", "2"), ("c", "3")):
        assert show(server, "p", second["revision"], name) == text


async def test_a_session_whose_folder_is_gone_goes_on_from_its_last_commit(start, server, ref):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.ask("session/close", sessionId=session)
    assert list(client.cache.glob("worktrees/*")) == []
    await client.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    target = (await client.prompt(session, ["write", "b", "2"]))["target"]
    assert show(server, "p", target["revision"], "a") == "1"
    await client.ask("session/delete", sessionId=session)
    assert list(client.cache.glob("sessions/*")) == []


async def test_what_was_never_committed_outlives_a_close(start, server, ref, tmp_path):
    client = await start("--files", "3", options=LOADS)
    killed, full = [(await client.new(ref))["sessionId"] for _ in range(2)]
    await client.prompt(full, ["write", "b", "1"], ["write", "c", "1"])
    await client.ask("session/close", sessionId=full)
    asking = asyncio.ensure_future(client.prompt(killed, ["write", "b", "2"], ["sleep", 100]))
    await until((client.cache / "worktrees" / killed / "b").exists)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    again = await start(options=LOADS)
    # It is committed if it can be; then its files can go.
    await again.ask("session/close", sessionId=killed)
    assert [path.name for path in client.cache.glob("worktrees/*")] == [full]
    for session, text in ((killed, "2"), (full, "1")):
        await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
        target = (await again.prompt(session, ["chunk", "and?"]))["target"]
        assert show(server, "p", target["revision"], "b") == text
        await again.ask("session/close", sessionId=session)
    assert list(client.cache.glob("worktrees/*")) == []


@pytest.mark.parametrize("lost", ["link", "all that git knows"])
async def test_files_that_git_has_lost_sight_of_are_not_lost(start, server, ref, tmp_path, lost):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    where = client.cache / "worktrees" / session
    steps = [["write", "b", "2"], ["write", "hello.py", "3"], ["shell", f"rm {where}/.git"]]
    asking = asyncio.ensure_future(client.prompt(session, *steps, ["sleep", 100]))
    await until(lambda: (where / "b").exists() and not (where / ".git").exists())
    # Whatever others do meanwhile, by way of git or not.
    other = await start(options=LOADS)
    theirs = (await other.new(ref))["sessionId"]
    tidy = (
        f"cd {client.cache / 'worktrees' / theirs} && git worktree prune && git gc -q --prune=now"
    )
    await other.prompt(theirs, ["shell", tidy], ["write", "x", "1"])
    await other.ask("session/close", sessionId=theirs)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    if lost != "link":
        (admin,) = client.cache.glob(f"mirrors/*.git/worktrees/{session}")
        shutil.rmtree(admin)
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    assert (where / "b").read_text() == "2"
    line = f"cd {where} && git status --porcelain > {tmp_path / 'status'}"
    target = (await again.prompt(session, ["shell", line]))["target"]
    assert (tmp_path / "status").read_text() == " M hello.py\n?? b\n"
    changed = git(
        server.root / "p.git", "diff", "--name-status", ref["revision"], target["revision"]
    )
    assert changed.split("\n") == ["A\ta", "A\tb", "M\thello.py"]


async def test_a_branch_in_whose_place_there_is_a_folder_of_branches(start, server, ref):
    work = server.root / ".work-p"
    client = await start()
    for name, old in (("feature", ""), ("feature/x", "feature"), ("feature", "feature/x")):
        if old:
            git(work, "push", "-q", "origin", f":{old}")
        git(work, "commit", "-q", "--allow-empty", "-m", name)
        git(work, "push", "-q", "origin", f"HEAD:refs/heads/{name}")
        revision = git(work, "rev-parse", "HEAD")
        assert await client.new({**ref, "branch": name, "revision": revision})


STUBBORN = {
    "fails": {"refuse": ["session/close", "session/delete"]},
    "is slow": {"ignore": ["session/close", "session/delete"]},
    "is nice": {},
}


@pytest.mark.parametrize("how", STUBBORN)
async def test_files_go_with_their_session_whatever_the_agent_says(start, ref, how):
    can = {"sessionCapabilities": {"close": {}, "delete": {}}}
    client = await start(options={"capabilities": can, **STUBBORN[how]})
    one, two, three = [(await client.new(ref))["sessionId"] for _ in range(3)]
    await client.prompt(one, ["write", "a", "1"])
    await client.ask("session/close", sessionId=one)
    assert {path.name for path in client.cache.glob("worktrees/*")} == {two, three}
    await client.ask("session/delete", sessionId=two)
    assert {path.name for path in client.cache.glob("worktrees/*")} == {three}
    assert {path.name for path in client.cache.glob("mirrors/*.git/worktrees/*")} == {three}
    if how == "is nice":
        await client.prompt(three, ["ended"])
        told = [method for method, _ in json.loads(client.said().split("]]")[0] + "]]")]
        assert told == ["session/close", "session/delete"]


async def test_a_fork_that_fails_leaves_nothing(start, ref):
    options = {"capabilities": {"sessionCapabilities": {"fork": {}}}, "refuse": ["session/fork"]}
    client = await start(options=options)
    session = (await client.new(ref))["sessionId"]
    with pytest.raises(RpcError):
        await client.ask("session/fork", sessionId=session, cwd="/nowhere")
    assert [path.name for path in client.cache.glob("worktrees/*")] == [session]
    assert [path.stem for path in client.cache.glob("sessions/*.json")] == [session]


async def test_a_cache_that_cannot_be_used_holds_nothing(start, ref):
    client = await start()
    client.cache.mkdir(exist_ok=True)
    (client.cache / "mirrors").write_text("not a folder")
    with pytest.raises(RpcError):
        await client.new(ref)
    assert list(client.cache.glob("sessions/*")) == []
    (client.cache / "mirrors").unlink()
    assert await client.new(ref)


async def test_the_files_of_the_client_are_not_asked_for(start, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    for method in ("fs/read_text_file", "terminal/create", "workspace/open_documents"):
        client.updates.clear()
        await client.prompt(session, ["request", method, {"path": "/etc/passwd"}])
        assert json.loads(client.said())["code"] == -32601
    assert client.asked == []


async def test_a_commit_is_named_after_what_was_asked(start, server, ref, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Eve\n\temail = eve@example.org\n")
    for argv, author in (
        (("--author", "Bob <bob@example.org>"), "Bob <bob@example.org>"),
        ((), "Eve <eve@example.org>"),
    ):
        client = await start(*argv, env={"HOME": str(home)})
        session = (await client.new(ref))["sessionId"]
        texts = ["\n  Fix the \ttypo\nand nothing else", json.dumps([["write", "a", "1"]])]
        blocks = [{"type": "text", "text": text} for text in texts]
        answer = await client.ask("session/prompt", sessionId=session, prompt=blocks)
        wanted = ("--format=%s|%an <%ae>|%(trailers:key=ACP-Session,valueonly)",)
        log = git(server.root / "p.git", "log", "-1", *wanted, answer["target"]["revision"])
        assert log == f"Fix the typo|{author}|{session}"


async def test_a_session_goes_on_in_its_files_with_an_agent_that_remembers_nothing(
    start, server, ref
):
    server.refuse_pushes("p")
    client = await start()
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.stop()
    server.accept_pushes("p")
    again = await start()
    meta = {"jupyter-acp": {"continues": session}}
    assert (await again.new(ref, _meta=meta))["sessionId"] == session
    target = (await again.prompt(session, ["write", "b", "2"]))["target"]
    assert target["branch"] == f"acp/{session}"
    assert show(server, "p", target["revision"], "a") == "1"
    # One that is worked in, or is on another repository, is not gone on with.
    assert (await again.new(ref, _meta=meta))["sessionId"] != session
    server.create("other", HELLO)
    await again.ask("session/close", sessionId=session)
    other = await again.new(ref_of(server, "other"), _meta=meta)
    assert other["sessionId"] != session
    # Nor is one of which nothing is left.
    await again.stop()
    shutil.rmtree(again.cache / "mirrors")
    assert (await (await start()).new(ref, _meta=meta))["sessionId"] != session


async def test_a_session_that_somebody_works_in_is_nobody_elses(start, ref):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    other = await start(options=LOADS)
    with pytest.raises(RpcError, match="Somebody else works in this session"):
        await other.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    assert list(client.cache.glob("worktrees/*"))


async def until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_a_kill_in_the_middle_of_a_clone(start, server, tmp_path):
    server.create("big", {f"f{i}": os.urandom(20_000).hex() for i in range(50)})
    ref = ref_of(server, "big")
    server.delay = 0.02
    client = await start()
    asking = asyncio.ensure_future(client.new(ref))
    packs = tmp_path / "cache" / "mirrors"
    await until(lambda: list(packs.glob("*.git/objects/pack/tmp_*")))
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    server.delay = 0
    # What has to be cleared away belongs to somebody who is dead, git included.
    await client.process.stop()
    again = await start()
    await until(lambda: not list((tmp_path / "cache").glob("sessions/*.json")))
    await until(lambda: not list(packs.glob("*.git/objects/pack/tmp_*")))
    session = (await again.new(ref))["sessionId"]
    assert (await again.prompt(session, ["write", "a", "1"]))["target"]


async def test_a_kill_in_the_middle_of_a_push(start, server, ref, tmp_path):
    hook = server.root / "p.git" / "hooks" / "post-receive"
    hook.parent.mkdir(exist_ok=True)
    mark = tmp_path / "received"
    hook.write_text(f"#!/bin/sh\ntouch {mark}\nsleep 5\n")
    hook.chmod(0o755)
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    asking = asyncio.ensure_future(client.prompt(session, ["write", "a", "1"]))
    await until(mark.exists)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    hook.unlink()
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    # It has arrived, though nobody was left to hear of it.
    target = (await again.prompt(session, ["chunk", "and?"]))["target"]
    assert target["branch"] == f"acp/{session}"
    assert show(server, "p", target["revision"], "a") == "1"
    later = (await again.prompt(session, ["write", "a", "2"]))["target"]
    assert later["branch"] == target["branch"]


async def test_a_kill_while_a_push_is_on_its_way(start, server, ref, tmp_path):
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    server.intake = 0.2
    line = f"head -c 3000000 /dev/urandom > {client.cache / 'worktrees' / session / 'large'}"
    asking = asyncio.ensure_future(client.prompt(session, ["shell", line]))
    await until(server.receiving.is_set)
    os.kill(client.process.pid, signal.SIGKILL)
    asking.cancel()
    await client.process.stop()
    server.intake = 0
    assert git(server.root / "p.git", "branch", "--list", "acp/*") == ""
    again = await start(options=LOADS)
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    target = (await again.prompt(session, ["chunk", "and?"]))["target"]
    size = git(server.root / "p.git", "cat-file", "-s", f"{target['revision']}:large")
    assert size == "3000000" and target["branch"] == f"acp/{session}"
    git(server.root / "p.git", "fsck", "--strict")


def is_git(process):
    """Whether it is a git that runs; one that ends while it is looked at does not."""
    try:
        return process.name() == "git"
    except psutil.Error:
        return False


async def test_a_clone_can_be_cancelled(start, server, tmp_path):
    server.create("big", {f"f{i}": os.urandom(20_000).hex() for i in range(50)})
    server.delay = 0.05
    client = await start()
    asking = asyncio.ensure_future(client.new(ref_of(server, "big")))
    await until(lambda: list((tmp_path / "cache").glob("mirrors/*.git/objects/pack/tmp_*")))
    asking.cancel()
    runner = psutil.Process(client.process.pid)
    await until(lambda: not any(is_git(each) for each in runner.children(True)))
    await until(lambda: not list((tmp_path / "cache").glob("sessions/*.json")))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--files", "1"), "2 files; 1 are allowed here"),
        (("--size", "0.000001"), "MB are allowed|larger than"),
        (("--timeout", "2"), "took longer than 2 s"),
        (("--host", "example.org"), "not among the hosts"),
    ],
)
async def test_every_limit_has_its_words(start, server, ref, argv, words):
    if argv[0] == "--timeout":
        server.delay = 5
    client = await start(*argv)
    with pytest.raises(RpcError, match=words):
        await client.new(ref)


async def test_the_time_of_a_clone_is_not_that_of_the_agent(start):
    assert (await start("--timeout", "0.001")).capabilities


async def test_the_size_is_that_of_what_is_fetched_not_of_what_is_here(start, server, ref):
    work = server.root / ".work-p"
    client = await start("--size", "1")
    for _ in range(4):
        (work / "large").write_text(os.urandom(400_000).hex())
        git(work, "add", "-A")
        git(work, "commit", "-qm", "Another one")
        git(work, "push", "-q", "origin", "main")
        assert await client.new(ref_of(server, "p"))
    (mirror,) = client.cache.glob("mirrors/*.git")
    assert sum(path.stat().st_size for path in mirror.rglob("*.pack")) > 1_000_000


async def test_a_host_that_is_allowed_cannot_send_git_elsewhere(start, server, ref):
    server.moved_to = server.host
    moved = {**ref, "url": ref["url"].replace("127.0.0.1", "localhost")}
    client = await start("--host", "localhost")
    with pytest.raises(RpcError, match=r"redirect|302"):
        await client.new(moved)
    # Where all hosts are allowed, it is followed.
    assert await (await start()).new(moved)


async def test_credentials_go_nowhere(start, tmp_path):
    with git_server(tmp_path / "closed", "s3cret") as server:
        server.create("p", HELLO)
        ref = ref_of(server, "p")
        client = await start()
        with pytest.raises(RpcError, match="wants to know who asks"):
            await client.new(ref)
        session = await client.new({**ref, "url": server.url("p", login=True)})
        target = await client.prompt(session["sessionId"], ["write", "a", "1"])
        assert target["target"]["url"] == server.url("p")
        assert "s3cret" not in json.dumps([session, target, client.updates, client.progress])
        # Written down nowhere, either.
        for path in (tmp_path / "cache").rglob("*"):
            assert not path.is_file() or b"s3cret" not in path.read_bytes(), path
        server.password = "other"
        answer = await client.prompt(session["sessionId"], ["write", "a", "2"])
        assert "target" not in answer and "s3cret" not in client.said()


async def test_an_agent_that_dies_takes_the_runner_with_it_and_says_why(start, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    asking = asyncio.ensure_future(client.prompt(session, ["stderr", "Ouch!\n", 1], ["exit", 3]))
    assert await client.process.wait() == 1
    asking.cancel()
    assert any("Ouch!" in line for line in client.process.stderr)


async def test_old_sessions_and_repositories_go(start, server, ref, tmp_path):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.stop()
    cache = tmp_path / "cache"
    assert list(cache.glob("worktrees/*"))
    long_ago = time.time() - 40 * 86400
    for path in (cache / "sessions" / f"{session}.json", *cache.glob("mirrors/*.lock")):
        os.utime(path, (long_ago, long_ago))
    await start()
    await until(lambda: not list(cache.glob("mirrors/*.git")))
    assert not list(cache.glob("worktrees/*")) and not list(cache.glob("sessions/*.json"))


async def test_too_much_is_cleared_but_never_what_is_worked_on(start, server, ref, tmp_path):
    server.create("q", HELLO)
    first = await start()
    await first.new(ref)
    second = await start()
    await second.new(ref_of(server, "q"))
    await second.stop()
    await start("--keep-size", "0")
    await until(lambda: len(list((tmp_path / "cache").glob("mirrors/*.git"))) == 1)
    assert len(list((tmp_path / "cache").glob("worktrees/*"))) == 1
    assert (await first.prompt((await first.new(ref))["sessionId"], ["write", "a", "1"]))["target"]


LARGE = {"zeros": "0" * 5_000_000}


async def test_files_count_and_are_had_again(start, server, ref, tmp_path):
    server.create("large", LARGE)
    ref = ref_of(server, "large")
    first = await start("--keep-size", "1", options=LOADS)
    second = await start(options=LOADS)
    session = (await second.new(ref))["sessionId"]
    await second.prompt(session, ["write", "a", "1"])
    await second.stop()
    assert list(first.cache.glob("worktrees/*"))
    # The end of a session is the time to look how much there is.
    await first.ask("session/close", sessionId=(await first.new(ref))["sessionId"])
    await until(lambda: not list(first.cache.glob("worktrees/*")))
    assert list(first.cache.glob("mirrors/*.git"))
    await first.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    target = (await first.prompt(session, ["write", "b", "2"]))["target"]
    assert show(server, "large", target["revision"], "a") == "1"


async def test_what_was_never_brought_back_is_never_cleared_away(start, server, ref, tmp_path):
    server.refuse_pushes("p")
    client = await start(options=LOADS)
    session = (await client.new(ref))["sessionId"]
    await client.prompt(session, ["write", "a", "1"])
    await client.stop()
    cache = tmp_path / "cache"
    long_ago = time.time() - 40 * 86400
    for path in (cache / "sessions" / f"{session}.json", *cache.glob("mirrors/*.lock")):
        os.utime(path, (long_ago, long_ago))
    (cache / "worktrees" / ("0" * 32)).mkdir()
    again = await start("--keep-size", "0", options=LOADS)
    await until(lambda: len(list(cache.glob("worktrees/*"))) == 1)
    other = (await again.new(ref))["sessionId"]
    await again.ask("session/close", sessionId=other)
    server.accept_pushes("p")
    await again.ask("session/load", sessionId=session, cwd="/nowhere", mcpServers=[])
    target = (await again.prompt(session, ["chunk", "x"]))["target"]
    assert show(server, "p", target["revision"], "a") == "1"


@pytest.fixture
def cache(tmp_path):
    git = Git(policy=Policy(schemes=("http",)), timeout=60)
    return Cache(tmp_path / "cache", git, keeping=Keeping(days=1))


async def test_it_is_cleared_up_from_time_to_time_whatever_is_in_the_way(cache, monkeypatch):
    monkeypatch.setattr(sweeper, "INTERVAL", 0.05)
    for folder in ("sessions", "mirrors", "worktrees"):
        (cache.folder / folder).mkdir(parents=True)
    # Names of what is not there any more, and what no one can read.
    (cache.folder / "mirrors" / "x.half").symlink_to("nowhere")
    (cache.folder / "sessions" / f"{'0' * 32}.json").symlink_to("nowhere")
    (cache.folder / "sessions" / f"{'1' * 32}.json").write_text("{")
    running = asyncio.ensure_future(sweeper.Sweeper(cache, logging.getLogger()).run())
    try:
        for number in range(2, 4):
            left = cache.folder / "worktrees" / (str(number) * 32)
            left.mkdir()
            await until(lambda left=left: not left.exists())
        await until(lambda: not (cache.folder / "sessions" / f"{'1' * 32}.json").exists())
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_who_comes_back_while_it_is_cleared_up_waits_for_it(cache, ref, monkeypatch):
    session = "5" * 32
    await cache.begin(session, GitRemoteRef(**ref), None)
    cache.release(session)
    removing, go, remove = asyncio.Event(), asyncio.Event(), caches.remove

    async def slowly(folder):
        removing.set()
        await go.wait()
        await remove(folder)

    monkeypatch.setattr(caches, "remove", slowly)
    sweeping = asyncio.ensure_future(sweeper.Sweeper(cache, logging.getLogger())._close(session))
    await removing.wait()
    finding = asyncio.ensure_future(cache.find(session))
    await asyncio.sleep(0)
    go.set()
    await sweeping
    worktree = await finding
    assert worktree.is_whole and (worktree.path / "hello.py").exists()
    # It is the session's now, and nobody takes it away.
    with pytest.raises(GitError, match="Somebody else"):
        await Cache(cache.folder, cache.git).find(session)
    with cache.free(session) as is_free:
        assert not is_free


async def test_what_is_scattered_is_put_together(cache, server, ref, monkeypatch):
    monkeypatch.setattr(mirrors, "MOST_PACKS", 2)
    work = server.root / ".work-p"
    for number in range(4):
        (work / "a").write_text(f"{number}")
        git(work, "add", "-A")
        git(work, "commit", "-qm", "Another one")
        git(work, "push", "-q", "origin", "main")
        worktree = await cache.begin(f"{number}" * 32, GitRemoteRef(**ref_of(server, "p")), None)
    assert len(list(cache.folder.glob("mirrors/*.git/objects/pack/*.pack"))) > 2
    await sweeper.Sweeper(cache, logging.getLogger()).sweep()
    assert len(list(cache.folder.glob("mirrors/*.git/objects/pack/*.pack"))) == 1
    (worktree.path / "b").write_text("1")
    assert (await worktree.commit("More", Author())).head != worktree.ref.revision


async def test_traps_in_a_repository_are_not_sprung(start, server, ref, tmp_path):
    mark = tmp_path / "sprung"
    work = server.root / ".work-p"
    (work / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n")
    (work / ".gitmodules").write_text(
        f'[submodule "x"]\n\tpath = x\n\turl = file:///{tmp_path}\n\tupdate = !touch {mark}\n'
    )
    (work / ".githooks").mkdir()
    for name in ("post-checkout", "pre-commit", "pre-push", "post-commit"):
        (work / ".githooks" / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (work / ".githooks" / name).chmod(0o755)
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Traps")
    git(work, "push", "-q", "origin", "main")
    home = tmp_path / "home"
    home.mkdir()
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    for name in ("post-checkout", "pre-commit", "pre-push", "post-commit", "reference-transaction"):
        (template / "hooks" / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (template / "hooks" / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {template}\n[core]\n\thooksPath = {template}/hooks\n"
        f"\tfsmonitor = touch {mark}\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = touch\n"
    )
    client = await start(env={"HOME": str(home)})
    session = (await client.new(ref_of(server, "p")))["sessionId"]
    answer = await client.prompt(session, ["write", "a", "1"], ["write", "b.bin", "large"])
    assert show(server, "p", answer["target"]["revision"], "b.bin") == "large"
    assert not mark.exists()
