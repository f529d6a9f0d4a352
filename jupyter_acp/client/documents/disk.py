# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Text files on disk; nothing is followed that was not there when the path was looked at."""

from __future__ import annotations

import os
import stat
import sys
import uuid
from pathlib import Path

from ...paths import folder_of
from ...rpc import RpcError, invalid_params
from ...rpc.errors import INTERNAL_ERROR, NOT_FOUND

SIZE_LIMIT = 64 * 1024 * 1024


def read_text(path: Path) -> str:
    """Return the text of a regular file, or say why that cannot be."""
    try:
        # Not waiting on a pipe, and not following a link that came after the path was looked at.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with folder_of(path) as folder:
            name = path.name or "."
            # Twice: to open a device may do something, and what is opened may be another by then.
            _check_regular(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            descriptor = os.open(name, flags, dir_fd=folder)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            _check_regular(path, status)
            if status.st_size > SIZE_LIMIT:
                raise invalid_params(f"{path} has {status.st_size:,} bytes: too many to send.")
            return file.read(SIZE_LIMIT).decode("utf-8")
    except FileNotFoundError:
        raise RpcError(NOT_FOUND, f"There is no file {path}.") from None
    except UnicodeDecodeError:
        raise invalid_params(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise invalid_params(f"{path} could not be read: {error.strerror}.") from None


def write_text(path: Path, content: str) -> None:
    """Write a file atomically, its folders made as needed."""
    try:
        _replace(path, content.encode("utf-8"))
    except UnicodeEncodeError:
        raise invalid_params("The content has characters that are no text.") from None
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, f"{path} could not be written: {error.strerror}.") from None


def make_folders(path: Path) -> None:
    """Make the folders that a file is to be in."""
    try:
        with folder_of(path, create=True):
            pass
    except OSError as error:
        raise invalid_params(f"{path.parent} could not be made: {error.strerror}.") from None


def _replace(path: Path, data: bytes) -> None:
    """Write a file beside the old one and move it over, so that a reader sees the one or the other.

    Where that cannot be, or the file would become somebody else's, what is there is written over.
    """
    with folder_of(path, create=True) as folder:
        if _status(path, folder) is None:
            _write_new(path, folder, data)
        elif not _write_beside(path, folder, data):
            descriptor = os.open(path.name, os.O_RDWR | os.O_NOFOLLOW, dir_fd=folder)
            with open(descriptor, "rb+") as file:
                _check_regular(path, os.fstat(descriptor))
                file.write(data)
                file.truncate()


def _write_new(path: Path, folder: int, data: bytes, old: int | None = None) -> None:
    name = f".{uuid.uuid4().hex[:12]}~"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(name, flags, 0o666 if old is None else 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            if old is not None:
                _take_after(old, descriptor)
            file.write(data)
            file.flush()
            if old is not None:
                os.fchmod(descriptor, stat.S_IMODE(os.fstat(old).st_mode))
        os.replace(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise


def _write_beside(path: Path, folder: int, data: bytes) -> bool:
    """Write a file that takes the place of one that is there; False if it could not be the same."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        old = os.open(path.name, flags, dir_fd=folder)
    except PermissionError:
        return False
    try:
        _check_regular(path, os.fstat(old))
        _write_new(path, folder, data, old)
    except (PermissionError, _NotAlikeError):
        return False
    finally:
        os.close(old)
    return True


class _NotAlikeError(Exception):
    """A new file cannot have the owner or the attributes of the old one."""


def _take_after(old: int, new: int) -> None:
    """Give a new file the owner and the attributes of an old one."""
    was, now = os.fstat(old), os.fstat(new)
    try:
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
            os.fchown(new, was.st_uid, was.st_gid)
        if sys.platform == "linux":
            for name in os.listxattr(old):
                os.setxattr(new, name, os.getxattr(old, name))
    except OSError:
        raise _NotAlikeError from None


def _status(path: Path, folder: int) -> os.stat_result | None:
    try:
        status = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _check_regular(path, status)
    return status


def _check_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise invalid_params(f"{path} is a folder.")
    if not stat.S_ISREG(status.st_mode):
        raise invalid_params(f"{path} is not a regular file.")
    if status.st_nlink > 1:
        raise invalid_params(
            f"{path} is one of {status.st_nlink} names of the same file (hard links), and the others "
            "may be anywhere. Make a copy of it and use that."
        )
