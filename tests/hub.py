# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A real JupyterHub with its proxy, on loopback: whoever says a name is let in as that user."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from conftest import Client
from server import free_port
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

PROXY = Path(__file__).parent / "browser/node_modules/configurable-http-proxy/bin"
ADMIN = "a-token-for-the-tests-of-the-hub"

CONFIG = """
import json, sys
with open({settings!r}) as file:
    for name, values in json.load(file).items():
        c[name].update(values)
"""


class Hub:
    """A hub, its proxy, and the servers of its users."""

    def __init__(self, folder: Path, agents: dict[str, Any], *, cull_after: int = 0) -> None:
        self.folder = folder
        self.port = free_port()
        self.log = folder / "hub.log"
        self._process: subprocess.Popen[bytes] | None = None
        culler = [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={cull_after}"]
        services = [{"name": "culler", "command": [*culler, "--cull-every=1"]}]
        self._settings = {
            "JupyterHub": {
                "bind_url": f"http://127.0.0.1:{self.port}",
                "hub_port": free_port(),
                "db_url": f"sqlite:///{folder / 'hub.sqlite'}",
                "cookie_secret_file": str(folder / "cookie"),
                "authenticator_class": "dummy",
                "spawner_class": "simple",
                "cleanup_servers": True,
                "custom_scopes": {"custom:acp:execute": {"description": "Work with agents"}},
                "services": [
                    {"name": "tests", "api_token": ADMIN},
                    *(services if cull_after else []),
                ],
                "load_roles": [
                    {
                        "name": "tests",
                        "scopes": ["admin:users", "admin:servers", "tokens", "shares"],
                        "services": ["tests"],
                    },
                    {
                        "name": "culler",
                        "scopes": ["list:users", "read:users:activity", "admin:servers"],
                        "services": ["culler"] if cull_after else [],
                    },
                    # Whoever is made by the tests may give others a part of what they have.
                    {"name": "user", "scopes": ["self", "custom:acp:execute"]},
                ],
            },
            "Authenticator": {"allow_all": True},
            "ConfigurableHTTPProxy": {
                "api_url": f"http://127.0.0.1:{free_port()}",
                "command": [shutil.which("node"), str(PROXY / "configurable-http-proxy")],
                "pid_file": str(folder / "proxy.pid"),
            },
            "SimpleLocalProcessSpawner": {"home_dir_template": str(folder / "home" / "{username}")},
            "Spawner": {
                "cmd": [sys.executable, "-m", "jupyterhub.singleuser"],
                "args": ["--allow-root"],
                "start_timeout": 90,
                "http_timeout": 90,
                "environment": {
                    "JUPYTER_CONFIG_DIR": str(folder / "config"),
                    "JUPYTERHUB_ACTIVITY_INTERVAL": "1",
                },
            },
        }
        (folder / "config").mkdir()
        (folder / "config" / "jupyter_server_config.json").write_text(
            json.dumps(
                {
                    "AcpExtension": {
                        "agents": agents,
                        "default_agent": next(iter(agents)),
                        "stop_grace": 1.0,
                    },
                    "ServerApp": {"authorizer_class": "jupyter_acp.hub.GuestsWatch"},
                }
            )
        )

    def start(self) -> None:
        """Start it, and wait until it answers through its proxy."""
        settings, config = self.folder / "settings.json", self.folder / "hub_config.py"
        settings.write_text(json.dumps(self._settings))
        config.write_text(CONFIG.format(settings=str(settings)))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", config],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "XDG_DATA_HOME": ""},
            )
        end = time.monotonic() + 90
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                self.api("GET", "")
                return
            assert self._process.poll() is None, self.log.read_text()
            time.sleep(0.2)
        raise AssertionError(self.log.read_text())

    def stop(self) -> None:
        """End it with everything that it has started."""
        if self._process is None:
            return
        family = [psutil.Process(self._process.pid)]
        family += family[0].children(recursive=True)
        self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        _, alive = psutil.wait_procs(family, timeout=5)
        for process in alive:
            process.kill()
        self._process.wait()

    def api(self, method: str, path: str, body: Any = None, token: str = ADMIN) -> Any:
        """Ask the hub itself."""
        return self._ask(method, f"/hub/api/{path}", body, token)

    def get(self, path: str, token: str) -> Any:
        """Ask a user's server, through the proxy."""
        return self._ask("GET", path, None, token)

    def status(self, method: str, path: str, token: str | None = None) -> int:
        """Return only how a request ends."""
        try:
            self._ask(method, path, {} if method in ("POST", "PATCH") else None, token)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def _ask(self, method: str, path: str, body: Any, token: str | None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {token}"} if token else {},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
        return json.loads(text) if text else None

    def user(self, name: str) -> str:
        """Make a user with a running server; return a token of theirs."""
        with contextlib.suppress(urllib.error.HTTPError):
            self.api("POST", f"users/{name}")
        if not self.is_running(name):
            self.spawn(name)
        return str(self.api("POST", f"users/{name}/tokens", {"scopes": ["self"]})["token"])

    def token(self, name: str, *scopes: str) -> str:
        """Return a token of a user for nothing but some scopes."""
        return str(self.api("POST", f"users/{name}/tokens", {"scopes": scopes})["token"])

    def spawn(self, name: str) -> None:
        """Start a user's server, and wait for it."""
        self.api("POST", f"users/{name}/server")
        self.wait(name, is_running=True)

    def is_running(self, name: str) -> bool:
        """Whether a user's server runs."""
        servers = self.api("GET", f"users/{name}").get("servers", {})
        return bool(servers.get("", {}).get("ready"))

    def wait(self, name: str, *, is_running: bool) -> None:
        """Wait for the end or the beginning of a user's server."""
        end = time.monotonic() + 90
        while self.is_running(name) != is_running:
            assert time.monotonic() < end, self.log.read_text()[-5000:]
            time.sleep(0.2)

    def home(self, name: str) -> Path:
        """Return the folder of a user."""
        return self.folder / "home" / name

    async def window(self, name: str, token: str, origin: str | None = None) -> Client:
        """Open a user's server's socket, through the proxy."""
        headers = {"Authorization": f"token {token}"}
        if origin is not None:
            headers["Origin"] = origin
        url = f"ws://127.0.0.1:{self.port}/user/{name}/acp/ws"
        request = HTTPRequest(url, headers=headers)
        return Client(await websocket_connect(request, subprotocols=["acp.ndjson"]))


@contextlib.contextmanager
def hub_of(folder: Path, agents: dict[str, Any], *, cull_after: int = 0) -> Iterator[Hub]:
    """A hub that is gone at the end, whatever happens."""
    hub = Hub(folder, agents, cull_after=cull_after)
    try:
        hub.start()
        yield hub
    finally:
        hub.stop()
