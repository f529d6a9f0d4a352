# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which paths a session may touch, decided on where they really lead."""

from __future__ import annotations

from collections.abc import Iterable
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
