# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Updates of open documents whose files change on disk, as most agents write files directly."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from ...rpc import Logger, RpcError
from ..view import SessionView
from .disk import read_text
from .formats import NOTEBOOK, TEXT, Format, one_line_end
from .live import Documents, Live
from .merge import ConflictError

BUSY_INTERVAL = 0.5
QUIET_INTERVAL = 2.0
"""Intervals between checks of the files, in seconds, during a turn and otherwise."""

PATIENCE = 0.3
"""Delay before a change is handled, in seconds: it may turn out to be a save by Jupyter."""

AFTERWARDS = 30.0
"""Time after its turn in which changes are still attributed to a session, in seconds."""

ATTEMPTS = 10
SIZE_LIMIT = 4 * 1024 * 1024
"""Maximum size of a file whose text is compared, in bytes."""


class Look(NamedTuple):
    """The state of a file when it was last checked."""

    signature: tuple[int, ...]
    text: str | None
    """Text of the file when all windows were last in sync with it: the base for later merges."""


class Watcher:
    """Applies changes of files on disk to open documents, and keeps unsaved edits."""

    def __init__(
        self,
        documents: Documents,
        files: Callable[[], dict[Path, set[str]]],
        is_away: Callable[[Path], bool],
        log: Logger,
    ) -> None:
        """Watch files; `is_away` returns True if a window that has one open is disconnected.

        `files` returns the open files with the hashes of what windows have loaded, where known.
        """
        self._documents = documents
        self._files = files
        self._is_away = is_away
        self._log = log
        self._known: dict[Path, Look] = {}
        self._watching: asyncio.Task[None] | None = None
        self._handling: dict[Path, asyncio.Task[None]] = {}
        self._again: set[Path] = set()
        """Files saved while being handled: other windows may have got the text before the save."""

        self._worked: tuple[SessionView | None, float] = (None, 0)

    def start(self, working: Callable[[], SessionView | None]) -> None:
        """Start watching; `working` returns the session that has a turn in progress, if any."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch(working))

    def close(self) -> None:
        """Stop watching."""
        for task in (self._watching, *self._handling.values()):
            if task is not None:
                task.cancel()

    def saved(self, path: Path) -> None:
        """Handle a save by Jupyter itself: the window that saved the file is up to date."""
        if path in self._known:
            self._known[path] = _look(path)
            if path in self._handling:
                self._again.add(path)
            else:
                self._handling[path] = asyncio.get_running_loop().create_task(
                    self._handle(path, self._refresh)
                )

    async def _watch(self, working: Callable[[], SessionView | None]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if (session := working()) is not None:
                self._worked = (session, time.monotonic())
            await asyncio.sleep(QUIET_INTERVAL if session is None else BUSY_INTERVAL)
            try:
                files = self._files()
                for path in self._known.keys() - files.keys():
                    del self._known[path]
                changed = await asyncio.to_thread(self._changed, files)
                for path in changed - self._handling.keys():
                    self._handling[path] = loop.create_task(self._handle(path, self._compare))
            except Exception:
                self._log.exception("Open files could not be watched")

    def _changed(self, files: dict[Path, set[str]]) -> set[Path]:
        """Return the files that have changed; check new files for the first time."""
        changed = set()
        for path, loaded in files.items():
            known = self._known.get(path)
            if known is None:
                known = self._known[path] = self._first_look(path, loaded)
            if _signature(path) not in ((), known.signature):
                changed.add(path)
        return changed

    def _first_look(self, path: Path, loaded: set[str]) -> Look:
        now = _look(path)
        if now.text is None or loaded <= {self._documents.fingerprint(now.text)}:
            return now
        # Changed before the first check: the text that the window has loaded is unknown.
        return Look((), None)

    async def _handle(self, path: Path, work: Callable[[Path], Awaitable[None]]) -> None:
        try:
            await self._try(path, work)
            while path in self._again:
                await self._try(path, self._refresh)
        finally:
            self._again.discard(path)
            del self._handling[path]

    async def _try(self, path: Path, work: Callable[[Path], Awaitable[None]]) -> None:
        try:
            await work(path)
        except RpcError as error:
            self._log.warning("%s changed on disk, but not in its window: %s", path, error.message)
        except Exception:
            self._log.exception("%s changed on disk, but not in its window", path)

    async def _refresh(self, path: Path) -> None:
        await asyncio.sleep(PATIENCE)
        await self._show_saved(path)

    async def _show_saved(self, path: Path) -> None:
        """Update the other windows after a save by one, unless they have unsaved edits."""
        self._again.discard(path)
        lives = await self._documents.everywhere(path)
        now = self._known.get(path)
        if len(lives) < 2 or now is None or now.text is None:
            return
        for live in lives:
            if not live.dirty and not live.collaborative:
                await self._bring(path, live, None, now.text)

    async def _compare(self, path: Path) -> None:
        await asyncio.sleep(PATIENCE)
        before = self._known.get(path)
        now = await asyncio.to_thread(_look, path)
        if before is not None and now.signature == before.signature:
            # Saved by a window: the event arrived during the delay.
            await self._show_saved(path)
            return
        if before is None or now.text is None:
            # Closed, or not readable as text.
            return
        is_away, brought = self._is_away(path), True
        for live in await self._documents.everywhere(path):
            if live.collaborative:
                await self._acknowledge(live, now.text)
            elif not await self._bring(path, live, before.text, now.text):
                brought = False
        if self._known.get(path) != before:
            return
        if is_away or self._is_away(path):
            # Keep checking until the window is back; it may have disconnected during the update.
            return
        # Do not ask again about this change, but merge the next one from the same base.
        self._known[path] = now if brought else Look(now.signature, before.text)

    async def _acknowledge(self, live: Any, now: str) -> None:
        """Tell a window whose document is shared that it is in sync with its file again.

        Collaboration updates the document; without this, the window would ask about the file.
        """
        format = _format(live)
        theirs = _value(format, now)
        for _ in range(ATTEMPTS):
            if theirs is None:
                return
            if _same(format, _ours(live), theirs):
                await self._documents.adopt(live, live.content, now, dirty=False)
                return
            await asyncio.sleep(BUSY_INTERVAL)
            live = await self._documents.again(live)
            if live is None:
                return

    async def _bring(self, path: Path, live: Any, before: str | None, now: str) -> bool:
        """Merge the file on disk into one window's document; return True if it is in sync."""
        format = _format(live)
        theirs = _value(format, now)
        base = before if before is not None and self._documents.stems_from(live, before) else None
        choice = None
        for _ in range(ATTEMPTS):
            if theirs is None:
                # Partly written or invalid: wait for the next change.
                return False
            ours = _ours(live)
            try:
                wanted = theirs
                if live.dirty and choice != "theirs":
                    wanted = ours if choice == "ours" else _merged(format, base, ours, theirs)
            except ConflictError as conflict:
                choice = await self._ask(path, format.text(ours), now, str(conflict))
                if choice is None:
                    # The user has not decided: JupyterLab asks before it overwrites the file.
                    return False
            else:
                dirty = not _same(format, wanted, theirs)
                if not live.dirty and _same(format, ours, theirs):
                    return True
                if await self._documents.adopt(live, wanted, now, dirty=dirty):
                    return True
            live = await self._documents.again(live)
            if live is None:
                return True
        return False

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


def _format(live: Live) -> Format:
    return NOTEBOOK if live.format == NOTEBOOK.name else TEXT


def _ours(live: Live) -> Any:
    if live.format == NOTEBOOK.name:
        return NOTEBOOK.of(live.content, check=False)
    return live.content


def _value(format: Format, text: str | None) -> Any:
    """Return the value of a file's text in a window, or None if it has none."""
    try:
        return None if text is None else format.parse(one_line_end(text))
    except ValueError:
        return None


def _same(format: Format, one: Any, other: Any) -> bool:
    return format.text(one) == format.text(other)


def _merged(format: Format, before: str | None, ours: Any, theirs: Any) -> Any:
    if _same(format, ours, theirs):
        return theirs
    base = _value(format, before)
    if base is None:
        raise ConflictError("what both started from is not known")
    return format.merge(base, ours, theirs)


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def _look(path: Path) -> Look:
    signature = _signature(path)
    text = None
    if signature and signature[1] <= SIZE_LIMIT:
        try:
            text = read_text(path)
        except RpcError:
            text = None
    return Look(signature, text)
