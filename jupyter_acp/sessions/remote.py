# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Remote sessions: checks at their beginning, and their results."""

from __future__ import annotations

import os
from typing import Any, Protocol

from .. import protocol
from ..agents.agent import Agent
from ..history.record import SessionRecord
from ..remote.capabilities import ours, takes_remote
from ..remote.options import RemoteOptions
from ..remote.refs import RefError, git_ref
from ..rpc import RpcError, invalid_params
from ..rpc.errors import UNAVAILABLE

RUNNER = "@git"
"""Suffix of the id of a link that goes through the runner; no agent id contains it."""


def checked_remote(
    params: protocol.NewSessionParams, options: RemoteOptions
) -> dict[str, Any] | None:
    """Return the requested reference without secrets, or None; refuse forbidden ones."""
    wanted = params.wanted_remote()
    if wanted is None:
        return None
    if not options.is_possible:
        raise RpcError(UNAVAILABLE, "There is no git on this machine. Install it and try again.")
    try:
        ref = git_ref(wanted)
        options.policy.check(ref.url)
    except RefError as error:
        raise invalid_params(f"{error}.") from None
    return ref.public()


def folder_of(result: dict[str, Any]) -> str | None:
    """Return the folder in an agent's answer, if it exists on this machine."""
    folder = ours(result).get("folder")
    if isinstance(folder, str) and os.path.isabs(folder) and os.path.isdir(folder):
        return folder
    return None


def check_takes_remote(agent: Agent) -> None:
    """Raise an error if an agent does not support remote sessions."""
    if not takes_remote(agent.capabilities):
        raise RpcError(
            UNAVAILABLE,
            f"{agent.spec.name} cannot work on a repository that is elsewhere: it does not say that it "
            "takes remote sessions.",
        )


class ResultOwner(Protocol):
    """A session that has results."""

    record: SessionRecord

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Add a message to the transcript."""

    def changed(self) -> None:
        """Save the record and report the change."""


def noted_result(session: ResultOwner, answer: Any) -> dict[str, Any] | None:
    """Record the result in a turn's answer, from `target` or `_meta`, and return it."""
    if session.record.remote is None or not isinstance(answer, dict):
        return None
    target = answer.get("target")
    target = target if target is not None else ours(answer).get("target")
    if target is None:
        return None
    try:
        ref = git_ref(target)
    except RefError as error:
        words = f"What the agent says to have brought back cannot be used. {error}."
        session.append(protocol.NOTICE, {"level": "warning", "message": words})
        return None
    result = {"number": len(session.record.results) + 1, "target": ref.public(), "state": "there"}
    session.record.results.append(result)
    tell_result(session, result)
    return result


def give_up_fetching(session: ResultOwner) -> None:
    """Mark results as not fetched if the server was killed during the fetch."""
    for result in session.record.results:
        if result["state"] == "fetching":
            result["state"] = "there"
            tell_result(session, result)


def tell_result(session: ResultOwner, result: dict[str, Any]) -> None:
    """Report the state of a result to every window."""
    session.append(protocol.RESULT, dict(result))
    session.changed()


def going_on(record: SessionRecord) -> dict[str, Any] | None:
    """Return the reference to continue from, for an agent that does not know the session."""
    if record.remote is None:
        return None
    latest: dict[str, Any] = record.results[-1]["target"] if record.results else record.remote
    return latest
