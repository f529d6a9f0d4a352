# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A conversation as a row of exchanges: what users said, and all that was said and done to it.

Exchanges can be compared however they were told: spaces do not count, nor does what was one message
and what were two, nor the order of words, thoughts and calls among each other.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple

from ..context.block import without_context
from .passages import Passage
from .retelling import without_past

Update = dict[str, Any]

SHORTEST = 12
"""How long a text must be, in characters, to be taken for a part of another."""

LONG = 100
"""How long a text must be, in characters, that nobody says it twice by chance."""

FEWEST = 8
ALIKE = 0.8
"""How many words two texts must have, and what part of them in common, to be taken for the same."""

_ATTACHED = re.compile(r"\n\[[^\]\n]*\]\n")
MARK = "mark"
_MARK = re.compile(r"\[(?:Function (?:Call|Response): |Request interrupted by user)[^\]\n]*\]")
"""What Gemini and Claude write into a conversation where tools were called, or all was stopped."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")


class Piece(NamedTuple):
    """What an update says, and the update."""

    passage: Passage
    params: Update

    def after(self, count: int) -> Piece:
        """Return it without so many of its first characters, spaces not counted."""
        text, index = unmarked(self.passage.text), 0
        while count and index < len(text):
            count -= not text[index].isspace()
            index += 1
        text = text[index:]
        update = {**self.params["update"], "content": {"type": "text", "text": text}}
        return Piece(self.passage._replace(text=text), {**self.params, "update": update})


class Exchange:
    """What users said, one message after the other, and all that was said and done to it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        """The ids and the titles of the calls of tools."""

        self.pieces: list[tuple[Piece, int]] = []
        """What it was told in, each with the place where it begins: the number of the user's message,
        or the number of characters that were said before."""

        self.last = 0
        """The number of the last piece."""

        self.ends: list[int] = []
        """The numbers of the last pieces of the users' messages."""

        self._messages: list[list[str]] = []
        self._key = ""
        self._texts: dict[str, list[str]] = {"agent": [], "thought": []}
        self._squeezed: dict[str, list[str]] = {"agent": [], "thought": []}
        self._lengths = {"agent": 0, "thought": 0}
        self._known_words: dict[str, tuple[set[str], list[str]]] = {}

    def __bool__(self) -> bool:
        return bool(self._messages or self.pieces) or self.is_answered

    @property
    def is_answered(self) -> bool:
        """Whether anything was said or done to it."""
        return bool(self.calls or any(self._lengths.values()))

    def take(self, passage: Passage) -> int:
        """Take a piece of it; return the place where it begins."""
        speaker = passage.speaker
        self.last = passage.seq
        if speaker == "user":
            if not self._messages or passage.key != self._key:
                self._messages.append([])
                self.ends.append(0)
                self._key = passage.key
            self._messages[-1].append(passage.text)
            self.ends[-1] = passage.seq
            return len(self._messages) - 1
        if speaker in ("agent", "thought"):
            place, text = self._lengths[speaker], unmarked(passage.text)
            self._texts[speaker].append(text)
            self._squeezed[speaker].append(squeezed(text))
            self._lengths[speaker] += len(self._squeezed[speaker][-1])
            return place
        if speaker == "tool":
            self.calls.append((passage.key, passage.text))
        return 0

    def ends_before(self, passage: Passage, unanswered: Container[str]) -> bool:
        """Whether another message begins, after one to which there is no answer."""
        if not self._messages or passage.key == self._key:
            return False
        return normal("".join(self._messages[-1])) in unanswered

    def apart(self) -> list[Exchange]:
        """Return an exchange for each message; nobody has answered any of them yet."""
        found = []
        for texts, end in zip(self._messages, self.ends, strict=True):
            found.append(each := Exchange())
            for text in texts:
                each.take(Passage(end, "user", "", text))
        return found

    @cached_property
    def users(self) -> tuple[str, ...]:
        """The messages, without what went with them: agents have their own ways to write that down."""
        return tuple(normal("".join(texts)) for texts in self._messages)

    @cached_property
    def user(self) -> str:
        """All messages as one."""
        return "".join(self.users)

    @cached_property
    def agent(self) -> str:
        """All that the agent said."""
        return "".join(self._squeezed["agent"])

    @cached_property
    def thought(self) -> str:
        """All that it thought."""
        return "".join(self._squeezed["thought"])

    def said(self, speaker: str) -> str:
        """Return all that was said or thought."""
        return self.thought if speaker == "thought" else self.agent

    @cached_property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """What is the same of equal exchanges; of the last message alone if others wait before it."""
        both = (self.user, self.agent)
        return (both,) if len(self.users) < 2 else (both, (self.users[-1], self.agent))

    @cached_property
    def has_attachments(self) -> bool:
        """Whether something went with a message."""
        return any(_ATTACHED.search("".join(texts)) for texts in self._messages)

    @cached_property
    def _ends(self) -> set[int]:
        return set(accumulate(map(len, self.users)))

    # Compared with what the journal has

    def asks_the_same(self, known: Exchange) -> bool:
        """Whether users said the same; some of it is enough where nobody has answered yet."""
        if self.user == known.user or (self.users and self.users[-1:] == known.users[-1:]):
            return True
        if not self.users:
            return False
        if known.has_attachments and normal(self._messages[-1][0]) == known.users[-1]:
            # What went with it may be told behind it, as if the user had said it.
            return True
        if self.agent and known.agent:
            return False
        begins = known.user.startswith(self.user) and len(self.user) in known._ends
        return begins or self.user in known.users

    def asks_alike(self, known: Exchange) -> bool:
        """Whether users said the same, but for what the agent has put around it."""
        shorter, longer = sorted((self.user, known.user), key=len)
        if shorter and _is_wrapped(shorter, longer):
            return True
        return self._is_alike(known, "user")

    def answers_like(self, known: Exchange, least: int = 0) -> bool:
        """Whether the one answer begins as the other, is a part of it, or says much the same."""
        shorter, longer = sorted((self.agent, known.agent), key=len)
        if shorter == longer or (len(shorter) >= least and longer.startswith(shorter)):
            return True
        if len(shorter) >= SHORTEST and shorter in longer:
            return True
        return self._is_alike(known, "agent")

    def goes_beyond(self, known: Exchange, speaker: str) -> int:
        """Return how much of what was said is known."""
        text, past = self.said(speaker), known.said(speaker)
        if text.startswith(past):
            return len(past)
        if past.startswith(text) or (len(text) >= SHORTEST and text in past):
            return len(text)
        place = text.find(past) if len(past) >= SHORTEST else -1
        if place >= 0:
            return place + len(past)
        return len(text) if self._is_alike(known, speaker) else 0

    def _is_alike(self, known: Exchange, speaker: str) -> bool:
        """Whether both have nearly all words in common, and all numbers: as with other marks."""
        (words, numbers), (others, other_numbers) = self._words(speaker), known._words(speaker)
        fewer, more = sorted((len(words), len(others)))
        if fewer < max(FEWEST, more * ALIKE) or numbers != other_numbers:
            return False
        return len(words & others) >= more * ALIKE

    def _words(self, speaker: str) -> tuple[set[str], list[str]]:
        if speaker not in self._known_words:
            rows = self._messages if speaker == "user" else [self._texts[speaker]]
            text = " ".join("".join(row) for row in rows).lower()
            self._known_words[speaker] = set(_WORD.findall(text)), _NUMBER.findall(text)
        return self._known_words[speaker]


def told(
    pieces: Iterable[Piece], unanswered: Container[str] = (), *, keeps: bool = True
) -> list[Exchange]:
    """Make exchanges of pieces, and let them keep their pieces if they are still to be told.

    A message that is known to be unanswered is an exchange of its own.
    """
    exchanges = [current := Exchange()]
    for piece in pieces:
        passage = piece.passage
        if (
            passage.speaker == "user"
            and passage.text.strip()
            and not unmarked(passage.text).strip()
        ):
            # No user has said that.
            passage = passage._replace(speaker="other", key=MARK)
            piece = piece._replace(passage=passage)
        if passage.speaker == "user" and (
            current.is_answered or current.ends_before(passage, unanswered)
        ):
            current = Exchange()
            exchanges.append(current)
        place = current.take(passage)
        if keeps:
            current.pieces.append((piece, place))
    return [exchange for exchange in exchanges if exchange]


def told_apart(
    pieces: Iterable[Piece], messages: set[str], unanswered: set[str]
) -> Iterator[Piece]:
    """Tell messages that users sent in a row from each other, where only their words do.

    Either all of them are known, since agents put more than messages into such a row; or those are told
    apart that nobody has answered.
    """
    lengths, fewer = ({len(each) for each in known} for known in (messages, unanswered))
    row: list[Piece] = []
    for piece in chain(pieces, (None,)):
        if piece is not None and piece.passage.speaker == "user" and not piece.passage.key:
            row.append(piece)
            continue
        if len(row) > 1:
            cuts, is_all = _cuts(row, messages, lengths)
            if not is_all:
                cuts, _ = _cuts(row, unanswered, fewer)
            for number, each in enumerate(row if cuts else []):
                key = f"#{bisect_right(cuts, number)}"
                row[number] = each._replace(passage=each.passage._replace(key=key))
        yield from row
        row = []
        if piece is not None:
            yield piece


def _cuts(row: list[Piece], known: set[str], lengths: set[int]) -> tuple[list[int], bool]:
    """Return where known messages begin and end in a row, and whether they are all of it."""
    places = [0, *accumulate(len(squeezed(piece.passage.text)) for piece in row)]
    numbers = {place: number for number, place in enumerate(places)}
    cuts: set[int] = set()
    start, is_all = 0, True
    while start < len(row):
        for length in lengths:
            end = numbers.get(places[start] + length, 0)
            if end > start and normal("".join(p.passage.text for p in row[start:end])) in known:
                cuts |= {start, end}
                start = end
                break
        else:
            start, is_all = start + 1, False
    return sorted(cuts), is_all


def unmarked(text: str) -> str:
    """Return a text without what agents write into it when they repeat it."""
    return _MARK.sub("", text) if "[" in text else text


def squeezed(text: str) -> str:
    """Return a text without its spaces."""
    return "".join(text.split())


def normal(text: str) -> str:
    """Return what a user said, without spaces, what was attached, and what we have told of the past."""
    return squeezed(_ATTACHED.sub(" ", without_context(without_past(text))))


def _is_wrapped(shorter: str, longer: str) -> bool:
    """Whether a text is the whole of another but for marks around it, and what these hold."""
    if longer.startswith(shorter) and not longer[len(shorter) :][:1].isalnum():
        return True
    if longer.endswith(shorter) and not longer[: -len(shorter)][-1:].isalnum():
        return True
    place = longer.find(shorter) if len(shorter) >= SHORTEST else -1
    end = place + len(shorter)
    return place > 0 and not (longer[place - 1] + longer[end : end + 1]).isalnum()
