# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The two servers that are compared, each a process of its own."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil
from client import Client

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
AGENT = [sys.executable, str(HERE / "load.py")]
TOKEN = "bench"


class Server:
    """A process with a port; its children do not count as its own CPU."""

    def __init__(self, process, port):
        self.process = process
        self.port = port
        self.stats = psutil.Process(process.pid)

    def cpu(self):
        times = self.stats.cpu_times()
        return times.user + times.system

    def memory(self):
        """Memory of its own, in bytes."""
        return self.stats.memory_full_info().uss

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def raw():
    process = subprocess.Popen(
        [sys.executable, str(HERE / "raw.py"), *AGENT], stdout=subprocess.PIPE, text=True
    )
    server = Server(process, int(process.stdout.readline()))
    try:
        yield server
    finally:
        server.stop()


def jupyter_command(folder, port, extension=True, lab=False, **traits):
    config = {
        "ServerApp": {
            "jpserver_extensions": {"jupyter_acp": extension},
            "root_dir": str(folder),
            "allow_root": True,
            "open_browser": False,
            "port": port,
            "log_level": "ERROR",
        },
        "IdentityProvider": {"token": TOKEN},
        "AcpExtension": {
            "agents": {"load": {"argv": AGENT}},
            "default_agent": "load",
            "journal": str(Path(folder) / "journal.sqlite"),
            **traits,
        },
    }
    path = Path(folder) / "config" / "jupyter_server_config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config))
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(path.parent),
        "JUPYTER_DATA_DIR": str(Path(folder) / "data"),
        "JUPYTER_RUNTIME_DIR": str(Path(folder) / "runtime"),
        "JUPYTER_NO_CONFIG": "",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    program = ["jupyterlab", "--expose-app-in-browser"] if lab else ["jupyter_server"]
    return [sys.executable, "-m", *program], environment


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def jupyter(lab=False, **traits):
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as folder:
        port = free_port()
        command, environment = jupyter_command(folder, port, lab=lab, **traits)
        process = subprocess.Popen(command, env=environment)
        server = Server(process, port)
        server.folder = folder
        try:
            wait_for(port)
            yield server
        finally:
            server.stop()


def wait_for(port):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/acp/health", headers={"Authorization": f"token {TOKEN}"}
    )
    for _ in range(300):
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def raw_session(server):
    """A window on the baseline, and its session."""
    client = Client(server.port)
    client.ask("initialize", {"protocolVersion": 1})
    return client, client.ask("session/new", {"cwd": "/", "mcpServers": []})["sessionId"]


def our_window(server, **options):
    client = Client(server.port, "/acp/ws", token=TOKEN, ndjson=True, **options)
    ours = {"_meta": {"jupyter-acp": {}}}
    client.ask("initialize", {"protocolVersion": 1, "clientCapabilities": ours})
    return client


def our_session(server, agent="load"):
    """A window on our server, and its session."""
    client = our_window(server)
    meta = {"jupyter-acp": {"agent": agent}}
    params = {"cwd": server.folder, "mcpServers": [], "_meta": meta}
    return client, client.ask("session/new", params)["sessionId"]


def prompt(client, session, text):
    """Start a turn."""
    block = {"type": "text", "text": text}
    return client.request("session/prompt", {"sessionId": session, "prompt": [block]})
