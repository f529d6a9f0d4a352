# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tool calls of an agent that are in progress, as far as its updates have told."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

LIMIT = 200
"""How many calls are remembered: some agents never say that a call has ended."""

KINDS = {"tool_call", "tool_call_update"}
_TOLD = ("name", "title", "kind", "rawInput", "locations", "content")
_ENDED = ("completed", "failed")


class Calls:
    """What one session's agent is doing now; nothing is kept of calls that have ended."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._claimed: set[str] = set()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(list(self._calls.values()))

    def take(self, told: Any) -> None:
        """Merge a `tool_call` or an update of one."""
        id = told.get("toolCallId") if isinstance(told, dict) else None
        if not isinstance(id, str):
            return
        if told.get("status") in _ENDED:
            self._calls.pop(id, None)
            self._claimed.discard(id)
            return
        call = self._calls.setdefault(id, {"toolCallId": id})
        # Agents leave out or blank what did not change.
        call.update({key: told[key] for key in _TOLD if told.get(key)})
        if isinstance(meta := told.get("_meta"), dict):
            call["_meta"] = {**call.get("_meta", {}), **meta}
        if len(self._calls) > LIMIT:
            self._claimed.discard(self._calls.popitem(last=False)[0])

    def asked(self, told: Any) -> dict[str, Any]:
        """Take the `toolCall` of a permission request; return all that was told of that call.

        A request may come before its call, and says other things of it: they are kept apart.
        """
        id = told.get("toolCallId") if isinstance(told, dict) else None
        if not isinstance(id, str):
            return {}
        before = self._calls.get(id)
        if before is None:
            self.take({**told, "status": None})
            return {**self._calls[id]}
        said = {key: told[key] for key in _TOLD if told.get(key)}
        both = {**before, **said}
        meta = told.get("_meta")
        both["_meta"] = {**before.get("_meta", {}), **(meta if isinstance(meta, dict) else {})}
        contents = [each.get("content") for each in (before, said)]
        both["content"] = [
            entry for content in contents if isinstance(content, list) for entry in content
        ]
        return both

    def claim(self, id: str) -> bool:
        """Take a call for one's own; return whether nobody had taken it before."""
        is_free = id not in self._claimed
        self._claimed.add(id)
        return is_free

    def clear(self) -> None:
        """Forget all of them: a turn has ended, or the agent has."""
        self._calls.clear()
        self._claimed.clear()
