# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The user's repository as it stands: every kind of it is handled or explained."""

from __future__ import annotations

import json
import os

import pytest
from gitserver import git
from gitworld import POLICY, healthy, run, untouched, write

from jupyter_acp.remote.git import Git
from jupyter_acp.remote.local.inspection import inspect
from jupyter_acp.remote.local.isolated import IsolatedRepository
from jupyter_acp.remote.local.repository import Repository, RepositoryError
from jupyter_acp.remote.refs import Policy


@pytest.fixture
def world(git_world):
    return git_world


async def described(world, folder=None):
    async with world.isolated(folder) as isolated:
        found = await inspect(isolated)
    json.dumps(found).encode()
    return found


def listed(found):
    return [tuple(change.values()) for change in found["changes"]]


def codes(notes):
    return [note["code"] for note in notes]


async def test_a_clone_that_is_up_to_date(world):
    with untouched(world.home):
        found = await described(world, world.home / "src")
    assert found == {
        "toplevel": str(world.home),
        "remote": "origin",
        "url": world.url,
        "branch": "main",
        "revision": git(world.home, "rev-parse", "HEAD"),
        "pushed": True,
        "unpushed": 0,
        "changes": [],
        "newCount": 0,
        "changeCount": 0,
        "ref": world.sent().public(),
        "canPush": True,
        "problems": [],
        "warnings": [],
    }


async def test_work_that_is_not_committed(world):
    write(world.home, {"README.md": "# Bye\n", "gone.txt": None, "new.txt": "n\n", "d/e": "e\n"})
    write(world.home, {"staged.txt": "s\n", ".gitignore": "*.log\n", "a.log": "ignored"})
    write(world.home, {"d/f/g": "g\n", "d/f/h": "h\n"})
    # A repository in a folder of this one is not part of it, and not sent.
    git(world.home, "init", "-q", "d/other")
    write(world.home, {"d/other/x": "x\n"})
    git(world.home, "add", "staged.txt")
    with untouched(world.home):
        found = await described(world)
    assert listed(found) == [
        ("?", ".gitignore", 1),
        ("M", "README.md", 1),
        ("?", "d/", 3),
        ("D", "gone.txt", 1),
        ("?", "new.txt", 1),
        ("A", "staged.txt", 1),
    ]
    assert (found["changeCount"], found["newCount"]) == (8, 5)
    assert found["changes"][2] == {"status": "?", "path": "d/", "files": 3}
    assert found["pushed"] and found["ref"] == world.sent().public()


async def test_only_some_of_very_many_changes_are_listed(world):
    write(world.home, {f"n{number}": "" for number in range(300)})
    found = await described(world)
    assert (len(found["changes"]), found["changeCount"]) == (200, 300)


async def test_a_file_changed_right_after_it_was_staged_is_seen(world):
    """Of the same length and at the same time: git looks again because its index is as old."""
    for text in ("one\n", "two\n", "six\n"):
        write(world.home, {"README.md": "# H\n"})
        git(world.home, "add", "README.md")
        (world.home / "README.md").write_text(text)
        found = await described(world)
        assert ("M", "README.md", 1) in listed(found)


async def test_commits_that_are_not_pushed(world):
    pushed = git(world.home, "rev-parse", "HEAD")
    for number in range(2):
        write(world.home, {"README.md": f"{number}\n"})
        git(world.home, "commit", "-qam", "More")
    found = await described(world)
    assert (found["pushed"], found["unpushed"]) == (False, 2)
    assert found["revision"] == git(world.home, "rev-parse", "HEAD")
    assert found["ref"] == world.sent(pushed).public()
    assert codes(found["warnings"]) == ["unpushed"]
    assert "2 commits are not on the remote" in found["warnings"][0]["message"]


async def test_a_local_branch_without_an_upstream_begins_at_what_is_nearest(world):
    git(world.home, "checkout", "-qb", "develop")
    write(world.home, {"dev.txt": "1\n"})
    git(world.home, "add", "-A")
    git(world.home, "commit", "-qm", "Dev")
    git(world.home, "push", "-q", "origin", "develop")
    develop = git(world.home, "rev-parse", "HEAD")
    git(world.home, "checkout", "-qb", "mine")
    assert (await described(world))["ref"] == world.sent(branch="develop").public()
    git(world.home, "commit", "-qm", "Mine", "--allow-empty")
    found = await described(world)
    assert (found["branch"], found["unpushed"]) == ("mine", 1)
    assert found["ref"] == world.sent(develop, "develop").public()


async def test_an_upstream_of_another_name_in_another_remote(world):
    world.server.create("fork")
    git(world.home, "remote", "add", "fork", world.server.url("fork"))
    git(world.home, "checkout", "-qb", "topic")
    git(world.home, "push", "-q", "-u", "fork", "topic:other/name")
    found = await described(world)
    assert (found["remote"], found["url"]) == ("fork", world.server.url("fork"))
    assert found["ref"] is not None and found["ref"]["branch"] == "other/name"


async def test_the_only_remote_needs_no_name(world):
    git(world.home, "remote", "rename", "origin", "elsewhere")
    assert (await described(world))["remote"] == "elsewhere"
    git(world.home, "remote", "add", "another", "https://example.org/a.git")
    git(world.home, "checkout", "-q", "--no-track", "-b", "topic")
    found = await described(world)
    assert codes(found["problems"]) == ["noRemote"]
    assert "elsewhere, another" in found["problems"][0]["message"]


async def test_a_repository_without_a_remote(world):
    git(world.home, "remote", "remove", "origin")
    found = await described(world)
    assert codes(found["problems"]) == ["noRemote"] and found["problems"][0]["blocking"]
    assert (found["ref"], found["url"], found["canPush"]) == (None, None, False)


async def test_a_repository_without_a_commit(world, tmp_path):
    git(tmp_path, "init", "-q", "fresh")
    git(tmp_path / "fresh", "remote", "add", "origin", world.url)
    write(tmp_path / "fresh", {"a": "1"})
    found = await described(world, tmp_path / "fresh")
    assert codes(found["problems"]) == ["noCommits"]
    assert found["ref"] is None


async def test_a_repository_of_which_nothing_was_pushed(world, tmp_path):
    git(tmp_path, "init", "-q", "-b", "main", "fresh")
    git(tmp_path / "fresh", "remote", "add", "origin", world.url)
    git(tmp_path / "fresh", "commit", "-q", "--allow-empty", "-m", "One")
    found = await described(world, tmp_path / "fresh")
    assert codes(found["problems"]) == ["notPushed"] and not found["problems"][0]["blocking"]
    assert (found["ref"], found["canPush"], found["unpushed"]) == (None, True, 1)


async def test_a_detached_head(world):
    git(world.home, "checkout", "-q", "--detach")
    found = await described(world)
    assert codes(found["problems"]) == ["detached"] and not found["problems"][0]["blocking"]
    assert found["branch"] is None
    assert found["ref"] == world.sent().public()


async def test_a_shallow_clone(world, tmp_path):
    git(world.home, "commit", "-q", "--allow-empty", "-m", "Two")
    git(world.home, "push", "-q", "origin", "main")
    shallow = world.clone(tmp_path / "shallow", "--depth=1")
    found = await described(world, shallow)
    assert codes(found["warnings"]) == ["shallow"]
    assert (found["pushed"], found["ref"]) == (True, world.sent().public())


async def test_a_merge_in_progress(world):
    write(world.home, {"README.md": "mine\n"})
    git(world.home, "commit", "-qam", "Mine")
    git(world.home, "checkout", "-q", "-b", "other", "HEAD~")
    write(world.home, {"README.md": "other\n"})
    git(world.home, "commit", "-qam", "Other")
    with pytest.raises(AssertionError):
        git(world.home, "merge", "main")
    with untouched(world.home):
        found = await described(world)
    assert "inProgress" in codes(found["problems"])
    assert listed(found) == [("M", "README.md", 1)]


async def test_submodules_large_files_and_filters_are_explained(world, tmp_path):
    world.server.create("part")
    git(
        world.home,
        *("-c", "protocol.file.allow=always", "submodule", "-q", "add"),
        str(world.server.root / "part.git"),
        "part",
    )
    write(world.home, {".gitattributes": "*.bin filter=lfs\n*.ipynb filter=strip\n", "x.bin": "x"})
    write(world.home, {"n.ipynb": "{}"})
    git(world.home, "add", "-A")
    git(world.home, "commit", "-qm", "All sorts")
    git(world.home, "push", "-q")
    git(world.home, "config", "filter.strip.clean", "false")
    git(world.home, "config", "filter.unused.clean", "false")
    found = await described(world)
    assert codes(found["warnings"]) == ["submodules", "lfs", "filters"]
    assert "(strip)" in found["warnings"][2]["message"]
    # One that the user has set up for every repository is run, as always.
    git(tmp_path, "config", "--global", "filter.strip.clean", "cat")
    assert codes((await described(world))["warnings"]) == ["submodules", "lfs"]


async def test_an_address_that_is_not_allowed(world):
    git(world.home, "remote", "set-url", "origin", "ext::sh -c touch% /tmp/evil")
    found = await described(world)
    assert codes(found["problems"]) == ["urlRefused"]
    assert (found["url"], found["ref"], found["canPush"]) == (None, None, False)
    git(world.home, "remote", "set-url", "origin", "https://example.net/a.git")
    repository = await Repository.find(
        world.home, Git(policy=Policy(hosts=("example.org",)), timeout=60)
    )
    async with IsolatedRepository.of(repository, world.cache) as isolated:
        found = await inspect(isolated)
    assert "remote_hosts" in found["problems"][0]["message"]


@pytest.mark.parametrize("login", ["ada:s3cret", "ada:s3@cret", "s3cret"], ids="abc")
async def test_no_password_is_shown(world, login):
    git(world.home, "remote", "set-url", "origin", f"https://{login}@example.org/a.git")
    found = await described(world)
    # Which of two signs ends the login is not the same to git and to what it uses: that is refused.
    is_plain = login.count("@") == 0
    assert found["url"] == ("https://example.org/a.git" if is_plain else None)
    assert ("urlRefused" in codes(found["problems"])) is not is_plain
    assert "s3" not in json.dumps(found) + repr(found)
    git(world.home, "remote", "set-url", "origin", f"gopher://{login}@example.org/a.git")
    found = await described(world)
    assert codes(found["problems"]) == ["urlRefused"]
    assert "s3" not in json.dumps(found) + repr(found)


async def test_short_addresses_of_the_user_are_understood_and_those_of_the_repository_are_not(
    world, tmp_path
):
    git(world.home, "remote", "set-url", "origin", "srv:project.git")
    git(world.home, "config", "url.https://evil.net/.insteadOf", "srv:")
    assert codes((await described(world))["problems"]) == ["urlRefused"]
    git(tmp_path, "config", "--global", f"url.http://{world.server.host}/.insteadOf", "srv:")
    found = await described(world)
    assert (found["url"], found["problems"]) == (world.url, [])


async def test_what_is_not_a_repository(world, tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "broken" / ".git").mkdir(parents=True)
    for folder, code in (
        (tmp_path / "nowhere", "noFolder"),
        (tmp_path / "plain", "notRepository"),
        (tmp_path / "broken", "notRepository"),
        (world.bare, "bare"),
        (world.home / ".git", "bare"),
        (world.home / ".git" / "refs", "bare"),
    ):
        with pytest.raises(RepositoryError) as caught:
            await world.repository(folder)
        assert caught.value.code == code, folder


async def test_a_bare_repository_inside_a_working_tree(world):
    git(world.home, "clone", "-q", "--bare", str(world.bare), "vendor.git")
    with pytest.raises(RepositoryError) as caught:
        await world.repository(world.home / "vendor.git")
    assert caught.value.code == "bare"


async def test_files_that_are_said_to_be_elsewhere(world, tmp_path):
    (tmp_path / "private").mkdir()
    for place in (tmp_path / "private", tmp_path, "../.."):
        git(world.home, "config", "core.worktree", str(place))
        with pytest.raises(RepositoryError) as caught:
            await world.repository()
        assert caught.value.code == "elsewhere"
    (tmp_path / "private").rmdir()
    git(world.home, "config", "--unset", "core.worktree", GIT_WORK_TREE=str(world.home))
    assert (await world.repository()).toplevel == world.home


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
async def test_a_repository_of_another_user(world):
    os.chown(world.home, 12345, 12345)
    os.chown(world.home / ".git", 12345, 12345)
    assert b"dubious ownership" in run(world.home, "status").stderr
    found = await described(world)
    assert codes(found["warnings"]) == ["foreign"]
    assert found["ref"] is not None


async def test_a_linked_working_tree(world, tmp_path):
    git(world.home, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), "main")
    write(tmp_path / "side", {"README.md": "side\n"})
    found = await described(world, tmp_path / "side")
    assert (found["toplevel"], found["branch"]) == (str(tmp_path / "side"), "side")
    assert listed(found) == [("M", "README.md", 1)]
    assert found["ref"] == world.sent().public()
    assert (await described(world))["changes"] == []


async def test_a_working_tree_of_a_bare_repository(world, tmp_path):
    bare = world.clone(tmp_path / "all.git", "--bare")
    git(bare, "worktree", "add", "-q", str(tmp_path / "side"), "main")
    found = await described(world, tmp_path / "side")
    assert found["branch"] == "main"
    assert codes(found["problems"]) == ["notPushed"]


async def test_a_repository_of_the_longer_hashes(world, tmp_path):
    git(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main", "long")
    git(tmp_path / "long", "remote", "add", "origin", "https://example.org/a.git")
    write(tmp_path / "long", {"a": "1\n"})
    git(tmp_path / "long", "add", "-A")
    git(tmp_path / "long", "commit", "-qm", "One")
    revision = git(tmp_path / "long", "rev-parse", "HEAD")
    git(tmp_path / "long", "update-ref", "refs/remotes/origin/main", revision)
    write(tmp_path / "long", {"a": "2\n"})
    found = await described(world, tmp_path / "long")
    assert found["ref"] is not None and found["ref"]["revision"] == revision and len(revision) == 64
    assert listed(found) == [("M", "a", 1)]


async def test_a_sparse_checkout(world):
    git(world.home, "sparse-checkout", "set", "--cone", "src")
    assert not (world.home / "docs").exists()
    for sparse in ("false", "true"):
        git(world.home, "config", "index.sparse", sparse)
        git(world.home, "sparse-checkout", "reapply")
        with untouched(world.home):
            assert (await described(world))["changes"] == []


async def test_an_index_in_two_parts(world):
    git(world.home, "update-index", "--split-index")
    write(world.home, {"README.md": "x\n"})
    git(world.home, "add", "README.md")
    write(world.home, {"src/a.py": "x\n"})
    assert list(world.home.glob(".git/sharedindex.*"))
    with untouched(world.home):
        found = await described(world)
    assert listed(found) == [("M", "README.md", 1), ("M", "src/a.py", 1)]


async def test_odd_names(world, tmp_path):
    names = ["with space", "new\nline", "-dash", "tab\t", '"quoted"', "é", ":(top)x", "*"]
    write(world.home, dict.fromkeys(names, "x\n"))
    (world.home / os.fsdecode(b"latin-\xe9")).write_text("x\n")
    found = await described(world)
    shown = {change["path"] for change in found["changes"]}
    assert shown == {*names, "latin-\\xe9"}
    odd = tmp_path / os.fsdecode(b"od\xe9\nd ")
    odd.mkdir()
    found = await described(world, world.clone(odd / "home"))
    assert found["toplevel"] == str(odd / "home").replace("\udce9", "\\xe9")
    assert found["ref"] is not None


async def test_names_of_branches_that_end_lines_elsewhere(world):
    odd = "a\u2028b\x85c\u2028"
    git(world.home, "push", "-q", "origin", f"HEAD:refs/heads/{odd}")
    git(world.home, "fetch", "-q")
    git(world.home, "checkout", "-q", "-b", odd, "--track", f"origin/{odd}")
    repository = await world.repository()
    assert f"refs/remotes/origin/{odd}" in await repository.refs("refs/remotes/")
    assert (await repository.head()).branch == odd
    found = await described(world)
    assert found["branch"] == odd and found["pushed"]


async def test_line_ends_are_no_changes(world):
    git(world.home, "config", "core.autocrlf", "true")
    (world.home / "README.md").unlink()
    git(world.home, "checkout", "README.md")
    assert (world.home / "README.md").read_bytes() == b"# Hello\r\n"
    os.utime(world.home / "README.md", (1, 1))
    assert (await described(world))["changes"] == []
    git(world.home, "config", "core.autocrlf", "false")
    os.utime(world.home / "README.md", (2, 2))
    assert listed(await described(world)) == [("M", "README.md", 1)]


async def test_what_the_repository_ignores_by_its_own_settings(world, tmp_path):
    (tmp_path / "ignored").write_text("secret*\n")
    git(world.home, "config", "core.excludesFile", str(tmp_path / "ignored"))
    (world.home / ".git" / "info" / "exclude").write_text("private*\n")
    write(world.home, {"secret.key": "x", "private.txt": "x", "plain.txt": "x"})
    assert listed(await described(world)) == [("?", "plain.txt", 1)]


async def test_what_jupyter_leaves_beside_notebooks_is_no_work(world):
    left = {"sub/.ipynb_checkpoints/a-checkpoint.ipynb": "{}", ".ipynb_checkpoints/b": "{}"}
    write(world.home, {**left, "src/.ipynb_checkpoints/c": "{}"})
    assert (await described(world))["changeCount"] == 0
    write(world.home, {"sub/a.ipynb": "{}"})
    found = await described(world)
    assert (listed(found), found["changeCount"]) == ([("?", "sub/", 1)], 1)


async def test_settings_of_the_user_for_this_place_hold(world, tmp_path):
    (tmp_path / "for-home").write_text("[core]\n\tautocrlf = true\n[user]\n\tname = Work Ada\n")
    condition = f"includeIf.gitdir:{world.home}/.path"
    git(tmp_path, "config", "--global", condition, str(tmp_path / "for-home"))
    (world.home / "README.md").unlink()
    git(world.home, "checkout", "README.md")
    assert (world.home / "README.md").read_bytes() == b"# Hello\r\n"
    os.utime(world.home / "README.md", (1, 1))
    assert (await described(world))["changes"] == []
    async with world.isolated() as isolated:
        assert isolated.settings.identity["GIT_AUTHOR_NAME"] == "Work Ada"


async def test_what_a_partial_clone_left_out_is_not_fetched_by_its_own_rules(world, tmp_path):
    git(world.bare, "config", "uploadpack.allowFilter", "true")
    partial = world.clone(tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    marker = tmp_path / "evil"
    git(partial, "config", "core.sshCommand", f"touch {marker};")
    git(partial, "config", "remote.origin.url", "ssh://git@example.org/a.git")
    git(partial, "config", "remote.origin.uploadpack", f"touch {marker};")
    repository = await world.repository(partial)
    blob = git(world.bare, "rev-parse", "main:README.md")
    assert not await repository.git.succeeds("cat-file", "-e", blob)
    assert not marker.exists()
    healthy(world.home)


async def test_the_same_policy_holds_for_what_git_starts(world):
    repository = await world.repository()
    assert repository.plain.policy is POLICY
    async with world.isolated() as isolated:
        assert isolated.git.policy is POLICY
        assert await isolated.git.text("config", "core.hooksPath") == os.devnull
