# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`jupyter acp doctor` finds what is wrong, says what to do, and changes nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys

import jupyterlab.labapp  # noqa: F401 (once for all copies)
import notebook.app  # noqa: F401
import psutil
import pytest

from jupyter_acp.__main__ import main

SECTIONS = ["Versions", "Installation", "Configuration", "Agents", "Files", "Environment"]


@pytest.fixture
def doctor(tmp_path, monkeypatch):
    """Run the command for somebody whose home is empty; return how it ended and what it found."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "config").mkdir()

    def run(*args, config=None):
        if config is not None:
            path = tmp_path / "config" / "jupyter_server_config.json"
            path.write_text(json.dumps({"AcpExtension": config}))
        code, printed = _forked(tmp_path / "report", ["doctor", "--json", *args])
        return code, {each["section"]: each["findings"] for each in json.loads(printed)}

    return run


def _forked(report, args):
    """Run it in a copy of this process: other extensions change Jupyter for all that come after."""

    def work():
        with report.open("w") as file:
            sys.stdout = file
            code = main(args)
            file.flush()
            os._exit(code)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(100)
    assert process.exitcode in (0, 1), process.exitcode
    return process.exitcode, report.read_text()


def bad(found):
    return [each for findings in found.values() for each in findings if each["level"] == "bad"]


def test_all_is_well(tmp_path):
    """As a person runs it, with all that a process brings."""
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTER_TOKEN": "very-secret",
        "JUPYTERHUB_USER": "ada",
    }
    command = [sys.executable, "-m", "jupyter_acp", "doctor", "--start"]
    ended = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    printed = ended.stdout
    assert [line for line in printed.splitlines() if line in SECTIONS] == SECTIONS
    assert printed.endswith("\nAll is well.\n")
    assert "builtin starts: Notebook Assistant " in printed
    assert "JUPYTER_TOKEN" in printed and "On a JupyterHub, as ada" in printed
    assert "very-secret" not in printed + ended.stderr
    assert not (tmp_path / "data" / "acp").exists(), "only looked at"
    left = [each for each in psutil.process_iter() if _home(each) == str(tmp_path)]
    assert left == []


def _home(process):
    try:
        return process.environ().get("HOME", "")
    except psutil.Error:
        return ""


@pytest.mark.parametrize(
    ("config", "text", "advice"),
    [
        ({"jurnal": "/x"}, "AcpExtension.jurnal is not a setting", "docs/configuration.md"),
        ({"permissions": {"*": [{"kind": "all"}]}}, "is invalid", "No session can start"),
        ({"agents": {"mine": {"argv": ["no-such-program"]}}}, "mine: `no-such-program`", ""),
        ({"agents": {"mine": "x"}}, "it must be a dictionary", "Correct its entry"),
        ({"default_agent": "mine"}, "`mine` is not available", "AcpExtension.default_agent"),
        ({"allowed_agents": ["x*"]}, "New sessions cannot start", "AcpExtension.allowed_agents"),
        ({"registry": "/no/such/file.json"}, "/no/such/file.json", "AcpExtension.registry"),
    ],
)
def test_what_is_wrong_with_the_configuration(doctor, config, text, advice):
    code, found = doctor(config=config)
    (problem,) = bad(found)
    assert text in problem["text"]
    assert advice in problem["advice"]
    assert code == 1


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("jupyter_server_config.py", "c.ServerApp.port = 'many'", "'port' trait"),
        # A server starts with these, as if they were not there.
        ("jupyter_server_config.py", "open('/no/such/file')", "/no/such/file"),
        ("jupyter_server_config.json", '{"AcpExtension": {},}', "line 1 column 21"),
    ],
)
def test_a_configuration_that_cannot_be_read(doctor, tmp_path, name, text, why):
    (tmp_path / "config" / name).write_text(text)
    code, found = doctor()
    (problem,) = bad(found)
    assert "does not start with this configuration" in problem["text"]
    assert why in problem["text"]
    assert "--show-config" in problem["advice"]
    assert code == 1


def test_a_configuration_that_has_no_effect(doctor, tmp_path):
    folder = tmp_path / "config" / "jupyter_server_config.d"
    folder.mkdir()
    (folder / "acp.json").write_text('{"AcpExtension": {"allowed_agents": ["builtin"]}}')
    (folder / "other.json").write_text('{"ServerApp": {"jpserver_extensions": {}}}')
    code, found = doctor()
    (problem,) = bad(found)
    assert problem["text"] == f"AcpExtension in {folder / 'acp.json'} has no effect"
    assert str(tmp_path / "config" / "jupyter_server_config.json") in problem["advice"]
    assert any("claude-acp" in each["text"] for each in found["Agents"]), "all are allowed"
    assert code == 1


def test_an_agent_elsewhere_that_may_have_no_tools(doctor):
    far = {"agents": {"far": {"url": "wss://example.org/acp"}}}

    def notes(config):
        _, found = doctor(config=config)
        return [each for each in found["Agents"] if "MCP over ACP: far" in each["text"]]

    (told,) = notes(far)
    assert told["level"] == "note" and "AcpExtension.public_url" in told["advice"]
    assert notes({**far, "public_url": "https://example.org/"}) == []
    assert notes({**far, "tools": False}) == []


def test_an_agent_that_does_not_start(doctor):
    broken = [sys.executable, "-c", "import sys; sys.exit('no key')"]
    _, found = doctor("--start", config={"agents": {"mine": {"argv": broken}}})
    (problem,) = bad(found)
    assert problem["text"] == "mine does not start"
    assert "no key" in problem["advice"]


@pytest.mark.parametrize("part", ["jupyter_acp.tools.mcp", "jupyter_acp.tools.toolbox"])
def test_tools_that_do_not_load(doctor, monkeypatch, part):
    # As if something that they need was not there.
    monkeypatch.setitem(sys.modules, part, None)
    code, found = doctor()
    (problem,) = bad(found)
    assert "tools for notebooks do not load" in problem["text"] and part in problem["text"]
    assert "pip check" in problem["advice"] and code == 1


def test_switched_off(doctor, tmp_path):
    folder = tmp_path / "config" / "labconfig"
    folder.mkdir()
    (folder / "page_config.json").write_text('{"disabledExtensions": {"jupyter-acp-bridge": true}}')
    _, found = doctor()
    (problem,) = bad(found)
    assert problem["advice"] == "Run: jupyter labextension enable jupyter-acp-bridge"

    (folder / "page_config.json").unlink()
    path = tmp_path / "config" / "jupyter_server_config.json"
    path.write_text('{"ServerApp": {"jpserver_extensions": {"jupyter_acp": false}}}')
    _, found = doctor()
    (problem,) = bad(found)
    assert problem["advice"] == "Run: jupyter server extension enable jupyter_acp"


@pytest.fixture
def journal(tmp_path):
    folder = tmp_path / "data" / "acp"
    folder.mkdir(parents=True, mode=0o700)
    path = folder / "journal.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE sessions (id TEXT)")
    db.execute("INSERT INTO sessions VALUES ('one')")
    db.commit()
    db.close()
    path.chmod(0o600)
    return path


def test_sessions_that_are_kept(doctor, journal):
    before = journal.read_bytes()
    _, found = doctor()
    assert bad(found) == []
    assert any("holds 1 sessions" in each["text"] for each in found["Files"])
    assert journal.read_bytes() == before


def test_sessions_that_others_can_read(doctor, journal):
    journal.chmod(0o644)
    journal.parent.chmod(0o755)
    _, found = doctor()
    assert [each["advice"] for each in bad(found)] == [
        f"Run: chmod 700 {journal.parent}",
        f"Run: chmod 600 {journal}",
    ]


def test_sessions_that_are_damaged(doctor, journal):
    journal.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    _, found = doctor()
    (problem,) = bad(found)
    assert "is damaged" in problem["text"]
    assert ".recover" in problem["advice"]


def test_sessions_of_a_newer_version(doctor, journal):
    db = sqlite3.connect(journal)
    db.execute("PRAGMA user_version=99")
    db.close()
    _, found = doctor()
    (problem,) = bad(found)
    assert "newer version" in problem["text"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_ours(doctor, journal):
    journal.parent.chmod(0o500)
    _, found = doctor()
    assert any("cannot be written to" in each["text"] for each in bad(found))
    journal.parent.chmod(0o700)


def test_servers_that_cannot_be_given_are_named(doctor, tmp_path):
    _, found = doctor()
    assert "MCP servers" not in found
    journal = tmp_path / "journal.sqlite"
    with sqlite3.connect(journal) as db:
        db.execute("CREATE TABLE facts (key TEXT PRIMARY KEY, value BLOB)")
        mine = {"servers": [{"name": "mine", "command": "no-such-program-here"}, {"name": "odd"}]}
        db.execute("INSERT INTO facts VALUES ('settings', ?)", [json.dumps(mine).encode()])
    db.close()
    secrets = tmp_path / "config" / "acp" / "secrets.env"
    secrets.parent.mkdir()
    secrets.touch(0o600)
    secrets.write_text("KNOWN=very-secret")
    servers = {
        "good": {"command": sys.executable, "env": {"A": "${KNOWN}"}},
        "poor": {"url": "https://example.org/mcp", "headers": {"A": "${UNKNOWN}"}},
    }
    config = {"mcp_servers": servers, "journal": str(journal)}
    code, found = doctor(config=config)
    good, poor, mine, odd = found["MCP servers"]
    assert code == 1 and "very-secret" not in json.dumps(found)
    assert good["level"] == "good" and good["text"].startswith("good ")
    assert poor["level"] == "bad" and f"UNKNOWN=… into {secrets}" in poor["advice"]
    assert mine["level"] == "bad" and "no program no-such-program-here" in mine["advice"]
    assert odd["level"] == "bad" and "no command" in odd["advice"]
    secrets.chmod(0o644)
    _, found = doctor(config=config)
    assert f"chmod 600 {secrets}" in found["MCP servers"][0]["advice"]
