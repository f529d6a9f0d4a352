# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents that repeat a session more than once: what is the first round of it, and what is not.

A round begins where all of the first exchange is told again, however it is cut. It is another round
- if its messages or calls have the ids of the first one,
- or if several exchanges are told again,
- or if nothing else is told from there on, and nothing less than all until there.
A single exchange like the first one, somewhere later, is not: somebody has said the same again.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import defaultdict

import orjson

from .exchanges import LONG, Exchange, Piece, squeezed, unmarked

_MARKS = {"user": "\x1c", "agent": "\x1d", "thought": "\x1e"}
"""Where somebody else goes on: these count as spaces, so that no squeezed text has them."""

_USER = _MARKS["user"]


def once(exchanges: list[Exchange]) -> list[Exchange]:
    """Return the exchanges without those that are told again by the same ids."""
    ids: dict[tuple[str, str], set[str]] = defaultdict(set)
    left: list[Exchange] = []
    for exchange in exchanges:
        passages = (piece.passage for piece, _ in exchange.pieces)
        own = {passage.key for passage in passages if passage.speaker != "other" and passage.key}
        known = ids[exchange.keys[0]]
        if not own & known:
            left.append(exchange)
        known |= own
    return left


def first_round(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces without those that are told once more."""
    told = _Told(pieces)
    again = told.again()
    return _without(pieces, told.places, again) if again else pieces


class _Told:
    """All that is told, as one text."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.places: dict[int, int] = {}
        """Where in the text the pieces begin that have a text."""

        self._ids: list[tuple[int, str]] = []
        texts: list[str] = []
        length, speaker = 0, ""
        for index, piece in enumerate(pieces):
            passage = piece.passage
            is_said = passage.speaker in _MARKS
            if is_said and passage.speaker != speaker:
                if speaker:
                    texts.append(_MARKS[passage.speaker])
                    length += 1
                speaker = passage.speaker
            if passage.key and passage.speaker != "other":
                self._ids.append((length, passage.key))
            if is_said:
                self.places[index] = length
                texts.append(squeezed(unmarked(passage.text)))
                length += len(texts[-1])
        self._text = "".join(texts)

    def again(self) -> list[tuple[int, int]]:
        """Return where it is told again, from where to where."""
        text, begins = self._text, set(self.places.values())
        if _USER not in text:
            # Nobody asks for anything: only all of it can be told again.
            period = (text + text).find(text, 1)
            is_again = LONG <= period < len(text) and period in begins
            return [(period, len(text))] if is_again else []
        first = text[: text.index(_USER) + 1]
        # As if more was asked in the end: then the last exchange ends as all others do.
        whole = text + _USER
        found: list[tuple[int, int]] = []
        place = whole.find(first, 1)
        while place >= 0:
            if place in begins:
                length = self._common(place)
                if (end := self._end_of_round(place, length)) > place:
                    found.append((place, end))
                # What is told over and over is looked at once.
                place += length
            place = whole.find(first, place + 1)
        last = text.rindex(_USER) + 1
        is_less = len(text) - last < len(first) - 1 and _MARKS["agent"] in text[last:]
        if is_less and first.startswith(text[last:]) and (not found or found[-1][1] <= last):
            # It stops in the middle of the same words.
            found.append((last, len(text)))
        return found

    def _end_of_round(self, place: int, length: int) -> int:
        """Return the end of the round that begins at a place with what was told first, if it is one."""
        text = self._text
        is_joined = text[place - 1] not in _MARKS.values()
        until = place - (not is_joined)
        is_all, is_round = place + length == len(text), length >= until
        if not is_all:
            # What goes on in another way is another exchange, unless it is how the last one goes on.
            length = max(text.rfind(_USER, 0, length), until if is_round else 0)
        row = min(length, until)
        count = text.count(_USER, 0, row) + (text[row : row + 1] == _USER)
        ids, others = self._ids_in(0, row), self._ids_in(place, place + row)
        is_same = bool(ids & others)
        is_over_and_over = is_all and (is_round or is_joined) and not (ids and others)
        return place + length if is_same or count > 1 or is_over_and_over else 0

    def _ids_in(self, start: int, end: int) -> set[str]:
        first, last = bisect_left(self._ids, (start, "")), bisect_left(self._ids, (end, ""))
        return {id for _, id in self._ids[first:last]}

    def _common(self, place: int) -> int:
        """Return how much of the text is the same from its beginning and from a place on."""
        text, length, step = self._text, 0, 64
        while step:
            start = place + length
            there = text[start : start + step]
            if there and text.startswith(there, length):
                length, step = length + step, step * 2
            else:
                step //= 2
        return min(length, len(text) - place)


def _without(
    pieces: list[Piece], places: dict[int, int], again: list[tuple[int, int]]
) -> list[Piece]:
    """Leave out what is told again, and what is done in its midst."""
    kept: list[Piece | None] = list(pieces)
    rounds = iter([*again, (sys.maxsize, sys.maxsize)])
    start, end = next(rounds)
    for index, place in places.items():
        while place >= end:
            start, end = next(rounds)
        if place >= start:
            is_longer = place + len(squeezed(unmarked(pieces[index].passage.text))) > end
            kept[index] = pieces[index].after(end - place) if is_longer else None
    after = [True] * len(pieces)
    for index in range(len(pieces) - 2, -1, -1):
        after[index] = kept[index + 1] is not None if index + 1 in places else after[index + 1]
    if places:
        # Nothing comes after it: it belongs to what was said last.
        last = max(places)
        after[last:] = [kept[last] is not None] * (len(pieces) - last)
    before, seen = True, set()
    for index, piece in enumerate(pieces):
        if index in places:
            before = kept[index] is not None
            continue
        update = orjson.dumps(piece.params["update"])
        if not (before and after[index]) and (before == after[index] or update in seen):
            kept[index] = None
        seen.add(update)
    return [piece for piece in kept if piece is not None]
