# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How programs of this package are started by others of it."""

from __future__ import annotations

import sys
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")


def own_module(name: str) -> list[str]:
    """Return the command that runs a module of ours, wherever the server was started."""
    return [sys.executable, str(LAUNCHER), name]
