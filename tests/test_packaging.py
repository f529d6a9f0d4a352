# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A wheel, built from a clean checkout on a machine without Node, works somewhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from acpclient import scripted
from server import running

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.timeout(900)
TOOLS = ("git", "sh", "bash", "env", "uname", "cat", "rm", "mkdir", "cp", "ls", "which")


def run(*command: object, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command, and show what it said if it fails."""
    done = subprocess.run(
        [str(part) for part in command], env=env, cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which only the wheel was installed."""
    folder = tmp_path_factory.mktemp("packaging")
    source = folder / "source"
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in files.splitlines():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    tools = folder / "bin"
    tools.mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    without_node = {**os.environ, "PATH": str(tools)}
    assert shutil.which("node", path=str(tools)) is None
    # With the environment's own scripts out of the way as well: they bring a Node.
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, env=without_node, cwd=source)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.startswith("jupyter_acp_bridge-")
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    return python


def test_both_extensions_are_enabled(installed: Path) -> None:
    bin = installed.parent
    server = run(bin / "jupyter", "server", "extension", "list")
    assert "jupyter_acp" in server
    assert "enabled" in server.split("jupyter_acp")[1].splitlines()[0]
    assert "OK" in server.split("- Validating jupyter_acp")[1].split("- Validating")[0]
    lab = run(bin / "jupyter", "labextension", "list")
    (line,) = [line for line in lab.splitlines() if "jupyter-acp-bridge" in line]
    assert "enabled" in line
    assert "OK" in line


def test_the_doctor_finds_it_well(installed: Path, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    said = run(installed.parent / "jupyter", "acp", "doctor", "--start", env=env, cwd=tmp_path)
    assert "The server extension is enabled and loads" in said
    assert "The lab extension is enabled" in said
    assert "builtin starts" in said
    assert "All is well." in said


def test_the_server_of_the_wheel_serves(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(installed))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    with running(tmp_path, {"scripted": scripted()}) as server:
        agents = {agent["id"]: agent for agent in server.get("agents")["agents"]}
        assert agents["builtin"]["available"] is True
        where = run(installed, "-c", "import jupyter_acp; print(jupyter_acp.__file__)")
        assert str(installed.parent.parent) in where


def test_the_wheel_has_what_it_needs_and_no_more(installed: Path) -> None:
    listed = run(installed, "-m", "pip", "show", "--files", "jupyter-acp-bridge")
    for name in ("jupyter_acp/openapi.yaml", "jupyter_server_config.d/jupyter_acp.json"):
        assert name in listed
    assert "static/remoteEntry" in listed
    assert "node_modules" not in listed
    assert "tests/" not in listed
