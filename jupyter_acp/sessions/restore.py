# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Bring a session back to an agent that has been started again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import protocol
from ..rpc import RpcError
from .retelling import retell
from .ways import note_unknown, ways

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from .link import AgentLink
    from .session import Session

_HOW = {
    protocol.SESSION_RESUME: ("resume", "{name} is back and resumed the session."),
    protocol.SESSION_LOAD: ("load", "{name} is back and loaded the session."),
}


async def restore(session: Session, link: AgentLink, agent: Agent) -> tuple[str, str]:
    """Try the gentlest way first; return how it went, and the same in words."""
    record = session.record
    params: dict[str, Any] = {"cwd": record.cwd, "mcpServers": record.mcp_servers}
    if record.additional_directories:
        params["additionalDirectories"] = record.additional_directories
    # What the journal has never seen has to be told, not only gone on with.
    capability = "resume" if session.log.seq else "load"
    for method in ways(agent, capability) if record.agent_session is not None else []:
        assert record.agent_session is not None
        session.transcript.expect_replay()
        try:
            # Joined before the request is sent: some agents replay before they answer.
            link.join(record.agent_session, session)
            await session.open_with_agent(
                link, agent, method, {**params, "sessionId": record.agent_session}
            )
        except BaseException as error:
            session.transcript.forget_replay()
            link.leave(session)
            if not isinstance(error, RpcError) or not agent.alive:
                raise
            note_unknown(agent, method, error)
            link.log.info("%s was refused by %s: %s", method, link.name, error.message)
        else:
            await session.transcript.end_replay()
            how, message = _HOW[method]
            return how, message.format(name=link.name)
    await session.open_with_agent(link, agent, protocol.SESSION_NEW, params)
    record.retold = await retell(session.log)
    words = f"{link.name} is back but could not restore the session: it starts afresh and does not "
    if record.retold:
        return "new", words + "remember what was said before. It is told so with your next message."
    return "new", words + "remember anything."
