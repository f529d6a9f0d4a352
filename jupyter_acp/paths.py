# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Which paths a session may touch, decided on where they really lead."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from urllib.parse import quote, unquote, urlsplit

from .rpc import invalid_params


def os_path(root: str | None, path: str) -> Path | None:
    """Return the file behind a contents path, or None where there is no file to it."""
    parts = [part for part in path.split("/") if part]
    if root is None or not parts or ".." in parts or "\0" in path:
        return None
    return Path(root, *parts)


def file_uri(path: PurePath) -> str:
    """Return the `file:///` URI of an absolute path, as RFC 8089 writes it.

    A share is `file:////host/share`: of the two ways in the RFC's appendix, the one that keeps the
    three slashes which agents look for.
    """
    text = path.as_posix()
    drive, rest = (text[:2], text[2:]) if text[1:2] == ":" else ("", text)
    encoded = quote(rest.encode("utf-8", "surrogateescape"), safe="/!$&'()*+,;=:@~")
    return f"file:///{drive}{encoded}" if drive else f"file://{encoded}"


def uri_path(uri: str) -> str:
    """Return the path in a `file:` URI; what is no such URI is taken for a path as it is."""
    if not uri.lower().startswith("file:"):
        return uri
    parts = urlsplit(uri)
    if parts.netloc not in ("", "localhost"):
        raise invalid_params(f"{uri} is a file of another machine.")
    path = unquote(parts.path, errors="surrogateescape")
    is_drive = path[:1] == "/" and path[2:3] == ":" and os.name == "nt"
    return path[1:] if is_drive else path


def contained(path: str, roots: Iterable[str]) -> Path:
    """Return where a path really leads if that is inside one of the roots; refuse it otherwise."""
    try:
        target = Path(path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise invalid_params(f"{path!r} is not a usable path: {error}.") from None
    folders = list(dict.fromkeys(Path(root).resolve() for root in roots))
    if any(target == folder or folder in target.parents for folder in folders):
        return target
    raise invalid_params(
        f"{path} is outside the folders of this session: {', '.join(map(str, folders))}."
    )


def containing(path: Path, roots: Iterable[str]) -> list[Path]:
    """Return those of the folders that a path is in, the deepest first."""
    folders = dict.fromkeys(Path(root).resolve() for root in roots)
    inside = [folder for folder in folders if folder == path or folder in path.parents]
    return sorted(inside, key=lambda folder: len(folder.parts), reverse=True)


def innermost(path: Path, roots: Iterable[str]) -> Path | None:
    """Return the deepest of the folders that a path is in."""
    return next(iter(containing(path, roots)), None)


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
