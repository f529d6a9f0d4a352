# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A Jupyter server as a process of its own, for what cannot be tried from the inside."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
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
        except psutil.Error:
            pass
    return found


class Server:
    """Start, stop or kill it, and start it again on the same folder."""

    def __init__(self, folder: Path, agents: dict[str, Any], **traits: Any) -> None:
        self.folder = folder
        self.journal = folder / "journal.sqlite"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        config = {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_acp": True},
                "root_dir": str(folder),
                "allow_root": True,
                "open_browser": False,
                "port": self.port,
                "port_retries": 0,
            },
            "IdentityProvider": {"token": TOKEN},
            "AcpExtension": {
                "agents": agents,
                "default_agent": next(iter(agents)),
                "journal": str(self.journal),
                "stop_grace": 1.0,
                **traits,
            },
        }
        config_dir = folder / "config"
        config_dir.mkdir(exist_ok=True)
        (config_dir / "jupyter_server_config.json").write_text(json.dumps(config))
        self._environment = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(config_dir),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        }
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        for _ in range(300):
            with contextlib.suppress(OSError):
                self.get("health")
                return
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def signal(self, number: int) -> int:
        """Send a signal and wait for the end."""
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGINT:
            # The first asks whether it is meant; the second means it.
            time.sleep(0.5)
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)
        return self.process.wait(30)

    def get(self, path: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/acp/{path}", headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read())


@contextlib.contextmanager
def running(folder: Path, agents: dict[str, Any], **traits: Any) -> Iterator[Server]:
    """A server that is gone at the end, whatever happens."""
    server = Server(folder, agents, **traits)
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.process.kill()
            server.process.wait()
