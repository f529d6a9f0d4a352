# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Folders that are taken away whole, whatever an agent has made of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from pathlib import Path
from typing import Any


async def remove(folder: Path) -> None:
    """Take away a folder with all that is in it, also what may not be written to."""
    await asyncio.get_running_loop().run_in_executor(None, remove_folder, folder)


def remove_folder(folder: Path) -> None:
    """Do so at once."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, onerror=_unprotect)


def _unprotect(function: Any, path: str, _: Any) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        function(path)
