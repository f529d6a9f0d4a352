# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent repeats of a session that it has loaded, held against what the journal has.

Agents repeat all of it, some of it or nothing, in other pieces than before, some of them twice, and
some know what was said elsewhere since. What the journal has appears once; what it has not is kept.

1. What is told in a second round is left out (`rounds`).
2. What is left is compared by exchanges: what users said, and all that was said and done to it
   (`exchanges`). An exchange of which both the question and the answer are equal is the journal's,
   wherever it stands there; each of the journal's counts once.
3. Any other exchange is compared only with those that are left over in the journal between the same
   neighbours, in their order. It is one of them
   - if the question is the same, and the one answer begins as the other, is a part of it, or says
     much the same;
   - if the question is the same but for marks around it, and the answer is too, or is long enough;
   - if the question is another, the answer is equal, and it stands in the very same place.
4. An exchange that is none of these is news, with all that belongs to it: what is in doubt is kept.
5. Of an exchange that the journal has, that is news which goes beyond it: the end of an answer, a
   call of a tool that the journal has none for, the end of a call.
6. Notices and all other updates are known if they are equal to one of the journal's. Plans, and what
   agents themselves write into what users said, are news only with other news; of how much was used,
   only the last counts.
7. News is marked with what it was said after, so that the journal, which has it at its end, can be
   read in the order in which all was said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from .exchanges import LONG, MARK, SHORTEST, Exchange, Piece, Update, told, told_apart
from .late import Late
from .passages import ENDED, Passage, piece_of
from .rounds import first_round, once

WIDTH = 8
"""With how many of the journal's exchanges one is compared that is equal to none."""

_USAGE, _SUMMARY = "usage_update", "compaction_summary_chunk"


class Replay:
    """Takes what is repeated, and tells in the end what of it is news."""

    def __init__(self, known: Iterable[Passage], ended: Iterable[str] = ()) -> None:
        """Know what the journal has, in whatever pieces, and which calls of tools have ended there."""
        self._past = _Past(known, ended)
        self._heard: list[Piece] = []
        self.exchanges: list[_Match] = []
        """What was repeated, and what of the journal it is."""

    @property
    def has_past(self) -> bool:
        """Whether the journal knows of anything that was said."""
        return bool(self._past.exchanges)

    @property
    def is_through(self) -> bool:
        """Whether the agent has come to where the journal ends."""
        last = self._past.last
        return last is None or any(
            last in match.known and not match.stops_short_of(last) for match in self.exchanges
        )

    def take(self, params: Update) -> None:
        """Take one update of the agent."""
        self._heard.append(Piece(piece_of(params["update"]), params))

    def news(self) -> list[News]:
        """End the replay, and return the updates that the journal does not have."""
        past = self._past
        apart = told_apart(first_round(self._heard), past.messages, past.unanswered)
        heard = once(told(apart, past.unanswered))
        self.exchanges = [_Match(each) for each in heard]
        self._past.match(self.exchanges)
        news: list[News] = []
        after = 0
        for match in self.exchanges:
            after = self._past.add_news(news, match, after)
        return news

    def late(self) -> Late:
        """Return what tells the past from the present if the agent goes on to repeat it."""
        return self._past.late(self.exchanges)


class News(NamedTuple):
    """An update that the journal does not have."""

    params: Update
    after: int | None = None
    """The number of what it was said after: 0 if that is nothing, none if it is everything."""


class _Match:
    """An exchange as the agent repeats it, and what is known of it."""

    def __init__(self, heard: Exchange) -> None:
        self.heard = heard
        self.known: list[Exchange] = []
        """What of the journal it is; several if the agent does not tell what users said."""

        self.place = -1
        """Where that stands."""

        self.messages: dict[int, int] = {}
        """Which of the users' messages are known, and by which numbers."""

        self.lengths = {"agent": 0, "thought": 0}
        """How much is known of what was said and thought."""

    def stops_short_of(self, known: Exchange) -> bool:
        """Whether an answer is not repeated to its end."""
        heard = self.heard.agent
        return len(heard) < len(known.agent) and known.agent.startswith(heard)


class _Past:
    """What the journal has."""

    def __init__(self, known: Iterable[Passage], ended: Iterable[str]) -> None:
        known = list(known)
        self.exchanges = told((Piece(passage, {}) for passage in known), keeps=False)
        if self.exchanges and not self.exchanges[-1].is_answered:
            # Whichever of them the agent knows the answer to, the others stay as they are.
            self.exchanges[-1:] = self.exchanges[-1].apart()
        self.last = next((each for each in reversed(self.exchanges) if each.is_answered), None)
        self.unanswered = {
            each.user for each in self.exchanges if not (each.is_answered or each.has_attachments)
        }
        """What users have said to nobody."""

        self.messages = {message for each in self.exchanges for message in each.users}
        """What users have said."""

        self._titles: dict[str, set[str]] = defaultdict(set)
        for passage in known:
            if passage.speaker in ("tool", "change"):
                self._titles[passage.key].add(passage.text)
        self._ended = set(ended)
        others = [passage for passage in known if passage.speaker == "other"]
        self._others = Counter(passage.text for passage in others)
        self._usage = next((each.text for each in reversed(others) if each.key == _USAGE), "")
        self._taken: set[int] = set()
        self._calls: dict[str, str] = {}
        """By which ids calls are known that are repeated with others."""

        self._new_calls: set[str] = set()
        self._messages = Counter(message for each in self.exchanges for message in each.users)

    def late(self, heard: list[_Match]) -> Late:
        """Return what knows all that was said until now, and where the agent has stopped."""
        said = self.exchanges[: self.exchanges.index(self.last) + 1] if self.last else []
        new = [match.heard for match in heard if not match.known]
        last = heard[-1] if heard else None
        place = last.place if last is not None and 0 <= last.place < len(said) else -1
        calls = {*self._titles, *self._new_calls, *self._calls}
        late = Late([*said, *new], calls, set(self._others), place + 1)
        if last is not None and place >= 0 and last.stops_short_of(said[place]):
            late.stopped_within(place, last.heard)
        return late

    # Which exchange is which

    def match(self, heard: list[_Match]) -> None:
        """Find what the journal has of what was heard."""
        self._match_equal(heard)
        self._match_others(heard)
        for match in heard:
            for known in match.known:
                self._messages.subtract(known.users)
        for match in heard:
            self._measure(match)
        usages = [
            piece.passage.text
            for match in heard
            for piece, _ in match.heard.pieces
            if piece.passage.key == _USAGE
        ]
        self._last_usage = usages[-1] if usages else ""

    def _match_equal(self, heard: list[_Match]) -> None:
        places: dict[tuple[str, str], tuple[deque[int], deque[int]]]
        places = defaultdict(lambda: (deque(), deque()))
        for index, each in enumerate(self.exchanges):
            for key in each.keys:
                places[key][0].append(index)
        at = 0
        unknown: dict[str, _Match] = {}
        for match in heard:
            if not (match.heard.users or match.heard.agent):
                continue
            for key in match.heard.keys:
                later, earlier = places.get(key, (deque(), deque()))
                while later and (later[0] < at or later[0] in self._taken):
                    earlier.append(later.popleft())
                while earlier and earlier[0] in self._taken:
                    earlier.popleft()
                if later or earlier:
                    index = (later or earlier).popleft()
                    first = unknown.get(match.heard.user, match)
                    if self.exchanges[index] is self.last and first.heard.agent.startswith(key[1]):
                        # What the journal ends with may be cut off, and is what is told sooner.
                        match = first
                    at = self._take(match, index)
                    unknown = {}
                    break
            else:
                unknown.setdefault(match.heard.user, match)

    def _match_others(self, heard: list[_Match]) -> None:
        """Compare what is left with what is left between the same neighbours."""
        left = [index for index in range(len(self.exchanges)) if index not in self._taken]
        asked: dict[str, list[int]] = defaultdict(list)
        for index in range(len(self.exchanges)):
            if index not in self._taken:
                for text in {self.exchanges[index].user, *self.exchanges[index].users}:
                    asked[text].append(index)
        ends = [len(self.exchanges)] * (len(heard) + 1)
        for number in range(len(heard) - 1, -1, -1):
            ends[number] = heard[number].place if heard[number].place >= 0 else ends[number + 1]
        at = 0
        for number, match in enumerate(heard):
            if match.known:
                at = match.place + 1 if match.place >= 0 else at
                continue
            end = ends[number] if ends[number] >= at else len(self.exchanges)
            if not match.heard.users and self._follow(match, left, end):
                continue
            same = self._near(asked.get(match.heard.user, []), at, end)
            last = self._near(asked.get((match.heard.users or ("",))[-1], []), at, end)
            for index in dict.fromkeys((*same, *last, *self._near(left, at, end))):
                is_before = number == 0 or heard[number - 1].place == index - 1
                is_after = number + 1 < len(heard) and heard[number + 1].place == index + 1
                if _is_same(match.heard, self.exchanges[index], is_between=is_before and is_after):
                    at = max(at, self._take(match, index))
                    break

    def _near(self, places: list[int], start: int, end: int) -> list[int]:
        """Return the next few places in a range that are left."""
        first = bisect_left(places, start)
        near = places[first : first + WIDTH]
        return [place for place in near if place < end and place not in self._taken]

    def _follow(self, match: _Match, left: list[int], end: int) -> bool:
        """Match answers with those of several exchanges: the agent does not tell what users said."""
        text, length = match.heard.agent, 0
        for index in left:
            if index >= end or length == len(text):
                break
            answer = self.exchanges[index].agent
            if index in self._taken or not answer:
                continue
            rest = len(text) - length
            if text.startswith(answer, length):
                length += len(answer)
            elif rest < len(answer) and (
                answer.startswith(text[length:])
                or (rest >= SHORTEST and not length and text in answer)
            ):
                length = len(text)
            else:
                continue
            self._take(match, index)
        match.lengths["agent"] = length
        return bool(match.known)

    def _take(self, match: _Match, index: int) -> int:
        """Take note of what something is; return what should come next."""
        self._taken.add(index)
        match.known.append(self.exchanges[index])
        match.place = index
        return match.place + 1

    # What is news of it

    def _measure(self, match: _Match) -> None:
        """Find out how much is known of an exchange."""
        heard = match.heard
        asked: dict[str, deque[int]] = defaultdict(deque)
        for known in match.known:
            for message, end in zip(known.users, known.ends, strict=True):
                asked[message].append(end)
        is_all = any(heard.user == known.user for known in match.known)
        for number, message in enumerate(heard.users):
            is_last = match.known and number == len(heard.users) - 1
            if asked[message]:
                match.messages[number] = asked[message].popleft()
            elif is_all or is_last or not message:
                match.messages[number] = next((k.ends[-1] for k in match.known[-1:] if k.ends), 0)
            elif self._messages[message] > 0 and (match.known or not heard.is_answered):
                self._messages[message] -= 1
                match.messages[number] = 0
        for speaker in match.lengths:
            only = match.known[0] if len(match.known) == 1 else None
            text = heard.said(speaker)
            length = match.lengths[speaker]
            if only is not None:
                length = heard.goes_beyond(only, speaker)
            elif match.known and speaker == "thought":
                thoughts = "".join(each.thought for each in match.known)
                length = len(text) if thoughts.startswith(text) else 0
            match.lengths[speaker] = length

    def add_news(self, news: list[News], match: _Match, after: int) -> int:
        """Add what is news of an exchange, in order; return the number of what comes before the next."""
        told = {id for id, _ in match.heard.calls}
        calls = deque(id for known in match.known for id, _ in known.calls if id not in told)
        is_new = not match.known or not self.exchanges
        last = next((known.last for known in reversed(match.known) if known.is_answered), 0)
        for piece, place in match.heard.pieces:
            passage = piece.passage
            params: Update | None = None
            if passage.speaker == "user":
                params = piece.params if place not in match.messages else None
                after = match.messages.get(place) or after
            elif passage.speaker in ("agent", "thought"):
                params = _beyond_known(match, piece, place)
            elif passage.speaker == "other":
                params = piece.params if self._is_news(passage, is_new=is_new) else None
            else:
                params = self._call(match, piece, calls)
            if params is not None:
                is_new = True
                is_asked = passage.speaker == "user"
                news.append(News(params, after if is_asked else last or after))
        return last or after

    def _call(self, match: _Match, piece: Piece, calls: deque[str]) -> Update | None:
        """Keep a call that is news, and the end of one that the journal has the beginning of."""
        id, title = piece.passage.key, piece.passage.text
        if id in self._new_calls:
            return piece.params
        if id not in self._calls:
            is_known = id in self._titles
            if is_known and (match.known or title in self._titles[id]):
                self._calls[id] = id
            elif match.known and calls:
                self._calls[id] = calls.popleft()
            else:
                self._new_calls.add(id)
                return piece.params
        known, update = self._calls[id], piece.params["update"]
        if known in self._ended or update.get("status") not in ENDED:
            return None
        self._ended.add(known)
        end = {**update, "sessionUpdate": "tool_call_update", "toolCallId": known}
        return {**piece.params, "update": end}

    def _is_news(self, other: Passage, *, is_new: bool) -> bool:
        if other.key == _USAGE:
            is_last = other.text == self._last_usage and other.text != self._usage
            self._usage = other.text if is_last else self._usage
            return is_last
        if self._others[other.text]:
            self._others[other.text] -= other.key != _SUMMARY
            return False
        return is_new or other.key not in ("plan", MARK)


def _is_same(heard: Exchange, known: Exchange, *, is_between: bool) -> bool:
    """Whether an exchange is one that was told in other words, or not to its end."""
    if heard.asks_the_same(known):
        return heard.answers_like(known)
    if not heard.users or heard.asks_alike(known):
        if heard.agent and known.agent:
            return heard.answers_like(known, SHORTEST)
        return bool(heard.users) and known.has_attachments and not known.is_answered
    is_equal = bool(heard.agent) and heard.agent == known.agent
    return is_equal and (is_between or len(heard.agent) >= LONG)


def _beyond_known(match: _Match, piece: Piece, place: int) -> Update | None:
    """Return what a piece says that the journal does not have."""
    speaker = piece.passage.speaker
    known, whole = match.lengths[speaker], len(match.heard.said(speaker))
    if known == whole and (match.known or piece.passage.text):
        return None
    if place >= known:
        return piece.params
    rest = piece.after(known - place)
    return rest.params if rest.passage.text.strip() else None
