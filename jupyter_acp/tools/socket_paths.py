# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Paths of the servers' sockets, for a server that creates one and a command that looks for it.

It imports little, since an agent waits for the command.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SOCKET = "tools.sock"


def places(*runtime_dirs: str) -> list[str]:
    """Return the folders that may contain a socket, the first choice first."""
    return list(dict.fromkeys([*runtime_dirs, tempfile.gettempdir(), "/tmp"]))  # noqa: S108


def _runtime_dirs() -> Iterator[str]:
    """Yield Jupyter's runtime folder by this environment, then by the user's account.

    Some agents give their shell another HOME, or drop variables.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    yield jupyter_runtime_dir()
    with contextlib.suppress(ImportError, KeyError):
        import pwd

        data = "Library/Jupyter" if sys.platform == "darwin" else ".local/share/jupyter"
        yield str(Path(pwd.getpwuid(os.geteuid()).pw_dir, data, "runtime"))


def prefix() -> str:
    """Return the prefix of socket folders on this machine, as machines may share homes."""
    return f"acp-{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}-"


def sockets() -> list[str]:
    """Return the sockets of this user's servers, the newest first."""
    found: list[tuple[float, str]] = []
    for place in places(*_runtime_dirs()):
        try:
            names = [name for name in os.listdir(place) if name.startswith(prefix())]
        except OSError:
            continue
        for folder in (Path(place, name) for name in names):
            try:
                about = folder.lstat()
            except OSError:
                continue
            # Any user may create such a folder in a temporary directory: accept only our own.
            is_ours = about.st_uid == os.geteuid() and not about.st_mode & 0o077
            if is_ours and stat.S_ISDIR(about.st_mode):
                found.append((about.st_mtime, str(folder / SOCKET)))
    return [path for _, path in sorted(found, reverse=True)]
