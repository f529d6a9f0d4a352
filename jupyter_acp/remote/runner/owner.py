# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The identity of a process, unique across restarts and machines."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from dataclasses import dataclass

import psutil

_LONGEST = 3600.0
"""Time after which a process on another machine counts as ended, in seconds."""


@dataclass(frozen=True)
class Owner:
    """A process on this machine, or on another one that shares the folder."""

    pid: int
    since: float
    host: str

    @classmethod
    def this(cls) -> Owner:
        """Return this process."""
        return cls(os.getpid(), psutil.Process().create_time(), socket.gethostname())

    def is_gone(self, begun: float) -> bool:
        """Return True if the process has ended; `begun` is the time when its work began."""
        if self.host != socket.gethostname():
            # A restarted container has a new host name, so wait only for a limited time.
            return time.time() - begun > _LONGEST
        with contextlib.suppress(psutil.Error):
            return psutil.Process(self.pid).create_time() != self.since
        return True
