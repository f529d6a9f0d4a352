# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that only an agent knows: begun in a terminal, or by another client."""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ..agents.agent import Agent
from ..context.block import title_without_context
from ..history.record import TITLE_LIMIT, SessionRecord, now
from ..rpc import RpcError, invalid_params
from ..rpc.errors import METHOD_NOT_FOUND
from .fallbacks import NoWay, by_any_way, ways

if TYPE_CHECKING:
    from .agent_links import Links
    from .index import Index
    from .pending_deletions import PendingDeletions

MOST_PAGES = 20
MOST = 2000
LONGEST_PATH = 4096
_NAMESPACE = uuid.UUID("6f1a3c1e-8f0f-4f0e-9b7a-2f6f3d0c5a11")


class ForeignSession(NamedTuple):
    """A session as its agent lists it."""

    id: str
    """The id that we derive from the agent's id, the same each time."""

    agent: str
    agent_session: str
    cwd: str
    title: str
    updated: str

    def public(self) -> dict[str, Any]:
        """Return the description for windows and REST clients."""
        return {
            "id": self.id,
            "agent": self.agent,
            "cwd": self.cwd,
            "title": self.title,
            "updated": self.updated,
        }

    async def record(self, agent: Agent, root: str) -> SessionRecord:
        """Return a record for the session, if its agent can open it and its folder is below the root."""
        if not ways(agent, "load"):
            raise RpcError(
                METHOD_NOT_FOUND,
                f"{agent.spec.name} lists its sessions but cannot open them again.",
            )
        if not await asyncio.to_thread(_leads_below, self.cwd, root):
            # The listing compares names only: a symbolic link may lead outside of the root.
            raise invalid_params(
                f"The folder of that session, {self.cwd}, leads outside of the one that this server "
                "shows. Begin a new session there if you want the agent to work in it."
            )
        return SessionRecord(
            id=self.id,
            agent=self.agent,
            cwd=self.cwd,
            agent_session=self.agent_session,
            title=self.title,
            state="disconnected",
            created=now(),
            updated=now(),
        )


class Foreign:
    """Lists the sessions of all running agents that are not in the index."""

    def __init__(
        self,
        root: str,
        patience: float,
        links: Links,
        known: Index,
        pending_deletions: PendingDeletions,
    ) -> None:
        self._root = root
        self._patience = patience
        self._links = links
        self._known = known
        self._pending_deletions = pending_deletions
        self._listed: dict[str, ForeignSession] = {}

    async def list(self) -> list[ForeignSession]:
        """Ask every running agent for its sessions; return them, the latest first."""
        answers = await asyncio.gather(
            *(sessions_of(agent, self._root, self._patience) for agent in self._links.running)
        )
        known = {(each.agent, each.record.agent_session) for each in self._known}
        found = [
            each
            for answer in answers
            for each in answer
            if (each.agent, each.agent_session) not in known
            and (each.agent, each.agent_session) not in self._pending_deletions
        ]
        found.sort(key=lambda each: each.updated, reverse=True)
        self._listed = {each.id: each for each in found}
        return found

    async def find(self, id: str) -> ForeignSession | None:
        """Return a session by its id; list again if the last list does not contain it."""
        if id not in self._listed:
            await self.list()
        return self._listed.get(id)


async def sessions_of(agent: Agent, root: str, patience: float) -> list[ForeignSession]:
    """Return an agent's sessions below a folder, as far as it lists them before the timeout."""
    found: list[ForeignSession] = []
    try:
        await asyncio.wait_for(_collect(agent, root, found), patience)
    except (asyncio.TimeoutError, RpcError) as error:
        words = error.brief if isinstance(error, RpcError) else "it took too long"
        agent.log.info("%s did not list all its sessions: %s", agent.spec.name, words)
    return found


async def _collect(agent: Agent, root: str, found: list[ForeignSession]) -> None:
    """Collect an agent's sessions page by page; none if it has no method to list them."""
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        params = {"cursor": cursor} if cursor else {}
        try:
            page = await by_any_way(agent, "list", lambda method: agent.request(method, params))  # noqa: B023
        except NoWay:
            break
        page = page if isinstance(page, dict) else {}
        listed = page.get("sessions")
        for entry in listed if isinstance(listed, list) else []:
            session = _session(agent.spec.id, entry)
            if session is not None and _is_below(session.cwd, root):
                found.append(session)
        if len(found) > MOST:
            break
        following = page.get("nextCursor")
        if not isinstance(following, str) or following == cursor:
            break
        cursor = following


def _session(agent: str, entry: Any) -> ForeignSession | None:
    if not isinstance(entry, dict):
        return None
    theirs, cwd = entry.get("sessionId"), entry.get("cwd")
    if not isinstance(theirs, str) or not isinstance(cwd, str) or not os.path.isabs(cwd):
        return None
    if len(theirs) > LONGEST_PATH or len(cwd) > LONGEST_PATH or "\0" in cwd:
        return None
    title, updated = entry.get("title"), entry.get("updatedAt")
    return ForeignSession(
        str(uuid.uuid5(_NAMESPACE, f"{agent}\n{theirs}")),
        agent,
        theirs,
        cwd,
        title_without_context(title)[:TITLE_LIMIT] if isinstance(title, str) else "",
        updated if isinstance(updated, str) else "",
    )


def _leads_below(folder: str, root: str) -> bool:
    """Return True if the folder is below the root after symbolic links are resolved."""
    return Path(folder).resolve().is_relative_to(Path(root).resolve())


def _is_below(folder: str, root: str) -> bool:
    """Return True if the folder is below the root by its name, without access to the file system."""
    return PurePath(os.path.normpath(folder)).is_relative_to(root)
