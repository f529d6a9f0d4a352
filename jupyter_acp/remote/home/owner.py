# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Who has begun something: a process, told from others of the same number and on other machines."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

_LONGEST = 3600.0
"""After so many seconds nothing is still being done, where nobody can be asked."""

_WRITING = 10.0
"""After so many seconds nobody is still writing who it is."""


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


def take(path: Path) -> bool:
    """Make a file that keeps others out, as git makes its locks; a dead process keeps out nobody."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if not _is_left(path):
            return False
        path.unlink(missing_ok=True)
        return take(path)
    with os.fdopen(handle, "w") as file:
        json.dump(asdict(Owner.this()), file)
    return True


def _is_left(path: Path) -> bool:
    try:
        taken = path.stat().st_mtime
        return Owner(**json.loads(path.read_text())).is_gone(taken)
    except FileNotFoundError:
        return True
    except (ValueError, TypeError):
        return time.time() - taken > _WRITING
