# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What one turn of any agent becomes, with a real git server."""

from __future__ import annotations

import asyncio
import json

from gitserver import git
from remoterunner import show


async def test_the_six_steps_with_the_built_in_agent(start, server, ref):
    client = await start(agent="builtin")
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


async def test_a_branch_of_that_name_is_left_to_its_owner(start, server, ref):
    git(server.root / "p.git", "branch", "results", ref["revision"])
    client = await start(branch="results")
    session = (await client.new(ref))["sessionId"]
    target = (await client.prompt(session, ["write", "a", "1"]))["target"]
    assert target["branch"] == "results-2"
    assert git(server.root / "p.git", "rev-parse", "results") == ref["revision"]
    # And stays with it.
    assert (await client.prompt(session, ["write", "a", "2"]))["target"]["branch"] == "results-2"


async def test_a_commit_is_named_after_what_was_asked(start, server, ref, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Eve\n\temail = eve@example.org\n")
    for named, author in (
        ("Bob <bob@example.org>", "Bob <bob@example.org>"),
        ("", "Eve <eve@example.org>"),
    ):
        client = await start(author=named, env={"HOME": str(home)})
        session = (await client.new(ref))["sessionId"]
        texts = ["\n  Fix the \ttypo\nand nothing else", json.dumps([["write", "a", "1"]])]
        blocks = [{"type": "text", "text": text} for text in texts]
        answer = await client.ask("session/prompt", sessionId=session, prompt=blocks)
        wanted = ("--format=%s|%an <%ae>|%(trailers:key=ACP-Session,valueonly)",)
        log = git(server.root / "p.git", "log", "-1", *wanted, answer["target"]["revision"])
        assert log == f"Fix the typo|{author}|{session}"


async def test_a_session_without_a_repository_passes_straight_through(start, tmp_path):
    client = await start()
    plain = (await client.ask("session/new", cwd=str(tmp_path), mcpServers=[]))["sessionId"]
    await client.prompt(plain, ["capabilities"])
    seen = json.loads(client.said())
    assert seen["fs"]["readTextFile"] is True and seen["terminal"] is True
    answer = await client.prompt(plain, ["request", "fs/read_text_file", {"path": "/x"}])
    assert "target" not in answer and client.asked[-1][0] == "fs/read_text_file"


async def test_the_files_of_the_client_are_not_asked_for(start, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    for method in ("fs/read_text_file", "terminal/create", "workspace/open_documents"):
        client.updates.clear()
        await client.prompt(session, ["request", method, {"path": "/etc/passwd"}])
        assert json.loads(client.said())["code"] == -32601
    assert client.asked == []


async def test_an_agent_that_dies_takes_the_runner_with_it_and_says_why(start, ref):
    client = await start()
    session = (await client.new(ref))["sessionId"]
    asking = asyncio.ensure_future(client.prompt(session, ["stderr", "Ouch!\n", 1], ["exit", 3]))
    assert await client.process.wait() == 1
    asking.cancel()
    assert any("Ouch!" in line for line in client.process.stderr)
