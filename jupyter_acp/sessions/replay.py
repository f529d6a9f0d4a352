# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent repeats of a session that it has loaded, held against what the journal has.

Agents repeat all of it, some of it or nothing, in other chunks than before, some of them twice, and
some know what was said elsewhere since. What the journal has appears once; what it has not is kept.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import orjson

from .log import Log
from .passages import ENDED, Passage, ended_calls, of_update, passages
from .retelling import without_past

Update = dict[str, Any]

QUIET = 0.15
QUIET_TRIES = 40
"""How long an agent must be silent, in seconds, to have repeated all; and how often that is tried."""

MOST = 200_000
MOST_BYTES = 64 * 1024 * 1024
"""How much is held against the journal; an agent that repeats more repeats itself."""

FARTHEST = 2000
"""How far from where it should be something is looked for in the journal."""

_ATTACHED = re.compile(r"\n\[[^\]\n]*\]\n")

FEWEST = 8
ALIKE = 0.8
"""How many words two texts must have, and what part of them in common, to be taken for the same."""

SHORTEST = 12
"""How long a text must be, in characters, to be taken for a part of another by its words alone."""


class Repeated:
    """What an agent says while it is taken for the past."""

    def __init__(self) -> None:
        self._taken: list[Update] = []
        self._size = 0
        self.has_past = False
        """Whether anything was said before that the journal knows of."""

        self.is_cut = False
        """Whether it was more than is held against the journal."""

    def take(self, params: Update) -> None:
        """Take one update of the agent; one that cannot be written down raises."""
        self._size += len(orjson.dumps(params))
        if len(self._taken) < MOST and self._size < MOST_BYTES:
            self._taken.append(params)
        else:
            self.is_cut = True

    async def news(self, log: Log) -> list[Update]:
        """Wait until the agent is silent; return what it has said that the journal does not have."""
        await self._silence()
        if not self._taken:
            return []
        loop = asyncio.get_running_loop()
        replay = Replay([])
        lines = await log.everything()
        count = -1
        while count < len(self._taken):
            # More may have come meanwhile.
            count = len(self._taken)
            replay = await loop.run_in_executor(None, _held_against, lines, self._taken[:count])
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
    replay = Replay(passages(lines), ended_calls(lines))
    for params in updates:
        replay.take(params)
    replay.close()
    return replay


class Replay:
    """Takes what is repeated, and tells in the end what of it is news."""

    def __init__(self, known: Iterable[Passage], ended: Iterable[str] = ()) -> None:
        """Know what the journal has, and which calls of tools have ended there."""
        self._known = [_Known(passage) for passage in known if passage.text.strip() or passage.key]
        self._texts = {(each.speaker, each.normal) for each in self._known}
        # What a user has just said, no agent has answered yet.
        self._end = max(
            (i + 1 for i, each in enumerate(self._known) if each.speaker != "user"), default=0
        )
        if self._end:
            self._known[self._end - 1].is_last = True
        self._calls = {known.key: known for known in self._known if known.speaker == "tool"}
        self._ended = set(ended)
        self._at = 0
        self._open: _Heard | None = None
        self._doubtful: list[Update] = []
        """What is equal to something that was repeated already: said again, or repeated twice."""

        self._news: list[Update] = []
        self._new_calls: set[str] = set()
        self._is_beyond = False
        """Whether it has come to what was said after the journal ends."""

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
            self.close()
            self._open = _Heard(passage, params)

    def news(self) -> list[Update]:
        """End the replay, and return the updates that the journal does not have."""
        self.close()
        return self._news

    def close(self) -> None:
        """Take it that what was said last is said to its end."""
        heard, self._open = self._open, None
        if heard is None or (heard.speaker != "tool" and not heard.normal):
            return
        if heard.speaker == "tool" and heard.key in self._calls:
            self._calls[heard.key].is_matched = True
            self._end_call(heard.updates[0], heard.updates[0]["update"])
            return
        found, rest = self._find(heard)
        if found == "news" or (found == "again" and self._is_beyond):
            self._news += [*self._doubtful, *heard.updates]
            self._doubtful = []
            self._is_beyond = self._is_beyond or self._at >= self._end
            if heard.speaker == "tool":
                self._new_calls.add(heard.key)
        elif found == "again":
            self._doubtful += heard.updates
        else:
            self._doubtful = []
            if rest:
                self._news.append(heard.with_text(rest))

    def _take_other(self, params: Update, update: Update) -> None:
        """Keep what belongs to a call that is news or had not ended, and plans if there is no past."""
        self.close()
        call = update.get("toolCallId")
        if call is None:
            is_new = not self._known
        else:
            is_new = call in self._new_calls
            if call in self._calls:
                self._end_call(params, update)
        if is_new:
            self._news.append(params)

    def _end_call(self, params: Update, update: Update) -> None:
        """Let a call end that the journal has only the beginning of."""
        call = update.get("toolCallId")
        if call not in self._ended and update.get("status") in ENDED:
            self._ended.add(str(call))
            self._news.append({**params, "update": {**update, "sessionUpdate": "tool_call_update"}})

    def _find(self, heard: _Heard) -> tuple[str, str]:
        """Say whether it is known, known from this replay already, or news; and how it goes on."""
        if self._match_several(heard):
            return "known", ""
        after = range(self._at, min(len(self._known), self._at + FARTHEST))
        before = range(self._at - 1, max(-1, self._at - FARTHEST), -1)
        is_next = True
        for index in (*after, *before):
            known = self._known[index]
            if known.is_matched or known.speaker != heard.speaker:
                continue
            if known.is_same(heard, is_next=is_next and index >= self._at):
                return "known", self._match(index, heard)
            is_next = False
        return ("again" if self._is_again(heard) else "news"), ""

    def _is_again(self, heard: _Heard) -> bool:
        if (heard.speaker, heard.normal) in self._texts:
            return True
        # The end of what was said and its beginning, from one round of repeating to the next.
        return any(
            heard.normal.startswith(text)
            and (speaker, heard.normal[len(text) :].strip()) in self._texts
            for speaker, text in self._texts
            if speaker == heard.speaker and text
        )

    def _match_several(self, heard: _Heard) -> bool:
        """Match one text with several of the journal that were said one after the other."""
        if heard.speaker == "tool":
            return False
        found: list[int] = []
        text = ""
        wanted = _squeezed(heard.text)
        for index in range(self._at, min(len(self._known), self._at + FARTHEST)):
            known = self._known[index]
            if known.speaker == heard.speaker and not known.is_matched:
                text += _squeezed(known.text)
                if not wanted.startswith(text):
                    return False
                found.append(index)
                if text == wanted:
                    break
            elif known.speaker == "user" and found:
                return False
        if len(found) < 2 or text != wanted:
            return False
        for index in found:
            self._known[index].is_matched = True
        self._at = found[-1] + 1
        return True

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
        last, at = known, index
        # Several that were told as one.
        for after in self._known[index + 1 :]:
            if after.speaker != heard.speaker or after.normal not in heard.normal:
                break
            after.is_matched, last, at = True, after, at + 1
        self._at = at + 1
        if self._at < self._end or heard.speaker in ("tool", "user"):
            return ""
        return heard.after(last.normal)


class _Text:
    """Something that was said, to be compared."""

    def __init__(self, passage: Passage) -> None:
        self.speaker = passage.speaker
        self.key = passage.key
        self._texts = [passage.text]

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @cached_property
    def normal(self) -> str:
        text = self.text
        if self.speaker == "user":
            # Agents have their own ways to write down what went with it.
            text = _ATTACHED.sub(" ", without_past(text))
        return " ".join(text.split())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.normal.split())


class _Known(_Text):
    """A passage of the journal."""

    def __init__(self, passage: Passage) -> None:
        super().__init__(passage)
        self.is_matched = False
        self.is_last = False
        self.heard = 0

    def is_same(self, heard: _Heard, *, is_next: bool) -> bool:
        """Whether it is what was heard; what is expected next may be told in more words."""
        if self.normal == heard.normal:
            return True
        if self.speaker == "tool" or not self.normal:
            return False
        if self.is_last and heard.normal.startswith(self.normal):
            # Cut off by a sudden end, however early.
            return True
        if self.speaker == "user" and is_next:
            return heard.normal.startswith(self.normal) or heard.normal.endswith(self.normal)
        shorter, longer = sorted((self.normal, heard.normal), key=len)
        if len(shorter) >= SHORTEST and shorter in longer:
            return True
        fewer = min(len(self.words), len(heard.words))
        # Told again in much the same words, as with other marks or wrappings.
        return fewer >= FEWEST and len(self.words & heard.words) >= fewer * ALIKE


class _Heard(_Text):
    """A passage as the agent repeats it, with the updates that it came in."""

    def __init__(self, passage: Passage, params: Update) -> None:
        super().__init__(passage)
        self.updates = [params]

    def goes_on(self, passage: Passage) -> bool:
        same = (passage.speaker, passage.key) == (self.speaker, self.key)
        return same and passage.speaker != "tool"

    def add(self, passage: Passage, params: Update) -> None:
        self._texts.append(passage.text)
        self.updates.append(params)

    def after(self, normal: str) -> str:
        """Return what comes after a part of it, which may have other spaces."""
        place = self.normal.find(normal)
        if place < 0:
            return ""
        left = len(_squeezed(self.normal[: place + len(normal)]))
        for index, character in enumerate(self.text):
            if left == 0:
                rest = self.text[index:]
                return rest if rest.strip() else ""
            left -= not character.isspace()
        return ""

    def with_text(self, text: str) -> Update:
        """Return the last of its updates with another text."""
        last = self.updates[-1]
        content = {"type": "text", "text": text}
        return {**last, "update": {**last["update"], "content": content}}


def _squeezed(text: str) -> str:
    return "".join(text.split())
