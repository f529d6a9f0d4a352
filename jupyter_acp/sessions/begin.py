# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How a session begins: with nothing, or with the past of another."""

from __future__ import annotations

from typing import Any

from .. import protocol
from .session import Session


async def begin_new(session: Session, params: protocol.NewSessionParams) -> dict[str, Any]:
    """Ask the agent for a new session."""
    return await session.begin(protocol.SESSION_NEW, _body(params, session))


async def begin_fork(
    session: Session, source: Session, params: protocol.ForkParams
) -> dict[str, Any]:
    """Ask the agent to go on from where another session is; the transcript is copied already."""
    title = source.record.title or "an untitled session"
    session.append(protocol.NOTICE, {"level": "info", "message": f"Forked from “{title}”."})
    if source.record.title:
        session.rename(f"{title} (fork)")
    # Some agents repeat the past; the copy has it.
    session.replaying = True
    body = {**_body(params, session), "sessionId": source.record.agent_session}
    return await session.begin(protocol.SESSION_FORK, body)


def _body(params: protocol.NewSessionParams, session: Session) -> dict[str, Any]:
    """Return what the agent is sent: what the client sent, but for what is our own affair."""
    body = params.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    body["mcpServers"] = session.record.mcp_servers
    if session.record.additional_directories:
        body["additionalDirectories"] = session.record.additional_directories
    if ours := {key: value for key, value in params.ours().items() if key != "agent"}:
        body["_meta"][protocol.META] = ours
    elif "_meta" in body:
        # Which agent was meant is our affair: to another server of our kind it means another.
        body["_meta"].pop(protocol.META, None)
    return body
