# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How much a revision is when it is unpacked."""

from __future__ import annotations

import asyncio

from ..git import Git


async def measured(git: Git, revision: str) -> tuple[int, int]:
    """Return how many files there are at a revision, and how many bytes they take."""
    printed = await git.run("ls-tree", "-r", "-l", "-z", "--full-tree", revision)
    return await asyncio.get_running_loop().run_in_executor(None, _sum, printed)


def _sum(listed: bytes) -> tuple[int, int]:
    count = size = 0
    for entry in listed.split(b"\0"):
        if entry:
            count += 1
            length = entry.split(b"\t", 1)[0].split()[3]
            size += int(length) if length.isdigit() else 0
    return count, size
