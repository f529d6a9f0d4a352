# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Output of a command: its end is kept for the agent, its start for the transcript."""

from __future__ import annotations

import re

SHOWN_LIMIT = 1024 * 1024
"""Maximum output of one terminal in the transcript, in bytes; the agent can read more."""

_ESCAPES = re.compile(
    r"""
      \x1b \[ [0-?]* [\ -/]* [@-~]                # colours, movements of the cursor
    | \x1b \] [^\x07\x1b]* (?: \x07 | \x1b\\ )    # titles and links
    | \x1b [\ -/]* [0-Z\\^_a-z]
    """,
    re.VERBOSE,
)
_REDRAWN = re.compile(r"^[^\n]*\r(?=[^\n])", re.MULTILINE)


class Output:
    """Collects output of any size and keeps a limited part."""

    def __init__(self, limit: int) -> None:
        self.truncated = False
        self.limit = limit
        self._kept = bytearray()
        self._unshown = bytearray()
        self._shown = 0

    def take(self, chunk: bytes) -> None:
        """Add output."""
        self._kept += chunk
        if len(self._kept) > self.limit:
            del self._kept[: len(self._kept) - self.limit]
            self.truncated = True
        room = SHOWN_LIMIT - self._shown - len(self._unshown)
        if room > 0:
            self._unshown += chunk[:room]

    def text(self) -> str:
        """Return the kept output, cut at a character."""
        return bytes(self._kept).decode("utf-8", "ignore" if self.truncated else "replace")

    @property
    def shown_whole(self) -> bool:
        """True if the transcript has reached its limit."""
        return self._shown >= SHOWN_LIMIT

    def take_unshown(self, final: bool) -> str:
        """Return the output since the last call, up to the last complete character."""
        data = bytes(self._unshown)
        if not final:
            data = _whole_characters(data)
        del self._unshown[: len(data)]
        self._shown += len(data)
        return data.decode("utf-8", "replace")


def plain(text: str) -> str:
    """Return a terminal's text without escape sequences and overwritten lines."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _REDRAWN.sub("", text) if "\r" in text else text


def _whole_characters(data: bytes) -> bytes:
    """Remove an incomplete character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
        if byte < 0x80:
            break
    return data
