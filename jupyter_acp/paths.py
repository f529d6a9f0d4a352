# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Checks of paths against the folders of a session, after symbolic links are resolved."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from urllib.parse import quote, unquote, urlsplit

from .rpc import invalid_params


def os_path(root: str | None, path: str) -> Path | None:
    """Return the file of a contents path, or None if there is none."""
    parts = [part for part in path.split("/") if part]
    if root is None or not parts or ".." in parts or "\0" in path:
        return None
    return Path(root, *parts)


def file_uri(path: PurePath) -> str:
    """Return the `file:///` URI of an absolute path, according to RFC 8089.

    A network share becomes `file:////host/share`. Of the two forms in the RFC's appendix, this one
    has the three slashes that agents expect.
    """
    text = path.as_posix()
    is_drive = text[:1].isalpha() and text[1:2] == ":"
    drive, rest = (text[:2], text[2:]) if is_drive else ("", text)
    encoded = quote(rest.encode("utf-8", "surrogateescape"), safe="/!$&'()*+,;=:@~")
    return f"file:///{drive}{encoded}" if drive else f"file://{encoded}"


def uri_path(uri: str) -> str:
    """Return the path in a `file:` URI; return any other text unchanged."""
    if not uri.lower().startswith("file:"):
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise invalid_params(f"{uri[:80]} is not an address that can be read.") from None
    if parts.netloc not in ("", "localhost"):
        raise invalid_params(f"{uri} is a file of another machine.")
    return unquote(parts.path, errors="surrogateescape")


def contained(path: str, roots: Iterable[str]) -> Path:
    """Return the resolved path if it is inside one of the roots; raise an error otherwise."""
    if len(path) > LONGEST:
        raise invalid_params(f"{path[:80]}… is no path: it has {len(path):,} characters.")
    try:
        target = Path(path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise invalid_params(f"{path!r} is not a usable path: {error}.") from None
    roots = list(roots)
    root = innermost(target, roots)
    if root is None:
        folders = dict.fromkeys(map(str, _resolved(roots)))
        raise invalid_params(
            f"{path} is outside the folders of this session: {', '.join(folders)}."
        )
    # Even if the root is `/`, the pseudo files of the kernel are excluded.
    if _is_ordinary(root) and not _is_ordinary(target):
        raise invalid_params(f"{path} is not a file of anybody's: it belongs to the system.")
    return target


def _is_ordinary(path: Path) -> bool:
    return path.parts[1:2] not in _OF_THE_KERNEL


_OF_THE_KERNEL = [("proc",), ("sys",), ("dev",)]

LONGEST = 4096
"""Maximum length of a path in characters; resolving one takes time quadratic in its length."""


def containing(path: Path, roots: Iterable[str]) -> list[Path]:
    """Return the folders that contain a path, the deepest first."""
    folders = dict.fromkeys(_resolved(roots))
    inside = [folder for folder in folders if folder == path or folder in path.parents]
    return sorted(inside, key=lambda folder: len(folder.parts), reverse=True)


def _resolved(roots: Iterable[str]) -> Iterator[Path]:
    """Yield the resolved folders, except those that are loops of links."""
    for root in roots:
        with contextlib.suppress(OSError, RuntimeError):
            yield Path(root).resolve()


def innermost(path: Path, roots: Iterable[str]) -> Path | None:
    """Return the deepest of the folders that contain a path, or None."""
    return next(iter(containing(path, roots)), None)


_TO_PASS = getattr(os, "O_PATH", getattr(os, "O_SEARCH", os.O_RDONLY))
"""The flag to open a folder that the user may enter but not list, such as `/home`."""


@contextlib.contextmanager
def folder_of(path: Path, *, create: bool = False) -> Iterator[int]:
    """Open the folder of a resolved path step by step, without following links.

    A resolved path contains no links, so a link on the way was created afterwards and is refused.
    """
    flags = _TO_PASS | os.O_DIRECTORY | os.O_NOFOLLOW
    folder = os.open(path.anchor, _TO_PASS | os.O_DIRECTORY)
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


def place(folder: str, cwd: str) -> str:
    """Return the resolved path of a folder, empty for the session's own working directory."""
    real = os.path.realpath(os.path.join(cwd, folder))
    return "" if real == os.path.realpath(cwd) else real
