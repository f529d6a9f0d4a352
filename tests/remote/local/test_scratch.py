# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Work that was never pushed goes to a branch of its own, and the user's repository stays as it is."""

from __future__ import annotations

import asyncio
import json
import os
import re

import pytest
from gitserver import git, git_server
from gitworld import World, healthy, run, untouched, write

from jupyter_acp.remote.git import GitError
from jupyter_acp.remote.limits import Limits
from jupyter_acp.remote.local.isolated import IsolatedRepository
from jupyter_acp.remote.local.push import delete_scratch, push_scratch
from jupyter_acp.remote.local.repository import RepositoryError


@pytest.fixture
def world(git_world):
    return git_world


async def pushed(world, folder=None, *, include_uncommitted=True, **options):
    async with world.isolated(folder) as isolated:
        return await push_scratch(isolated, include_uncommitted=include_uncommitted, **options)


def tree(world, ref):
    """What is on the server, by name."""
    printed = run(world.bare, "ls-tree", "-r", "-z", ref.revision).stdout
    found = {}
    for line in filter(None, printed.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, kind, object = about.decode().split()
        data = run(world.bare, "cat-file", kind, object).stdout if kind == "blob" else object
        found[os.fsdecode(name)] = (mode, data)
    return found


async def test_uncommitted_work_is_sent_as_it_is(world):
    write(
        world.home,
        {
            "README.md": "# Changed\n",
            "gone.txt": None,
            "new/file.txt": "new\n",
            "run.sh": ("#!/bin/sh\n",),
            "link": world.home / "nowhere",
            "with space": "1",
            "new\nline": "2",
            "-dash": "3",
            "latin-\udce9": "4",
            ".gitignore": "*.log\n",
            "a.log": "ignored",
        },
    )
    git(world.home, "add", "new/file.txt")
    head = git(world.home, "rev-parse", "HEAD")
    with untouched(world.home):
        ref = await pushed(world)
    assert re.fullmatch(r"acp/scratch/[0-9a-f]{16}", ref.branch)
    assert ref.url == world.url
    assert git(world.bare, "rev-parse", ref.branch) == ref.revision
    assert git(world.bare, "rev-parse", f"{ref.revision}~") == head
    assert git(world.bare, "log", "-1", "--format=%s", ref.revision) == "Work in progress on main"
    assert tree(world, ref) == {
        ".gitignore": ("100644", b"*.log\n"),
        "README.md": ("100644", b"# Changed\n"),
        "new/file.txt": ("100644", b"new\n"),
        "run.sh": ("100755", b"#!/bin/sh\n"),
        "link": ("120000", os.fsencode(world.home / "nowhere")),
        "with space": ("100644", b"1"),
        "new\nline": ("100644", b"2"),
        "-dash": ("100644", b"3"),
        "latin-\udce9": ("100644", b"4"),
        "src/a.py": ("100644", b"a = 1\n"),
        "src/b.py": ("100644", b"b = 1\n"),
    }
    assert git(world.home, "status", "--porcelain")


async def test_what_jupyter_leaves_beside_notebooks_is_not_sent(world):
    write(world.home, {"sub/.ipynb_checkpoints/a-checkpoint.ipynb": "{}", "sub/a.ipynb": "{}"})
    write(world.home, {"only/.ipynb_checkpoints/b-checkpoint.ipynb": "{}"})
    ref = await pushed(world)
    assert set(tree(world, ref)) == {"README.md", "gone.txt", "src/a.py", "src/b.py", "sub/a.ipynb"}


async def test_what_was_pushed_is_deleted_unless_somebody_uses_it(world):
    write(world.home, {"README.md": "1\n"})
    ref, other = await pushed(world), await pushed(world)
    git(world.bare, "update-ref", f"refs/heads/{other.branch}", "main")
    async with world.isolated() as isolated:
        with untouched(world.home):
            await delete_scratch(isolated, ref)
        with pytest.raises(GitError, match="stale info"):
            await delete_scratch(isolated, other)
        # No other branch is ours to delete, whatever it is called.
        await delete_scratch(isolated, world.sent())
        with pytest.raises(RepositoryError, match="no remote here"):
            await delete_scratch(isolated, ref.model_copy(update={"url": "https://example.org/a"}))
    assert git(world.bare, "branch", "--format=%(refname:short)").split() == [other.branch, "main"]


async def test_a_push_that_is_given_up_leaves_nothing(world, monkeypatch):
    write(world.home, {"README.md": "1\n"})
    pushed_already = asyncio.Event()

    async def slow(*_):
        pushed_already.set()
        await asyncio.sleep(60)

    monkeypatch.setattr("jupyter_acp.remote.local.push._readable", slow)
    task = asyncio.ensure_future(pushed(world))
    await pushed_already.wait()
    assert "acp/scratch" in git(world.bare, "branch")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "acp/scratch" not in git(world.bare, "branch")


async def test_commits_can_be_sent_without_the_rest(world):
    write(world.home, {"README.md": "committed\n"})
    git(world.home, "commit", "-qam", "Two")
    write(world.home, {"README.md": "not committed\n"})
    with untouched(world.home):
        ref = await pushed(world, include_uncommitted=False)
    assert ref.revision == git(world.home, "rev-parse", "HEAD")
    assert tree(world, ref)["README.md"][1] == b"committed\n"


async def test_two_scratch_branches_are_two(world):
    write(world.home, {"README.md": "1\n"})
    first = await pushed(world)
    second = await pushed(world)
    assert first.branch != second.branch
    assert git(world.bare, "rev-parse", first.branch) == first.revision


async def test_a_branch_that_is_taken_is_not_overwritten(world, monkeypatch):
    git(world.home, "push", "-q", "origin", "main:refs/heads/acp/scratch/taken")
    before = git(world.bare, "rev-parse", "acp/scratch/taken")
    write(world.home, {"README.md": "1\n"})
    monkeypatch.setattr("jupyter_acp.remote.local.push.secrets.token_hex", lambda _: "taken")
    with pytest.raises(GitError, match="stale info"):
        await pushed(world)
    assert git(world.bare, "rev-parse", "acp/scratch/taken") == before


async def test_the_commit_is_the_users_own(world):
    write(world.home, {"README.md": "1\n"})
    ref = await pushed(world)
    assert git(world.bare, "log", "-1", "--format=%an <%ae>", ref.revision) == (
        "Jupyter user <jupyter-user@localhost>"
    )
    git(world.home, "config", "user.name", "Ada of this project")
    git(world.home, "config", "--global", "user.email", "ada@example.org")
    ref = await pushed(world)
    assert git(world.bare, "log", "-1", "--format=%an <%ae> %cn", ref.revision) == (
        "Ada of this project <ada@example.org> Ada of this project"
    )


async def test_a_password_in_the_address_is_used_and_not_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    with git_server(tmp_path / "srv", password="s3cret") as server:
        world = World(tmp_path, server)
        write(world.home, {"README.md": "1\n"})
        ref = await pushed(world)
        assert ref.url == world.url and "s3cret" not in repr(ref) + json.dumps(ref.public())
        server.refuse_pushes("project")
        with pytest.raises(GitError, match="No pushes today") as caught:
            await pushed(world)
        assert "s3cret" not in str(caught.value) + caught.value.output
        server.password = "other s3cret"
        with pytest.raises(GitError) as caught:
            await pushed(world)
        assert "s3cret" not in str(caught.value) + caught.value.output


async def test_another_address_for_pushing(world):
    """The branch is named by the address under which it can be found."""
    write(world.home, {"README.md": "1\n"})
    git(world.home, "remote", "set-url", "--push", "origin", world.bare.as_uri())
    assert (await pushed(world)).url == world.url
    world.server.create("fork")
    git(world.home, "push", "-q", world.server.url("fork"), "main:base")
    git(world.home, "remote", "set-url", "--push", "origin", world.server.url("fork"))
    assert (await pushed(world)).url == world.server.url("fork")
    git(world.home, "remote", "set-url", "--push", "origin", "ext::sh -c touch% evil")
    with pytest.raises(RepositoryError) as caught:
        await pushed(world)
    assert caught.value.code == "urlRefused"


async def test_what_cannot_be_sent_is_explained(world, tmp_path):
    git(tmp_path, "init", "-q", "fresh")
    with pytest.raises(RepositoryError) as caught:
        await pushed(world, tmp_path / "fresh")
    assert caught.value.code == "noCommits"
    git(tmp_path / "fresh", "commit", "-q", "--allow-empty", "-m", "One")
    with pytest.raises(RepositoryError) as caught:
        await pushed(world, tmp_path / "fresh")
    assert caught.value.code == "noRemote"


async def test_files_with_conflicts_are_not_sent(world):
    write(world.home, {"README.md": "mine\n"})
    git(world.home, "commit", "-qam", "Mine")
    git(world.home, "checkout", "-q", "-b", "other", "HEAD~")
    write(world.home, {"README.md": "other\n"})
    git(world.home, "commit", "-qam", "Other")
    assert run(world.home, "merge", "main").returncode
    with untouched(world.home), pytest.raises(RepositoryError) as caught:
        await pushed(world)
    assert caught.value.code == "unmerged"


async def test_too_much_is_not_sent(world):
    write(world.home, {f"n{number}": "x" * 1000 for number in range(10)})
    for limits, code in ((Limits(files=9), "tooManyFiles"), (Limits(size=9_999), "tooLarge")):
        with untouched(world.home), pytest.raises(RepositoryError) as caught:
            await pushed(world, limits=limits)
        assert caught.value.code == code
    assert "acp" not in git(world.bare, "branch")


async def test_a_linked_working_tree_sends_its_own_files(world, tmp_path):
    git(world.home, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), "main")
    write(world.home, {"README.md": "home\n"})
    write(tmp_path / "side", {"README.md": "side\n"})
    with untouched(world.home), untouched(tmp_path / "side"):
        ref = await pushed(world, tmp_path / "side")
    assert tree(world, ref)["README.md"][1] == b"side\n"


async def test_what_is_not_checked_out_is_not_taken_for_deleted(world):
    write(world.home, {"docs/a": "1\n", "src/new": "1\n"})
    git(world.home, "add", "docs")
    git(world.home, "commit", "-qm", "Docs")
    git(world.home, "sparse-checkout", "set", "--cone", "src")
    write(world.home, {"docs/outside": "1\n"})
    for sparse in ("false", "true"):
        git(world.home, "config", "index.sparse", sparse)
        run(world.home, "sparse-checkout", "reapply")
        with untouched(world.home):
            ref = await pushed(world)
        assert {"docs/a", "docs/outside", "src/new", "src/a.py"} <= set(tree(world, ref))


async def test_line_ends_are_sent_as_git_would_commit_them(world):
    git(world.home, "config", "core.autocrlf", "true")
    git(world.home, "config", "core.safecrlf", "true")
    write(world.home, {"README.md": b"one\r\ntwo\r\n", "mixed.txt": b"one\r\ntwo\n"})
    with untouched(world.home):
        ref = await pushed(world)
    assert tree(world, ref)["README.md"][1] == b"one\ntwo\n"


async def test_a_filter_of_the_user_is_run(world):
    git(world.home, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    write(world.home, {".gitattributes": "*.up filter=upper\n", "a.up": "abc\n"})
    assert tree(world, await pushed(world))["a.up"][1] == b"ABC\n"


async def test_a_shallow_clone_can_send(world, tmp_path):
    git(world.home, "commit", "-q", "--allow-empty", "-m", "Two")
    git(world.home, "push", "-q", "origin", "main")
    shallow = world.clone(tmp_path / "shallow", "--depth=1")
    write(shallow, {"README.md": "shallow\n"})
    with untouched(shallow):
        ref = await pushed(world, shallow)
    assert tree(world, ref)["README.md"][1] == b"shallow\n"
    assert git(world.bare, "rev-list", "--count", ref.revision) == "3"


async def test_a_partial_clone_can_send(world, tmp_path):
    git(world.bare, "config", "uploadpack.allowFilter", "true")
    partial = world.clone(tmp_path / "partial", "--filter=blob:none", "--sparse")
    write(partial, {"README.md": "partial\n"})
    with untouched(partial):
        ref = await pushed(world, partial)
    assert tree(world, ref)["README.md"][1] == b"partial\n"
    assert tree(world, ref)["src/a.py"][1] == b"a = 1\n"


async def test_submodules_are_sent_as_they_are_committed(world):
    world.server.create("part")
    where = str(world.server.root / "part.git")
    git(world.home, "-c", "protocol.file.allow=always", "submodule", "-q", "add", where, "part")
    write(world.home, {"part/inside": "not sent\n"})
    git(world.home, "clone", "-q", where, "nested")
    with untouched(world.home):
        ref = await pushed(world)
    sent = tree(world, ref)
    assert sent["part"] == ("160000", git(world.home / "part", "rev-parse", "HEAD"))
    assert not {name for name in sent if name.startswith(("nested", "part/"))}


async def test_pushing_can_be_watched_and_stopped(world):
    write(world.home, {"large.bin": os.urandom(3_000_000)})
    seen = []
    await pushed(world, report=seen.append)
    assert {"Writing objects"} <= {progress.stage for progress in seen}
    task = asyncio.ensure_future(pushed(world))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    healthy(world.home)
    assert not list(world.cache.glob("*/work-*"))


async def test_nothing_is_left_of_the_isolated_repository(world):
    async with IsolatedRepository.of(await world.repository(), world.cache) as isolated:
        await push_scratch(isolated, include_uncommitted=True)
        assert isolated.work.is_dir()
    assert not list(world.cache.glob("*/work-*"))
    (place,) = world.cache.iterdir()
    assert place.stat().st_mode & 0o077 == 0
