# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Installed beside the other packages that bring agents and collaboration to JupyterLab, the tools work.

Each wants versions of its own of what others want as well, and pip changes what is there already: so
both orders are tried, each in an environment that a user would make.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from acpclient import Client, scripted
from mcpclient import servers
from nbformat.v4 import new_code_cell, new_notebook
from server import TOKEN, running
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

ROOT = Path(__file__).parents[2]
PLAY = ROOT / "tests" / "support" / "mcpplay.py"
PEERS = ["jupyter-ai>=3.2", "notebook-intelligence", "jupyter-collaboration>=4"]
FREE = {"*": [{"kind": "run", "decision": "allow"}]}
pytestmark = pytest.mark.timeout(1200)


def run(*command: object, env: dict[str, str] | None = None) -> str:
    """Run a command, and show what it said if it fails."""
    done = subprocess.run(
        [str(part) for part in command], env=env, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of what is here, with the front end as it was built."""
    folder = tmp_path_factory.mktemp("peers")
    names = run("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard")
    for name in names.splitlines():
        if (ROOT / name).is_file():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "source" / name)
    built = "jupyter_acp/labextension"
    shutil.copytree(ROOT / built, folder / "source" / built)
    env = {**os.environ, "HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"}
    source = folder / "source"
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, source, env=env)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module", params=["we come last", "we come first"])
def python(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory):
    """The Python of an environment in which all are installed."""
    folder = tmp_path_factory.mktemp("beside")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    steps = [PEERS, [wheel]] if request.param == "we come last" else [[wheel], PEERS]
    for step in steps:
        # Of what is installed, little is ever imported.
        run(python, "-m", "pip", "install", "--quiet", "--no-compile", *step)
    yield python
    # Several hundred megabytes.
    shutil.rmtree(folder)


async def test_the_tools_work(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run(python, "-m", "pip", "check")
    cells = [new_code_cell("x = 1", id="one")]
    (tmp_path / "n.ipynb").write_text(nbformat.writes(new_notebook(cells=cells)))
    agents = {"scripted": scripted()}
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    with running(tmp_path, agents, permissions=FREE) as server:
        request = HTTPRequest(
            f"ws://127.0.0.1:{server.port}/acp/ws", headers={"Authorization": f"token {TOKEN}"}
        )
        window = Client(await websocket_connect(request, subprotocols=["acp.ndjson"]))
        try:
            await window.initialize()
            session = await window.new(tmp_path)
            (entry,) = await servers(window, session)
            # By the shell, as it is installed.
            env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
            called = await asyncio.create_subprocess_exec(
                str(python.with_name("jupyter-acp")),
                *("tool", "--session", session, "read_notebook", "--json", '{"path": "n.ipynb"}'),
                env=env,
                stdout=asyncio.subprocess.PIPE,
            )
            printed, _ = await asyncio.wait_for(called.communicate(), 100)
            assert called.returncode == 0 and b'id="one"' in printed
            # By whichever MCP client has been installed.
            played = await asyncio.create_subprocess_exec(
                str(python),
                str(PLAY),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            wanted = json.dumps({"server": entry, "folder": str(tmp_path)}).encode()
            printed, _ = await asyncio.wait_for(played.communicate(wanted), 100)
            told = json.loads(printed)
            assert not told["slow"]["isError"] and "slept" in json.dumps(told["slow"])
        finally:
            await window.close()
