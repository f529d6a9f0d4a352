# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What this process opens, starts and connects to, as Python itself reports it: proof that it did not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Seen:
    """What has happened while somebody watched."""

    def __init__(self) -> None:
        self.events: list[tuple[str, tuple[Any, ...]]] = []

    def opened(self, name: str) -> list[str]:
        """What was opened by that name, wherever: files are opened step by step, by names alone."""
        paths = [
            os.fsdecode(args[0]) for event, args in self.events if event == "open" and _named(args)
        ]
        return [path for path in paths if os.path.basename(path) == name]

    @property
    def started(self) -> list[Any]:
        """The programs that were started."""
        return [
            args[0]
            for event, args in self.events
            if event in ("subprocess.Popen", "os.posix_spawn")
        ]

    @property
    def connected(self) -> list[Any]:
        """Where connections were made to."""
        return [args[1] for event, args in self.events if event == "socket.connect"]


def _named(args: tuple[Any, ...]) -> bool:
    return isinstance(args[0], (str, bytes, os.PathLike))


_watching: list[Seen] = []
_EVENTS = {"open", "subprocess.Popen", "os.posix_spawn", "socket.connect"}


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watching and event in _EVENTS:
        for seen in _watching:
            seen.events.append((event, args))


# It cannot be taken away again; nobody watches most of the time.
sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[Seen]:
    """Watch for a while."""
    seen = Seen()
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)
