# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What comes back is fetched beside everything of the user's, checked, kept, and read."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess

import pytest
from gitserver import git, git_server
from gitworld import World, files_of, healthy, run, state, untouched, write
from pydantic import ValidationError

from jupyter_acp.remote.git import Git, GitError
from jupyter_acp.remote.limits import Limits
from jupyter_acp.remote.local import review
from jupyter_acp.remote.local.fetch import fetch_target, same_repository
from jupyter_acp.remote.local.isolated import IsolatedRepository
from jupyter_acp.remote.local.push import push_scratch
from jupyter_acp.remote.local.repository import Repository, RepositoryError
from jupyter_acp.remote.local.results import Result, discard, discard_session
from jupyter_acp.remote.local.review import commits, contents, files
from jupyter_acp.remote.refs import GitRemoteRef, Policy, RefError


@pytest.fixture
def world(git_world):
    return git_world


async def fetch(world, target, *, sent=None, session="session-1", number=1, folder=None, **options):
    async with world.isolated(folder) as isolated:
        return await fetch_target(
            isolated, target, sent=sent or world.sent(), session=session, number=number, **options
        )


def but_refs(folder):
    """Everything but references of ours."""
    found = state(folder)
    found["refs"] = [line for line in found["refs"].splitlines() if "jupyter-acp" not in line]
    found["data"] = {
        path: size for path, size in found["data"].items() if "jupyter" not in str(path)
    }
    return found


async def test_a_result_is_kept_beside_everything(world):
    write(world.home, {"README.md": "uncommitted\n", "new": "n\n"})
    git(world.home, "add", "new")
    target = world.elsewhere({"src/a.py": "a = 2\n"})
    before = but_refs(world.home)
    result = await fetch(world, target)
    assert but_refs(world.home) == before
    assert result.model_dump() == {
        "session": "session-1",
        "number": 1,
        "url": world.url,
        "branch": "acp/result",
        "revision": target.revision,
        "sent": world.sent().revision,
        "base": world.sent().revision,
    }
    assert result.ref == "refs/jupyter-acp/session-1/1"
    assert git(world.home, "rev-parse", result.ref) == target.revision
    assert not (world.home / ".git" / "FETCH_HEAD").exists()
    assert "acp/result" not in git(world.home, "branch", "-a")
    # Nothing of it is anywhere else.
    assert git(world.home, "show", f"{result.ref}:src/a.py") == "a = 2"
    assert not list(world.cache.glob("*/work-*"))
    git(world.home, "gc", "-q", "--prune=now")
    healthy(world.home)
    assert Result(**json.loads(json.dumps(result.model_dump()))) == result


async def test_several_results_of_several_sessions_are_kept(world):
    first = await fetch(world, world.elsewhere({"a": "1\n"}), number=1)
    sent = world.sent()
    second = await fetch(
        world,
        world.elsewhere({"a": "2\n"}, sent=GitRemoteRef(**first.model_dump())),
        number=2,
        sent=sent,
    )
    other = await fetch(world, world.elsewhere({"a": "3\n"}), session="other", number=1)
    refs = git(world.home, "for-each-ref", "--format=%(refname)", "refs/jupyter-acp").splitlines()
    assert refs == [other.ref, first.ref, second.ref]
    async with world.isolated() as isolated:
        assert (await commits(isolated, second))["total"] == 2
    repository = await world.repository()
    await discard(repository, other)
    await discard(repository, other)
    await discard_session(repository, "session-1")
    assert not git(world.home, "for-each-ref", "refs/jupyter-acp")


async def test_fetching_twice_is_fetching_once(world):
    target = world.elsewhere({"a": "1\n"})
    assert await fetch(world, target) == await fetch(world, target)
    other = world.elsewhere({"a": "2\n"}, branch="acp/other")
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await fetch(world, other)
    assert caught.value.code == "taken"


@pytest.mark.parametrize("count", [3, 300])
async def test_results_small_and_large_need_nothing_of_ours(world, count):
    target = world.elsewhere({f"d/n{number}": f"{number}\n" * 50 for number in range(count)})
    result = await fetch(world, target)
    healthy(world.home)
    assert git(world.home, "ls-tree", "-r", "--name-only", result.ref).count("\n") == count + 3


async def test_another_revision_than_the_stated_one_is_refused(world):
    target = world.elsewhere({"a": "1\n"})
    moved = world.elsewhere({"a": "2\n"})
    assert target.branch == moved.branch
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await fetch(world, target)
    assert caught.value.code == "otherRevision"
    assert moved.revision[:12] in str(caught.value)
    # Also one that exists nowhere, and a tag of what is there.
    git(
        world.bare,
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b",
        "tag",
        "-am",
        "T",
        "t",
        moved.branch,
    )
    git(world.home, "fetch", "-q", "--tags")
    for revision in (git(world.bare, "rev-parse", "t"), "ab" * 20):
        with untouched(world.home), pytest.raises(RepositoryError) as caught:
            await fetch(world, moved.model_copy(update={"revision": revision}))
        assert caught.value.code == "otherRevision"


async def test_a_result_whose_branch_went_on_is_still_the_same_result(world):
    target = world.elsewhere({"a": "1\n"})
    further = world.elsewhere({"a": "2\n"}, sent=target)
    assert further.branch == target.branch and further.revision != target.revision
    result = await fetch(world, target)
    assert git(world.home, "rev-parse", result.ref) == target.revision
    # What came later is not brought along.
    assert run(world.home, "cat-file", "-e", further.revision).returncode != 0
    await discard(await world.repository(), result)
    assert await fetch(world, target) == result
    healthy(world.home)


async def test_another_repository_is_refused(world):
    world.server.create("other")
    target = world.elsewhere({"a": "1\n"})
    for url in (
        world.server.url("other"),
        "https://example.org/project.git",
        f"http://{world.server.host.replace('127.0.0.1', '127.0.0.2')}/project.git",
        "http://127.0.0.1:1/project.git",
        "https://ada:s3cret@example.org/other.git",
    ):
        asked = len(world.server.requests)
        with untouched(world.home), pytest.raises(RepositoryError) as caught:
            await fetch(world, target.model_copy(update={"url": url}))
        assert caught.value.code == "otherRepository"
        assert "s3cret" not in str(caught.value)
        assert len(world.server.requests) == asked


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://example.org/a/b.git", "https://example.org/a/b", True),
        ("https://example.org/a/b/", "git@EXAMPLE.org:a/b.git", True),
        ("ssh://git@example.org:2222/a/b.git", "https://example.org/a/b", True),
        ("https://ada:s3cret@example.org/a/b", "https://example.org/a/b", True),
        ("https://example.org:443/a/b", "https://example.org/a/b", True),
        ("https://example.org:8443/a/b", "https://example.org/a/b", False),
        ("https://example.org/a/B", "https://example.org/a/b", False),
        ("https://example.net/a/b", "https://example.org/a/b", False),
        ("file:///a/b.git", "file:///a/b", True),
        ("file:///a/b.git", "file:///a/c.git", False),
    ],
)
def test_which_addresses_are_of_one_repository(one, other, same):
    assert same_repository(one, other) is same
    assert same_repository(other, one) is same


async def test_a_branch_that_is_not_there(world):
    target = world.sent().model_copy(update={"branch": "acp/nothing"})
    with untouched(world.home), pytest.raises(GitError, match="couldn't find remote ref"):
        await fetch(world, target)


async def test_a_result_that_has_nothing_to_do_with_what_was_sent(world, tmp_path):
    git(tmp_path, "init", "-q", "alien")
    git(tmp_path / "alien", "commit", "-q", "--allow-empty", "-m", "One")
    git(tmp_path / "alien", "push", "-q", str(world.bare), "HEAD:refs/heads/alien")
    revision = git(tmp_path / "alien", "rev-parse", "HEAD")
    target = GitRemoteRef(url=world.url, branch="alien", revision=revision)
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await fetch(world, target)
    assert caught.value.code == "unrelated"


@pytest.mark.parametrize(
    "session", ["", "..", "a/b", "a b", "-x", ".x", "x.lock", "x.", "a..b", "x\n", "é", "x" * 129]
)
async def test_only_plain_ids_of_sessions(world, session):
    target = world.elsewhere({"a": "1\n"})
    with untouched(world.home), pytest.raises(RefError, match="id of the session"):
        await fetch(world, target, session=session)
    fields = {**world.sent().model_dump(), "sent": target.revision, "base": target.revision}
    with pytest.raises(ValidationError):
        Result(session=session, number=1, **fields)


async def test_limits(world):
    target = world.elsewhere({f"n{number}": os.urandom(20_000) for number in range(10)})
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await fetch(world, target, limits=Limits(files=9))
    assert caught.value.code == "tooManyFiles" and "remote_files" in str(caught.value)
    world.server.delay = 0.02
    with untouched(world.home), pytest.raises(GitError, match="remote_size"):
        await fetch(world, target, limits=Limits(size=50_000))
    world.server.delay = 0.05
    slow = Git(policy=world.git.policy, timeout=3.0)
    repository = await Repository.find(world.home, slow)
    with untouched(world.home), pytest.raises(GitError, match="remote_timeout"):
        async with IsolatedRepository.of(repository, world.cache) as isolated:
            await fetch_target(isolated, target, sent=world.sent(), session="s", number=1)


async def test_fetching_can_be_watched_and_stopped(world):
    target = world.elsewhere({f"n{number}": os.urandom(20_000) for number in range(10)})
    world.server.delay = 0.1
    seen = []
    with untouched(world.home):
        task = asyncio.ensure_future(fetch(world, target, report=seen.append))
        while not any(progress.stage == "Receiving objects" for progress in seen):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not list(world.cache.glob("*/work-*"))
    world.server.delay = 0
    assert await fetch(world, target)


async def test_only_what_is_new_is_fetched(world):
    write(world.home, {"large.bin": os.urandom(2_000_000)})
    git(world.home, "add", "-A")
    git(world.home, "commit", "-qm", "Large")
    git(world.home, "push", "-q", "origin", "main")
    target = world.elsewhere({"a": "1\n"})
    # Less than the large file: it would be refused if that came again.
    await fetch(world, target, limits=Limits(size=1_000_000))


async def test_the_password_of_the_users_remote_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    with git_server(tmp_path / "srv", password="s3cret") as server:
        world = World(tmp_path, server)
        result = await fetch(world, world.elsewhere({"a": "1\n"}))
        assert "s3cret" not in repr(result) + json.dumps(result.model_dump())
        server.password = "new"
        with pytest.raises(GitError) as caught:
            await fetch(world, world.elsewhere({"a": "2\n"}), number=2)
        assert "s3cret" not in str(caught.value) + caught.value.output


async def test_a_place_that_is_not_allowed_is_not_asked(world):
    target = world.elsewhere({"a": "1\n"})
    sent = world.sent()
    git(world.home, "remote", "remove", "origin")
    repository = await Repository.find(world.home, Git(policy=Policy(), timeout=60))
    asked = len(world.server.requests)
    with pytest.raises(RepositoryError, match="remote_schemes"):
        async with IsolatedRepository.of(repository, world.cache) as isolated:
            await fetch_target(isolated, target, sent=sent, session="s", number=1)
    assert len(world.server.requests) == asked
    assert await fetch(world, target, sent=sent)


async def test_a_result_made_of_work_that_was_never_committed(world):
    write(world.home, {"README.md": "uncommitted\n"})
    async with world.isolated() as isolated:
        sent = await push_scratch(isolated, include_uncommitted=True)
    result = await fetch(world, world.elsewhere({"a": "1\n"}, sent), sent=sent)
    assert result.base == result.sent == sent.revision
    async with world.isolated() as isolated:
        assert [file["path"] for file in (await files(isolated, result))["files"]] == ["a"]
    healthy(world.home)


@pytest.mark.parametrize("kind", ["shallow", "partial", "worktree", "reference"])
async def test_clones_of_every_kind(world, tmp_path, kind):
    git(world.bare, "config", "uploadpack.allowFilter", "true")
    for number in range(3):
        write(world.home, {"README.md": f"# {number}\n" * 500, "src/a.py": f"a = {number}\n"})
        git(world.home, "commit", "-qam", f"{number}")
    git(world.home, "push", "-q", "origin", "main")
    clone = tmp_path / kind
    if kind == "shallow":
        world.clone(clone, "--depth=1")
    elif kind == "partial":
        world.clone(clone, "--filter=blob:none", "--sparse")
    elif kind == "reference":
        world.clone(clone, "--reference", str(world.home))
    else:
        git(world.home, "worktree", "add", "-q", "-b", "side", str(clone))
    target = world.elsewhere({"README.md": "# 2\n" * 499 + "# 3\n", "src/a.py": "a = 4\n"})
    with_refs = but_refs(clone)
    result = await fetch(world, target, folder=clone)
    assert but_refs(clone) == with_refs
    async with world.isolated(clone) as isolated:
        found = await files(isolated, result)
        assert [(file["status"], file["path"], file["added"]) for file in found["files"]] == [
            ("M", "README.md", 1),
            ("M", "src/a.py", 1),
        ]
        assert (await contents(isolated, result, "src/a.py", before=True))["text"] == "a = 2\n"
    git(clone, "gc", "-q", "--prune=now")
    healthy(clone)
    assert git(clone, "show", f"{result.ref}:src/a.py") == "a = 4"


async def test_a_repository_of_the_longer_hashes(world, tmp_path):
    bare = tmp_path / "srv" / "long.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "--object-format=sha256", str(bare))
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "long")
    long = tmp_path / "long"
    url = world.server.url("long")
    git(long, "remote", "add", "origin", url)
    write(long, {"a": "1\n"})
    git(long, "add", "-A")
    git(long, "commit", "-qm", "One")
    git(long, "push", "-q", str(bare), "main")
    sent = GitRemoteRef(url=url, branch="main", revision=git(long, "rev-parse", "HEAD"))
    git(tmp_path, "clone", "-q", str(bare), "agent")
    write(tmp_path / "agent", {"a": "2\n"})
    git(tmp_path / "agent", "commit", "-qam", "Two")
    git(tmp_path / "agent", "push", "-q", "origin", "HEAD:refs/heads/r")
    revision = git(tmp_path / "agent", "rev-parse", "HEAD")
    target = GitRemoteRef(url=url, branch="r", revision=revision)
    result = await fetch(world, target, sent=sent, folder=long)
    assert len(result.revision) == 64 and git(long, "rev-parse", result.ref) == revision
    async with world.isolated(long) as isolated:
        assert (await contents(isolated, result, "a"))["text"] == "2\n"
    healthy(long)


def raw_tree(world, lines):
    """Push a commit of a tree that git itself would not make."""
    data = b"".join(
        b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(object)) for mode, name, object in lines
    )
    body = b"tree %d\0%s" % (len(data), data)
    name = hashlib.sha1(body).hexdigest()
    hashed = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        cwd=world.bare,
        input=data,
        capture_output=True,
        check=True,
    )
    assert hashed.stdout.decode().strip() == name
    revision = git(world.bare, "commit-tree", "-p", "main", "-m", "Evil", name)
    git(world.bare, "update-ref", "refs/heads/evil", revision)
    return GitRemoteRef(url=world.url, branch="evil", revision=revision)


@pytest.mark.parametrize("name", [b".git", b"..", b".GIT", b"git~1", b"a/../../b"])
async def test_a_tree_that_would_write_where_it_must_not(world, name):
    blob = git(world.bare, "rev-parse", "main:README.md")
    target = raw_tree(world, [("100644", name, blob)])
    with untouched(world.home), pytest.raises(GitError):
        await fetch(world, target)
    assert run(world.home, "cat-file", "-e", target.revision).returncode


async def test_commits_are_read(world):
    first = world.elsewhere({"a": "1\n"})
    second = world.elsewhere({"a": "2\n"}, first)
    result = await fetch(world, second)
    async with world.isolated() as isolated:
        found = await commits(isolated, result)
        newest = await commits(isolated, result, most=1)
    assert (len(newest["commits"]), newest["total"]) == (1, 2)
    assert found["total"] == 2
    newest = found["commits"][0]
    assert newest.pop("date")[:2] == "20"
    assert newest == {
        "revision": second.revision,
        "author": "Ada",
        "email": "ada@example.org",
        "subject": "Work of an agent",
        "body": "With a body.",
    }
    assert found["commits"][1]["revision"] == first.revision


async def test_changed_files_are_read(world):
    result = await world.fetched(
        {
            "README.md": "# Hello\nworld\n",
            "gone.txt": None,
            "src/b.py": None,
            "src/moved.py": "b = 1\n",
            "picture.png": b"\0\1\2",
            "run.sh": ("#!/bin/sh\n",),
            "new\nline": "1\n",
            "latin-\udce9": "1\n",
            "tab\there": "1\n",
        }
    )
    async with world.isolated() as isolated:
        found = await files(isolated, result)
        few = await files(isolated, result, most=3)
    assert found["total"] == 8
    assert {tuple(file.values()) for file in found["files"]} == {
        ("M", "README.md", None, 1, 0, False),
        ("D", "gone.txt", None, 0, 1, False),
        ("R", "src/moved.py", "src/b.py", 0, 0, False),
        ("A", "picture.png", None, None, None, True),
        ("A", "run.sh", None, 1, 0, False),
        ("A", "new\nline", None, 1, 0, False),
        ("A", "latin-\\xe9", None, 1, 0, False),
        ("A", "tab\there", None, 1, 0, False),
    }
    assert (len(few["files"]), few["total"], few["files"][0]["added"]) == (3, 8, None)
    json.dumps(found).encode()


async def test_contents_are_read(world, monkeypatch):
    world.server.create("part")
    result = await world.fetched(
        {
            "README.md": "# Changed\n",
            "gone.txt": None,
            "picture.png": b"\0\1\2",
            "latin.txt": b"caf\xe9\n",
            "link": world.home / "README.md",
            "large.txt": "x" * 2_000_001,
            "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n",
            "latin-\udce9": "name\n",
            "\\xe9": "backslash\n",
            "*": "star\n",
        }
    )
    expected = {
        ("README.md", False): "# Changed\n",
        ("README.md", True): "# Hello\n",
        ("gone.txt", True): "x\n",
        ("latin-\\xe9", False): "name\n",
        ("\\xe9", False): "backslash\n",
        ("*", False): "star\n",
    }
    reasons = {
        "gone.txt": "missing",
        "picture.png": "binary",
        "latin.txt": "binary",
        "link": "symlink",
        "large.txt": "large",
        "model.bin": "lfs",
        "src": "folder",
        "src/": "missing",
        "": "missing",
        ".": "missing",
        "../home/README.md": "missing",
        "/etc/passwd": "missing",
        ".git/config": "missing",
        "a\0b": "missing",
        "\ud800": "missing",
        ":(top)README.md": "missing",
        "--help": "missing",
    }
    async with world.isolated() as isolated:
        for (path, before), text in expected.items():
            assert (await contents(isolated, result, path, before=before))["text"] == text, path
        for path, reason in reasons.items():
            found = await contents(isolated, result, path)
            assert (found["text"], found["reason"]) == (None, reason), path
            assert found["message"]


async def test_a_submodule_has_no_contents(world):
    head = git(world.bare, "rev-parse", "main")
    target = raw_tree(world, [("160000", b"part", head)])
    result = await fetch(world, target)
    async with world.isolated() as isolated:
        assert (await contents(isolated, result, "part"))["reason"] == "submodule"


async def test_what_is_read_does_not_depend_on_the_users_taste(world):
    result = await world.fetched({"README.md": "# Changed\n"})
    for name, value in {
        "diff.external": "false",
        "diff.noprefix": "true",
        "log.showSignature": "true",
        "log.decorate": "full",
        "color.ui": "always",
        "core.quotePath": "true",
        "diff.renames": "false",
        "format.pretty": "oneline",
    }.items():
        git(world.home, "config", "--global", name, value)
    async with world.isolated() as isolated:
        assert (await files(isolated, result))["files"][0]["added"] == 1
        assert (await commits(isolated, result))["commits"][0]["subject"] == "Work of an agent"
        assert (await contents(isolated, result, "README.md"))["text"] == "# Changed\n"


async def test_a_very_long_message_is_cut(world, monkeypatch):
    monkeypatch.setattr(review, "_LONGEST_BODY", 5)
    result = await world.fetched({"a": "1\n"})
    async with world.isolated() as isolated:
        assert (await commits(isolated, result))["commits"][0]["body"] == "With "


async def test_files_are_not_touched_by_reading(world):
    result = await world.fetched({"README.md": "# Changed\n"})
    before = files_of(world.home)
    with untouched(world.home):
        async with world.isolated() as isolated:
            await files(isolated, result)
            await commits(isolated, result)
            await contents(isolated, result, "README.md")
    assert files_of(world.home) == before
