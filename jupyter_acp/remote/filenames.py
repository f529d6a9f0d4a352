# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Names of files as git prints them: any bytes but zero, which are yet shown, sent and asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")


def listed(output: bytes) -> list[str]:
    """Return the names that git printed with `-z`."""
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def lines(output: bytes) -> list[str]:
    """Return the names that git printed one to a line; a name may hold other line separators."""
    return [os.fsdecode(name) for name in output.split(b"\n") if name]


def joined(names: Iterable[str]) -> bytes:
    """Return names as git reads them with `-z`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def shown(name: str) -> str:
    """Return a name that every program can show: bytes that are no text are written as numbers."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def meant(name: str) -> str:
    """Return the name that was shown as this."""
    encoded = _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), name)
    return os.fsdecode(encoded.encode("utf-8", "surrogateescape"))


def with_parents(names: Iterable[str]) -> set[str]:
    """Return names and all folders that they are in."""
    found = set()
    for name in names:
        while name and name not in found:
            found.add(name)
            name = name.rpartition("/")[0]
    return found


def some(names: Iterable[str], most: int = 10) -> str:
    """Return a few names as words."""
    every = sorted(names)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(shown(name) for name in every[:most]) + more
