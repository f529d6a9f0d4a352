# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Metadata of a session, set by the client that opened it, its agent, or its users."""

from __future__ import annotations

from typing import Any

from ..history.record import is_acceptable, is_writable
from .sandboxagent_extension import REQUESTED_ID


def merged(before: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any] | None:
    """Return the merged metadata, or None if they exceed the size limit."""
    known = {key: value for key, value in metadata.items() if is_writable(value)}
    # The alias is fixed when the session is opened.
    known.pop(REQUESTED_ID, None)
    together = {**before, **known}
    return together if is_acceptable(together) else None
