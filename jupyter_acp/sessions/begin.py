# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How a session begins: with nothing, or with the past of another."""

from __future__ import annotations

from typing import Any

from .. import protocol
from ..rpc import RpcError
from .fallbacks import NoWay, by_any_way
from .options import WORDS
from .remote import check_takes_remote, folder_of, going_on
from .retelling import retell
from .sandboxagent import HINTS, REQUESTED_ID
from .session import Session

_OUR_OWN = ("agent", "home", "continues")
"""What a client says to us alone, or has not to say: to another server of our kind it would mean
something else."""


async def begin_new(session: Session, params: protocol.NewSessionParams) -> dict[str, Any]:
    """Ask the agent for a new session, and for what it is to be like."""
    if session.is_remote:
        check_takes_remote(await session.agent_session.ready())
    result = await session.begin(protocol.SESSION_NEW, _body(params, session))
    if session.is_remote and not session.record.home and (folder := folder_of(result)):
        session.record.cwd = folder
        session.changed()
    options = session.agent_session.options
    for what in HINTS:
        value = session.record.metadata.get(what)
        # Where there is no other way, the agent has been told with the request itself.
        if isinstance(value, str) and options.can_choose(what, value):
            try:
                await options.choose(what, value)
            except RpcError as error:
                words = f"The {WORDS[what]} could not be set to {value}: {error.text}"
                session.append(protocol.NOTICE, {"level": "warning", "message": words})
    return {**result, **session.setup.chosen()}


async def begin_fork(
    session: Session, source: Session, params: protocol.ForkParams
) -> dict[str, Any]:
    """Go on from where another session is; its transcript is copied already."""
    title = source.record.title or "an untitled session"
    words = f"Forked from “{title}”."
    if source.record.title:
        session.rename(f"{title} (fork)")
    agent = await session.agent_session.ready()
    body = _body(params, session)
    before = session.setup.chosen()
    forked = {**body, "sessionId": source.record.agent_session}
    # Some agents repeat the past, of which there is a copy.
    session.transcript.shut_gate()
    try:
        if source.record.agent_session is None:
            # No agent has ever heard of it.
            raise NoWay("fork")
        result = await by_any_way(agent, "fork", lambda method: session.begin(method, forked))
    except NoWay:
        session.transcript.open_gate()
        session.record.retold = await retell(session.transcript)
        if hints := {k: v for k, v in session.record.metadata.items() if k != REQUESTED_ID}:
            body["_meta"] = {**body.get("_meta", {}), protocol.SANDBOX: hints}
        result = await session.begin(protocol.SESSION_NEW, body)
        words += f" {agent.spec.name} cannot fork: with your first message it is told what was said before."
    else:
        await session.transcript.end_replay()
    session.append(protocol.NOTICE, {"level": "info", "message": words})
    await session.agent_session.options.choose_again(before)
    return {**result, **session.setup.chosen()}


def _body(params: protocol.NewSessionParams, session: Session) -> dict[str, Any]:
    """Return what the agent is sent: what the client sent, but for what is our own affair."""
    body = params.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    body.pop("sessionId", None)
    body["cwd"] = session.record.cwd
    body["mcpServers"] = session.record.mcp_servers
    if session.record.additional_directories:
        body["additionalDirectories"] = session.record.additional_directories
    ours = {key: value for key, value in params.ours().items() if key not in _OUR_OWN}
    if session.is_remote:
        # A proposal as yet, which some agents' libraries drop where it belongs: it is told twice.
        body["remote"] = ours["remote"] = params.wanted_remote() or going_on(session.record)
        body.pop("additionalDirectories", None)
    if ours:
        body["_meta"] = {**body.get("_meta", {}), protocol.META: ours}
    elif "_meta" in body:
        body["_meta"].pop(protocol.META, None)
    return body
