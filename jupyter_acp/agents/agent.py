# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A running agent: its process, its connection and its capabilities."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable
from typing import Any

from ..rpc import Connection, Logger, Peer, RpcError
from ..rpc.connection import Store
from ..rpc.errors import UNAVAILABLE
from ..rpc.outbox import Flusher, Queue
from ..rpc.transport import Transport
from .environment import agent_environment
from .exit_message import STDERR_LINES, exited, failed
from .process import AgentProcess
from .spec import AgentSpec

PROTOCOL_VERSION = 1


class Agent:
    """One run of an agent, from its start to its end; every start creates a new instance."""

    def __init__(
        self,
        spec: AgentSpec,
        peer: Peer,
        *,
        on_end: Callable[[RpcError], None],
        message_limit: int,
        initialize_timeout: float,
        request_timeout: float,
        stop_grace: float,
        log: Logger,
        store: Store | None = None,
        flusher: Flusher | None = None,
    ) -> None:
        self.spec = spec
        self.log = log
        self.capabilities: dict[str, Any] = {}
        self.info: dict[str, Any] = {}
        self.auth_methods: list[Any] = []
        self.unknown: set[str] = set()
        """The methods that the agent offered but then did not know."""

        self.is_logged_in = False
        """True after a login in this run, until a logout."""

        self._peer = peer
        self._on_end = on_end
        self._message_limit = message_limit
        self._initialize_timeout = initialize_timeout
        self._request_timeout = request_timeout
        self._stop_grace = stop_grace
        self._process: AgentProcess | None = None
        self._connection: Connection | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopping = False
        self._store = store
        self._flusher = flusher

    @property
    def connection(self) -> Connection:
        """The connection, which exists after `start` has returned."""
        assert self._connection is not None
        return self._connection

    @property
    def alive(self) -> bool:
        """True if requests can be sent."""
        return self._connection is not None and self._connection.ended is None

    @property
    def stderr(self) -> list[str]:
        """The last lines that the agent wrote to stderr."""
        return self._process.stderr if self._process else []

    async def start(self, client_info: dict[str, Any], client_capabilities: dict[str, Any]) -> None:
        """Start and initialize the agent; on failure stop it and raise an error with the reason."""
        try:
            transport = await self._open()
        except OSError as error:
            raise RpcError(
                UNAVAILABLE,
                f"{self.spec.name} could not be started: {error}. The command was: {self.command}",
            ) from error
        self._connection = Connection(
            transport,
            self._peer,
            name=f"agent {self.spec.id}",
            log=self.log,
            store=self._store,
            outbox=Queue(flusher=self._flusher),
        )
        self._running = asyncio.get_running_loop().create_task(self._run(self._connection))
        try:
            await self._initialize(client_info, client_capabilities)
        except BaseException:
            await self.stop()
            raise

    async def request(
        self,
        method: str,
        params: dict[str, Any],
        *,
        note: Callable[[Any], None] | None = None,
        extra: float = 0.0,
    ) -> Any:
        """Send a request with the configured timeout plus `extra` seconds."""
        asked = self.connection.request(method, params, note=note)
        patience = self._request_timeout + extra
        try:
            return await asyncio.wait_for(asked, patience)
        except asyncio.TimeoutError as error:
            raise RpcError(
                UNAVAILABLE,
                f"{self.spec.name} did not answer `{method}` within {patience:g} s. "
                "Try again, restart the agent, or let it have more time "
                "(AcpExtension.request_timeout).",
                {"agent": self.spec.id, "stderr": self.stderr[-STDERR_LINES:]},
            ) from error

    async def stop(self) -> None:
        """End the agent and all processes that it started."""
        self._stopping = True
        error = RpcError(UNAVAILABLE, f"{self.spec.name} was stopped.")
        if self._connection is not None:
            await self._connection.close(error)
        if self._process is not None:
            await self._process.stop()
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def stop_now(self) -> None:
        """End the process without an event loop."""
        if self._process is not None:
            self._process.stop_now()

    @property
    def command(self) -> str:
        """The command line or address of the agent, for users to try by hand."""
        return shlex.join(self.spec.argv) if self.spec.argv else str(self.spec.public().get("url"))

    async def _open(self) -> Transport:
        if self.spec.url:
            from .socket import connect

            return await connect(self.spec, self._message_limit)
        env = agent_environment(os.environ, self.spec.env_values())
        self._process = await AgentProcess.start(
            self.spec.argv, env=env, grace=self._stop_grace, limit=self._message_limit
        )
        return self._process.wire

    async def _initialize(self, info: dict[str, Any], capabilities: dict[str, Any]) -> None:
        request = self.connection.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientInfo": info,
                "clientCapabilities": capabilities,
            },
        )
        try:
            result = await asyncio.wait_for(request, self._initialize_timeout)
        except asyncio.TimeoutError as error:
            raise self._failure(
                f"{self.spec.name} did not answer `initialize` within "
                f"{self._initialize_timeout:g} s. The command was: {self.command}"
            ) from error
        if not isinstance(result, dict):
            raise self._failure(f"{self.spec.name} answered `initialize` with something odd.")
        if result.get("protocolVersion") != PROTOCOL_VERSION:
            raise self._failure(
                f"{self.spec.name} speaks version {result.get('protocolVersion')} of ACP; "
                f"this server speaks version {PROTOCOL_VERSION}."
            )
        self.capabilities = _dict(result.get("agentCapabilities"))
        self.info = _dict(result.get("agentInfo"))
        methods = result.get("authMethods")
        self.auth_methods = methods if isinstance(methods, list) else []

    async def _run(self, connection: Connection) -> None:
        try:
            await connection.run()
        finally:
            if not self._stopping:
                error = await self._autopsy()
                connection.end(error)
                self._on_end(error)
                if self._process is not None:
                    await self._process.stop()

    async def _autopsy(self) -> RpcError:
        """Return the reason why the connection ended."""
        if self._process is None:
            return RpcError(UNAVAILABLE, f"The connection to {self.spec.name} was lost.")
        await self.connection.close_transport()
        try:
            status: int | None = await asyncio.wait_for(self._process.wait(), self._stop_grace)
        except asyncio.TimeoutError:
            # The process may have ended while another process keeps its stderr open.
            status = self._process.status
        return exited(self.spec.id, self.spec.name, status, self.stderr)

    def _failure(self, message: str) -> RpcError:
        return failed(self.spec.id, message, self.stderr)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
