# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""An agent gets the user's environment without the server's keys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_acp.agents.environment import (
    agent_environment,
    is_loader_variable,
    is_ordinary_variable,
)
from jupyter_acp.agents.modules import own_module

SERVERS = [
    "JUPYTER_TOKEN",
    "JUPYTER_TOKEN_FILE",
    "JUPYTER_PASSWORD",
    "JUPYTER_SERVER_COOKIE_SECRET",
    "JUPYTER_SERVER_COOKIE_SECRET_FILE",
    "JUPYTER_GATEWAY_AUTH_TOKEN",
    "JUPYTER_GATEWAY_HTTP_PWD",
    "JUPYTER_GATEWAY_HEADERS",
    "JUPYTERHUB_API_TOKEN",
    "JUPYTERHUB_COOKIE_SECRET",
    "JUPYTERHUB_CRYPT_KEY",
    "JUPYTERHUB_SSL_KEYFILE",
    "JUPYTERHUB_OAUTH_CLIENT_SECRET",
    "JPY_API_TOKEN",
    "JPY_COOKIE_SECRET",
    "JPY_SESSION_NAME",
    "JPY_PARENT_PID",
    "CONFIGPROXY_AUTH_TOKEN",
    "KG_AUTH_TOKEN",
    "EG_AUTH_TOKEN",
]

USERS = [
    "PATH",
    "HOME",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "HF_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "HTTPS_PROXY",
    "no_proxy",
    "SSH_AUTH_SOCK",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "JUPYTER_PATH",
    "JUPYTER_CONFIG_DIR",
    "JUPYTERHUB_USER",
    "JUPYTERHUB_SERVICE_PREFIX",
    "MY_JUPYTER_TOKENS_COUNT",
]


@pytest.mark.parametrize("name", SERVERS)
def test_what_belongs_to_the_server_stays_there(name: str) -> None:
    assert agent_environment({name: "x", name.lower(): "x"}, {}) == {}


@pytest.mark.parametrize("name", USERS)
def test_what_belongs_to_the_user_goes_along(name: str) -> None:
    assert agent_environment({name: "x"}, {}) == {name: "x"}


def test_what_the_spec_sets_wins_and_is_never_dropped() -> None:
    base = {"A": "server", "JUPYTER_TOKEN": "server"}
    extra = {"A": "spec", "JUPYTER_TOKEN": "spec"}
    assert agent_environment(base, extra) == extra


def test_the_server_keeps_its_own_environment() -> None:
    base = {"JUPYTER_TOKEN": "x"}
    agent_environment(base, {"B": "c"})
    assert base == {"JUPYTER_TOKEN": "x"}


def test_a_real_child_sees_no_secret() -> None:
    base = {**os.environ, "JUPYTERHUB_API_TOKEN": "t0ken", "MY_API_KEY": "mine"}
    code = "import os; print(os.environ)"
    env = agent_environment(base, {})
    seen = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert seen.returncode == 0
    assert "t0ken" not in seen.stdout
    assert "mine" in seen.stdout


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "BASH_ENV",
        "ENV",
        "PATH",
        "HOME",
        "npm_config_registry",
        "NPM_CONFIG_REGISTRY",
        "UV_INDEX_URL",
        "PIP_INDEX_URL",
        "GIT_SSH_COMMAND",
        "HTTPS_PROXY",
        "https_proxy",
        "SSL_CERT_FILE",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "GCONV_PATH",
        "BASH_FUNC_ls%%",
        "JUPYTER_TOKEN",
        "PAGER",
    ],
)
def test_a_stranger_must_not_set_what_runs_code(name: str) -> None:
    assert is_loader_variable(name)


@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "ENVIRONMENT", "NODE_ENV", "MY_PATH", "UVICORN"]
)
def test_a_stranger_may_set_the_rest(name: str) -> None:
    assert not is_loader_variable(name)


@pytest.mark.parametrize(
    ("name", "value", "is_ordinary"),
    [
        ("CI", "anything", True),
        ("PAGER", "cat", True),
        ("PAGER", "./cat", False),
        ("GIT_EDITOR", "true", True),
        ("SHELL", "/bin/sh", True),
        ("SHELL", "/usr/bin/bash", True),
        ("SHELL", "/opt/own/shell", True),
        ("SHELL", "sh", False),
        ("SHELL", "/tmp/sh", False),
        ("SHELL", "", False),
        ("SHELL", "# /etc/shells: valid login shells", False),
        ("PATH", "/bin", False),
        ("UNKNOWN", "", False),
    ],
)
def test_what_is_known_to_be_harmless(monkeypatch, name, value, is_ordinary) -> None:
    monkeypatch.setenv("SHELL", "/opt/own/shell")
    assert is_ordinary_variable(name, value) is is_ordinary


def test_a_shell_of_the_system_is_harmless() -> None:
    shells = Path("/etc/shells")
    if not shells.exists():
        pytest.skip("this system has no list of shells")
    for line in shells.read_text().splitlines():
        assert is_ordinary_variable("SHELL", line) is line.startswith("/")


@pytest.mark.parametrize("path", [None, "", ".", f"{os.pathsep}sub{os.pathsep}/nowhere"])
def test_our_own_programs_import_nothing_from_where_they_are_started(tmp_path, path) -> None:
    for folder in (tmp_path, tmp_path / "sub"):
        folder.mkdir(exist_ok=True)
        for name in ("argparse", "asyncio", "runpy", "jupyter_acp"):
            (folder / f"{name}.py").write_text("raise SystemExit('sprung')")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*own_module("jupyter_acp.remote"), "--help"],
        cwd=tmp_path,
        env=env if path is None else {**env, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "--options JSON" in done.stdout
