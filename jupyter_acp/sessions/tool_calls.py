# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tool calls of an agent that are in progress, as far as its updates have told."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

LIMIT = 200
"""How many calls are remembered: some agents never say that a call has ended."""

NAMES_LIMIT = 10
"""How many names one call may have; what has more is nothing that is known here."""

KINDS = {"tool_call", "tool_call_update"}
_TOLD = ("title", "kind", "rawInput", "locations", "content")
_ENDED = ("completed", "failed")


class ToolCalls:
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
        _merge(self._calls.setdefault(id, {"toolCallId": id}), told)
        if len(self._calls) > LIMIT:
            self._claimed.discard(self._calls.popitem(last=False)[0])

    def asked(self, told: Any) -> list[dict[str, Any]]:
        """Take the `toolCall` of a permission request; return what was told of that call.

        A request may come before its call. It says other things of it than its updates: they are
        kept apart.
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
            # The updates have not come as far yet.
            before = {**before, "rawInput": given}
        return [{**before}, question]

    def claim(self, id: str) -> bool:
        """Take a call for one's own; return whether nobody had taken it before."""
        is_free = id not in self._claimed
        self._claimed.add(id)
        return is_free

    def clear(self) -> None:
        """Forget all of them: a turn has ended, or the agent has."""
        self._calls.clear()
        self._claimed.clear()


def _merge(call: dict[str, Any], told: dict[str, Any]) -> None:
    """Merge an update into what is known of a call.

    What a call is does not change, it is only told bit by bit: `isChanged` says that it did.
    """
    # Agents leave out or blank what did not change.
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
    """Yield the names of tools in the fields that agents write themselves."""
    meta = told.get("_meta")
    corners = (meta, *(meta.values() if isinstance(meta, dict) else ()))
    named = [corner.get("toolName") for corner in corners if isinstance(corner, dict)]
    for name in (told.get("name"), *named):
        if name:
            yield name if isinstance(name, str) else "?"


def _grows(before: Any, now: Any, key: str) -> bool:
    """Whether something is what it was, or more of it: arguments come while the model writes them."""
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
    """Whether content is the arguments that it was, or more of them; spaces mean nothing."""
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
