# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Messages that say why an agent has failed or ended, with the last lines of its stderr."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Sequence

from ..rpc import RpcError
from ..rpc.errors import UNAVAILABLE

STDERR_LINES = 20
"""Number of lines of stderr in a message."""


def exited(agent: str, name: str, status: int | None, stderr: Sequence[str]) -> RpcError:
    """Return the error for an agent whose process has ended; without a status it was ended by us."""
    how = "closed its input or output and was then ended"
    if status is not None:
        how = describe_exit(status)
    return failed(agent, f"{name} {how}.", stderr)


def failed(agent: str, message: str, stderr: Sequence[str]) -> RpcError:
    """Return the error for an agent that does not work."""
    lines = list(stderr[-STDERR_LINES:])
    if lines:
        message += "\nIts last words on stderr:\n" + "\n".join(lines)
    return RpcError(UNAVAILABLE, message, {"agent": agent, "stderr": lines})


def describe_exit(status: int) -> str:
    """Return a description of the exit status for users."""
    if status >= 0:
        return f"exited with status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"
