# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`python -m jupyter_acp.remote -- COMMAND…`: let any agent work on repositories that are elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import re
import signal
import sys
from pathlib import Path

from ..agents.agent import Agent
from ..agents.catalog import Catalog, CatalogError
from ..agents.spec import AgentSpec
from ..rpc import Connection, RpcError
from ..rpc.outbox import Queue
from ..rpc.stdio import StdioTransport
from ..rpc.transport import DEFAULT_MESSAGE_LIMIT
from .git import TIMEOUT, Git
from .limits import Limits
from .refs import SCHEMES, Policy, check_branch
from .runner.cache import Cache, Keeping
from .runner.relay import Behind, Runner
from .runner.sweeper import Sweeper
from .runner.worktree import Author
from .runner.wrapped import Wrapped

AGENT_TIMEOUT = 600.0
"""How long the agent may take at least to start, or to open a session, in seconds."""

LAST_WORDS_SECONDS = 1.0
STOP_GRACE = 3.0


def parser() -> argparse.ArgumentParser:
    """Return what can be said on the command line."""
    limits, keeping = Limits(), Keeping()
    found = argparse.ArgumentParser("python -m jupyter_acp.remote", description=__doc__)
    found.add_argument("--agent", metavar="ID", help="an agent that is known here, by its id")
    found.add_argument("--cache", metavar="FOLDER", type=Path, help="where repositories are kept")
    found.add_argument(
        "--scheme",
        metavar="NAME",
        action="append",
        choices=("https", "ssh", "http", "file"),
        help=f"what addresses of repositories may begin with ({', '.join(SCHEMES)})",
    )
    found.add_argument(
        "--host", metavar="PATTERN", action="append", help="a host that is allowed (all are)"
    )
    found.add_argument(
        "--branch",
        metavar="PATTERN",
        default="acp/{session}",
        help="what branches are called that come back (%(default)s)",
    )
    found.add_argument(
        "--author", metavar="'NAME <EMAIL>'", default="", help="of commits (git's own setting)"
    )
    found.add_argument(
        "--timeout", type=float, default=TIMEOUT, help="of a clone or a push, in s (%(default)s)"
    )
    found.add_argument(
        "--size", type=float, default=limits.size / 1e6, help="of a repository, in MB (%(default)s)"
    )
    found.add_argument(
        "--files", type=int, default=limits.files, help="of a repository (%(default)s)"
    )
    found.add_argument(
        "--keep-days", type=float, default=keeping.days, help="what is not used (%(default)s)"
    )
    found.add_argument(
        "--keep-size", type=float, default=keeping.size / 1e6, help="in MB, in all (%(default)s)"
    )
    found.add_argument("command", nargs="*", help="what starts the agent, after --")
    return found


async def serve(options: argparse.Namespace) -> int:
    """Answer until the client closes our stdin."""
    policy = Policy(tuple(options.scheme or SCHEMES), tuple(options.host or ()))
    cache = Cache(
        options.cache or _default_cache(),
        Git(policy=policy, timeout=options.timeout),
        limits=Limits(int(options.size * 1e6), options.files),
        keeping=Keeping(options.keep_days, int(options.keep_size * 1e6)),
        branch=options.branch,
    )
    log = logging.getLogger("jupyter_acp.remote")
    spec = _spec(options)
    outbox = Queue()
    behind = Behind(outbox)
    # What git may take says nothing about the agent, and whoever started us has limits of its own.
    patience = max(AGENT_TIMEOUT, options.timeout)
    done = asyncio.Event()
    failed: list[RpcError] = []

    def ended(error: RpcError) -> None:
        # Whoever started us hears of it by our own end, with the last words of the agent.
        failed.append(error)
        done.set()

    async def start(wrapped: Wrapped) -> Agent:
        return Agent(
            spec,
            wrapped,
            on_end=ended,
            message_limit=DEFAULT_MESSAGE_LIMIT,
            initialize_timeout=patience,
            request_timeout=patience,
            stop_grace=STOP_GRACE,
            log=log,
            store=behind,
        )

    sweeper = Sweeper(cache, log)
    runner = Runner(
        start, cache, policy=policy, author=_author(options.author), on_end=sweeper.wanted.set
    )
    transport = await StdioTransport.of_this_process()
    connection = runner.connect(Connection(transport, runner, outbox=outbox, name="client"))
    sweeping = asyncio.ensure_future(sweeper.run())
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, done.set)
    waiting = [asyncio.ensure_future(connection.run()), asyncio.ensure_future(done.wait())]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if failed:
        sys.stderr.write(f"{failed[0].text}\n")
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(outbox.flushed(), LAST_WORDS_SECONDS)
    await connection.close()
    await runner.close()
    for task in (*waiting, sweeping):
        task.cancel()
    await asyncio.gather(*waiting, sweeping, return_exceptions=True)
    return 1 if failed else 0


def _spec(options: argparse.Namespace) -> AgentSpec:
    if options.command:
        return AgentSpec(id="wrapped", argv=options.command, source="config")
    catalog = Catalog(_configured())
    try:
        spec = catalog.get(options.agent or catalog.default_id)
    except CatalogError as error:
        sys.exit(str(error))
    if spec.url:
        sys.exit(
            f"The agent `{spec.id}` is reached by a socket: only one that is started can be wrapped."
        )
    return spec


def _configured() -> dict[str, object]:
    """Return the agents of the configuration files of this machine's Jupyter servers."""
    from jupyter_server.serverapp import ServerApp

    app = ServerApp()
    app.load_config_file()
    found = app.config.get("AcpExtension", {}).get("agents", {})
    return dict(found)


def _default_cache() -> Path:
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "acp" / "remote"


def _author(text: str) -> Author:
    if not text:
        return Author()
    found = re.fullmatch(r"\s*([^<>\n]+?)\s*<([^<>\s]+)>\s*", text)
    if found is None:
        sys.exit("--author: must be a name and an address: 'Ada <ada@example.org>'.")
    return Author(found[1], found[2])


def main() -> None:
    """Run; Ctrl-C in a terminal is a normal way to end it."""
    options = parser().parse_args()
    if options.agent and options.command:
        sys.exit("Name an agent or give a command, not both.")
    try:
        check_branch(options.branch.format(session="0" * 32))
    except (ValueError, KeyError, IndexError) as error:
        sys.exit(f"--branch: {error}")
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(asyncio.run(serve(options)))


if __name__ == "__main__":
    main()
