# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files with which git keeps others out, left by commands that did not live to take them away."""

from __future__ import annotations

import re
from pathlib import Path

import psutil

_NAMED = re.compile(r"Unable to create '([^']+\.lock)': File exists")


def lock_in(output: str, folder: Path) -> Path | None:
    """Return which file of a folder keeps git out, by what git has printed."""
    found = _NAMED.search(output)
    path = Path(found[1]) if found else None
    return path if path is not None and path.parent == folder else None


def is_held(lock: Path, work_tree: Path) -> bool:
    """Whether a command may still run that has made it: git works in the folder that it is about."""
    for process in psutil.process_iter():
        try:
            if process.name().startswith("git"):
                if Path(process.cwd()).is_relative_to(work_tree):
                    return True
            elif any(Path(file.path) == lock for file in process.open_files()):
                return True
        except (psutil.Error, OSError):
            # It has ended meanwhile, or is somebody else's.
            continue
    return False
