# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The git program, run without hooks, without helpers that a repository names, and without prompts.

The user's own settings and credentials apply; the settings of a repository are never trusted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .refs import Policy, redacted

TIMEOUT = 600.0
SHOWN_LINES = 12
"""Number of the last lines of git's output that an error message shows."""

LONGEST_OUTPUT = 64 * 1024 * 1024
_CHECK_INTERVAL = 0.3
_KILL_GRACE = 2.0

_SAFE_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.askPass": "",
    "core.alternateRefsCommand": "true",
    "core.quotePath": "false",
    "core.logAllRefUpdates": "true",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    "log.showSignature": "false",
    "merge.verifySignatures": "false",
    "advice.detachedHead": "false",
    "advice.addEmbeddedRepo": "false",
    "color.ui": "false",
    "checkout.workers": "0",
}
NO_LFS = {
    "filter.lfs.process": "",
    "filter.lfs.smudge": "",
    "filter.lfs.clean": "",
    "filter.lfs.required": "false",
}
"""Settings that turn Git LFS off: it would contact a server that the user has not named."""

_KEPT_VARIABLES = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_PROGRESS = re.compile(
    r"(?:remote: )?([A-Z][A-Za-z ]+):\s+(\d+)% \((\d+)/(\d+)\)(?:, (?!done)(.*?))?(?:, done\.)?$"
)


class Progress(NamedTuple):
    """A progress message of git."""

    stage: str
    percent: int
    detail: str


Report = Callable[[Progress], None]


class GitError(Exception):
    """A failure of git; the message is for the user and contains no secret."""

    def __init__(self, message: str, *, status: int | None = None, output: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.output = output


@dataclass(frozen=True)
class Room:
    """The number of bytes by which a folder may grow while git runs."""

    folder: Path
    size: int


class Git:
    """Runs git with one set of folders, settings and variables."""

    def __init__(
        self,
        *,
        policy: Policy,
        timeout: float = TIMEOUT,
        git_dir: Path | None = None,
        work_tree: Path | None = None,
        index: Path | None = None,
        config: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.policy = policy
        self.timeout = timeout
        self.git_dir = git_dir
        self.work_tree = work_tree
        self.index = index
        self.config = dict(config or {})
        self.env = dict(env or {})

    def at(
        self,
        git_dir: Path | None = None,
        *,
        work_tree: Path | None = None,
        index: Path | None = None,
        config: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Git:
        """Return a copy with other folders and with more settings and variables."""
        return Git(
            policy=self.policy,
            timeout=self.timeout,
            git_dir=git_dir,
            work_tree=work_tree,
            index=index,
            config={**self.config, **(config or {})},
            env={**self.env, **(env or {})},
        )

    async def run(
        self,
        *args: str,
        input: bytes | Path | None = None,
        report: Report | None = None,
        room: Room | None = None,
        ok: Sequence[int] = (0,),
    ) -> bytes:
        """Run a git command and return its output; no process of it is left running."""
        return (await self.result(*args, input=input, report=report, room=room, ok=ok))[1]

    async def text(self, *args: str, ok: Sequence[int] = (0,)) -> str:
        """Return the output of a command as text, without surrounding white space."""
        return (await self.run(*args, ok=ok)).decode("utf-8", "surrogateescape").strip()

    async def succeeds(self, *args: str) -> bool:
        """Return True if a command exits with status 0."""
        return (await self.result(*args, ok=(0, 1, 128)))[0] == 0

    async def result(
        self,
        *args: str,
        input: bytes | Path | None = None,
        report: Report | None = None,
        room: Room | None = None,
        ok: Sequence[int] = (0,),
    ) -> tuple[int, bytes]:
        """Run a git command and return its exit status and output."""
        before = await _size_now(room) if room is not None else 0
        process = await self._start(args, input)
        errors = _Errors(report)
        work = asyncio.gather(
            _read(process.stdout, LONGEST_OUTPUT),
            errors.read(process.stderr),
            _feed(process.stdin, input),
            process.wait(),
        )
        watch = asyncio.ensure_future(_watch(room, before)) if room is not None else None
        try:
            waiting: set[asyncio.Future[Any]] = {work} if watch is None else {work, watch}
            await asyncio.wait(waiting, timeout=self.timeout, return_when=asyncio.FIRST_COMPLETED)
            if watch is not None and watch.done():
                raise GitError(
                    f"What is fetched is larger than the {_megabytes(room)} that are allowed here "
                    "(AcpExtension.remote_size)."
                )
            if not work.done():
                raise GitError(
                    f"git {args[0]} took longer than {self.timeout:g} s and was stopped "
                    "(AcpExtension.remote_timeout)."
                )
            printed = work.result()[0]
        finally:
            if watch is not None:
                watch.cancel()
            await _end(process)
            if not work.done():
                work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        status = process.returncode or 0
        if status not in ok:
            raise _failure(args, status, errors.text)
        return status, printed

    async def _start(
        self, args: Sequence[str], given: bytes | Path | None
    ) -> asyncio.subprocess.Process:
        program = shutil.which("git")
        if program is None:
            raise GitError("There is no git on this machine. Install it and try again.")
        command = [program]
        # An allowed host must not redirect git to one that is not allowed.
        led = {"http.followRedirects": "false"} if self.policy.hosts else {}
        for name, value in {**_SAFE_CONFIG, **led, **self.config}.items():
            command += ["-c", f"{name}={value}"]
        if self.git_dir is not None:
            command.append(f"--git-dir={self.git_dir}")
        if self.work_tree is not None:
            command.append(f"--work-tree={self.work_tree}")
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            # An input file may be larger than the memory.
            with given.open("rb") if isinstance(given, Path) else contextlib.nullcontext() as file:
                return await asyncio.create_subprocess_exec(
                    *command,
                    *args,
                    stdin=file or (nothing if given is None else pipe),
                    stdout=pipe,
                    stderr=pipe,
                    cwd=self.work_tree or self.git_dir,
                    env=self._environment(),
                    # So git has no terminal to ask at, and its children can be ended with it.
                    start_new_session=True,
                    limit=LONGEST_OUTPUT,
                )
        except OSError as error:
            raise GitError(f"git could not be started: {error.strerror}.") from None

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GIT_") or name in _KEPT_VARIABLES or name.startswith("GIT_SSL_")
        }
        if self.index is not None:
            kept["GIT_INDEX_FILE"] = str(self.index)
        return {
            **kept,
            "GIT_ALLOW_PROTOCOL": self.policy.protocols,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS_REQUIRE": "never",
            "GCM_INTERACTIVE": "never",
            "GIT_EDITOR": ":",
            "GIT_PAGER": "cat",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "LC_ALL": "C.UTF-8",
            "LANGUAGE": "C",
            **self.env,
        }


class _Errors:
    """Reads git's stderr: progress messages and errors."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        return redacted("\n".join(self._lines[-SHOWN_LINES:]))

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        rest = b""
        while data := await stream.read(64 * 1024):
            *lines, rest = re.split(rb"[\r\n]", rest + data)
            # Limit the length of a line without an end.
            rest = rest[-64 * 1024 :]
            for line in lines:
                self._take(line)
        self._take(rest)

    def _take(self, raw: bytes) -> None:
        line = raw.decode("utf-8", "replace").strip()
        if not line:
            return
        if found := _PROGRESS.match(line):
            if self._report is not None:
                self._report(Progress(found[1], int(found[2]), found[5] or ""))
            return
        self._lines = [*self._lines[-SHOWN_LINES:], line[:2000]]


async def _read(stream: asyncio.StreamReader | None, most: int) -> bytes:
    assert stream is not None
    parts: list[bytes] = []
    size = 0
    while data := await stream.read(1024 * 1024):
        size += len(data)
        if size > most:
            raise GitError("git printed more than can be taken here.")
        parts.append(data)
    return b"".join(parts)


async def _feed(stream: asyncio.StreamWriter | None, data: bytes | Path | None) -> None:
    if stream is None or not isinstance(data, bytes):
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(data)
        await stream.drain()
    stream.close()


async def _watch(room: Room, before: int) -> None:
    """Return when a folder has grown by more bytes than allowed."""
    while await _size_now(room) - before <= room.size:  # noqa: ASYNC110
        await asyncio.sleep(_CHECK_INTERVAL)


async def _size_now(room: Room) -> int:
    return await asyncio.to_thread(size_of, room.folder)


def size_of(folder: Path) -> int:
    """Return the total size of the files below a folder in bytes; skip files that disappear."""
    total = 0
    waiting = [os.fspath(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
    return total


async def _end(process: asyncio.subprocess.Process) -> None:
    """End git and its child processes, even if the caller is cancelled."""
    if process.returncode is not None:
        return
    _signal(process, signal.SIGTERM)
    try:
        await asyncio.wait_for(asyncio.shield(process.wait()), _KILL_GRACE)
    except (asyncio.TimeoutError, asyncio.CancelledError):
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _failure(args: Sequence[str], status: int, output: str) -> GitError:
    for words, advice in _ADVICE.items():
        if words in output:
            return GitError(f"{advice} git said: {output}", status=status, output=output)
    if status < 0:
        return GitError(
            f"git {args[0]} was ended by signal {-status}. {output}".strip(), status=status
        )
    return GitError(
        f"git {args[0]} failed: {output or f'status {status}'}", status=status, output=output
    )


_ADVICE = {
    "could not read Username": "The repository wants to know who asks: set up a credential helper of "
    "git, or an ssh key, on this machine.",
    "Authentication failed": "The repository does not accept the credentials of this machine.",
    "Host key verification failed": "The host is not known to ssh yet: connect to it once by hand.",
    "Permission denied (publickey": "The host accepts none of the ssh keys of this machine.",
    "Could not resolve host": "The host cannot be found: check the address and the network.",
    "unable to update url base from redirection": "The host sends git on to another address, which "
    "is not followed where only some hosts are allowed (AcpExtension.remote_hosts).",
    "transport '": "This way to a repository is not allowed here.",
    "No space left on device": "The disk is full.",
}


def _megabytes(room: Room | None) -> str:
    return f"{(room.size if room else 0) / 1e6:,.0f} MB"
