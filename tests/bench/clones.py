# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How long a session on a repository that is elsewhere takes to begin, for the first time and again."""

import asyncio
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from servers import AGENT, HERE, ROOT

FILES, SIZE = 10_000, 100_000_000


def clones(quick):
    """A repository of 10,000 files and 100 MB, from a git server on this machine."""
    from measures import at_most

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        _create(folder / "srv" / "big.git", folder / "work")
        ready, done = multiprocessing.Pipe()
        server = multiprocessing.Process(target=_serve, args=(folder / "srv", done), daemon=True)
        server.start()
        try:
            url = f"http://{ready.recv()}/big.git"
            times = [_once(folder / str(number), url) for number in range(2 if quick else 5)]
        finally:
            server.terminate()
            server.join()
    return [
        at_most(
            "remote session: clone and files, against `git clone`",
            statistics.median(first / plain for plain, first, _ in times),
            1.1,
        ),
        at_most(
            "... the second session on it, against the first",
            statistics.median(second / first for _, first, second in times),
            0.1,
        ),
    ]


def _once(folder, url):
    """Return how long a clone takes, and the first and the second session."""
    folder.mkdir()
    listed = subprocess.run(
        ["git", "ls-remote", url, "refs/heads/main"], stdout=subprocess.PIPE, check=True
    )
    begin = time.monotonic()
    subprocess.run(["git", "clone", "--quiet", url, str(folder / "plain")], check=True)
    plain = time.monotonic() - begin
    first, second = asyncio.run(_sessions(folder, url, listed.stdout.split()[0].decode()))
    print(f"    clone {plain:.2f} s, first {first:.2f}, second {second:.2f}", file=sys.stderr)
    return plain, first, second


async def _sessions(folder, url, revision):
    sys.path.insert(0, str(ROOT))
    from jupyter_acp.agents.process import AgentProcess
    from jupyter_acp.rpc import Connection, Peer

    class Client(Peer):
        def on_request(self, request):
            request.respond({})

        def on_notification(self, method, params):
            pass

    options = json.dumps({"schemes": ["http"], "cache": str(folder / "cache")})
    argv = [sys.executable, "-m", "jupyter_acp.remote", "--options", options, "--", *AGENT]
    process = await AgentProcess.start(argv, env=dict(os.environ), grace=3)
    connection = Connection(process.wire, Client())
    running = asyncio.ensure_future(connection.run())
    await connection.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    ref = {"type": "git", "url": url, "branch": "main", "revision": revision}
    times = []
    for _ in range(2):
        begin = time.monotonic()
        params = {"cwd": str(folder), "mcpServers": [], "remote": ref}
        await connection.request("session/new", params)
        times.append(time.monotonic() - begin)
    await process.stop()
    running.cancel()
    return times


def _create(bare, work):
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "-c", "gc.auto=0"]
    subprocess.run([*git, "init", "-q", "-b", "main", str(work)], check=True)
    chance = random.Random(1)
    words = [f"{chance.getrandbits(40):x}" for _ in range(5000)]
    for number in range(FILES):
        path = work / f"d{number % 100}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        # Text that packs about as well as code does.
        path.write_text("\n".join(chance.choices(words, k=SIZE // FILES // 11)))
    subprocess.run([*git, "add", "-A"], cwd=work, check=True)
    subprocess.run([*git, "commit", "-qm", "All of it"], cwd=work, check=True)
    bare.parent.mkdir(parents=True)
    subprocess.run([*git, "clone", "-q", "--bare", str(work), str(bare)], check=True)


def _serve(root, ready):
    sys.path.insert(0, str(HERE.parent / "support"))
    from gitserver import GitServer

    ready.send(GitServer(root).host)
    time.sleep(100_000)
