# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Text files on disk; links created after the permission check are not followed."""

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
    """Return the text of a regular file, or raise an error with the reason."""
    try:
        # Do not block on a pipe, and do not follow a link that was created after the check.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with folder_of(path) as folder:
            name = path.name or "."
            # Check before, as opening a device may have effects, and after, as the file may differ.
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
    """Write a file atomically; create its parent folders if needed."""
    try:
        _replace(path, content.encode("utf-8"))
    except UnicodeEncodeError:
        raise invalid_params("The content has characters that are no text.") from None
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, f"{path} could not be written: {error.strerror}.") from None


def make_folders(path: Path) -> None:
    """Create the parent folders of a file."""
    try:
        with folder_of(path, create=True):
            pass
    except OSError as error:
        raise invalid_params(f"{path.parent} could not be made: {error.strerror}.") from None


def _replace(path: Path, data: bytes) -> None:
    """Write a file beside the old one and rename it over that, so that readers see no partial file.

    If that is not possible, or would change owner or attributes, overwrite the old file in place.
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
    """Replace an existing file; return False if owner or attributes could not be kept."""
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
    """Copy the owner and the extended attributes of an old file to a new one."""
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
