# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A registry is read from files and addresses, and a malicious entry gets nowhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.request import Request

import pytest

from jupyter_acp.agents import registry as module
from jupyter_acp.agents.registry import Registry, RegistryError, load_registry, platform_key

if TYPE_CHECKING:
    from pathlib import Path

Load = Callable[..., Registry]

NPX = {"npx": {"package": "@scope/agent@1.2.3", "args": ["--acp"], "env": {"AGENT_MODE": "on"}}}


def entry(**fields: Any) -> dict[str, Any]:
    return {
        "id": "an-agent",
        "name": "An Agent",
        "version": "1.2.3",
        "description": "Does things",
        "distribution": NPX,
        **fields,
    }


def binary(**fields: Any) -> dict[str, Any]:
    target = {"archive": "https://example.org/a.tar.gz", "cmd": "./dist/an-agent", **fields}
    return entry(distribution={"binary": {platform_key(): target}})


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(*entries: Any) -> Registry:
        path = tmp_path / "registry.json"
        path.write_text(json.dumps({"version": "1.0.0", "agents": entries}))
        return load_registry(str(path))

    return load


def test_npx(load: Load) -> None:
    registry = load(entry(icon="https://example.org/i.svg", license="MIT", preview={"x": 1}))
    [candidate] = registry.agents["an-agent"]
    spec = candidate.spec
    assert registry.problems == []
    assert spec.argv == ["npx", "-y", "@scope/agent@1.2.3", "--acp"]
    assert spec.env_values() == {"AGENT_MODE": "on"}
    assert (spec.name, spec.description, spec.source) == ("An Agent", "Does things", "registry")
    assert spec.icon == "https://example.org/i.svg"
    assert "npx" in candidate.missing


def test_uvx(load: Load) -> None:
    registry = load(entry(distribution={"uvx": {"package": "an-agent[acp]==1.2", "args": ["-x"]}}))
    [candidate] = registry.agents["an-agent"]
    assert candidate.spec.argv == ["uvx", "an-agent[acp]==1.2", "-x"]
    assert candidate.spec.install == "pip install uv"


def test_a_package_with_another_command(load: Load) -> None:
    npx = {"package": "pkg@1.0.0", "cmd": "pkg-acp", "args": ["a"]}
    uvx = {"package": "pkg==1.0.0", "cmd": "pkg-acp", "args": ["a"]}
    first, second = load(entry(distribution={"npx": npx, "uvx": uvx})).agents["an-agent"]
    assert first.spec.argv == ["npx", "-y", "--package", "pkg@1.0.0", "pkg-acp", "a"]
    assert second.spec.argv == ["uvx", "--from", "pkg==1.0.0", "pkg-acp", "a"]


def test_a_binary_is_named_and_never_fetched(load: Load) -> None:
    [candidate] = load(binary(args=["acp"], sha256="0" * 64)).agents["an-agent"]
    assert candidate.spec.argv == ["an-agent", "acp"]
    assert candidate.spec.install is None
    assert "https://example.org/a.tar.gz" in candidate.missing


def test_an_installed_program_is_preferred_to_a_download(load: Load) -> None:
    both = {**binary()["distribution"], **NPX}
    candidates = load(entry(distribution=both)).agents["an-agent"]
    assert [candidate.spec.argv[0] for candidate in candidates] == ["an-agent", "npx"]


def test_a_windows_command_names_the_same_program(load: Load) -> None:
    [candidate] = load(binary(cmd="./dist-package\\an-agent.cmd")).agents["an-agent"]
    assert candidate.spec.argv == ["an-agent"]


def test_a_bad_entry_does_not_spoil_the_others(load: Load) -> None:
    registry = load(entry(id="one"), entry(id="../two"), 3, None, entry(id="four"))
    assert [*registry.agents] == ["one", "four"]
    assert len(registry.problems) == 3
    assert "Registry entry number 2 is refused: `id` must be" in registry.problems[0]


def test_the_first_of_two_with_the_same_id_stays(load: Load) -> None:
    registry = load(entry(name="first"), entry(name="second"))
    assert registry.agents["an-agent"][0].spec.name == "first"
    assert "`an-agent`" in registry.problems[0]


def npx(**fields: Any) -> dict[str, Any]:
    return entry(distribution={"npx": {"package": "pkg", **fields}})


@pytest.mark.parametrize(
    "package",
    [
        "-c",
        "--call=sh",
        "--registry=https://evil.example",
        "evil/repo",
        "github:evil/repo",
        "./here",
        "/abs",
        "../up",
        "file:../x",
        "https://evil.example/x.tgz",
        "git+ssh://evil/x",
        "x@npm:evil",
        "x@https://evil",
        "@/x",
        "@scope/",
        "a;b",
        "a&b",
        "a|b",
        "$(a)",
        "`a`",
        "a>b",
        "a<b",
        "a*b",
        "a'b",
        'a"b',
        "a\\b",
        "~a",
        "!a",
        "#a",
        "",
        "a b",
        " a",
        "a\n",
        "a\x00",
        "a\tb",
        None,
        1,
        ["a"],
    ],
)
@pytest.mark.parametrize("launcher", ["npx", "uvx"])
def test_a_package_is_a_plain_name(load: Load, launcher: str, package: Any) -> None:
    registry = load(entry(distribution={launcher: {"package": package}}))
    assert registry.agents == {}
    assert "`package` is not a plain package name" in registry.problems[0]


@pytest.mark.parametrize(
    "id_", ["a/b", "../a", "..", "/a", "a\\b", "a\0", "a\n", "a b", "-a", "", "a;b", 1, None, ["a"]]
)
def test_an_id_is_not_a_path(load: Load, id_: Any) -> None:
    registry = load(entry(id=id_))
    assert registry.agents == {}
    assert "number 1" in registry.problems[0]


@pytest.mark.parametrize(
    "cmd",
    [
        "/bin/evil",
        "\\evil",
        "\\\\host\\share\\evil",
        "C:\\evil",
        "c:evil",
        "../evil",
        "./a/../../evil",
        "..\\evil",
        "./-c",
        "./a;b",
        "./$(x)",
        "./a|b",
        "..",
        ".",
        "./",
        "file:///x",
        "",
        "./a b",
        "./a\nb",
        "./a\x00",
        None,
        1,
        ["a"],
    ],
)
def test_a_command_stays_inside_its_download(load: Load, cmd: Any) -> None:
    registry = load(binary(cmd=cmd))
    assert registry.agents == {}
    assert "`cmd`" in registry.problems[0]


@pytest.mark.parametrize(
    "cmd",
    [
        "sh",
        "bash",
        "dash",
        "zsh",
        "fish",
        "pwsh",
        "powershell.exe",
        "cmd.exe",
        "python",
        "python3",
        "python3.12",
        "node",
        "npx",
        "uvx",
        "env",
        "xargs",
        "sudo",
        "curl",
        "ssh",
        "perl",
        "ruby",
        "php",
        "git",
        "make",
        "docker",
        "BASH",
        "find",
        "awk",
        "gawk",
        "vim",
        "timeout",
        "flock",
        "setarch",
        "tmux",
        "bwrap",
        "ksh93",
        "cargo",
        "ld.so",
    ],
)
def test_a_command_is_not_a_tool_that_runs_its_arguments(load: Load, cmd: str) -> None:
    evil = ["-c", "touch /tmp/pwned"]
    for distribution in (
        binary(cmd=f"./{cmd}", args=evil)["distribution"],
        {"npx": {"package": "pkg", "cmd": cmd, "args": evil}},
        {"uvx": {"package": "pkg", "cmd": cmd, "args": evil}},
    ):
        registry = load(entry(distribution=distribution))
        assert registry.agents == {}
        assert "general tool" in registry.problems[0]


@pytest.mark.parametrize(
    "args", ["--acp", ["a", 1], ["a", None], [["a"]], {"a": "b"}, ["a\nb"], ["a\0"], ["\x1b[2J"]]
)
def test_arguments_are_plain_texts(load: Load, args: Any) -> None:
    assert "`args`" in load(npx(args=args)).problems[0]


@pytest.mark.parametrize("word", ["sh", "/bin/bash", "python3", "/usr/bin/env", "zsh"])
def test_arguments_name_no_shell(load: Load, word: str) -> None:
    problems = load(binary(cmd="./unheard-of", args=["/tmp", word, "-c", "x"])).problems
    assert "a shell or an interpreter" in problems[0]


@pytest.mark.parametrize(
    "env",
    [
        *({name: "x"} for name in ["LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "BASH_ENV", "PATH"]),
        *({name: "x"} for name in ["DYLD_INSERT_LIBRARIES", "npm_config_registry", "HTTPS_PROXY"]),
        {"FINE": "x", "LD_AUDIT": "x"},
        {"A=B": "x"},
        {"": "x"},
        {"A B": "x"},
        {"BASH_FUNC_ls%%": "x"},
        {"A": 1},
        {"A": "a\0b"},
        ["A=b"],
        "A=b",
    ],
)
def test_variables_cannot_load_code(load: Load, env: Any) -> None:
    registry = load(npx(env=env))
    assert registry.agents == {}
    assert "`env" in registry.problems[0]


@pytest.mark.parametrize("archive", [None, 1, "", "http://h/a", "file:///a", "https://h/a b\n"])
def test_a_download_is_named_by_an_https_address(load: Load, archive: Any) -> None:
    assert "`archive`" in load(binary(archive=archive)).problems[0]


@pytest.mark.parametrize("distribution", [None, {}, [], "npx", {"npx": "pkg"}, {"docker": {}}])
def test_a_distribution_is_needed(load: Load, distribution: Any) -> None:
    registry = load(entry(distribution=distribution))
    assert registry.agents == {}
    assert len(registry.problems) == 1


def test_a_download_for_other_machines_only(load: Load) -> None:
    target = {"archive": "https://example.org/a", "cmd": "./a"}
    registry = load(entry(distribution={"binary": {"plan9-mips": target}}))
    assert f"nothing for {platform_key()}" in registry.problems[0]


def test_hidden_characters_do_not_reach_the_screen(load: Load) -> None:
    [problem] = load(entry(name="Good\u202eeliF")).problems
    assert problem.isprintable()
    [problem] = load(entry(id="\x1b[2Jevil")).problems
    assert problem.isprintable()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"agents": {}}', b"\xff\xfe\xfa", b"[" * 200_000, b"1"]
)
def test_a_file_in_another_format(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "registry.json"
    path.write_bytes(content)
    with pytest.raises(RegistryError, match="format of the ACP registry"):
        load_registry(str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="No such file"):
        load_registry(str(tmp_path / "nothing.json"))


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_bytes(b" " * (module.SIZE_LIMIT + 1))
    with pytest.raises(RegistryError, match="larger than 4 MiB"):
        load_registry(str(path))


def test_a_file_address(tmp_path: Path) -> None:
    path = tmp_path / "my registry.json"
    path.write_text(json.dumps({"agents": [entry()]}))
    assert [*load_registry(path.as_uri()).agents] == ["an-agent"]


@pytest.mark.parametrize("location", ["ftp://h/r.json", "data://x", "http://[", "javascript://x"])
def test_other_addresses(location: str) -> None:
    with pytest.raises(RegistryError):
        load_registry(location)


class _Handler(BaseHTTPRequestHandler):
    """Plays a registry host with good and bad manners."""

    def do_GET(self) -> None:
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        name = self.path.partition("?")[0]
        if name in ("/to-file", "/to-ftp", "/to-good"):
            targets = {"/to-file": "file:///etc/passwd", "/to-ftp": "ftp://127.0.0.1/x"}
            self.send_response(302)
            self.send_header("Location", targets.get(name, "/good"))
            self.end_headers()
        elif name == "/good":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"agents": [entry()]}).encode())
        elif name == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 65536)
            except OSError:
                pass
        elif name == "/trickle":
            self.send_response(200)
            self.end_headers()
            try:
                while not self.server.done.wait(0.05):  # type: ignore[attr-defined]
                    self.wfile.write(b" ")
            except OSError:
                pass
        else:
            self.send_error(404)

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[str] = []
        self.done = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = _Server()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.done.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("path", ["/good", "/to-good"])
def test_an_address_is_fetched(server: _Server, path: str) -> None:
    assert [*load_registry(server.address + path).agents] == ["an-agent"]


def test_an_address_that_does_not_exist(server: _Server) -> None:
    with pytest.raises(RegistryError, match="Not Found") as caught:
        load_registry(f"{server.address}/nothing?token=s3cret")
    assert server.seen == ["/nothing?token=s3cret"]
    assert "s3cret" not in str(caught.value)


def test_a_password_is_refused_and_not_shown(server: _Server) -> None:
    address = server.address.replace("//", "//user:s3cret@") + "/good"
    with pytest.raises(RegistryError, match="password") as caught:
        load_registry(address)
    assert "s3cret" not in str(caught.value)
    assert server.seen == []


def test_an_endless_answer_is_cut_off(server: _Server) -> None:
    with pytest.raises(RegistryError, match="larger than 4 MiB"):
        load_registry(server.address + "/endless")


def test_a_trickling_answer_is_cut_off(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 3)
    with pytest.raises(RegistryError, match="took longer"):
        load_registry(server.address + "/trickle")


@pytest.mark.parametrize("path", ["/to-file", "/to-ftp"])
def test_a_redirect_stays_on_the_web(server: _Server, path: str) -> None:
    with pytest.raises(RegistryError, match=r"not (secure|allowed)"):
        load_registry(server.address + path)


def test_a_redirect_does_not_leave_https() -> None:
    handler = module._NoDowngrade()
    request = Request("https://example.org/a")
    with pytest.raises(ValueError, match="not secure"):
        handler.redirect_request(request, None, 302, "", {}, "http://example.org/b")
    followed = handler.redirect_request(request, None, 302, "", {}, "https://example.org/b")
    assert followed is not None


def test_nobody_answers() -> None:
    server = _Server()
    address = server.address
    server.server_close()
    with pytest.raises(RegistryError, match="could not be read"):
        load_registry(address)
