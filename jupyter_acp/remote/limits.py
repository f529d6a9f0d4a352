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

    def refusal(self, files: int, size: int) -> str:
        """Return in words why a state of a repository is too much, or nothing if it is not."""
        if files > self.files:
            return (
                f"the repository has {files:,} files; {self.files:,} are allowed here "
                "(AcpExtension.remote_files)."
            )
        if size > self.size:
            return (
                f"the files of the repository take {size / 1e6:,.0f} MB; "
                f"{self.size / 1e6:,.0f} MB are allowed here (AcpExtension.remote_size)."
            )
        return ""
