# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Tell an agent what was chosen in a session, and what else is said of it."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from .. import protocol
from ..rpc import RpcError, invalid_params
from .choices import CHOICES, WORDS, Call, calls, choice_of, chosen, current, option_for, options
from .sandbox import HINTS, REQUESTED_ID
from .setup import is_writable
from .ways import NoWay, note_unknown

if TYPE_CHECKING:
    from .session import Session

METADATA_LIMIT = 64 * 1024
"""How much can be said of a session besides what is said in it, in bytes."""


async def forward(session: Session, method: str, params: dict[str, Any]) -> Any:
    """Pass on what a window asks of the agent; what is a choice, in the best way."""
    call = Call(method, params)
    if choice := choice_of(method, params, session.setup.known):
        # An option that is named is that one, though another may be of the same kind.
        first = call if method == protocol.SET_CONFIG_OPTION else None
        return await choose(session, *choice, first)
    return await session.call(call)


async def choose(session: Session, what: str, value: Any, first: Call | None = None) -> Any:
    """Tell the agent what was chosen, in the best way that it knows."""
    agent = await session.ready_agent()
    known = calls(CHOICES[what], value, session.setup.known)
    if first is not None:
        known = chain([first], (call for call in known if call.method != first.method))
    for call in known:
        if call.method in agent.unknown:
            continue
        try:
            result = await session.call(call)
        except RpcError as error:
            if not note_unknown(agent, call.method, error):
                raise
        else:
            _note_option(session, what, value, call)
            return result
    raise invalid_params(f"{agent.spec.name} offers no such {WORDS[what]} here: {value!r}.")


def can_choose(session: Session, what: str, value: Any) -> bool:
    """Whether the agent offers any way to choose that."""
    return any(calls(CHOICES[what], value, session.setup.known))


async def choose_again(session: Session, before: dict[str, Any]) -> None:
    """Choose what was chosen before the agent was asked anew: it may have gone back to its own."""
    for option in options(before):
        value = option.get("currentValue")
        now = next(
            (each for each in options(session.setup.known) if each.get("id") == option.get("id")),
            None,
        )
        if now is not None and now.get("currentValue") != value:
            call = Call(protocol.SET_CONFIG_OPTION, {"configId": option.get("id"), "value": value})
            await _try_again(
                session, str(option.get("name") or option.get("id")), value, session.call(call)
            )
    for what in ("mode", "model"):
        value = current(CHOICES[what], before)
        now = current(CHOICES[what], session.setup.known)
        if value is not None and now is not None and now != value:
            await _try_again(session, WORDS[what], value, choose(session, what, value))


async def _try_again(session: Session, name: str, value: Any, choosing: Awaitable[Any]) -> None:
    try:
        await choosing
    except RpcError as error:
        words = f"The {name} could not be set to {value} again: {error.text}"
        session.append(protocol.NOTICE, {"level": "warning", "message": words})
        # Windows that have seen the old one have to hear of it.
        session.transcript.tell_choices()


async def set_metadata(session: Session, metadata: dict[str, Any]) -> None:
    """Change what is known of the session, here and, if it wants to know, at the agent."""
    if session.is_connected:
        # Nobody is started for it, least of all in a session that is closed.
        with contextlib.suppress(NoWay):
            # Refused: then nothing of it is true here, either.
            await session.ask_by("metadata", {"metadata": metadata})
        for what in HINTS:
            value = metadata.get(what)
            if isinstance(value, str) and can_choose(session, what, value):
                await choose(session, what, value)
    apply_metadata(session, metadata)


def apply_metadata(session: Session, metadata: dict[str, Any]) -> None:
    """Take over what the agent, or a user, says of the session."""
    record = session.record
    known = {key: value for key, value in metadata.items() if is_writable(value)}
    # What it is called elsewhere was settled when it was opened.
    known.pop(REQUESTED_ID, None)
    together = {**record.metadata, **known}
    if not is_acceptable(together):
        session.logger.warning("Ignored metadata of %s: too much", record.agent)
        return
    record.metadata = together
    title = known.get("title")
    if isinstance(title, str) and title and title != record.title:
        session.rename(title)
    session.changed()


def is_acceptable(metadata: dict[str, Any]) -> bool:
    """Whether metadata can be kept and told to every window."""
    return is_writable(metadata) and len(orjson.dumps(metadata)) <= METADATA_LIMIT


def _note_option(session: Session, what: str, value: Any, call: Call) -> None:
    """Let the option that stands for a choice say so, too, where it was told in another way."""
    option = option_for(CHOICES[what], session.setup.known)
    if option is not None and call.method != protocol.SET_CONFIG_OPTION:
        options = chosen(session.setup.known, option.get("id"), value)
        session.transcript.update(
            {"sessionUpdate": "config_option_update", "configOptions": options}
        )
