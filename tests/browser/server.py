# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A JupyterLab or Notebook that knows nothing of its user: every folder is new, and gone later."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import jupyterlab

AGENTS: dict[str, tuple[str, dict[str, object]]] = {
    "scripted": ("Scripted", {}),
    "slow": ("Slow", {"slow_new": 5}),
    "late": ("Late", {"slow_new": 60}),
    "choosy": (
        "Choosy",
        {
            "models": {
                "currentModelId": "small",
                "availableModels": [
                    {"modelId": "small", "name": "Small <b>model</b>"},
                    {"modelId": "large", "name": "Large model"},
                ],
            },
            "options": [
                {
                    "id": "pace",
                    "name": "Pace",
                    "type": "select",
                    "currentValue": "slow",
                    "options": [
                        {"value": "slow", "name": "Slow"},
                        {"value": "fast", "name": "Fast"},
                        {"value": "refused", "name": "Too fast"},
                    ],
                },
                {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False},
                {"id": "mood", "name": "Mood", "type": "slider", "currentValue": 7},
            ],
        },
    ),
    "guarded": (
        "Guarded",
        {
            "login": "account",
            "capabilities": {"auth": {"logout": {}}},
            "auth_methods": [
                {"id": "account", "name": "With an <b>account</b>", "description": "By itself"},
                {"id": "key", "name": "With a key"},
                {"id": "slowly", "name": "Slowly"},
                {
                    "id": "cli",
                    "name": "In a terminal",
                    "_meta": {"terminal-auth": {"command": "echo", "args": ["log", "me; in"]}},
                },
                {
                    "id": "variables",
                    "name": "By variables",
                    "type": "env_var",
                    "vars": [{"name": "GUARDED_KEY", "label": "API key"}, {"name": "HOME"}],
                    "link": "javascript:alert(1)",
                },
            ],
        },
    ),
}
"""The scripted agent, in the ways that tests want it."""

SCHEMES = ["file", "http", "https", "ssh"]
"""Repositories of remote sessions may be in a folder: the tests have no other server for them."""


def main() -> int:
    port, token, application = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="jupyter-acp-browser-") as name:
        home = Path(name)
        root = home / "root"
        root.mkdir()
        (root / "notes.md").write_text("# Notes  \n\n\n\nBuy milk.   ")
        settings = home / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(
            json.dumps({"fetchNews": "false", "checkForUpdates": False})
        )
        (root / ".elsewhere.said").write_text(
            '["user_message_chunk", "What is this?"]\n'
            '["agent_message_chunk", "Something from a terminal."]\n'
        )
        elsewhere = {"sessionId": "elsewhere", "cwd": str(root), "title": "Begun in a terminal"}
        traveller = {
            "capabilities": {"loadSession": True, "sessionCapabilities": {"list": {}}},
            "listed": [[elsewhere]],
            "replay": 2,
        }
        scripted = Path(__file__).parent.parent / "support" / "agent_programs" / "scripted.py"
        agents = {
            id: {"name": name, "argv": [sys.executable, str(scripted), json.dumps(options)]}
            for id, (name, options) in {**AGENTS, "traveller": ("Traveller", traveller)}.items()
        }
        config = home / "config"
        config.mkdir()
        (config / "jupyter_server_config.json").write_text(
            json.dumps(
                {
                    "AcpExtension": {"agents": agents, "remote_schemes": SCHEMES},
                    "ServerApp": {"authorizer_class": "guests.Guests"},
                    # Each application of a server has pages of its own.
                    "LabApp": {"expose_app_in_browser": True},
                    "JupyterNotebookApp": {"expose_app_in_browser": True},
                }
            )
        )
        # An extension of somebody else. Older servers serve none through a link.
        foreign = Path(__file__).parents[2] / "labextension" / "test" / "foreign" / "dist"
        shutil.copytree(foreign, home / "data" / "labextensions" / "jupyter-acp-foreign")
        environment = {
            **os.environ,
            "HOME": name,
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "IPYTHONDIR": str(home / "ipython"),
            "PYTHONPATH": str(Path(__file__).parent),
            "ACP_TEST_SECRET": "known to the server alone",
        }
        # In a layer on top of another environment: JupyterLab's files are in the one below.
        below = Path(jupyterlab.__file__).parents[4]
        if below != Path(sys.prefix):
            environment["JUPYTER_PATH"] = str(below / "share" / "jupyter")
            environment["JUPYTER_CONFIG_PATH"] = str(below / "etc" / "jupyter")
        command = [
            sys.executable,
            "-m",
            application,
            "--no-browser",
            "--allow-root",
            f"--port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={token}",
            f"--ServerApp.root_dir={root}",
        ]
        if application == "jupyterlab":
            command.append(f"--app-dir={below / 'share' / 'jupyter' / 'lab'}")
        server = subprocess.Popen(command, env=environment)

        def stop(*_: object) -> None:
            server.terminate()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        return server.wait()


if __name__ == "__main__":
    sys.exit(main())
