# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Limits and timeouts of sessions that an administrator can configure."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..history.retention import Retention
from ..remote.options import RemoteOptions


@dataclass(frozen=True)
class Limits:
    """Sizes, timeouts, retention, and options of remote sessions."""

    message: int
    window_buffer: int
    initialize_timeout: float
    request_timeout: float
    stop_grace: float
    sessions: int
    remote: RemoteOptions
    retention: Retention = field(default_factory=Retention)
