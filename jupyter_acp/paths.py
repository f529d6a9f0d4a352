# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which paths a session may touch, decided on where they really lead."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .rpc import invalid_params


def contained(path: str, roots: Iterable[str]) -> Path:
    """Return where a path really leads if that is inside one of the roots; refuse it otherwise."""
    try:
        target = Path(path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise invalid_params(f"{path!r} is not a usable path: {error}.") from None
    folders = [Path(root).resolve() for root in roots]
    if any(target == folder or folder in target.parents for folder in folders):
        return target
    raise invalid_params(
        f"{path} is outside the folders of this session: {', '.join(map(str, folders))}."
    )


@contextlib.contextmanager
def folder_of(path: Path, *, create: bool = False) -> Iterator[int]:
    """Open the folder of a resolved path step by step, so that no link can lead elsewhere.

    What was resolved has no links in it; one that is met on the way was put there since.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    folder = os.open(path.anchor, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in path.parent.parts[1:]:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            inner = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
