# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Retention: the choice of sessions to delete by age, number and total size."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .record import SessionRecord

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Retention:
    """Limits for the sessions that are kept; zero means no limit."""

    days: float = 0
    """Maximum age of a session since its last turn, in days."""

    sessions: int = 0
    size: int = 0
    """Maximum total size of all transcripts, in MiB."""

    @property
    def is_endless(self) -> bool:
        """True if there is no limit."""
        return not (self.days or self.sessions or self.size)


def superfluous(
    records: Iterable[SessionRecord],
    sizes: dict[str, int],
    retention: Retention,
    now: dt.datetime,
    busy: Collection[str] = (),
) -> list[str]:
    """Return the ids of the sessions to delete: closed ones first, then the oldest.

    Busy sessions count towards the limits, but are not deleted.
    """
    ordered = sorted(records, key=lambda record: (record.state != "closed", record.updated))
    count, size = len(ordered), sum(sizes.values())
    gone: list[str] = []
    for record in ordered:
        if record.id in busy:
            continue
        is_too_old = bool(retention.days) and _age(record, now) > retention.days
        is_too_many = bool(retention.sessions) and count > retention.sessions
        is_too_much = bool(retention.size) and size > retention.size * MEGABYTE
        if is_too_old or is_too_many or is_too_much:
            gone.append(record.id)
            count -= 1
            size -= sizes.get(record.id, 0)
    return gone


def _age(record: SessionRecord, now: dt.datetime) -> float:
    """Return the time since the last turn of a session, in days."""
    try:
        updated = dt.datetime.fromisoformat(record.updated)
    except ValueError:
        return 0
    if updated.tzinfo is None:
        updated = updated.replace(tzinfo=dt.timezone.utc)
    return (now - updated).total_seconds() / 86400
