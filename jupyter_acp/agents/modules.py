# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The command line for programs of this package."""

from __future__ import annotations

import sys
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")


def own_module(name: str) -> list[str]:
    """Return the command that runs a module of this package from any working directory."""
    return [sys.executable, str(LAUNCHER), name]
