# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Text files on disk; nothing is followed that was not there when the path was looked at."""

from __future__ import annotations

import os
import stat
import uuid
from pathlib import Path

from .paths import folder_of
from .rpc import RpcError, invalid_params
from .rpc.errors import INTERNAL_ERROR, NOT_FOUND

SIZE_LIMIT = 64 * 1024 * 1024


def read_text(path: Path) -> str:
    """Return the text of a regular file, or say why that cannot be."""
    try:
        # Not waiting on a pipe, and not following a link that came after the path was looked at.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with folder_of(path) as folder:
            descriptor = os.open(path.name or ".", flags, dir_fd=folder)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            os.close(descriptor)
            raise invalid_params(f"{path} is a folder.")
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(status.st_mode):
                raise invalid_params(f"{path} is not a regular file.")
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
        with folder_of(path, create=True) as folder:
            mode = _mode(path, folder)
            # Written beside it and moved over it: a reader sees the old text or the new one.
            name = f".{path.name}.{uuid.uuid4().hex}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            descriptor = os.open(name, flags, 0o600, dir_fd=folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(content.encode("utf-8"))
                    os.fchmod(file.fileno(), mode)
                os.replace(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(name, dir_fd=folder)
                raise
    except UnicodeEncodeError:
        raise invalid_params("The content has characters that are no text.") from None
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, f"{path} could not be written: {error.strerror}.") from None


def _mode(path: Path, folder: int) -> int:
    try:
        status = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o666 & ~_UMASK
    if not stat.S_ISREG(status.st_mode):
        raise invalid_params(f"{path} is not a regular file.")
    return stat.S_IMODE(status.st_mode)


# Read once, while nobody else is likely to look: reading it means setting it.
_UMASK = os.umask(0o077)
os.umask(_UMASK)
