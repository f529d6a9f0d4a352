# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""File names as people write them, as clients send them and as they are shown."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit


def from_uri(uri: str) -> Path | None:
    """Return the path of a `file:` URI, or None for any other resource."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path)
    return Path(path.lstrip("/") if os.name == "nt" else path)


def from_person(name: str, folder: Path) -> Path:
    """Return what a person means: relative to the folder, `~`, `@mention` or a `file:` URI."""
    if name.startswith("file:") and (path := from_uri(name)) is not None:
        return path
    return folder / Path(name.removeprefix("@")).expanduser()


def shown(path: Path, folder: Path) -> str:
    """Return a path as short as it can be said."""
    try:
        return path.relative_to(folder).as_posix()
    except ValueError:
        return str(path)


def shown_uri(uri: str, folder: Path) -> str:
    """Return a URI as a path where it is one."""
    path = from_uri(uri)
    return shown(path, folder) if path is not None else unquote(uri)
