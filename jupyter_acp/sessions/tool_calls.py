# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tool calls of an agent that are in progress, according to its updates."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

LIMIT = 200
"""Maximum number of remembered calls; some agents never report the end of a call."""

NAMES_LIMIT = 10
"""Maximum number of names of one call; a call with more counts as changed."""

KINDS = {"tool_call", "tool_call_update"}
_TOLD = ("title", "kind", "rawInput", "locations", "content")
_ENDED = ("completed", "failed")


class ToolCalls:
    """Collects the tool calls of one session; drops each when it ends."""

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
        _merge(self._calls.setdefault(id, {"toolCallId": id}), told)
        if len(self._calls) > LIMIT:
            self._claimed.discard(self._calls.popitem(last=False)[0])

    def asked(self, told: Any) -> list[dict[str, Any]]:
        """Take the `toolCall` of a permission request; return the descriptions of that call.

        The request may come before its call. It may describe the call differently than the updates
        do, so the two descriptions are not merged.
        """
        id = told.get("toolCallId") if isinstance(told, dict) else None
        if not isinstance(id, str):
            return []
        before = self._calls.get(id)
        if before is None:
            self.take({**told, "status": None})
            return [{**self._calls[id]}]
        question: dict[str, Any] = {"toolCallId": id}
        _merge(question, told)
        given = question.get("rawInput")
        if "rawInput" in before and given and _grows(before["rawInput"], given, "rawInput"):
            # The request is ahead of the updates.
            before = {**before, "rawInput": given}
        return [{**before}, question]

    def claim(self, id: str) -> bool:
        """Claim a call; return True if it was not claimed before."""
        is_free = id not in self._claimed
        self._claimed.add(id)
        return is_free

    def clear(self) -> None:
        """Drop all calls, because a turn or the agent has ended."""
        self._calls.clear()
        self._claimed.clear()


def _merge(call: dict[str, Any], told: dict[str, Any]) -> None:
    """Merge an update into a call.

    Updates may complete the description of a call, but not alter it: `isChanged` marks those that
    did.
    """
    # Agents omit unchanged fields or leave them empty.
    new = {key: told[key] for key in _TOLD if told.get(key)}
    if told.get("rawInput") == {}:
        new["rawInput"] = call.get("rawInput", {})
    names = call.setdefault("names", [])
    for name in _names(told):
        if name not in names:
            names.append(name)
    is_same = len(names) <= NAMES_LIMIT and not call.get("isChanged")
    if not is_same or not all(_grows(call[key], new[key], key) for key in new if key in call):
        call["isChanged"] = True
        del names[NAMES_LIMIT:]
    call.update(new)


def _names(told: dict[str, Any]) -> Iterator[str]:
    """Yield the tool names in `name` and `_meta`, which the agent sets, not the model."""
    meta = told.get("_meta")
    corners = (meta, *(meta.values() if isinstance(meta, dict) else ()))
    named = [corner.get("toolName") for corner in corners if isinstance(corner, dict)]
    for name in (told.get("name"), *named):
        if name:
            yield name if isinstance(name, str) else "?"


def _grows(before: Any, now: Any, key: str) -> bool:
    """Return True if `now` equals or extends `before`: arguments arrive while the model writes."""
    try:
        return (_is_longer_text if key == "content" else _is_more)(before, now)
    except RecursionError:
        return False


def _is_more(before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        return all(key in now and _is_more(value, now[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(now, list):
        return len(before) <= len(now) and all(map(_is_more, before, now))
    if isinstance(before, str) and isinstance(now, str):
        return now.startswith(before)
    return bool(before == now)


def _is_longer_text(before: Any, now: Any) -> bool:
    """Return True if content equals or extends earlier arguments, ignoring white space."""
    if not isinstance(before, list) or not isinstance(now, list):
        return False
    before, now = ([_text(each) for each in content] for content in (before, now))
    return len(before) <= len(now) and all(
        old is not None
        and (not old or (old[0] == "{" and new is not None and _dense(new).startswith(_dense(old))))
        for old, new in zip(before, now, strict=False)
    )


def _text(entry: Any) -> str | None:
    block = entry.get("content") if isinstance(entry, dict) else None
    text = block.get("text") if isinstance(block, dict) else None
    return text.strip() if isinstance(text, str) else None


def _dense(text: str) -> str:
    return "".join(text.split())
