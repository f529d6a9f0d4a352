# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The check that starts agents and asks for their versions."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..agents.agent import Agent
from ..agents.spec import AgentSpec
from ..rpc import Peer, RpcError
from ..rpc.errors import method_not_found
from ..rpc.request import Request
from .findings import Finding, bad, good, note

if TYPE_CHECKING:
    from ..app import AcpExtension


class _Nobody(Peer):
    """A peer that ignores notifications and refuses requests."""

    def on_request(self, request: Request) -> None:
        request.fail(method_not_found(request.method))

    def on_notification(self, method: str, params: Any) -> None:
        pass


async def started(specs: Sequence[AgentSpec], extension: AcpExtension) -> list[Finding]:
    """Start the agents one by one; return the version of each, or the reason of its failure."""
    return [await _started(spec, extension) for spec in specs]


async def _started(spec: AgentSpec, extension: AcpExtension) -> Finding:
    agent = Agent(
        spec,
        _Nobody(),
        on_end=lambda _: None,
        message_limit=extension.max_message_size,
        initialize_timeout=extension.initialize_timeout,
        request_timeout=extension.request_timeout,
        stop_grace=extension.stop_grace,
        log=logging.getLogger("jupyter_acp.doctor"),
    )
    try:
        await agent.start({"name": "jupyter_acp", "title": "Jupyter ACP"}, {})
    except RpcError as error:
        return bad(f"{spec.id} does not start", error.message)
    try:
        words = f"{spec.id} starts: {_names(agent.info) or 'no version reported'}"
        if not agent.auth_methods:
            return good(words)
        ways = ", ".join(str(way.get("name") or way.get("id")) for way in agent.auth_methods if way)
        return note(words, f"It may require a login: {ways}.")
    finally:
        await agent.stop()


def _names(info: dict[str, Any]) -> str:
    parts = (info.get("title") or info.get("name"), info.get("version"))
    return " ".join(part for part in parts if isinstance(part, str))
