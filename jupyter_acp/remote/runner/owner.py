# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A process, told from others of the same number and on other machines."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from dataclasses import dataclass

import psutil

_LONGEST = 3600.0
"""After so many seconds nothing is still being done, where nobody can be asked."""


@dataclass(frozen=True)
class Owner:
    """A process of this machine or, where folders are shared, of another."""

    pid: int
    since: float
    host: str

    @classmethod
    def this(cls) -> Owner:
        """Return this process."""
        return cls(os.getpid(), psutil.Process().create_time(), socket.gethostname())

    def is_gone(self, begun: float) -> bool:
        """Return whether it cannot be going on with what it has begun then."""
        if self.host != socket.gethostname():
            # A container that was started anew has another name, so this is not for ever.
            return time.time() - begun > _LONGEST
        with contextlib.suppress(psutil.Error):
            return psutil.Process(self.pid).create_time() != self.since
        return True
