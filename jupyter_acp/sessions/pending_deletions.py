# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Deleted and closed sessions whose agents did not run then and have to be told later."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import orjson

from ..rpc import RpcError
from .fallbacks import NoWay, by_any_way

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from ..history.journal import Journal

KEY = "tombstones"
PATIENCE = 5.0
"""Timeout to tell an agent, in seconds; the rest follows when it starts again."""

MOST = 10_000
"""Maximum number of entries: those for agents without a method to delete would accumulate."""


class PendingDeletions:
    """Stores such sessions in the journal, and tells the agent as soon as it runs."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._all: dict[tuple[str, str], str] = {}

    async def open(self) -> None:
        """Read the entries from the journal."""
        for agent, session, *how in orjson.loads(await self._journal.fact(KEY) or b"[]"):
            self._all[agent, session] = how[0] if how else "delete"

    def __contains__(self, session: tuple[str, str]) -> bool:
        """Return True if a session was deleted; a closed one can be opened again."""
        return self._all.get(session) == "delete"

    def add(self, agent: str, agent_session: str, how: str = "delete") -> None:
        """Add a session that was deleted or closed."""
        self._all[agent, agent_session] = how
        while len(self._all) > MOST:
            del self._all[next(iter(self._all))]
        self._save()

    def discard(self, agent: str, agent_session: str | None) -> None:
        """Remove an entry, because the agent has given its id to a new session."""
        if agent_session is not None and (agent, agent_session) in self._all:
            del self._all[agent, agent_session]
            self._save()

    async def settle(self, agent: Agent, id: str) -> None:
        """Tell a started agent its pending deletions, before it can reuse their ids."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._settle(agent, id), PATIENCE)

    async def _settle(self, agent: Agent, id: str) -> None:
        for (owner, session), how in list(self._all.items()):
            if owner != id:
                continue
            params = {"sessionId": session}
            try:
                await by_any_way(agent, how, lambda m: agent.request(m, params))  # noqa: B023
            except NoWay:
                # The agent goes on listing the session, so the entry has to stay to hide it.
                continue
            except RpcError as error:
                if not agent.alive:
                    return
                agent.log.info("%s did not %s a session: %s", agent.spec.name, how, error.brief)
            else:
                self.discard(owner, session)

    def _save(self) -> None:
        self._journal.keep(
            KEY, orjson.dumps([[*session, how] for session, how in self._all.items()])
        )
