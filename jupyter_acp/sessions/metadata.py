# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is said of a session besides what is said in it: by who opened it, its agent, and its users."""

from __future__ import annotations

from typing import Any

from ..history.record import is_acceptable, is_writable
from .sandboxagent import REQUESTED_ID


def merged(before: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is known with what was said added, or None if that is too much."""
    known = {key: value for key, value in metadata.items() if is_writable(value)}
    # What it is called elsewhere was settled when it was opened.
    known.pop(REQUESTED_ID, None)
    together = {**before, **known}
    return together if is_acceptable(together) else None
