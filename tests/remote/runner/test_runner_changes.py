# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which of the changes to files come back, and which are left out."""

from __future__ import annotations

import pytest
from gitserver import git
from remoterunner import ref_of, show

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
    ("limit", "steps", "words"),
    [
        ({"files": 3}, [["write", "b", "1"], ["write", "c", "1"]], "has 4 files; 3 are allowed"),
        ({"size": 1}, [["shell", "head -c 2000000 /dev/zero > $0/b"]], "2 MB; 1 MB are allowed"),
        ({"size": 1}, [["shell", f"cd $0 && head -c 2000000 /dev/zero > x && {COMMIT} true"]],
         "2 MB; 1 MB are allowed"),
    ],
    ids=["files", "size", "size of a commit"],
)  # fmt: skip
async def test_what_the_agent_makes_has_limits_too(start, server, ref, limit, steps, words):
    client = await start(**limit)
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
