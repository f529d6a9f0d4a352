# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Node and the npm packages for the tests against the TypeScript SDK."""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "js"


def node() -> str:
    """Return Node, with its packages in place."""
    _install()
    return _program("node")


@functools.cache
def _install() -> None:
    """Install what the lock file says, and again only when it has changed."""
    with (PROJECT / "package-lock.json").open() as lock:
        # One after the other: tests run side by side, and each would delete what another installs.
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install_locked(lock.read())


def _install_locked(lock: str) -> None:
    stamp = PROJECT / "node_modules" / ".installed"
    if stamp.exists() and stamp.read_text() == lock:
        return
    done = subprocess.run(
        [_program("npm"), "ci", "--no-audit", "--no-fund"],
        cwd=PROJECT,
        # npm is a script that looks for node on PATH.
        env={**os.environ, "PATH": _search_path()},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"npm ci failed in {PROJECT}:\n{done.stdout}\n{done.stderr}"
    stamp.write_text(lock)


def _program(name: str) -> str:
    # Not skipped without Node: a test that nobody runs would pass for one that holds.
    found = shutil.which(name, path=_search_path())
    assert found, f"There is no {name}: run `make test`, which installs it into .venv."
    return found


def _search_path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
