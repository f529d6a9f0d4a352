# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A Jupyter server as a process of its own, for what cannot be tried from the inside."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from jupyter_acp.agents.process import MARK

TOKEN = "a-token-for-tests"


def carrying(mark: str) -> list[psutil.Process]:
    """Every process that carries an agent's mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            pass
    return found


async def whole_family(mark: str) -> list[psutil.Process]:
    """An agent, its two children and their own, once they are all there."""
    family: list[psutil.Process] = []
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if len(family := carrying(mark)) == 5:
            return family
        await asyncio.sleep(0.1)
    raise AssertionError(f"only {len(family)} processes")


def is_agent(process: psutil.Process) -> bool:
    """Whether it is a scripted agent that runs; one that ends while it is looked at does not."""
    try:
        return any("scripted.py" in part for part in process.cmdline())
    except psutil.Error:
        return False


def agents_running() -> list[psutil.Process]:
    """The scripted agents below this process."""
    return [child for child in psutil.Process().children(recursive=True) if is_agent(child)]


def free_port() -> int:
    """A port that nobody has, from where the system gives none out to those who want any."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """Start, stop or kill it, and start it again on the same folder."""

    def __init__(self, folder: Path, agents: dict[str, Any], **traits: Any) -> None:
        self.folder = folder
        self.journal = folder / "journal.sqlite"
        self.port = 0
        self._config: dict[str, Any] = {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_acp": True},
                "root_dir": str(folder),
                "allow_root": True,
                "open_browser": False,
                "port_retries": 0,
            },
            "IdentityProvider": {"token": TOKEN},
            "AcpExtension": {
                "agents": agents,
                "default_agent": next(iter(agents)),
                "journal": str(self.journal),
                "stop_grace": 5.0,
                **traits,
            },
        }
        self._config_dir = folder / "config"
        self._config_dir.mkdir(exist_ok=True)
        self._environment = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(self._config_dir),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        }
        self.log = folder / "server.log"
        self.cwd: Path | None = None
        """Where whoever starts it is; some folders are traps."""

        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it where it was; the first time, where it finds room."""
        if self.port:
            assert self._starts(), self.log.read_text()
            return
        for _ in range(5):
            self.port = self._config["ServerApp"]["port"] = free_port()
            config = json.dumps(self._config)
            (self._config_dir / "jupyter_server_config.json").write_text(config)
            if self._starts():
                return
            # Somebody else may have been quicker to take the port; nothing else is tried again.
            if f"port {self.port} is not available" not in self.log.read_text():
                break
        raise AssertionError(self.log.read_text())

    def _starts(self) -> bool:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                # As a user does: with `-m`, Python itself would look for modules where we are.
                [str(Path(sys.executable).with_name("jupyter-server"))]
                if self.cwd is not None
                else [sys.executable, "-m", "jupyter_server"],
                env=self._environment,
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.get("health")
                return True
            time.sleep(0.1)
        return False

    def signal(self, number: int) -> int:
        """Send a signal and wait for the end."""
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGINT:
            # Nobody is at its terminal to be asked whether it is meant. A second one too soon would
            # interrupt the end that the first has begun.
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(60)
            self.process.send_signal(number)
        return self.process.wait(60)

    async def written(self, is_enough: Callable[[str, int, bytes], bool]) -> None:
        """Wait for a row in the journal: of a session, up to a number, with these messages."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with contextlib.closing(sqlite3.connect(self.journal, timeout=30)) as db:
                rows = db.execute("SELECT session, last, body FROM segments").fetchall()
            if any(is_enough(*row) for row in rows):
                return
            await asyncio.sleep(0.1)
        raise AssertionError("it was not written down")

    def get(self, path: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/acp/{path}", headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read())


@contextlib.contextmanager
def running(
    folder: Path, agents: dict[str, Any], *, cwd: Path | None = None, **traits: Any
) -> Iterator[Server]:
    """A server that is gone at the end, whatever happens."""
    server = Server(folder, agents, **traits)
    server.cwd = cwd
    try:
        server.start()
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.process.kill()
            server.process.wait()
