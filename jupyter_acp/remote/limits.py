# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How much a repository may be, and how much may travel at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How many bytes, and how many files."""

    size: int = 2_000_000_000
    files: int = 100_000
