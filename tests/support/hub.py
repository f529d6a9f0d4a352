# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A real JupyterHub with its proxy, on loopback: whoever says a name is let in as that user.

It is set up as docs/hub.md says, with the hub's folder for `/`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import psutil
from acpclient import Client
from recipes import told
from server import free_port
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from jupyter_acp.hub import EXECUTE

PROXY = Path(__file__).parents[1] / "browser/node_modules/configurable-http-proxy/bin"
SINGLEUSER = Path(__file__).parent / "singleuser.py"
ADMIN = "a-token-for-the-tests-of-the-hub"
SERVICE = "a-token-of-a-service-with-the-name-of-a-user"

CONFIG = """
{page}
roles = list(c.JupyterHub.load_roles)
import json
with open({settings!r}) as file:
    for name, values in json.load(file).items():
        c[name].update(values)
c.JupyterHub.load_roles.extend(roles)
"""


class Hub:
    """A hub, its proxy, and the servers of its users."""

    def __init__(
        self,
        folder: Path,
        agents: dict[str, Any],
        *,
        cull_after: int = 0,
        has_user_config: bool = False,
    ) -> None:
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
                "allow_named_servers": True,
                "services": [
                    {"name": "tests", "api_token": ADMIN},
                    {"name": "ada", "api_token": SERVICE},
                    *(services if cull_after else []),
                ],
                "load_roles": [
                    {
                        "name": "tests",
                        "scopes": [
                            "admin:users",
                            "admin:servers",
                            "admin:groups",
                            "tokens",
                            "shares",
                        ],
                        "services": ["tests"],
                    },
                    {
                        "name": "service",
                        "scopes": ["access:servers!server=ada/"],
                        "services": ["ada"],
                    },
                    {"name": "anywhere", "scopes": [EXECUTE], "users": ["ann"]},
                    {"name": "with-ada", "scopes": [f"{EXECUTE}!user=ada"], "users": ["gil"]},
                    {"name": "with-bob", "scopes": [f"{EXECUTE}!server=bob/"], "users": ["gus"]},
                    {
                        "name": "culler",
                        "scopes": ["list:users", "read:users:activity", "admin:servers"],
                        "services": ["culler"] if cull_after else [],
                    },
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
                "cmd": [sys.executable, str(SINGLEUSER), str(folder)],
                "args": ["--allow-root"],
                "start_timeout": 90,
                "http_timeout": 90,
                "environment": {"JUPYTERHUB_ACTIVITY_INTERVAL": "1"},
                **({"disable_user_config": False} if has_user_config else {}),
            },
        }
        for name in ("etc/jupyter", "var/log"):
            (folder / name).mkdir(parents=True)
        config = folder / "etc/jupyter/jupyter_server_config"
        config.with_suffix(".py").write_text(told("jupyter_server_config.py", folder))
        config.with_suffix(".json").write_text(
            json.dumps(
                {
                    "AcpExtension": {
                        "agents": agents,
                        "allowed_agents": list(agents),
                        "permissions": {"*": [{"kind": "terminal", "decision": "deny"}]},
                        "default_agent": next(iter(agents)),
                        "stop_grace": 5.0,
                    },
                }
            )
        )

    def start(self) -> None:
        """Start it, and wait until it answers through its proxy."""
        settings, config = self.folder / "settings.json", self.folder / "hub_config.py"
        settings.write_text(json.dumps(self._settings))
        page = told("jupyterhub_config.py", self.folder)
        config.write_text(CONFIG.format(page=page, settings=str(settings)))
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

    def make(self, name: str) -> None:
        """Make a user, unless there is one."""
        with contextlib.suppress(urllib.error.HTTPError):
            self.api("POST", f"users/{name}")

    def user(self, name: str) -> str:
        """Make a user with a running server; return a token of theirs."""
        self.make(name)
        if not self.is_running(name):
            self.spawn(name)
        return str(self.api("POST", f"users/{name}/tokens", {"scopes": ["self"]})["token"])

    def token(self, name: str, *scopes: str) -> str:
        """Return a token of a user for nothing but some scopes."""
        return str(self.api("POST", f"users/{name}/tokens", {"scopes": scopes})["token"])

    def spawn(self, name: str, server: str = "") -> None:
        """Start a server of a user, and wait for it."""
        self.api("POST", f"users/{name}/servers/{server}")
        self.wait(name, server, is_running=True)

    def is_running(self, name: str, server: str = "") -> bool:
        """Whether a server of a user runs."""
        servers = self.api("GET", f"users/{name}").get("servers", {})
        return bool(servers.get(server, {}).get("ready"))

    def wait(self, name: str, server: str = "", *, is_running: bool) -> None:
        """Wait for the end or the beginning of a server of a user."""
        end = time.monotonic() + 90
        while self.is_running(name, server) != is_running:
            assert time.monotonic() < end, self.log.read_text()[-5000:]
            time.sleep(0.2)

    def home(self, name: str) -> Path:
        """Return the folder of a user."""
        return self.folder / "home" / name

    def started(self, name: str) -> list[str]:
        """What a user's server has started so far, also if it has ended since."""
        lines = (self.folder / f"started-{name}").read_text().splitlines()
        # Jupyter asks git for its own version before it shows an error.
        return [line for line in lines if "rev-parse" not in line]

    async def window(self, name: str, token: str) -> Client:
        """Open a user's server's socket, through the proxy."""
        return await self.socket(name, {"Authorization": f"token {token}"})

    async def socket(self, name: str, headers: dict[str, str]) -> Client:
        """Open it with whatever shows who somebody is."""
        url = f"ws://127.0.0.1:{self.port}/user/{name}/acp/ws"
        request = HTTPRequest(url, headers=headers)
        return Client(await websocket_connect(request, subprotocols=["acp.ndjson"]))


class Browser:
    """Somebody at the pages of a hub: it keeps cookies, follows where it is sent, and fills in forms."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._address = f"http://127.0.0.1:{hub.port}"
        self._cookies = CookieJar()
        keeper = urllib.request.HTTPCookieProcessor(self._cookies)
        self._opener = urllib.request.build_opener(keeper)
        self._opener.addheaders = [
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Site", "same-origin"),
        ]
        at, page = self._open("/hub/login")
        self._send(at, page, username=name, password="")

    def visit(self, name: str) -> list[str]:
        """Log in to the server of a user; return the scopes that the page has asked about, if any."""
        at, page = self._open(f"/user/{name}/lab")
        asked = _fields(page, "scopes")
        if asked:
            at, page = self._send(at, page, scopes=asked)
        assert at.endswith(f"/user/{name}/lab"), at
        return asked

    async def window(self, name: str) -> Client:
        """Open the socket of a server, with nothing but what a browser sends by itself."""
        url = f"{self._address}/user/{name}/acp/ws"
        request = urllib.request.Request(url)
        self._cookies.add_cookie_header(request)
        headers = {
            "Cookie": request.get_header("Cookie", ""),
            "Origin": self._address,
            "Sec-Fetch-Mode": "websocket",
            "Sec-Fetch-Site": "same-origin",
        }
        return await self._hub.socket(name, headers)

    def _open(self, url: str, data: bytes | None = None) -> tuple[str, str]:
        with self._opener.open(urllib.parse.urljoin(self._address, url), data, 60) as response:
            return response.url, response.read().decode()

    def _send(self, at: str, page: str, **fields: Any) -> tuple[str, str]:
        """Send the form of a page to where it came from."""
        (xsrf,) = set(_fields(page, "_xsrf"))
        form = urllib.parse.urlencode({"_xsrf": xsrf, **fields}, doseq=True)
        return self._open(at, form.encode())


def _fields(page: str, name: str) -> list[str]:
    """The values of the fields of a form that have a name."""
    found = re.findall(rf'<input[^>]*\bname="{name}"[^>]*\bvalue="([^"]*)"', page)
    return [unescape(value) for value in found]


@contextlib.contextmanager
def hub_of(folder: Path, agents: dict[str, Any], **options: Any) -> Iterator[Hub]:
    """A hub that is gone at the end, whatever happens."""
    hub = Hub(folder, agents, **options)
    try:
        hub.start()
        yield hub
    finally:
        hub.stop()
