# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Documents that are open in a window: read and changed there."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ...protocol import (
    DOCUMENT_READ,
    DOCUMENT_SAVE,
    DOCUMENT_SHOW,
    DOCUMENT_WRITE,
    NOTEBOOK_RESTART,
    NOTEBOOK_RUN,
    DocumentContent,
    DocumentShown,
    DocumentWritten,
    NotebookRun,
    parse,
)
from ...rpc import RpcError
from ...rpc.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, NOT_FOUND, UNAVAILABLE
from ..workspace import Host

PATIENCE = 15.0
"""Timeout for the answer of a window, in seconds; hidden windows can be slow."""


Find = Callable[[Path], list[tuple[Host, str]]]


class Live(NamedTuple):
    """The state of an open document when it was read."""

    host: Host
    name: str
    """Contents path, by which the window identifies the document."""

    format: str
    content: Any
    version: str
    dirty: bool
    collaborative: bool
    """True if real-time collaboration shares the document and takes care of its file."""

    file_hash: str | None
    """Hash of the file last loaded, saved or merged in the window; None if not reported."""


class Documents:
    """Finds the windows that have a document open, and sends them requests."""

    def __init__(self, find: Find, hash_algorithm: str = "sha256") -> None:
        self._find = find
        self._hash_algorithm = hash_algorithm

    def fingerprint(self, text: str) -> str:
        """Return the hash of a file with this text, as windows compute it."""
        return hashlib.new(self._hash_algorithm, text.encode()).hexdigest()

    def stems_from(self, live: Live, text: str) -> bool:
        """Return True if the open document is based on a file with this text."""
        return live.file_hash in (None, self.fingerprint(text))

    async def read(self, path: Path) -> Live | None:
        """Return the open document with its unsaved changes, or None if it is not open."""
        for host, name in self._find(path):
            if (live := await self._read(host, name)) is not None:
                return live
        return None

    async def everywhere(self, path: Path) -> list[Live]:
        """Return the document from every window that has it open."""
        found = [await self._read(host, name) for host, name in self._find(path)]
        return [live for live in found if live is not None]

    async def again(self, live: Live) -> Live | None:
        """Return the current state of the document in the same window."""
        return await self._read(live.host, live.name)

    async def _read(self, host: Host, name: str) -> Live | None:
        try:
            answer = await self._ask(host, DOCUMENT_READ, {"path": name})
        except RpcError as error:
            # The document or its window was just closed: another window may have it.
            if error.code in (NOT_FOUND, UNAVAILABLE):
                return None
            raise
        found = parse(DocumentContent, answer)
        return Live(
            host,
            name,
            found.format,
            found.content,
            found.version,
            found.dirty,
            found.collaborative,
            found.file_hash,
        )

    async def write(self, live: Live, content: Any) -> bool:
        """Change and save the document; return False if the user has edited the same part."""
        return await self._change(live, content, {"save": True})

    async def adopt(self, live: Live, content: Any, file: str, *, dirty: bool) -> bool:
        """Apply a change of the file on disk to the document; return False as `write` does.

        The window then regards `file` as its saved file, and itself as changed if `dirty`.
        """
        on_disk = {"hash": self.fingerprint(file), "dirty": dirty}
        return await self._change(live, content, {"save": False, "onDisk": on_disk})

    async def _change(self, live: Live, content: Any, more: dict[str, Any]) -> bool:
        params = {
            "path": live.name,
            "format": live.format,
            "content": content,
            "version": live.version,
            **more,
        }
        return not parse(
            DocumentWritten, await self._ask(live.host, DOCUMENT_WRITE, params)
        ).conflict

    async def run(
        self, path: Path, cell: str | None = None, source: str | None = None
    ) -> NotebookRun | None:
        """Run a cell in a window that has the notebook open; return None if there is none.

        Refused if the cell's source differs from `source`. Without a cell, only start the kernel.
        """
        more = {"cellId": cell, "source": source}
        answer = await self._first(path, NOTEBOOK_RUN, more, "while it ran")
        return None if answer is None else parse(NotebookRun, answer)

    async def restart(self, path: Path) -> bool:
        """Restart the kernel of a notebook in its window; return False if there is none."""
        return await self._first(path, NOTEBOOK_RESTART, {}, "meanwhile") is not None

    async def _first(self, path: Path, method: str, more: dict[str, Any], when: str) -> Any:
        """Return the answer of the first window that supports the request, or None."""
        for host, name in self._find(path):
            try:
                return await host.request(method, {"path": name, **more})
            except RpcError as error:
                if error.code in (NOT_FOUND, METHOD_NOT_FOUND):
                    continue
                if error.code == UNAVAILABLE:
                    # Do not try another window: this one may have done it already.
                    raise RpcError(
                        UNAVAILABLE,
                        f"The window that has {name} open was lost {when}: read the notebook "
                        "to see how far it came.",
                    ) from None
                raise
        return None

    async def save(self, live: Live) -> None:
        """Save the document from its window."""
        await self._ask(live.host, DOCUMENT_SAVE, {"path": live.name})

    async def show(
        self, windows: list[tuple[Host, str]], line: int | None, cell: str | None
    ) -> DocumentShown | None:
        """Show a document at a line or a cell in the first window that can; None if none can."""
        for host, name in windows:
            params = {"path": name, "line": line, "cellId": cell}
            try:
                return parse(DocumentShown, await self._ask(host, DOCUMENT_SHOW, params))
            except RpcError as error:
                if error.code not in (METHOD_NOT_FOUND, UNAVAILABLE):
                    raise
        return None

    async def _ask(self, host: Host, method: str, params: dict[str, Any]) -> Any:
        try:
            return await asyncio.wait_for(host.request(method, params), PATIENCE)
        except asyncio.TimeoutError:
            raise RpcError(
                INTERNAL_ERROR,
                f"The window that was asked about {params['path']} does not answer. Look at it again before "
                "you go on: whether anything was done is not known.",
            ) from None
