# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent repeats of a session that it has loaded, held against what the journal has.

Agents repeat all of it, some of it or nothing, in other chunks than before, some of them twice, and
some know what was said elsewhere since. What the journal has appears once; what it has not is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from .log import Log
from .passages import Passage, of_update, passages

Update = dict[str, Any]

QUIET = 0.15
QUIET_TRIES = 40
"""How long an agent must be silent, in seconds, to have repeated all; and how often that is tried."""

MOST = 200_000
"""How many updates are held against the journal; an agent that repeats more repeats itself."""

FEWEST = 8
ALIKE = 0.8
"""How many words two texts must have, and what part of them in common, to be taken for the same."""

SHORTEST = 12
"""How long a text must be, in characters, to be taken for a part of another by its words alone."""


class Repeated:
    """What an agent says while it is taken for the past."""

    def __init__(self) -> None:
        self._taken: list[Update] = []
        self.has_past = False
        """Whether anything was said before that the journal knows of."""

    def take(self, params: Update) -> None:
        """Take one update of the agent."""
        if len(self._taken) < MOST:
            self._taken.append(params)

    async def news(self, log: Log) -> list[Update]:
        """Wait until the agent is silent; return what it has said that the journal does not have."""
        await self._silence()
        if not self._taken:
            return []
        lines = await log.everything()
        taken = list(self._taken)
        loop = asyncio.get_running_loop()
        replay = await loop.run_in_executor(None, _held_against, lines, taken)
        for params in self._taken[len(taken) :]:
            replay.take(params)
        self.has_past = replay.has_past
        return replay.news()

    async def _silence(self) -> None:
        """Wait: some agents repeat the past after they have answered."""
        for _ in range(QUIET_TRIES):
            count = len(self._taken)
            await asyncio.sleep(QUIET)
            if len(self._taken) == count:
                return


def _held_against(lines: list[bytes], updates: list[Update]) -> Replay:
    replay = Replay(passages(lines))
    for params in updates:
        replay.take(params)
    return replay


class Replay:
    """Takes what is repeated, and tells in the end what of it is news."""

    def __init__(self, known: Iterable[Passage]) -> None:
        self._known = [_Known(passage) for passage in known if passage.text.strip() or passage.key]
        # What a user has just said, no agent has answered yet.
        self._end = max(
            (i + 1 for i, each in enumerate(self._known) if each.speaker != "user"), default=0
        )
        if self._end:
            self._known[self._end - 1].is_last = True
        self._calls = {known.key: known for known in self._known if known.speaker == "tool"}
        self._at = 0
        self._open: _Heard | None = None
        self._doubtful: list[Update] = []
        """What is equal to something that was repeated already: said again, or repeated twice."""

        self._news: list[Update] = []
        self._new_calls: set[str] = set()

    @property
    def has_past(self) -> bool:
        """Whether the journal knows of anything that was said."""
        return bool(self._known)

    def take(self, params: Update) -> None:
        """Take one update of the agent."""
        update = params["update"]
        passage = of_update(update)
        if passage is None:
            self._take_other(params, update)
        elif self._open is not None and self._open.goes_on(passage):
            self._open.add(passage, params)
        else:
            self._close()
            self._open = _Heard(passage, params)

    def news(self) -> list[Update]:
        """End the replay, and return the updates that the journal does not have."""
        self._close()
        return self._news

    def _take_other(self, params: Update, update: Update) -> None:
        """Keep what belongs to a call that is news, and plans if there is nothing else."""
        self._close()
        is_new = (
            update.get("toolCallId") in self._new_calls
            if "toolCallId" in update
            else not self._known
        )
        if is_new:
            self._news.append(params)

    def _close(self) -> None:
        heard, self._open = self._open, None
        if heard is None or (heard.speaker != "tool" and not heard.normal):
            return
        found, rest = self._find(heard)
        if found == "news":
            self._news += [*self._doubtful, *heard.updates]
            self._doubtful = []
            if heard.speaker == "tool":
                self._new_calls.add(heard.key)
        elif found == "again":
            self._doubtful += heard.updates
        else:
            self._doubtful = []
            if rest:
                self._news.append(heard.with_text(rest))

    def _find(self, heard: _Heard) -> tuple[str, str]:
        """Say whether it is known, known from this replay already, or news; and what it goes on with."""
        if heard.speaker == "tool" and heard.key in self._calls:
            self._calls[heard.key].is_matched = True
            return "known", ""
        after = range(self._at, len(self._known))
        before = range(self._at - 1, -1, -1)
        for index in (*after, *before):
            known = self._known[index]
            if not known.is_matched and known.is_same(heard):
                return "known", self._match(index, heard)
        if any(known.is_matched and known.is_same(heard) for known in self._known):
            return "again", ""
        return "news", ""

    def _match(self, index: int, heard: _Heard) -> str:
        """Take note of a match; return what was said beyond it, if the journal ends there."""
        known = self._known[index]
        if len(heard.normal) < len(known.normal):
            # A part of it: the other parts are yet to come.
            self._at = index
            known.heard += len(heard.normal)
            known.is_matched = known.heard >= len(known.normal) * 0.9
            return ""
        known.is_matched = True
        last = known
        # Several that were told as one.
        for after in self._known[index + 1 :]:
            if after.speaker != heard.speaker or after.normal not in heard.normal:
                break
            after.is_matched, last = True, after
        self._at = self._known.index(last) + 1
        is_end = self._at >= self._end and heard.speaker not in ("tool", "user")
        place = heard.text.find(last.text) if is_end else -1
        rest = heard.text[place + len(last.text) :] if place >= 0 else ""
        return rest if rest.strip() else ""


class _Known:
    """A passage of the journal."""

    def __init__(self, passage: Passage) -> None:
        self.speaker = passage.speaker
        self.key = passage.key
        self.text = passage.text
        self.normal = _normal(passage.text)
        self.is_matched = False
        self.is_last = False
        self.heard = 0

    def is_same(self, heard: _Heard) -> bool:
        if self.speaker != heard.speaker:
            return False
        if self.normal == heard.normal:
            return True
        if self.speaker == "tool":
            return False
        if self.is_last and heard.normal.startswith(self.normal):
            # Cut off by a sudden end, however early.
            return True
        shorter, longer = sorted((self.normal, heard.normal), key=len)
        if len(shorter) >= SHORTEST and shorter in longer:
            return True
        ours, theirs = set(self.normal.split()), set(heard.normal.split())
        fewer = min(len(ours), len(theirs))
        # Told again in much the same words, as with other marks or wrappings.
        return fewer >= FEWEST and len(ours & theirs) >= fewer * ALIKE


class _Heard:
    """A passage as the agent repeats it, with the updates that it came in."""

    def __init__(self, passage: Passage, params: Update) -> None:
        self.speaker = passage.speaker
        self.key = passage.key
        self.updates = [params]
        self._texts = [passage.text]

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def normal(self) -> str:
        return _normal(self.text)

    def goes_on(self, passage: Passage) -> bool:
        return passage.speaker != "tool" and (passage.speaker, passage.key) == (
            self.speaker,
            self.key,
        )

    def add(self, passage: Passage, params: Update) -> None:
        self._texts.append(passage.text)
        self.updates.append(params)

    def with_text(self, text: str) -> Update:
        """Return the last of its updates with another text."""
        last = self.updates[-1]
        content = {"type": "text", "text": text}
        return {**last, "update": {**last["update"], "content": content}}


def _normal(text: str) -> str:
    return " ".join(text.split())
