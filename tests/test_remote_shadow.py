# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Nothing that a repository carries is run: each of its traps would leave a mark."""

from __future__ import annotations

import os
import shutil

import pytest
from gitserver import git, git_server
from gitworld import World, healthy, run, write

from jupyter_acp.remote.home.actions import checkout, merge, pick, undo
from jupyter_acp.remote.home.description import describe
from jupyter_acp.remote.home.reading import commits, contents, files
from jupyter_acp.remote.home.results import discard, fetch_target
from jupyter_acp.remote.home.scratch import push_scratch
from jupyter_acp.remote.home.settings import Settings
from jupyter_acp.remote.home.shadow import Shadow, config_line
from jupyter_acp.remote.home.transaction import recover

HOOKS = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
]
ATTRIBUTES = """
*.txt filter=evil diff=evil merge=evil
*.md filter=process
*.nb filter=lfs
"""


class Traps:
    """Everything in `.git/config`, `.git/hooks` and `.gitattributes` that makes git run a program."""

    def __init__(self, folder, marks, host):
        self.marks = marks
        marks.mkdir()
        settings = {
            "core.fsmonitor": self.command("fsmonitor"),
            "core.sshCommand": self.command("sshCommand"),
            "core.editor": self.command("editor"),
            "core.pager": self.command("pager"),
            "core.askPass": self.command("askPass"),
            "core.alternateRefsCommand": self.command("alternateRefs"),
            "core.gitProxy": self.command("gitProxy"),
            "core.hooksPath": str(folder / ".git" / "hooks"),
            "filter.evil.clean": self.command("clean", "cat"),
            "filter.evil.smudge": self.command("smudge", "cat"),
            "filter.process.process": self.command("process"),
            "filter.lfs.clean": self.command("lfs", "cat"),
            "filter.lfs.process": self.command("lfs process"),
            "diff.external": self.command("external"),
            "diff.evil.textconv": self.command("textconv", "cat"),
            "diff.evil.command": self.command("diff command"),
            "merge.evil.driver": self.command("merge driver"),
            "merge.default": "evil",
            "interactive.diffFilter": self.command("diffFilter"),
            "gpg.program": self.program(folder, "gpg"),
            "gpg.ssh.program": self.program(folder, "gpg ssh"),
            "commit.gpgSign": "true",
            "push.gpgSign": "if-asked",
            "log.showSignature": "true",
            "credential.helper": "!" + self.command("credential"),
            "remote.origin.uploadpack": self.command("uploadpack"),
            "remote.origin.receivepack": self.command("receivepack"),
            "remote.origin.promisor": "true",
            "protocol.allow": "always",
            "protocol.ext.allow": "always",
            "uploadpack.packObjectsHook": self.command("packObjects"),
            "sequence.editor": self.command("sequence editor"),
            "submodule.recurse": "true",
            "trailer.evil.command": self.command("trailer"),
            "gc.auto": "1",
        }
        for name, value in settings.items():
            git(folder, "config", name, value, GIT_CONFIG_COUNT="0")
        git(folder, "config", f"url.ext::{self.command('ext')}.insteadOf", f"http://{host}/")
        for name in HOOKS:
            hook = folder / ".git" / "hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\n{self.command('hook ' + name)}\n")
            hook.chmod(0o755)
        (folder / ".git" / "info").mkdir(exist_ok=True)
        (folder / ".git" / "info" / "attributes").write_text(ATTRIBUTES)

    def command(self, name, rest="false"):
        return f"touch '{self.marks / name}'; {rest}"

    def program(self, folder, name):
        """Of those that git starts without a shell."""
        path = folder / ".git" / f"trap-{name.replace(' ', '-')}"
        path.write_text(f"#!/bin/sh\n{self.command(name)}\n")
        path.chmod(0o755)
        return str(path)

    @property
    def sprung(self):
        return {path.name for path in self.marks.iterdir()}


@pytest.fixture
def trapped(tmp_path, monkeypatch):
    """A clone full of traps, with a submodule full of traps, of a repository with a password."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    with git_server(tmp_path / "srv") as server:
        world = World(tmp_path, server, files={"a.txt": "a\n", "b.md": "b\n", "c.nb": "c\n"})
        server.create("part", {"a.txt": "a\n"})
        where = str(server.root / "part.git")
        git(world.home, "-c", "protocol.file.allow=always", "submodule", "-q", "add", where, "part")
        write(world.home, {".gitattributes": ATTRIBUTES})
        git(world.home, "add", "-A")
        git(world.home, "commit", "-qm", "With a part")
        git(world.home, "push", "-q", "origin", "main")
        git(world.home, "remote", "set-url", "origin", world.url)
        # The user's own helper is the one to be asked.
        server.password = "s3cret"
        (tmp_path / "passwords").write_text(f"http://ada:s3cret@{server.host}\n")
        git(
            tmp_path,
            "config",
            "--global",
            "credential.helper",
            f"store --file={tmp_path}/passwords",
        )
        part = Traps(tmp_path / "home", tmp_path / "marks", server.host)
        config = (world.home / ".git" / "config").read_text()
        inside = world.home / ".git" / "modules" / "part"
        shutil.copytree(world.home / ".git" / "hooks", inside / "hooks", dirs_exist_ok=True)
        with (inside / "config").open("a") as file:
            file.write(config[config.index("fsmonitor") :].join(("[core]\n\t", "")))
        yield world, part


def touch(folder, names):
    """Let files be looked at again."""
    for name in names:
        os.utime(folder / name, (1, 1))


def test_the_traps_work(trapped, tmp_path):
    """Otherwise it would mean nothing that none of them is sprung."""
    world, traps = trapped
    home = world.home
    # With it, git would stop to ask the trap for what it has not got.
    git(home, "config", "--unset", "remote.origin.promisor")
    touch(home, ["a.txt", "b.md", "c.nb", "part/a.txt"])
    run(home, "status")
    run(home, "diff", "HEAD")
    # They have been sprung by now, and would stop git from going on.
    for name in ("filter.process.process", "filter.lfs.process"):
        git(home, "config", "--unset", name)
    write(home, {"a.txt": "changed\n"})
    run(home, "diff")
    run(home, "log", "--show-signature", "-p", "--ext-diff")
    run(home, "add", "-A")
    run(home, "checkout", "-f", "HEAD", "--", ".")
    run(home, "-c", "core.hooksPath=/dev/null", "commit", "--allow-empty", "-m", "x")
    run(home, "-c", "commit.gpgSign=false", "commit", "--allow-empty", "-m", "x")
    run(home, "fetch", "origin")
    run(home, "fetch", "ssh://git@127.0.0.1/a.git")
    run(home, "ls-remote", "http://127.0.0.1:1/a.git")
    run(home, "credential", "fill")
    run(home, "update-ref", "refs/heads/other", "HEAD")
    run(home, "push", str(world.bare), "HEAD:refs/heads/x")
    assert {
        "fsmonitor",
        "clean",
        "process",
        "external",
        "gpg",
        "sshCommand",
        "hook pre-commit",
        "hook post-index-change",
        "hook reference-transaction",
    } <= traps.sprung


async def test_no_trap_is_sprung(trapped, tmp_path):
    world, traps = trapped
    home = world.home

    async def everything():
        async with world.shadow() as shadow:
            await recover(shadow)
            found = await describe(shadow)
            assert found.change_count == 4 and found.can_push, found
            assert {note.code for note in found.warnings} == {"submodules", "lfs", "filters"}
            yield "describe"
            sent = await push_scratch(shadow, include_uncommitted=True)
            yield "scratch"
            target = world.elsewhere(
                {"a.txt": "mine\ntheirs\n", "b.md": "theirs\n", "n.txt": "n\n"}, sent
            )
            result = await fetch_target(shadow, target, sent=sent, session="s", number=1)
            yield "fetch"
            await commits(shadow, result)
            await files(shadow, result)
            await contents(shadow, result, "a.txt")
            yield "read"
            for action in (
                lambda: checkout(shadow, result, "taken"),
                lambda: merge(shadow, result),
                lambda: pick(shadow, result),
            ):
                record = await action()
                assert (home / "n.txt").exists()
                yield record.action
                await undo(shadow, record.id)
                yield "undo"
            # With commits of both sides, to be merged line by line.
            run(home, "-c", "core.hooksPath=/dev/null", "status")
            yield "end"
            await discard(shadow.repository, result)
            yield "discard"

    write(home, {"a.txt": "mine\n", "new.txt": "new\n", "b.md": "mine\n", "c.nb": "mine\n"})
    touch(home, ["a.txt", "b.md", "c.nb", "part/a.txt"])
    async for stage in everything():
        if stage == "end":
            for mark in traps.marks.iterdir():
                mark.unlink()
            continue
        assert traps.sprung == set(), stage


async def test_no_driver_of_the_repository_merges(trapped):
    """Both sides have changed one file, which is when a driver would be asked."""
    world, traps = trapped
    home, safe = world.home, ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    for name in ("remote.origin.promisor", "filter.process.process", "filter.lfs.process"):
        git(home, "config", "--unset", name)
    lines = "".join(f"{number}\n" for number in range(20))
    write(home, {"x.py": lines})
    bare = (*safe, "-c", "commit.gpgSign=false")
    git(home, *bare, "add", "x.py")
    git(home, *bare, "commit", "-qm", "Lines")
    async with world.shadow() as shadow:
        sent = await push_scratch(shadow, include_uncommitted=False)
        target = world.elsewhere({"x.py": lines.replace("19", "nineteen")}, sent)
        result = await fetch_target(shadow, target, sent=sent, session="s", number=1)
    write(home, {"x.py": lines.replace("0\n", "zero\n", 1)})
    git(home, *bare, "add", "x.py")
    git(home, *bare, "commit", "-qm", "Zero")
    for mark in traps.marks.iterdir():
        mark.unlink()
    async with world.shadow() as shadow:
        record = await merge(shadow, result)
        await undo(shadow, record.id)
        await merge(shadow, result)
    assert (home / "x.py").read_text().splitlines()[::19] == ["zero", "nineteen"]
    assert traps.sprung == set()
    # The same by hand.
    run(home, *bare, "reset", "-q", "--hard", "HEAD~")
    run(home, *bare, "merge", "-q", result.ref)
    assert "merge driver" in traps.sprung


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("core.excludesfile", '/a b/"quoted"\\back\nslash\t; # no comment'),
        ("url.https://example.org/.insteadof", "x:"),
        ('http.https://e"x\\.org.extraheader', "A: b"),
        ("user.name", "  spaces  "),
        ("user.name", ""),
    ],
)
def test_settings_are_written_as_they_were_read(tmp_path, name, value):
    (tmp_path / "config").write_text(config_line(name, value))
    printed = run(tmp_path, "config", "--file", "config", "--list", "-z", "--show-scope").stdout
    (entry,) = Settings.of(printed).entries
    assert (entry.name, entry.value) == (name, value)


async def test_what_is_borrowed_is_in_a_folder_of_any_name(git_world, tmp_path):
    for number, name in enumerate(('new\nline"', "#hash", '"quoted"', "back\\slash", "a:b")):
        home = git_world.clone(tmp_path / f"{name}{number}")
        async with git_world.shadow(home) as shadow:
            assert await shadow.git.succeeds("cat-file", "-e", git(home, "rev-parse", "HEAD"))


async def test_what_a_dead_server_left_is_removed_in_time(git_world):
    repository = await git_world.repository()
    async with Shadow.of(repository, git_world.cache) as shadow:
        old, young = shadow.records.parent / "work-old", shadow.records.parent / "work-young"
        old.mkdir()
        young.mkdir()
        os.utime(old, (1, 1))
    async with Shadow.of(repository, git_world.cache):
        assert young.exists() and not old.exists()


async def test_something_that_never_ends_is_not_read(git_world):
    info = git_world.home / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").unlink(missing_ok=True)
    os.mkfifo(info / "attributes")
    async with git_world.shadow() as shadow:
        await describe(shadow)
    healthy_before = (git_world.home / ".git" / "index").rename(git_world.home / ".git" / "kept")
    os.mkfifo(git_world.home / ".git" / "index")
    with pytest.raises(Exception, match="is not a file"):
        async with git_world.shadow() as shadow:
            await describe(shadow)
    (git_world.home / ".git" / "index").unlink()
    healthy_before.rename(git_world.home / ".git" / "index")
    (info / "attributes").unlink()
    healthy(git_world.home)
