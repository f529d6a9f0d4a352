# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Nothing that a repository carries is run: each of its traps would leave a mark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitserver import git, git_server
from gitworld import World, run, write

from jupyter_acp.remote.local.checkout import checkout
from jupyter_acp.remote.local.fetch import fetch_target
from jupyter_acp.remote.local.inspection import inspect
from jupyter_acp.remote.local.interrupted import interrupted
from jupyter_acp.remote.local.isolated import IsolatedRepository, config_line
from jupyter_acp.remote.local.merge import merge, pick
from jupyter_acp.remote.local.push import push_scratch
from jupyter_acp.remote.local.repository import RepositoryError
from jupyter_acp.remote.local.results import discard
from jupyter_acp.remote.local.review import commits, contents, files
from jupyter_acp.remote.local.settings import Settings
from jupyter_acp.remote.local.undo import undo

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
*.proc filter=process
*.nb filter=lfs
"""
FILES = {"a.txt": "a\n", "b.proc": "b\n", "c.nb": "c\n", "d.py": "d\n"}


class Traps:
    """Everything in `.git/config`, `.git/hooks` and attributes that makes git run a program."""

    def __init__(self, folder, marks, host):
        self.marks = marks
        marks.mkdir()
        git_dir = Path(git(folder, "rev-parse", "--absolute-git-dir"))
        settings = {
            "filter.evil.clean": self.command("clean", "cat"),
            "filter.evil.smudge": self.command("smudge", "cat"),
            "filter.process.process": self.command("process"),
            "filter.lfs.clean": self.command("lfs", "cat"),
            "filter.lfs.smudge": self.command("lfs", "cat"),
            "diff.external": self.command("external"),
            "diff.evil.textconv": self.command("textconv", "cat"),
            "diff.evil.command": self.command("diff command"),
            "merge.evil.driver": self.command("merge driver"),
            "merge.default": "evil",
            "interactive.diffFilter": self.command("diffFilter"),
            "gpg.program": self.script(git_dir / "gpg", "gpg"),
            "gpg.ssh.program": self.script(git_dir / "gpg ssh", "gpg ssh"),
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
            f"url.ext::sh -c touch% {marks}/ext% %S.insteadOf": f"http://{host}/",
            "core.sshCommand": self.command("sshCommand"),
            "core.editor": self.command("editor"),
            "core.pager": self.command("pager"),
            "core.askPass": self.script(git_dir / "askPass", "askPass"),
            "core.alternateRefsCommand": self.command("alternateRefs"),
            "core.gitProxy": self.script(git_dir / "gitProxy", "gitProxy"),
            "core.hooksPath": str(git_dir / "hooks"),
            "core.fsmonitor": self.script(git_dir / "monitor", "fsmonitor"),
        }
        for name, value in settings.items():
            git(folder, "config", name, value)
        (git_dir / "hooks").mkdir(exist_ok=True)
        for name in HOOKS:
            self.script(git_dir / "hooks" / name, f"hook {name}")
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text(ATTRIBUTES)

    def command(self, name, rest="false"):
        return f"touch '{self.marks / name}'; {rest}"

    def script(self, path, name):
        path.write_text(f"#!/bin/sh\n{self.command(name)}\n")
        path.chmod(0o755)
        return str(path)

    @property
    def sprung(self):
        return {path.name for path in self.marks.iterdir()}

    def set_again(self):
        for mark in self.marks.iterdir():
            mark.unlink()


@pytest.fixture
def trapped(tmp_path, monkeypatch):
    """A clone full of traps, with a submodule full of traps, of a repository with a password."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    with git_server(tmp_path / "srv") as server:
        world = World(tmp_path, server, files=FILES)
        server.create("part", {"a.txt": "a\n"})
        where = str(server.root / "part.git")
        git(world.home, "-c", "protocol.file.allow=always", "submodule", "-q", "add", where, "part")
        write(world.home, {".gitattributes": ATTRIBUTES})
        git(world.home, "add", "-A")
        git(world.home, "commit", "-qm", "With a part")
        git(world.home, "push", "-q", "origin", "main")
        git(world.home, "remote", "set-url", "origin", world.url)
        # None is so young that git looks at it unasked.
        for folder in (world.home, world.home / "part"):
            for name in ("a.txt", "b.proc", "c.nb", "d.py", ".gitattributes"):
                if (folder / name).exists():
                    os.utime(folder / name, (1, 1))
            git(folder, "update-index", "--refresh")
        # The user's own helper is the one to be asked.
        server.password = "s3cret"
        (tmp_path / "passwords").write_text(f"http://ada:s3cret@{server.host}\n")
        helper = f"store --file={tmp_path / 'passwords'}"
        git(tmp_path, "config", "--global", "credential.helper", helper)
        inside = Traps(world.home / "part", tmp_path / "marks-inside", server.host)
        yield world, Traps(world.home, tmp_path / "marks", server.host), inside


def look_again(folder, *names):
    """Let git look at what is in files: it does where their times are others than it knows."""
    for name in names or (*FILES, "part/a.txt"):
        os.utime(folder / name, (1, os.stat(folder / name).st_mtime + 1))


QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
PLAIN = (*QUIET, "-c", "commit.gpgSign=false", "-c", "core.editor=true")


def test_the_traps_work(trapped):
    """Otherwise it would mean nothing that none of them is sprung."""
    world, traps, inside = trapped
    home = world.home

    def springs(name, *command, at=traps):
        at.set_again()
        run(home, *command)
        assert name in at.sprung, (name, command)

    springs("fsmonitor", "status")
    springs("fsmonitor", "status", at=inside)
    springs("fsmonitor", "add", "-A", at=inside)
    for name, file in (("clean", "a.txt"), ("lfs", "c.nb")):
        look_again(home, file)
        springs(name, *QUIET, "update-index", "--refresh")
    write(home, {"a.txt": "changed\n", "d.py": "changed\n"})
    springs("diff command", *QUIET, "diff", "a.txt")
    springs("external", *QUIET, "diff", "d.py")
    springs("textconv", *QUIET, "cat-file", "--textconv", "HEAD:a.txt")
    write(home, {"a.txt": None, "d.py": "d\n"})
    springs("smudge", *QUIET, "checkout", "--", "a.txt")
    springs("hook pre-commit", "commit", "--allow-empty", "-m", "x")
    springs("hook reference-transaction", "update-ref", "refs/heads/x", "HEAD")
    springs("hook post-checkout", "checkout", "--", "a.txt")
    springs("gpg", *QUIET, "commit", "--allow-empty", "-m", "x")
    springs("editor", *QUIET, "-c", "commit.gpgSign=false", "commit", "--allow-empty")
    springs("ext", "ls-remote", "origin")
    springs("sshCommand", "ls-remote", "ssh://git@127.0.0.1/a.git")
    other = world.url.replace("127.0.0.1", "localhost")
    springs("credential", "ls-remote", other)
    springs("hook pre-push", "push", str(world.bare), "HEAD:refs/heads/x")
    (home / ".git/objects/info/alternates").write_text(f"{world.bare}/objects\n")
    springs("alternateRefs", "fetch", "--upload-pack=git-upload-pack", str(world.bare), "main")
    springs("hook post-index-change", "read-tree", "HEAD")
    # Last, since git gives everything up when such a filter does not answer.
    springs("process", *QUIET, "update-index", "--refresh")


async def stages(world):
    """Do everything that can be done."""
    async with world.isolated() as isolated:
        await interrupted(isolated)
        found = await inspect(isolated)
        assert found["changeCount"] == 4 and found["canPush"], found
        assert {note["code"] for note in found["warnings"]} == {"submodules", "lfs", "filters"}
        yield "describe"
        sent = await push_scratch(isolated, include_uncommitted=True)
        yield "scratch"
        changes = {"a.txt": "mine\ntheirs\n", "b.proc": "theirs\n", "n.txt": "n\n", "c.nb": "n"}
        target = world.elsewhere(changes, sent)
        result = await fetch_target(isolated, target, sent=sent, session="s", number=1)
        yield "fetch"
        await commits(isolated, result)
        await files(isolated, result)
        await contents(isolated, result, "a.txt")
        yield "read"
        with pytest.raises(RepositoryError):
            await merge(isolated, result)
        yield "refuse"
        write(world.home, {**FILES, "new.txt": None})
        for action in (
            lambda: checkout(isolated, result, "taken"),
            lambda: merge(isolated, result),
            lambda: pick(isolated, result),
        ):
            record = await action()
            assert (world.home / "n.txt").exists()
            yield record.kind
            await undo(isolated, record.id)
            yield f"undo {record.kind}"
        await discard(isolated.repository, result)
        yield "discard"


async def test_no_trap_is_sprung(trapped):
    world, traps, inside = trapped
    write(world.home, {"a.txt": "mine\n", "new.txt": "new\n", "b.proc": "mine\n", "c.nb": "mine\n"})
    look_again(world.home)
    done = []
    async for stage in stages(world):
        look_again(world.home)
        done.append(stage)
        assert traps.sprung | inside.sprung == set(), stage
    assert len(done) == 12


async def test_no_driver_of_the_repository_merges(trapped):
    """Both sides have changed one file, which is when a driver would be asked."""
    world, traps, _ = trapped
    home = world.home
    lines = "".join(f"{number}\n" for number in range(20))
    write(home, {"x.py": lines})
    git(home, *PLAIN, "add", "x.py")
    git(home, *PLAIN, "commit", "-qm", "Lines")
    async with world.isolated() as isolated:
        sent = await push_scratch(isolated, include_uncommitted=False)
        target = world.elsewhere({"x.py": lines.replace("19", "nineteen")}, sent)
        result = await fetch_target(isolated, target, sent=sent, session="s", number=1)
    write(home, {"x.py": lines.replace("0\n", "zero\n", 1)})
    git(home, *PLAIN, "add", "x.py")
    git(home, *PLAIN, "commit", "-qm", "Zero")
    traps.set_again()
    async with world.isolated() as isolated:
        record = await merge(isolated, result)
        await undo(isolated, record.id)
        record = await merge(isolated, result)
        assert (home / "x.py").read_text().splitlines()[::19] == ["zero", "nineteen"]
        await undo(isolated, record.id)
    assert traps.sprung == set()
    # The same by hand.
    run(home, *PLAIN, "merge", "-q", result.ref)
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
        async with git_world.isolated(home) as isolated:
            assert await isolated.git.succeeds("cat-file", "-e", git(home, "rev-parse", "HEAD"))


async def test_what_a_dead_server_left_is_removed_in_time(git_world):
    repository = await git_world.repository()
    async with IsolatedRepository.of(repository, git_world.cache) as isolated:
        old, young = isolated.place / "work-old", isolated.place / "work-young"
        old.mkdir()
        young.mkdir()
        os.utime(old, (1, 1))
    async with IsolatedRepository.of(repository, git_world.cache):
        assert young.exists() and not old.exists()


async def test_something_that_never_ends_is_not_read(git_world):
    info = git_world.home / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").unlink(missing_ok=True)
    os.mkfifo(info / "attributes")
    async with git_world.isolated() as isolated:
        await inspect(isolated)
    index = git_world.home / ".git" / "index"
    index.unlink()
    os.mkfifo(index)
    with pytest.raises(RepositoryError, match="is not a file"):
        async with git_world.isolated() as isolated:
            await inspect(isolated)


@pytest.mark.parametrize("name", ["core.attributesFile", "core.excludesFile"])
@pytest.mark.parametrize("kind", ["zero", "fifo", "folder", "large", "missing"])
async def test_lists_that_never_end_are_not_read(git_world, tmp_path, name, kind):
    value = tmp_path / kind
    if kind == "zero":
        value = Path("/dev/zero")
    elif kind == "fifo":
        os.mkfifo(value)
    elif kind == "folder":
        value.mkdir()
    elif kind == "large":
        value.write_text("README.md\n*.txt\n" + "#" * 2_000_000)
    git(git_world.home, "config", name, str(value))
    write(git_world.home, {"new.txt": "n\n", "README.md": "mine\n"})
    async with git_world.isolated() as isolated:
        found = await inspect(isolated)
        assert {change["path"] for change in found["changes"]} == {"new.txt", "README.md"}
        sent = await push_scratch(isolated, include_uncommitted=True)
        result = await fetch_target(
            isolated, git_world.elsewhere({"n": "1\n"}, sent), sent=sent, session="s", number=1
        )
        write(git_world.home, {"new.txt": None, "README.md": "# Hello\n"})
        await undo(isolated, (await merge(isolated, result)).id)


@pytest.mark.parametrize("value", ["lists/own", "ABSOLUTE"])
async def test_lists_of_the_repository_itself_hold(git_world, value):
    write(git_world.home, {"lists/own": "*.log\n", "a.log": "x\n"})
    if value == "ABSOLUTE":
        value = str(git_world.home / "lists/own")
    git(git_world.home, "config", "core.excludesFile", value)
    async with git_world.isolated() as isolated:
        assert [each["path"] for each in (await inspect(isolated))["changes"]] == ["lists/"]
