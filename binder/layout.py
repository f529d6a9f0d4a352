# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Lay out what a visitor finds: the tour, a project with a git remote beside it, and the chat open."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = "weather"
PANEL = "jp-acp-panel"
AGENT = "builtin"
VISITOR = {
    "GIT_AUTHOR_NAME": "A visitor",
    "GIT_AUTHOR_EMAIL": "visitor@example.org",
    "GIT_COMMITTER_NAME": "A visitor",
    "GIT_COMMITTER_EMAIL": "visitor@example.org",
}


def main() -> None:
    """Lay it out in a home folder; what is there already is made anew."""
    home = Path(sys.argv[1])
    tour = home / "tour"
    shutil.rmtree(tour, ignore_errors=True)
    tour.mkdir(parents=True)
    shutil.copy(HERE / "tour.ipynb", tour)
    lay_out_project(home / f"{PROJECT}.git", tour / PROJECT)
    configure(home / ".jupyter")
    open_chat(tour)


def lay_out_project(remote: Path, clone: Path) -> None:
    """Make a bare repository out of the example, and clone it into the tour."""
    shutil.rmtree(remote, ignore_errors=True)
    git("init", "--quiet", "--bare", "--initial-branch=main", remote)
    git("clone", "--quiet", remote.as_uri(), clone)
    shutil.copytree(HERE / PROJECT, clone, dirs_exist_ok=True)
    git("-C", clone, "add", ".")
    git("-C", clone, "commit", "--quiet", "--message", "Temperatures of a week")
    git("-C", clone, "push", "--quiet", "origin", "HEAD:main")
    git("-C", clone, "branch", "--quiet", "--set-upstream-to=origin/main")
    for key in ("name", "email"):
        git("-C", clone, "config", f"user.{key}", VISITOR[f"GIT_AUTHOR_{key.upper()}"])


def git(*arguments: object) -> None:
    """Run git as nobody in particular."""
    subprocess.run(
        ["git", *map(str, arguments)], check=True, env={**os.environ, **VISITOR}, cwd=HERE
    )


def configure(folder: Path) -> None:
    """Let remote sessions use the repository that is here, and offer only what needs no key."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "AcpExtension": {
            "allowed_agents": [AGENT],
            "remote_schemes": ["https", "ssh", "file"],
        }
    }
    (folder / "jupyter_server_config.json").write_text(json.dumps(settings, indent=2))
    # A visitor of a few minutes has other things to look at than news.
    quiet = folder / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True, exist_ok=True)
    (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')


def open_chat(tour: Path) -> None:
    """Let JupyterLab begin with the tour, and beside it the chat with a session of the agent."""
    notebook = "notebook:tour.ipynb"
    workspace = {
        "metadata": {"id": "default"},
        "data": {
            "layout-restorer:data": {
                "main": {
                    "dock": {
                        "type": "tab-area",
                        "currentIndex": 0,
                        "widgets": [notebook],
                    },
                    "current": notebook,
                },
                "down": {"size": 0, "widgets": []},
                "left": {"collapsed": False, "current": "filebrowser", "visible": True},
                "right": {"collapsed": False, "current": PANEL, "visible": True},
                "relativeSizes": [0.16, 0.5, 0.34],
            },
            notebook: {"data": {"path": "tour.ipynb", "factory": "Notebook"}},
            "jupyter-acp-bridge-panel:open-sessions": {"agent": AGENT},
        },
    }
    with tempfile.NamedTemporaryFile("w", suffix=".jupyterlab-workspace", dir=tour) as file:
        json.dump(workspace, file)
        file.flush()
        subprocess.run(["jupyter", "lab", "workspaces", "import", file.name], check=True)


if __name__ == "__main__":
    main()
