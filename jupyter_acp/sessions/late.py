# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent repeats of a session when nobody waits for it any more.

Then nothing may wait, and nothing that is new may be missed: only what is equal to what was said
before is left out, and only exchange by exchange, each in one go.

1. While a prompt runs, an agent repeats the past only if it begins with what a user has said there:
   its answer does not begin so. An answer that is equal to an older one is an answer.
   What follows is of the past until it is answered as it was then.
2. While no prompt runs, it may also go on where it had stopped, or tell only what it has said.
3. An exchange that is told in other words than before is news, with all that was held back of it;
   that is held back only as long as it is the same as before.
4. One exchange whose question is the same as that of the running prompt is kept if it is all that is
   told until that ends: some agents tell what they were asked.
5. It is over with the first thing in answer to a prompt that is not the past.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import chain

from .exchanges import Exchange, Piece, Update, normal, squeezed


class Late:
    """Tells the past from the present, update by update."""

    def __init__(
        self,
        exchanges: list[Exchange],
        calls: Container[str],
        others: Container[str],
        place: int = 0,
    ) -> None:
        """Know what was said, and where in it the agent has stopped to repeat it."""
        self.is_over = False
        """Whether it does not repeat anything any more."""

        self._exchanges = exchanges
        self._calls = calls
        self._others = others
        self._next = place
        self._now: Exchange | None = None
        self._asked = ""
        self._said = {"agent": 0, "thought": 0}
        self._held: list[Update] = []
        self._count = 0
        self._prompt: str | None = None

    def stopped_within(self, place: int, heard: Exchange) -> None:
        """Take it that the agent has stopped in the middle of an exchange."""
        self._begin(place, heard.user)
        for speaker in self._said:
            self._said[speaker] = len(heard.said(speaker))

    def take(self, piece: Piece, prompt: str | None) -> list[Update]:
        """Return what is news with an update; the prompt is what is being answered now, if anything."""
        self._prompt = prompt
        passage = piece.passage
        if passage.speaker == "user":
            is_past = self._asks(normal(passage.text))
        elif passage.speaker in ("agent", "thought"):
            is_past = self._says(passage.speaker, squeezed(passage.text), prompt)
        elif passage.speaker == "other":
            is_past = passage.text in self._others and (prompt is None or self._is_within)
        else:
            is_past = self._calls_again(passage.key, prompt)
        if is_past:
            is_said = passage.speaker in ("user", "agent", "thought")
            if is_said or prompt is not None:
                self._held.append(piece.params)
            return []
        if passage.speaker == "other":
            return [piece.params]
        news = [*self._let_go(is_past=True), piece.params]
        self.is_over = prompt is not None
        return news

    def interrupt(self) -> list[Update]:
        """Return what is to be told before something else is, as that the prompt has ended."""
        is_doubtful = self._count == 1 and self._asked == self._prompt
        if self._is_asked and not is_doubtful:
            self._held = []
            return []
        return self._let_go(is_past=not is_doubtful)

    @property
    def _is_asked(self) -> bool:
        """Whether a question was repeated to its end."""
        return self._now is not None and bool(self._asked) and self._asked == self._now.user

    def _begin(self, place: int, asked: str) -> None:
        self._now, self._next, self._asked = self._exchanges[place], place + 1, asked
        self._said = {"agent": 0, "thought": 0}
        self._held = []

    def _asks(self, text: str) -> bool:
        """Go on with a question, or to the next one that begins so."""
        if not text:
            return self._now is not None
        if self._now is not None and not any(self._said.values()):
            whole = self._asked + text
            place = self._find(whole, self._next - 1)
            if place is not None:
                held = self._held
                self._begin(place, whole)
                self._held = held
                return True
        place = self._find(text, self._next)
        if place is not None:
            self._begin(place, text)
            self._count += 1
        return place is not None

    def _find(self, question: str, start: int) -> int | None:
        places = chain(range(start, len(self._exchanges)), range(start))
        return next(
            (place for place in places if self._exchanges[place].user.startswith(question)), None
        )

    def _says(self, speaker: str, text: str, prompt: str | None) -> bool:
        """Go on with an answer, or to the next one if nobody waits for an answer."""
        if prompt is not None and not (self._is_asked and self._count):
            return False
        if self._now is not None:
            if self._goes_on(speaker, text, is_idle=prompt is None):
                self._said[speaker] += len(text)
                return True
            if not self._is_through:
                return False
        if prompt is None and self._next < len(self._exchanges):
            following = self._exchanges[self._next]
            if text and following.said(speaker).startswith(text):
                self._begin(self._next, "")
                self._said[speaker] = len(text)
                return True
        return False

    def _goes_on(self, speaker: str, text: str, *, is_idle: bool) -> bool:
        """Whether an answer goes on so; or else that of another exchange with the same question."""
        assert self._now is not None
        said = self._now.said(speaker)
        if said.startswith(text, self._said[speaker]):
            return is_idle or not self._is_through
        whole = said[: self._said[speaker]] + text
        for place in chain(range(self._next, len(self._exchanges)), range(self._next - 1)):
            other = self._exchanges[place]
            if text and other.user == self._asked and other.said(speaker).startswith(whole):
                self._now, self._next = other, place + 1
                return True
        return False

    def _calls_again(self, call: str, prompt: str | None) -> bool:
        """Whether a call is one of the past: by its id, or by another, as some have when repeated."""
        is_known = call in self._calls
        if prompt is None and is_known:
            return True
        return self._is_within and (is_known or bool(self._now and self._now.calls))

    @property
    def _is_within(self) -> bool:
        """Whether an exchange has begun with its question, of which there is more to come."""
        return self._count > 0 and self._is_asked and not self._is_through

    @property
    def _is_through(self) -> bool:
        return self._now is not None and self._said["agent"] == len(self._now.agent)

    def _let_go(self, *, is_past: bool) -> list[Update]:
        """Return what was held back, if it is not the past or not all of it."""
        now, asked = self._now, self._asked
        said = now.agent[: self._said["agent"]] if now is not None else ""
        is_whole = now is not None and any(
            each.agent == said and (asked == each.user or (each is now and not asked))
            for each in (now, *self._exchanges)
        )
        held = [] if is_past and is_whole else self._held
        self._now, self._held = None, []
        return held
