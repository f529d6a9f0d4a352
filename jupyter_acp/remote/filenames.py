# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Conversions of file names: git prints any bytes except zero, users and JSON need text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")


def listed(output: bytes) -> list[str]:
    """Return the names that git printed with `-z`."""
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def lines(output: bytes) -> list[str]:
    """Return the names that git printed one per line; names may contain other line separators."""
    return [os.fsdecode(name) for name in output.split(b"\n") if name]


def joined(names: Iterable[str]) -> bytes:
    """Return names in the format that git reads with `-z`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def shown(name: str) -> str:
    """Return a name as valid text: bytes that are not UTF-8 become hexadecimal escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def meant(name: str) -> str:
    """Return the original name for the text that `shown` made of it."""
    encoded = _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), name)
    return os.fsdecode(encoded.encode("utf-8", "surrogateescape"))


def with_parents(names: Iterable[str]) -> set[str]:
    """Return the names and all their parent folders."""
    found = set()
    for name in names:
        while name and name not in found:
            found.add(name)
            name = name.rpartition("/")[0]
    return found


def some(names: Iterable[str], most: int = 10) -> str:
    """Return the first names as a text for the user."""
    every = sorted(names)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(shown(name) for name in every[:most]) + more
