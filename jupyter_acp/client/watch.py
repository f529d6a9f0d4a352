# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Open documents whose files change on disk: most agents write files with tools of their own."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..disk import read_text
from ..formats import NOTEBOOK, TEXT, Format
from ..merge import ConflictError
from ..rpc import RpcError
from .view import SessionView

BUSY_INTERVAL = 0.5
QUIET_INTERVAL = 2.0
"""How often files are looked at, in seconds, while a turn runs and otherwise."""

PATIENCE = 0.3
"""How long we wait for the news that a change was a save of Jupyter's own, in seconds."""

AFTERWARDS = 30.0
"""How long after its turn a session is still taken for the one that changed a file, in seconds."""

ATTEMPTS = 10
SIZE_LIMIT = 4 * 1024 * 1024
"""Of larger files only the fact that they changed is known."""


class LiveDocument(Protocol):
    """A document that a window has open."""

    @property
    def format(self) -> str:
        """What its content is."""

    @property
    def content(self) -> Any:
        """What the user sees."""

    @property
    def dirty(self) -> bool:
        """Whether that is more than what was saved."""

    @property
    def collaborative(self) -> bool:
        """Whether others take care of its file."""


class LiveDocuments(Protocol):
    """The documents that are open in windows."""

    def everywhere(self, path: Path) -> Awaitable[list[Any]]:
        """Return an open document as each of the windows has it."""

    def again(self, live: Any) -> Awaitable[Any]:
        """Return a document as the same window has it now, or None."""

    def write(
        self, live: Any, content: Any, *, save: bool, on_disk_dirty: bool | None
    ) -> Awaitable[bool]:
        """Change it; False if it has to be read again before."""


class Known(NamedTuple):
    """A file as it was when it was last looked at."""

    signature: tuple[int, ...]
    text: str | None


class Watcher:
    """Brings what changed on disk into the windows, and loses nothing that was typed there."""

    def __init__(
        self,
        documents: LiveDocuments,
        paths: Callable[[], set[Path]],
        log: Any,
    ) -> None:
        self._documents = documents
        self._paths = paths
        self._log = log
        self._known: dict[Path, Known] = {}
        self._watching: asyncio.Task[None] | None = None
        self._handling: dict[Path, asyncio.Task[None]] = {}
        self._worked: tuple[SessionView | None, float] = (None, 0)

    def start(self, working: Callable[[], SessionView | None]) -> None:
        """Watch from now on; `working` names the session whose agent is at work, if any."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch(working))

    def close(self) -> None:
        """Watch no more."""
        for task in (self._watching, *self._handling.values()):
            if task is not None:
                task.cancel()

    def saved(self, path: Path) -> None:
        """Take note that Jupyter itself has written a file: the window that did it knows."""
        if path in self._known:
            self._known[path] = _look(path)

    async def _watch(self, working: Callable[[], SessionView | None]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if (session := working()) is not None:
                self._worked = (session, time.monotonic())
            await asyncio.sleep(QUIET_INTERVAL if session is None else BUSY_INTERVAL)
            try:
                paths = self._paths()
                for path in self._known.keys() - paths:
                    del self._known[path]
                changed = await loop.run_in_executor(None, self._changed, paths)
                for path in changed - self._handling.keys():
                    self._handling[path] = loop.create_task(self._handle(path))
            except Exception:
                self._log.exception("Open files could not be watched")

    def _changed(self, paths: set[Path]) -> set[Path]:
        """Return the files that are not as they were, having a first look at those that are new."""
        changed = set()
        for path in paths:
            known = self._known.get(path)
            if known is None:
                self._known[path] = _look(path)
            elif _signature(path) not in ((), known.signature):
                changed.add(path)
        return changed

    async def _handle(self, path: Path) -> None:
        try:
            await self._compare(path)
        finally:
            del self._handling[path]

    async def _compare(self, path: Path) -> None:
        await asyncio.sleep(PATIENCE)
        before = self._known.get(path)
        now = await asyncio.get_running_loop().run_in_executor(None, _look, path)
        if before is None or now.signature == before.signature or now.text is None:
            # Saved by a window after all, or closed, or not to be read as text.
            return
        try:
            for live in await self._documents.everywhere(path):
                if live.collaborative:
                    await self._acknowledge(live, now.text)
                else:
                    await self._bring(path, live, before.text, now.text)
        except ValueError:
            # Half written, or broken: the next look will tell.
            return
        except RpcError as error:
            self._log.warning("%s changed on disk, but not in its window: %s", path, error.message)
        if self._known.get(path) == before:
            self._known[path] = now

    async def _acknowledge(self, live: Any, now: str) -> None:
        """Let a window whose document is shared know its file again.

        Others bring the change into the document; only the window would still ask about it.
        """
        format: Format = NOTEBOOK if live.format == NOTEBOOK.name else TEXT
        text = format.text(format.parse(now))
        for _ in range(ATTEMPTS):
            ours = NOTEBOOK.of(live.content) if format is NOTEBOOK else live.content
            if format.text(ours) == text:
                await self._documents.write(live, live.content, save=False, on_disk_dirty=False)
                return
            await asyncio.sleep(BUSY_INTERVAL)
            live = await self._documents.again(live)
            if live is None:
                return

    async def _bring(self, path: Path, live: Any, before: str | None, now: str) -> None:
        """Let one window have what is on disk now, together with what only it has."""
        format: Format = NOTEBOOK if live.format == NOTEBOOK.name else TEXT
        theirs = format.parse(now)
        choice = None
        for _ in range(ATTEMPTS):
            ours = NOTEBOOK.of(live.content) if format is NOTEBOOK else live.content
            try:
                wanted = theirs
                if live.dirty and choice != "theirs":
                    if choice == "ours":
                        wanted = ours
                    else:
                        wanted = format.merge(format.parse(before or now), ours, theirs)
            except ConflictError as conflict:
                choice = await self._ask(path, format.text(ours), now, str(conflict))
                if choice is None:
                    # Nobody has decided: JupyterLab itself asks before the one overwrites the other.
                    return
            else:
                dirty = format.text(wanted) != format.text(theirs)
                if await self._documents.write(live, wanted, save=False, on_disk_dirty=dirty):
                    return
            live = await self._documents.again(live)
            if live is None:
                return

    async def _ask(self, path: Path, ours: str, theirs: str, where: str) -> str | None:
        session, at = self._worked
        if session is None or time.monotonic() > at + AFTERWARDS:
            return None
        answer = await session.consult(
            {
                "toolCall": {
                    "toolCallId": f"jupyter-changed-{path.name}",
                    "title": f"{path.name} was changed on disk where you have changed it: {where}",
                    "kind": "edit",
                    "status": "pending",
                    "locations": [{"path": str(path)}],
                    "content": [
                        {"type": "diff", "path": str(path), "oldText": ours, "newText": theirs}
                    ],
                },
                "options": [
                    {"optionId": "theirs", "name": "Take what is on disk", "kind": "allow_once"},
                    {"optionId": "ours", "name": "Keep mine", "kind": "reject_once"},
                ],
            }
        )
        outcome = answer.get("outcome")
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        return chosen if chosen in ("ours", "theirs") else None


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def _look(path: Path) -> Known:
    signature = _signature(path)
    text = None
    if signature and signature[1] <= SIZE_LIMIT:
        try:
            text = read_text(path)
        except RpcError:
            text = None
    return Known(signature, text)
