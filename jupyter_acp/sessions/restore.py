# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Bring a session back to an agent that has been started again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import protocol
from ..agents.authentication import wants_login
from ..rpc import RpcError
from ..rpc.errors import METHOD_NOT_FOUND, UNAVAILABLE
from .choosing import choose_again
from .remote import going_on
from .retelling import retell
from .sandbox import REQUESTED_ID
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
    """Bring it back as it was; return how it went, and the same in words."""
    before = session.setup.chosen()
    how, message = await _open(session, link, agent)
    await choose_again(session, before)
    return how, message


async def reload(session: Session, link: AgentLink, agent: Agent) -> None:
    """Replace the transcript by what the agent tells, or leave all as it is if it tells nothing."""
    method, record = protocol.SESSION_LOAD, session.record
    if method not in ways(agent, "load") or record.agent_session is None:
        raise RpcError(METHOD_NOT_FOUND, f"{link.name} cannot tell what was said in a session.")
    before = session.setup.chosen()
    told: list[dict[str, Any]] = []
    session.transcript.shut_gate(told.append)
    try:
        params = {**_folders(session), "sessionId": record.agent_session}
        await session.open_with_agent(link, agent, method, params)
        assert session.transcript.gate is not None
        await session.transcript.gate.quiet(0, is_promised=True)
    finally:
        session.transcript.open_gate()
    if told:
        session.transcript.replace(told)
    await choose_again(session, before)
    if not told:
        raise RpcError(UNAVAILABLE, f"{link.name} told nothing of this session.")


def _folders(session: Session) -> dict[str, Any]:
    """Return what every request that opens a session names."""
    record = session.record
    params: dict[str, Any] = {"cwd": record.cwd, "mcpServers": record.mcp_servers}
    if record.additional_directories and not session.is_remote:
        params["additionalDirectories"] = record.additional_directories
    return params


async def _open(session: Session, link: AgentLink, agent: Agent) -> tuple[str, str]:
    """Try the gentlest way first."""
    record = session.record
    params = _folders(session)
    # What the journal has never seen has to be told, not only gone on with.
    capability = "resume" if session.log.seq else "load"
    anew = session.anew
    is_known = record.agent_session is not None and anew is None
    for method in ways(agent, capability) if is_known else []:
        assert record.agent_session is not None
        session.transcript.shut_gate()
        try:
            # Joined before the request is sent: some agents replay before they answer.
            link.join(record.agent_session, session)
            await session.open_with_agent(
                link, agent, method, {**params, "sessionId": record.agent_session}
            )
        except BaseException as error:
            session.transcript.open_gate()
            link.leave(session)
            if not isinstance(error, RpcError) or not agent.alive:
                raise
            if wants_login(error, agent):
                # Whoever logs in has it back; a new session would only look like it.
                raise
            note_unknown(agent, method, error)
            link.log.info("%s was refused by %s: %s", method, link.name, error.brief)
        else:
            is_load = method == protocol.SESSION_LOAD
            await session.transcript.end_replay(is_promised=is_load)
            how, message = _HOW[method]
            return how, message.format(name=link.name)
    if session.is_foreign:
        raise RpcError(UNAVAILABLE, f"{link.name} did not open this session again.")
    if hints := {key: value for key, value in record.metadata.items() if key != REQUESTED_ID}:
        params["_meta"] = {protocol.SANDBOX: hints}
    if remote := going_on(record):
        params["remote"] = remote
        # Where it was, there may be work that has never come back.
        told = {"remote": remote, "continues": record.agent_session}
        params["_meta"] = {**params.get("_meta", {}), protocol.META: told}
    await session.open_with_agent(link, agent, protocol.SESSION_NEW, params)
    session.anew = None
    record.retold = await retell(session.log, anew.unanswered if anew is not None else None)
    if anew is not None:
        rest = ", which is told what was said." if record.retold else "."
        return "new", f"{anew.why}. A new session was opened with it{rest}"
    words = f"{link.name} is back but could not restore the session: it starts afresh and does not "
    if record.retold:
        return "new", words + "remember what was said before. It is told so with your next message."
    return "new", words + "remember anything."
