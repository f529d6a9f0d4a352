# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that an agent has and this server has not: begun in a terminal, or by another client."""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import PurePath
from typing import Any, NamedTuple

from ..agents.agent import Agent
from ..rpc import RpcError
from .setup import TITLE_LIMIT
from .ways import NoWay, by_any_way

MOST_PAGES = 20
MOST = 2000
LONGEST_PATH = 4096
_NAMESPACE = uuid.UUID("6f1a3c1e-8f0f-4f0e-9b7a-2f6f3d0c5a11")


class ForeignSession(NamedTuple):
    """What an agent tells of one."""

    id: str
    """By which it is known here, always the same."""

    agent: str
    agent_session: str
    cwd: str
    title: str
    updated: str

    def public(self) -> dict[str, Any]:
        """Return what a window or a REST client may see."""
        return {
            "id": self.id,
            "agent": self.agent,
            "cwd": self.cwd,
            "title": self.title,
            "updated": self.updated,
        }


async def sessions_of(agent: Agent, root: str, patience: float) -> list[ForeignSession]:
    """Ask an agent for all its sessions below a folder; those that it tells of in time."""
    found: list[ForeignSession] = []
    try:
        await asyncio.wait_for(_collect(agent, root, found), patience)
    except (asyncio.TimeoutError, RpcError) as error:
        words = error.brief if isinstance(error, RpcError) else "it took too long"
        agent.log.info("%s did not list all its sessions: %s", agent.spec.name, words)
    return found


async def _collect(agent: Agent, root: str, found: list[ForeignSession]) -> None:
    """Take up its sessions page by page; none if it cannot tell."""
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
        title[:TITLE_LIMIT] if isinstance(title, str) else "",
        updated if isinstance(updated, str) else "",
    )


def _is_below(folder: str, root: str) -> bool:
    """Whether it is below by its name: nothing is looked up for an agent that may name anything."""
    return PurePath(os.path.normpath(folder)).is_relative_to(root)
