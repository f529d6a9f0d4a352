# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Where the sockets of servers are: for a server that makes one, and for a command that looks for it.

It imports little, since an agent waits for the command.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

SOCKET = "tools.sock"


def places(runtime_dir: str | None = None) -> list[str]:
    """Return the folders in which a socket may be, the first choice first."""
    if runtime_dir is None:
        from jupyter_core.paths import jupyter_runtime_dir

        runtime_dir = jupyter_runtime_dir()
    return list(dict.fromkeys([runtime_dir, tempfile.gettempdir(), "/tmp"]))  # noqa: S108


def prefix() -> str:
    """Return what the folder of a socket of this machine begins with; homes may be shared by several."""
    return f"acp-{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}-"


def sockets() -> list[str]:
    """Return the sockets of this user's servers, the newest first."""
    found: list[tuple[float, str]] = []
    for place in places():
        try:
            names = [name for name in os.listdir(place) if name.startswith(prefix())]
        except OSError:
            continue
        for folder in (Path(place, name) for name in names):
            try:
                about = folder.lstat()
            except OSError:
                continue
            # Anybody may make one in a temporary folder, and answer there what they like.
            is_ours = about.st_uid == os.geteuid() and not about.st_mode & 0o077
            if is_ours and stat.S_ISDIR(about.st_mode):
                found.append((about.st_mtime, str(folder / SOCKET)))
    return [path for _, path in sorted(found, reverse=True)]
