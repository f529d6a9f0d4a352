# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`fs/*`: text files inside the session's folders."""

from __future__ import annotations

import asyncio
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, Protocol

from ..paths import contained
from ..protocol import ReadFileParams, WriteFileParams, parse
from ..rpc import RpcError, invalid_params
from ..rpc.errors import INTERNAL_ERROR, NOT_FOUND

SIZE_LIMIT = 64 * 1024 * 1024


class HasRoots(Protocol):
    """A session, as far as files go."""

    @property
    def roots(self) -> list[str]:
        """The folders that it may touch."""


class Files:
    """Reads and writes on disk, away from the event loop."""

    def __init__(self, root_dir: str) -> None:
        self._root_dir = root_dir

    async def read(self, session: HasRoots, params: Any) -> dict[str, Any]:
        """Serve `fs/read_text_file`."""
        wanted = parse(ReadFileParams, params)
        path = contained(wanted.path, [*session.roots, self._root_dir])
        text = await asyncio.get_running_loop().run_in_executor(None, _read, path)
        if wanted.line is not None or wanted.limit is not None:
            lines = text.splitlines(keepends=True)
            start = max((wanted.line or 1) - 1, 0)
            stop = None if wanted.limit is None else start + wanted.limit
            text = "".join(lines[start:stop])
        return {"content": text}

    async def write(self, session: HasRoots, params: Any) -> dict[str, Any]:
        """Serve `fs/write_text_file`."""
        wanted = parse(WriteFileParams, params)
        path = contained(wanted.path, [*session.roots, self._root_dir])
        await asyncio.get_running_loop().run_in_executor(None, _write, path, wanted.content)
        return {}


def _read(path: Path) -> str:
    try:
        # Not following a link that replaced the file after it was looked at, nor waiting on a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
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


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        if path.exists() and not path.is_file():
            raise invalid_params(f"{path} is not a regular file.")
        # Written beside it and moved over it: a reader sees the old text or the new one.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with open(descriptor, "wb") as file:
                file.write(content.encode("utf-8"))
                os.fchmod(file.fileno(), mode)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, f"{path} could not be written: {error.strerror}.") from None


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
