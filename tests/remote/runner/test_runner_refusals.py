# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""References, repositories and settings that are refused, and traps that are not sprung."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from gitserver import git, git_server
from remoterunner import HELLO, ref_of, show

from jupyter_acp.rpc import RpcError


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


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"files": 1}, "2 files; 1 are allowed here"),
        ({"size": 0.000001}, "MB are allowed|larger than"),
        ({"timeout": 2}, "took longer than 2 s"),
        ({"hosts": ["example.org"]}, "not among the hosts"),
    ],
)
async def test_every_limit_has_its_words(start, server, ref, limit, words):
    if "timeout" in limit:
        server.delay = 5
    client = await start(**limit)
    with pytest.raises(RpcError, match=words):
        await client.new(ref)


async def test_the_time_of_a_clone_is_not_that_of_the_agent(start):
    assert (await start(timeout=0.001)).capabilities


async def test_the_size_is_that_of_what_is_fetched_not_of_what_is_here(start, server, ref):
    work = server.root / ".work-p"
    client = await start(size=1)
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
    client = await start(hosts=["localhost"])
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


async def test_what_one_agent_sets_holds_in_no_other_session(start, server, ref, tmp_path):
    client = await start(author="Bob <bob@example.org>")
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


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"branch": "a..b"}, "not a name that git allows"),
        ({"branch": "{nothing}"}, "nothing"),
        ({"author": "Ada"}, "must be a name and an address"),
        ({"schemes": ["ftp"]}, "schemes.0: Input should be 'https', 'ssh', 'http' or 'file'"),
        ({"keep_size": 1}, "keep_size: Extra inputs are not permitted"),
        ([], "should be an object"),
    ],
)
def test_settings_that_make_no_sense(settings, words):
    argv = [
        sys.executable,
        "-m",
        "jupyter_acp.remote",
        "--options",
        json.dumps(settings),
        "--",
        "x",
    ]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and words in ended.stderr, ended.stderr
