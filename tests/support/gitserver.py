# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A real git server on loopback: `git http-backend` behind a small web server."""

from __future__ import annotations

import atexit
import base64
import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(folder: Path | str, *args: str, **env: str) -> str:
    """Run git as a user would, and return what it prints."""
    done = subprocess.run(
        ["git", *args],
        cwd=folder,
        env={**os.environ, **IDENTITY, "GIT_TERMINAL_PROMPT": "0", **env},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"git {args}: {done.stderr.decode()}"
    return done.stdout.decode().strip()


@functools.lru_cache(maxsize=8)
def _made(files: tuple[tuple[str, str], ...]) -> Path:
    """Make a repository and a clone of it, once: hundreds of tests begin with a copy of the same."""
    folder = Path(tempfile.mkdtemp(prefix="jupyter-acp-git-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bare, work = folder / "bare", folder / "work"
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    git(folder, "init", "-q", "--bare", "-b", "main", str(bare), **settings)
    git(bare, "config", "http.receivepack", "true")
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(folder, "clone", "-q", str(bare), str(work), **settings)
    for path, text in files:
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    git(work, "checkout", "-q", "-B", "main", **settings)
    git(work, "add", "-A", **settings)
    git(work, "commit", "-q", "-m", "First", **settings)
    git(work, "push", "-q", "origin", "main", **settings)
    return folder


class GitServer:
    """Serves the bare repositories below a folder, for those who know the password if there is one."""

    def __init__(self, root: Path, password: str = "") -> None:
        self.root = root
        self.password = password
        self.delay = 0.0
        """How many seconds each kibibyte of what is fetched takes, to stop it half-way."""

        self.intake = 0.0
        """The same for each piece of what is pushed."""

        self.receiving = threading.Event()
        """Set while a large push comes in."""

        self.moved_to = ""
        """The host that everything is said to be on now."""

        self.requests: list[str] = []
        handler = type("Handler", (_Handler,), {"server_of": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self._http.server_port}"

    def url(self, name: str, *, login: bool = False) -> str:
        """Return the address of a repository, with the password in it if wanted."""
        user = f"ada:{self.password}@" if login else ""
        return f"http://{user}{self.host}/{name}.git"

    def create(self, name: str, files: dict[str, str] | None = None) -> Path:
        """Make a repository whose branch `main` has these files."""
        bare = self.root / f"{name}.git"
        work = self.root / f".work-{name.replace('/', '-')}"
        bare.parent.mkdir(parents=True, exist_ok=True)
        made = _made(tuple((files or {"README.md": "# Hello\n"}).items()))
        shutil.copytree(made / "bare", bare, symlinks=True)
        shutil.copytree(made / "work", work, symlinks=True)
        config = work / ".git" / "config"
        config.write_text(config.read_text().replace(str(made / "bare"), str(bare)))
        return bare

    def refuse_pushes(self, name: str, words: str = "No pushes today.") -> None:
        """Let a repository refuse every push, and say so."""
        hook = self.root / f"{name}.git" / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
        hook.chmod(0o755)

    def accept_pushes(self, name: str) -> None:
        """Let a repository accept pushes again."""
        (self.root / f"{name}.git" / "hooks" / "pre-receive").unlink()

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextlib.contextmanager
def git_server(root: Path, password: str = "") -> Iterator[GitServer]:
    """Serve for a while."""
    root.mkdir(parents=True, exist_ok=True)
    server = GitServer(root, password)
    try:
        yield server
    finally:
        server.close()


class _Handler(BaseHTTPRequestHandler):
    server_of: GitServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        try:
            body = self._body()
        except (OSError, ValueError):
            # Whoever pushed has gone.
            self.close_connection = True
            return
        self._serve(body)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _serve(self, body: bytes) -> None:
        server = self.server_of
        server.requests.append(f"{self.command} {self.path}")
        if server.moved_to and server.moved_to != self.headers.get("Host"):
            self.send_response(302)
            self.send_header("Location", f"http://{server.moved_to}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if server.password and not self._knows(server.password):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        parts = urlsplit(self.path)
        env = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "ada",
            "REMOTE_ADDR": "127.0.0.1",
        }
        with subprocess.Popen(
            ["git", "http-backend"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as backend:
            assert backend.stdin is not None and backend.stdout is not None
            threading.Thread(target=_write, args=(backend.stdin, body), daemon=True).start()
            try:
                self._answer(backend.stdout)
            except OSError:
                # Whoever asked has gone.
                self.close_connection = True
                backend.kill()

    def _answer(self, output) -> None:
        status, headers = 200, []
        while line := output.readline().strip():
            name, _, value = line.decode().partition(": ")
            if name.lower() == "status":
                status = int(value.split()[0])
            else:
                headers.append((name, value))
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while data := output.read1(1024 if self.server_of.delay else 64 * 1024):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            time.sleep(self.server_of.delay)
        self.wfile.write(b"0\r\n\r\n")

    def _knows(self, password: str) -> bool:
        expected = base64.b64encode(f"ada:{password}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {expected}"

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if self.server_of.intake:
                self.server_of.receiving.set()
                time.sleep(self.server_of.intake)
        self.rfile.readline()
        return b"".join(parts)


def _write(stream, data: bytes) -> None:
    with contextlib.suppress(OSError), stream:
        stream.write(data)
