# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that were deleted or closed here while their agents did not run, who hear of it later."""

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
"""How long that may take, in seconds; what is left is told the next time."""

MOST = 10_000
"""How many are remembered; of agents that cannot delete, some stay for ever."""


class PendingDeletions:
    """Remembers them over restarts, and tells the agent as soon as it runs."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._all: dict[tuple[str, str], str] = {}

    async def open(self) -> None:
        """Read what was remembered."""
        for agent, session, *how in orjson.loads(await self._journal.fact(KEY) or b"[]"):
            self._all[agent, session] = how[0] if how else "delete"

    def __contains__(self, session: tuple[str, str]) -> bool:
        """Whether a session is no more; one that was closed can be opened again."""
        return self._all.get(session) == "delete"

    def add(self, agent: str, agent_session: str, how: str = "delete") -> None:
        """Remember that a session is no more, or not needed for now."""
        self._all[agent, agent_session] = how
        while len(self._all) > MOST:
            del self._all[next(iter(self._all))]
        self._save()

    def discard(self, agent: str, agent_session: str | None) -> None:
        """Take it that an id means another session now: some agents count anew in every run."""
        if agent_session is not None and (agent, agent_session) in self._all:
            del self._all[agent, agent_session]
            self._save()

    async def settle(self, agent: Agent, id: str) -> None:
        """Tell an agent what has ended without it, before it has given any id to another session."""
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
                # It will list it again and again: what is hidden stays hidden.
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
