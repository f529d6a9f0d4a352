# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files that nobody has open, written the way Jupyter writes them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...paths import contained
from ...rpc import RpcError
from ...rpc.errors import INTERNAL_ERROR
from ..permissions.protected_files import needs_permission
from .disk import replacing


class Contents:
    """Jupyter's contents manager: its hooks, signatures and events count for agents, too."""

    def __init__(self, manager: Any, root: str | None) -> None:
        """Take what is inside of the folder that contents paths begin at."""
        self._manager = manager
        self._root = Path(root) if root is not None else None
        _write_where_it_was_looked_at(manager)

    def covers(self, path: Path) -> bool:
        """Whether Jupyter would let a user write a file: what is hidden it would not."""
        if self._root is None or self._root not in path.parents:
            return False
        hidden = any(part.startswith(".") for part in path.relative_to(self._root).parts)
        return not hidden or bool(self._manager.allow_hidden)

    async def save_text(self, path: Path, text: str) -> None:
        """Write a text file."""
        await self._save(path, {"type": "file", "format": "text", "content": text})

    async def save_notebook(self, path: Path, text: str, before: str | None) -> None:
        """Write a notebook, which stays trusted if nothing came in that could do harm."""
        import nbformat

        notebook = nbformat.reads(text, as_version=4)
        trusted = before is not None and self._adds_nothing(notebook, before)
        await self._save(path, {"type": "notebook", "format": "json", "content": notebook})
        if trusted:
            self._manager.notary.sign(notebook)

    async def delete(self, path: Path) -> None:
        """Delete a file, into the trash where Jupyter does so."""
        from jupyter_server.utils import ensure_async
        from tornado.web import HTTPError

        if not self.covers(path):
            raise RpcError(INTERNAL_ERROR, f"{path} is not Jupyter's to delete.")
        try:
            await ensure_async(self._manager.delete(self._name(path)))
        except HTTPError as error:
            raise RpcError(
                INTERNAL_ERROR, f"{path} could not be deleted: {_reason(error)}"
            ) from None

    def _name(self, path: Path) -> str:
        assert self._root is not None
        return path.relative_to(self._root).as_posix()

    def _os_path(self, path: Path) -> str:
        """Return what Jupyter calls a file, also if its folder is reached through a link."""
        return os.path.join(os.path.abspath(self._manager.root_dir), self._name(path))

    def _adds_nothing(self, notebook: Any, before: str) -> bool:
        """Whether all outputs of a notebook were there before, in one that the user trusts."""
        import nbformat

        try:
            old = nbformat.reads(before, as_version=4)
        except Exception:
            return False
        known = [output for cell in old.cells for output in cell.get("outputs", [])]
        return self._manager.notary.check_signature(old) and all(
            output in known for cell in notebook.cells for output in cell.get("outputs", [])
        )

    async def _save(self, path: Path, model: dict[str, Any]) -> None:
        from jupyter_server.utils import ensure_async
        from tornado.web import HTTPError

        saving = _saving.set(_Saving(path, self._os_path(path)))
        try:
            await ensure_async(self._manager.save(model, self._name(path)))
        except HTTPError as error:
            raise RpcError(
                INTERNAL_ERROR, f"{path} could not be written: {_reason(error)}"
            ) from None
        finally:
            _saving.reset(saving)


class _Saving(NamedTuple):
    """A file that is being written for an agent."""

    path: Path
    """Where it is, without links."""

    os_path: str
    """What Jupyter calls it."""


def _write_where_it_was_looked_at(manager: Any) -> None:
    """Let no link lead elsewhere what Jupyter writes for an agent.

    Jupyter follows links, which is for its user to want. What an agent names was looked at before,
    and a link that has come since is none that anybody wants. Some managers write other files by the
    way, which a notebook names: those that an agent would be asked about are not written.
    """
    writing = getattr(manager, "atomic_writing", None)
    if writing is None or getattr(writing, "is_careful", False):
        # It keeps no files, or is careful since an earlier start.
        return

    @contextlib.contextmanager
    def atomic_writing(os_path: str, *args: Any, **options: Any) -> Iterator[IO[Any]]:
        saving = _saving.get()
        if saving is None:
            with writing(os_path, *args, **options) as file:
                yield file
            return
        path = saving.path if os_path == saving.os_path else _by_the_way(manager, os_path)
        in_place = not getattr(manager, "use_atomic_writing", True)
        with replacing(path, in_place=in_place) as binary:
            if not options.get("text", True):
                yield binary
                return
            text = io.TextIOWrapper(binary, options.get("encoding", "utf-8"), newline="\n")
            yield text
            # It belongs to whoever has opened it.
            text.detach()

    atomic_writing.is_careful = True  # type: ignore[attr-defined]
    manager.atomic_writing = atomic_writing
    manager.create_checkpoint = _unless_for_an_agent(manager.create_checkpoint)


def _unless_for_an_agent(create: Callable[..., Any]) -> Callable[..., Any]:
    """Leave checkpoints to the user, to whose window it falls to make the first one.

    They are what the user has saved, and Jupyter follows links while it copies.
    """

    async def nothing() -> None:
        """Wait for nothing, where Jupyter waits."""

    @functools.wraps(create)
    def create_checkpoint(*args: Any, **options: Any) -> Any:
        if _saving.get() is None:
            return create(*args, **options)
        return nothing() if inspect.iscoroutinefunction(create) else None

    return create_checkpoint


def _by_the_way(manager: Any, os_path: str) -> Path:
    """Return where a file is that is written besides the one that an agent wants written."""
    from tornado.web import HTTPError

    roots = [manager.root_dir]
    try:
        path = contained(os.path.abspath(os_path), roots)
    except RpcError as error:
        raise HTTPError(403, error.message) from None
    if needs_permission(path, roots, "write"):
        raise HTTPError(403, f"{path} is not written along with it: it is a protected file")
    return path


_saving: ContextVar[_Saving | None] = ContextVar("saving", default=None)


def _reason(error: Any) -> str:
    return str(error.log_message or error.reason or error)
