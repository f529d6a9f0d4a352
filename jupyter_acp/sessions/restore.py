# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The ways to restore a session with an agent that was started again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from .. import protocol
from ..agents.agent import Agent
from ..agents.authentication import wants_login
from ..history.record import SessionRecord
from ..rpc import Logger, RpcError
from . import health
from .agent_link import AgentLink, Owner
from .fallbacks import note_unknown, ways
from .remote import going_on
from .retelling import retell
from .sandboxagent_extension import REQUESTED_ID
from .transcript import Transcript

Open = Callable[[str, dict[str, Any], AgentLink], Awaitable[Any]]
"""Opens the session with the agent by a method and its parameters."""


class Restored(NamedTuple):
    """The way in which a session was restored, and a message about it for users."""

    how: str
    message: str


_RESTORED = {
    protocol.SESSION_RESUME: ("resume", "{name} is back and resumed the session."),
    protocol.SESSION_LOAD: ("load", "{name} is back and loaded the session."),
}


async def restore(
    owner: Owner,
    record: SessionRecord,
    transcript: Transcript,
    link: AgentLink,
    agent: Agent,
    open: Open,
    log: Logger,
) -> Restored | None:
    """Let the agent open a session that it knows; return None if it cannot."""
    # If our transcript is empty, the agent has to replay the history: only "load" does so.
    capability = "resume" if transcript.seq else "load"
    id = record.agent_session
    for method in ways(agent, capability) if id is not None else []:
        assert id is not None
        transcript.shut_gate()
        try:
            # Join before the request is sent: some agents replay before they answer.
            link.join(id, owner)
            await open(method, {**open_params(record), "sessionId": id}, link)
        except BaseException as error:
            transcript.open_gate()
            link.leave(owner)
            if not isinstance(error, RpcError) or not agent.alive:
                raise
            if wants_login(error, agent):
                # After a login the session can be restored, so do not open a new one.
                raise
            note_unknown(agent, method, error)
            log.info("%s was refused by %s: %s", method, link.name, error.brief)
        else:
            await transcript.end_replay(is_promised=method == protocol.SESSION_LOAD)
            how, message = _RESTORED[method]
            return Restored(how, message.format(name=link.name))
    return None


async def begin_anew(
    record: SessionRecord,
    transcript: Transcript,
    link: AgentLink,
    open: Open,
    anew: health.Anew | None,
) -> Restored:
    """Open a new session of the agent in place of the old one, and let the agent be told the past."""
    await open(protocol.SESSION_NEW, _new_params(record), link)
    record.retold = await retell(transcript, anew.unanswered if anew else None)
    if anew is not None:
        rest = ", which is told what was said." if record.retold else "."
        return Restored("new", f"{anew.why}. A new session was opened with it{rest}")
    words = f"{link.name} is back but could not restore the session: it starts afresh and does not "
    if record.retold:
        words += "remember what was said before. It is told so with your next message."
        return Restored("new", words)
    return Restored("new", words + "remember anything.")


def open_params(record: SessionRecord) -> dict[str, Any]:
    """Return the parameters common to all requests that open the session."""
    params: dict[str, Any] = {"cwd": record.cwd, "mcpServers": record.mcp_servers}
    if record.additional_directories and record.remote is None:
        params["additionalDirectories"] = record.additional_directories
    return params


def _new_params(record: SessionRecord) -> dict[str, Any]:
    """Return the parameters of `session/new` for a session that replaces the old one."""
    params = open_params(record)
    if hints := {key: value for key, value in record.metadata.items() if key != REQUESTED_ID}:
        params["_meta"] = {protocol.SANDBOX: hints}
    if remote := going_on(record):
        params["remote"] = remote
        # The old remote session may have results that were not brought back.
        told = {"remote": remote, "continues": record.agent_session}
        params["_meta"] = {**params.get("_meta", {}), protocol.META: told}
    return params
