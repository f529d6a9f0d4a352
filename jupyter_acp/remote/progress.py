# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Progress messages to the client, at a limited rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .git import Progress

INTERVAL = 0.1


class Reporter:
    """Sends git's progress to the client, until the `with` block ends."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], token: str | None) -> None:
        """Send messages with the client's token; without a token, send none."""
        self._tell = tell
        self._token = token
        self._last = 0.0
        self._stage = ""

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: Any) -> None:
        self._token = None

    def __call__(self, progress: Progress) -> None:
        """Send the progress, unless the last message of the same stage is too recent."""
        now = time.monotonic()
        is_new = progress.stage != self._stage or progress.percent == 100
        if self._token is None or (not is_new and now - self._last < INTERVAL):
            return
        self._last, self._stage = now, progress.stage
        self._tell({"token": self._token, **progress._asdict()})
