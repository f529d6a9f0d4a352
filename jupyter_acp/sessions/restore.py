# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Bring a session back to an agent that has been started again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .. import protocol
from ..rpc import RpcError

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from .link import AgentLink
    from .session import Session


QUIET = 0.15
QUIET_TRIES = 40


async def restore(session: Session, link: AgentLink, agent: Agent) -> tuple[str, str]:
    """Try the gentlest way first; return how it went, and the same in words."""
    record = session.record
    params: dict[str, Any] = {"cwd": record.cwd, "mcpServers": record.mcp_servers}
    if record.additional_directories:
        params["additionalDirectories"] = record.additional_directories
    ways: list[tuple[str, str, str]] = []
    if record.agent_session is not None:
        capabilities = agent.capabilities.get("sessionCapabilities")
        if isinstance(capabilities, dict) and "resume" in capabilities:
            ways.append(
                ("resume", protocol.SESSION_RESUME, f"{link.name} is back and resumed the session.")
            )
        if agent.capabilities.get("loadSession"):
            ways.append(
                ("load", protocol.SESSION_LOAD, f"{link.name} is back and loaded the session.")
            )
    for how, method, message in ways:
        assert record.agent_session is not None
        session.replaying = True
        try:
            # Joined before the request is sent: some agents replay before they answer.
            link.join(record.agent_session, session)
            await session.open_with_agent(
                link, agent, method, {**params, "sessionId": record.agent_session}
            )
        except BaseException as error:
            link.leave(session)
            if not isinstance(error, RpcError) or not agent.alive:
                raise
            link.log.info("%s was refused by %s: %s", method, link.name, error.message)
        else:
            await _end_of_replay(session)
            return how, message
    session.replaying = False
    await session.open_with_agent(link, agent, protocol.SESSION_NEW, params)
    return "new", (
        f"{link.name} is back but could not restore the session: it starts afresh and does not "
        "remember what was said before."
    )


async def _end_of_replay(session: Session) -> None:
    """Wait until the agent is silent: some repeat the past after they have answered."""
    for _ in range(QUIET_TRIES):
        replayed = session.replayed
        await asyncio.sleep(QUIET)
        if session.replayed == replayed:
            return
