# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Documents that are open in a window: read as they are there, changed in place."""

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
"""How long a window may take to answer, in seconds; one that is hidden may be slow."""


Find = Callable[[Path], list[tuple[Host, str]]]


class Live(NamedTuple):
    """An open document, as it was when it was read."""

    host: Host
    name: str
    """What the window calls it: its contents path."""

    format: str
    content: Any
    version: str
    dirty: bool
    collaborative: bool
    """Whether it is shared with others, who take care of its file."""

    file_hash: str | None
    """Of the file that was last loaded, saved or merged there; None where nobody tells."""


class Documents:
    """Finds the window that has a document open, and asks it."""

    def __init__(self, find: Find, hash_algorithm: str = "sha256") -> None:
        self._find = find
        self._hash_algorithm = hash_algorithm

    def fingerprint(self, text: str) -> str:
        """Return the hash of a file with this text, as windows know it."""
        return hashlib.new(self._hash_algorithm, text.encode()).hexdigest()

    def stems_from(self, live: Live, text: str) -> bool:
        """Whether a file with this text is what the user has been changing."""
        return live.file_hash in (None, self.fingerprint(text))

    async def read(self, path: Path) -> Live | None:
        """Return what the user sees of a file, unsaved changes included; None if it is not open."""
        for host, name in self._find(path):
            if (live := await self._read(host, name)) is not None:
                return live
        return None

    async def everywhere(self, path: Path) -> list[Live]:
        """Return it as each of the windows has it."""
        found = [await self._read(host, name) for host, name in self._find(path)]
        return [live for live in found if live is not None]

    async def again(self, live: Live) -> Live | None:
        """Return it as the same window has it now."""
        return await self._read(live.host, live.name)

    async def _read(self, host: Host, name: str) -> Live | None:
        try:
            answer = await self._ask(host, DOCUMENT_READ, {"path": name})
        except RpcError as error:
            # Closed a moment ago, or gone with its window: another one may have it.
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
        """Change and save it; False if the user has touched the same part meanwhile."""
        return await self._change(live, content, {"save": True})

    async def adopt(self, live: Live, content: Any, file: str, *, dirty: bool) -> bool:
        """Change it to account for what others made of its file; False as above.

        The window then takes that for the file that it has, with more of its own if `dirty`.
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
        """Run a cell of a notebook where it is open, as if the user did; None if no window can.

        It is refused if its source has become another. Without a cell, only its kernel is started.
        """
        more = {"cellId": cell, "source": source}
        answer = await self._first(path, NOTEBOOK_RUN, more, "while it ran")
        return None if answer is None else parse(NotebookRun, answer)

    async def restart(self, path: Path) -> bool:
        """Restart the kernel of a notebook where it is open; False if no window can."""
        return await self._first(path, NOTEBOOK_RESTART, {}, "meanwhile") is not None

    async def _first(self, path: Path, method: str, more: dict[str, Any], when: str) -> Any:
        """Return what the first window answers that can do something with an open notebook."""
        for host, name in self._find(path):
            try:
                return await host.request(method, {"path": name, **more})
            except RpcError as error:
                if error.code in (NOT_FOUND, METHOD_NOT_FOUND):
                    continue
                if error.code == UNAVAILABLE:
                    # Not to be tried elsewhere: it may have been done already.
                    raise RpcError(
                        UNAVAILABLE,
                        f"The window that has {name} open was lost {when}: read the notebook "
                        "to see how far it came.",
                    ) from None
                raise
        return None

    async def save(self, live: Live) -> None:
        """Save what the user sees into its file."""
        await self._ask(live.host, DOCUMENT_SAVE, {"path": live.name})

    async def show(
        self, windows: list[tuple[Host, str]], line: int | None, cell: str | None
    ) -> DocumentShown | None:
        """Show a document at a line or a cell, in the first window that can; None if none can."""
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
