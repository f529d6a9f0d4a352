# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Limits on the size of a repository and of one transfer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Maximum number of bytes and of files."""

    size: int = 2_000_000_000
    files: int = 100_000

    def refusal(self, files: int, size: int) -> str:
        """Return the reason why a repository is too large, or an empty string."""
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
