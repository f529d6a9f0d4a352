# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The user at the other end of a Unix socket, as reported by the system."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Protocol

_LOCAL_PEERCRED = 1
_XUCRED = struct.Struct("2Ih16I")
"""Credentials on macOS: a version, the user, and groups."""


class _Socket(Protocol):
    def getsockopt(self, level: int, name: int, size: int, /) -> bytes: ...


def uid_of(connection: _Socket) -> int | None:
    """Return the id of the user who has connected, or None if the system does not report it."""
    platform: str = sys.platform
    try:
        if platform == "linux":
            told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return int(struct.unpack("iII", told)[1])
        if platform == "darwin":
            told = connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED.size)
            return int(_XUCRED.unpack(told)[1])
    except (OSError, struct.error):
        pass
    return None
