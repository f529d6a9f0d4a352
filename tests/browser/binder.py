# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What Binder would do, without its containers: build in a clean environment, then start for a visitor.

The files of `binder/` are carried out as they are. Only conda is not there: what its environment is to
have from PyPI is installed into a virtual environment, and Python and git are those of this machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def main() -> int:
    port, token = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="jupyter-acp-binder-") as name:
        folder = Path(name)
        home, checkout, venv = folder / "home", folder / "checkout", folder / "venv"
        home.mkdir()
        copy_checkout(checkout)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "PYTHON", "VIRTUAL_ENV"))
        }
        environment |= {"HOME": str(home), "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
        wanted = yaml.safe_load((checkout / "binder" / "environment.yml").read_text())
        (packages,) = (part["pip"] for part in wanted["dependencies"] if isinstance(part, dict))
        install = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(install, check=True, env=environment)
        subprocess.run([checkout / "binder" / "postBuild"], check=True, env=environment)
        # As Binder starts it, but for the token and the port.
        command = [
            "jupyter-lab",
            "--no-browser",
            "--allow-root",
            "--expose-app-in-browser",
            f"--port={port}",
            f"--IdentityProvider.token={token}",
        ]
        server = subprocess.Popen(
            [checkout / "binder" / "start", *command], env=environment, cwd=checkout
        )
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        signal.signal(signal.SIGINT, lambda *_: server.terminate())
        return server.wait()


def copy_checkout(target: Path) -> None:
    """Copy what git has, and the front end as it was built: building it is another test's affair."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    built = "jupyter_acp/labextension"
    shutil.copytree(ROOT / built, target / built, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(main())
