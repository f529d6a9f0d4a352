# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The links to all agents of this server, which start and stop the agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..agents.agent import Agent
from ..agents.catalog import AgentNotAllowed, Catalog, CatalogError, UnknownAgent
from ..history.journal import Journal
from ..remote.capabilities import without_files
from ..rpc import Logger, RpcError
from ..rpc.errors import FORBIDDEN, NOT_FOUND, UNAVAILABLE
from ..rpc.outbox import Flusher
from ..services import ClientServices
from .agent_link import AgentLink
from .limits import Limits
from .pending_deletions import PendingDeletions
from .remote import RUNNER

if TYPE_CHECKING:
    from ..agents.catalog import Entry
    from ..history.record import SessionRecord


class Links:
    """Keeps one link per agent, and a second one for its remote sessions through the runner."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        services: ClientServices,
        journal: Journal,
        pending_deletions: PendingDeletions,
        limits: Limits,
        client_info: dict[str, Any],
        flusher: Flusher,
        on_start: Callable[[], None],
        on_progress: Callable[[dict[str, Any]], None],
        log: Logger,
    ) -> None:
        self._catalog = catalog
        self._services = services
        self._journal = journal
        self._pending_deletions = pending_deletions
        self._limits = limits
        self._info = client_info
        self._flusher = flusher
        self._on_start = on_start
        self._on_progress = on_progress
        self._log = log
        self._closing = False
        self._links: dict[str, AgentLink] = {}

    @property
    def running(self) -> list[Agent]:
        """The agents that run, except for those started through the runner."""
        return [
            link.agent
            for id, link in self._links.items()
            if link.agent is not None and not id.endswith(RUNNER)
        ]

    def all(self) -> list[tuple[Entry, Agent | None]]:
        """Return the catalog entry of every agent, with the agent itself if it runs."""
        return [
            (entry, link.agent if (link := self._links.get(entry.spec.id)) else None)
            for entry in self._catalog.list()
        ]

    def spec(self, agent: str | None) -> Any:
        """Return the spec of an agent, by default of the default agent, or raise an RPC error."""
        try:
            return self._catalog.get(agent or self._catalog.default_id)
        except CatalogError as error:
            codes = {UnknownAgent: NOT_FOUND, AgentNotAllowed: FORBIDDEN}
            raise RpcError(codes.get(type(error), UNAVAILABLE), str(error)) from error

    def get(self, id: str) -> AgentLink:
        """Return the link with this id, which is an agent's id with or without the runner suffix."""
        link = self._links.get(id)
        if link is None:
            name = self.spec(id.removesuffix(RUNNER)).name
            link = AgentLink(id, name, self._start, self._services, self._on_progress, self._log)
            self._links[id] = link
        return link

    def id_for(self, record: SessionRecord) -> str:
        """Return the id of the link that a session needs."""
        if record.remote is None or self._catalog.is_elsewhere(record.agent):
            return record.agent
        return record.agent + RUNNER

    def of(self, record: SessionRecord) -> AgentLink:
        """Return the link that a session needs."""
        return self.get(self.id_for(record))

    def known(self, record: SessionRecord) -> AgentLink | None:
        """Return the link that a session needs if it exists already, else None."""
        return self._links.get(self.id_for(record))

    async def agent(self, id: str | None) -> Agent:
        """Return a running agent: the named one or the default."""
        return await self.get(self.spec(id).id).ready()

    async def processes(self, id: str | None) -> list[Agent]:
        """Return the agent's running processes, local and through the runner; start one if none runs."""
        known = self.spec(id).id
        links = [self._links.get(each) for each in (known, known + RUNNER)]
        running = [link.agent for link in links if link is not None and link.agent is not None]
        return running or [await self.agent(id)]

    def stderr(self, id: str) -> list[str]:
        """Return the last lines that an agent printed to stderr, even if it has ended."""
        known = self.spec(id).id
        links = [self._links.get(each) for each in (known, known + RUNNER)]
        return [line for link in links if link and link.latest for line in link.latest.stderr]

    async def stop(self, id: str) -> None:
        """Stop an agent, both local and through the runner."""
        link = self.get(self.spec(id).id)
        for each in (link, self._links.get(link.agent_id + RUNNER)):
            if each is not None:
                await each.stop(f"{link.name} was restarted.")

    async def close(self) -> None:
        """Stop every agent and refuse to start others."""
        self._closing = True
        await asyncio.gather(
            *(link.stop("The Jupyter server was stopped.") for link in self._links.values()),
            return_exceptions=True,
        )

    def close_now(self) -> None:
        """Stop every agent without an event loop."""
        for link in self._links.values():
            if link.agent is not None:
                link.agent.stop_now()

    def refuse_more(self) -> None:
        """Refuse to start agents from now on."""
        self._closing = True

    async def _start(self, link: AgentLink) -> Agent:
        if self._closing:
            raise RpcError(UNAVAILABLE, "The Jupyter server is stopping.")
        spec = self.spec(link.agent_id.removesuffix(RUNNER))
        is_runner = link.agent_id.endswith(RUNNER)
        agent = Agent(
            self._limits.remote.runner(spec) if is_runner else spec,
            link,
            on_end=link.ended,
            message_limit=self._limits.message,
            initialize_timeout=self._limits.initialize_timeout,
            request_timeout=self._limits.request_timeout,
            stop_grace=self._limits.stop_grace,
            log=self._log,
            store=self._journal,
            flusher=self._flusher,
        )
        link.latest = agent
        self._log.info("Starting agent %s", link.agent_id)
        self._on_start()
        capabilities = self._services.capabilities()
        await agent.start(self._info, without_files(capabilities) if is_runner else capabilities)
        await self._pending_deletions.settle(agent, link.agent_id)
        return agent
