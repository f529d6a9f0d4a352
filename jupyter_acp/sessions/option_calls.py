# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Requests that tell an agent the chosen mode, model and other options of a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import chain
from typing import Any

from .. import protocol
from ..agents.agent import Agent
from ..rpc import RpcError, invalid_params
from .fallbacks import note_unknown
from .options import CHOICES, WORDS, Call, calls, choice_of, chosen, current, option_for, options
from .transcript import Transcript


class Options:
    """Sends the choices of one session to its agent."""

    def __init__(
        self,
        transcript: Transcript,
        connect: Callable[[], Awaitable[Agent]],
        call: Callable[[Call], Awaitable[Any]],
    ) -> None:
        self._transcript = transcript
        self._connect = connect
        self._call = call

    @property
    def _known(self) -> dict[str, Any]:
        return self._transcript.setup.known

    async def forward(self, method: str, params: dict[str, Any]) -> Any:
        """Forward a window's request to the agent; send a choice by the best method."""
        call = Call(method, params)
        if choice := choice_of(method, params, self._known):
            # Try the named option first: another option may have the same category.
            first = call if method == protocol.SET_CONFIG_OPTION else None
            return await self.choose(*choice, first)
        return await self._call(call)

    async def choose(self, what: str, value: Any, first: Call | None = None) -> Any:
        """Send a choice to the agent by the best method that it knows."""
        agent = await self._connect()
        known = calls(CHOICES[what], value, self._known)
        if first is not None:
            known = chain([first], (call for call in known if call.method != first.method))
        for call in known:
            if call.method in agent.unknown:
                continue
            try:
                result = await self._call(call)
            except RpcError as error:
                if not note_unknown(agent, call.method, error):
                    raise
            else:
                self._note_option(what, value, call)
                return result
        raise invalid_params(f"{agent.spec.name} offers no such {WORDS[what]} here: {value!r}.")

    def can_choose(self, what: str, value: Any) -> bool:
        """Return True if the agent offers a method for this choice."""
        return any(calls(CHOICES[what], value, self._known))

    async def choose_again(self, before: dict[str, Any]) -> None:
        """Restore the choices in `before`, where the agent went back to its defaults."""
        for option in options(before):
            id, value = option.get("id"), option.get("currentValue")
            now = next((each for each in options(self._known) if each.get("id") == id), None)
            if now is not None and now.get("currentValue") != value:
                call = Call(protocol.SET_CONFIG_OPTION, {"configId": id, "value": value})
                await self._try_again(str(option.get("name") or id), value, self._call(call))
        for what in ("mode", "model"):
            value, now = (current(CHOICES[what], known) for known in (before, self._known))
            if value is not None and now is not None and now != value:
                await self._try_again(WORDS[what], value, self.choose(what, value))

    async def _try_again(self, name: str, value: Any, choosing: Awaitable[Any]) -> None:
        try:
            await choosing
        except RpcError as error:
            words = f"The {name} could not be set to {value} again: {error.text}"
            self._transcript.append(protocol.NOTICE, {"level": "warning", "message": words})
            # Windows still show the old value.
            self._transcript.tell_choices()

    def _note_option(self, what: str, value: Any, call: Call) -> None:
        """Update the matching option for windows if the choice was sent by another method."""
        option = option_for(CHOICES[what], self._known)
        if option is not None and call.method != protocol.SET_CONFIG_OPTION:
            told = chosen(self._known, option.get("id"), value)
            self._transcript.update(
                {"sessionUpdate": "config_option_update", "configOptions": told}
            )
