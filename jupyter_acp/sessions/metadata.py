# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is said of a session besides what is said in it: by who opened it, its agent, and its users."""

from __future__ import annotations

from typing import Any

import orjson

from .sandboxagent import REQUESTED_ID
from .setup import is_writable

LIMIT = 64 * 1024
"""How much can be said of a session, in bytes."""


def is_acceptable(metadata: dict[str, Any]) -> bool:
    """Whether metadata can be kept and told to every window."""
    return is_writable(metadata) and len(orjson.dumps(metadata)) <= LIMIT


def merged(before: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is known with what was said added, or None if that is too much."""
    known = {key: value for key, value in metadata.items() if is_writable(value)}
    # What it is called elsewhere was settled when it was opened.
    known.pop(REQUESTED_ID, None)
    together = {**before, **known}
    return together if is_acceptable(together) else None
