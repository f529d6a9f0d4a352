# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`python -m jupyter_acp.remote -- COMMAND…`: let any agent work on repositories that are elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import sys

from pydantic import ValidationError

from ..agents.agent import Agent
from ..agents.catalog import Catalog, CatalogError
from ..agents.spec import AgentSpec
from ..rpc import Connection, RpcError
from ..rpc.outbox import Queue
from ..rpc.stdio import StdioTransport
from ..rpc.transport import DEFAULT_MESSAGE_LIMIT
from .git import Git
from .options import RemoteOptions
from .refs import check_branch
from .runner.cache import Cache
from .runner.relay import Behind, Runner
from .runner.worktree import Author
from .runner.wrapped_agent import Wrapped

AGENT_TIMEOUT = 600.0
"""Minimum timeout for the start of the agent and for opening a session, in seconds."""

LAST_WORDS_SECONDS = 1.0
STOP_GRACE = 3.0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser("python -m jupyter_acp.remote", description=__doc__)
    found.add_argument("--agent", metavar="ID", help="an agent that is known here, by its id")
    found.add_argument(
        "--options",
        metavar="JSON",
        type=_options,
        default=RemoteOptions(),
        help="an object of what the traits AcpExtension.remote_… set, by their names without "
        f"remote_: {', '.join(RemoteOptions.model_fields)}",
    )
    found.add_argument("command", nargs="*", help="what starts the agent, after --")
    return found


def _options(text: str) -> RemoteOptions:
    try:
        options = RemoteOptions.model_validate_json(text)
        check_branch(options.branch.format(session="0" * 32))
        Author.of(options.author)
    except ValidationError as error:
        named = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise argparse.ArgumentTypeError("; ".join(named)) from None
    except (ValueError, KeyError, IndexError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return options


async def serve(spec: AgentSpec, options: RemoteOptions) -> int:
    """Serve the client until it closes our stdin or the agent ends."""
    cache = Cache(Git(policy=options.policy, timeout=options.timeout), options)
    log = logging.getLogger("jupyter_acp.remote")
    outbox = Queue()
    behind = Behind(outbox)
    # git's timeout may be too short for the agent; the client has timeouts of its own.
    patience = max(AGENT_TIMEOUT, options.timeout)
    done = asyncio.Event()
    failed: list[RpcError] = []

    def ended(error: RpcError) -> None:
        # The exit of this process, with the agent's last lines on stderr, tells the client.
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

    await cache.age_out()
    runner = Runner(start, cache, policy=options.policy, author=Author.of(options.author))
    transport = await StdioTransport.of_this_process()
    connection = runner.connect(Connection(transport, runner, outbox=outbox, name="client"))
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
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return 1 if failed else 0


def _spec(agent: str | None, command: list[str]) -> AgentSpec:
    if command:
        return AgentSpec(id="wrapped", argv=command, source="config")
    catalog = Catalog(_configured())
    try:
        spec = catalog.get(agent or catalog.default_id)
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


def main() -> None:
    """Run the command line; Ctrl-C is a normal way to end it."""
    options = parser().parse_args()
    if options.agent and options.command:
        sys.exit("Name an agent or give a command, not both.")
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(asyncio.run(serve(_spec(options.agent, options.command), options.options)))


if __name__ == "__main__":
    main()
