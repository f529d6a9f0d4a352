# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Bring a session back to an agent that has been started again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import protocol
from ..rpc import RpcError

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from .link import AgentLink
    from .session import Session


async def restore(session: Session, link: AgentLink, agent: Agent) -> tuple[str, str]:
    """Try the gentlest way first; return how it went, and the same in words."""
    record = session.record
    params: dict[str, Any] = {"cwd": record.cwd, "mcpServers": record.mcp_servers}
    if record.additional_directories:
        params["additionalDirectories"] = record.additional_directories
    ways: list[tuple[str, str, str]] = []
    if record.agent_session is not None:
        if "resume" in (agent.capabilities.get("sessionCapabilities") or {}):
            ways.append(
                ("resume", protocol.SESSION_RESUME, f"{link.name} is back and resumed the session.")
            )
        if agent.capabilities.get("loadSession"):
            ways.append(
                ("load", protocol.SESSION_LOAD, f"{link.name} is back and loaded the session.")
            )
    for how, method, message in ways:
        assert record.agent_session is not None
        # Joined before the request is sent: some agents replay before they answer.
        link.join(record.agent_session, session)
        session.replaying = True
        try:
            await session.open_with_agent(
                link, agent, method, {**params, "sessionId": record.agent_session}
            )
            return how, message
        except RpcError as error:
            link.leave(record.agent_session)
            if not agent.alive:
                raise
            link.log.info("%s was refused by %s: %s", method, link.name, error.message)
        finally:
            session.replaying = False
    await session.open_with_agent(link, agent, protocol.SESSION_NEW, params)
    return "new", (
        f"{link.name} is back but could not restore the session: it starts afresh and does not "
        "remember what was said before."
    )
