# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`fs/*`: the text of files inside the session's folders, as the user sees it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import os
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ...paths import LONGEST, contained, innermost, uri_path
from ...protocol import ReadFileParams, WriteFileParams, parse
from ...rpc import RpcError, invalid_params
from ...rpc.errors import CONFLICT, NOT_FOUND
from ..large_answers import LargeAnswers
from ..permissions.policy import Action
from ..permissions.protected_files import needs_permission
from ..permissions.question_files import named_files
from ..permissions.service import Permissions
from ..view import SessionView
from .changes import NoteChange
from .contents import Contents
from .disk import read_text, write_text
from .file_locks import FileLocks
from .formats import NOTEBOOK, TEXT, Change, Format, format_of, named, one_line_end
from .live import Documents, Live
from .merge import ConflictError
from .revise import revise_notebook, revise_text

T = TypeVar("T")

ATTEMPTS = 10
SEEN_SIZE = 32 * 1024 * 1024
"""Maximum total size of the remembered texts that agents have read, in characters."""


class Place(NamedTuple):
    """The current state of a file."""

    format: Format
    value: Any
    """Parsed content; None if there is no file or it cannot be parsed."""

    text: str | None
    """Text on disk, if no window has the file open."""

    live: Any
    """The open document, if a window has the file open."""

    @property
    def exists(self) -> bool:
        """True if there is a file or an open document, readable or not."""
        return self.text is not None or self.live is not None


class Files:
    """Serves `fs/*`; an open document is read and changed in its window."""

    def __init__(
        self,
        root_dir: str,
        documents: Documents,
        contents: Contents,
        permissions: Permissions,
        turns: FileLocks,
        changed: NoteChange,
        large_answers: LargeAnswers,
    ) -> None:
        self._root_dir = root_dir
        self._large_answers = large_answers
        self._turns = turns
        self._changed = changed
        self._permissions = permissions
        self._documents = documents
        self._contents = contents
        self._seen = Seen()

    async def read(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `fs/read_text_file`."""
        wanted = parse(ReadFileParams, params)
        path = contained(wanted.path, [*session.roots, self._root_dir])
        if await self._is_new(session, path, wanted.path):
            await self._check(session, "read", path, is_missing=True)
            # The file may have been created while the user was asked.
            if await self._is_new(session, path, wanted.path):
                self._seen.note(session.id, path, "")
                return {"content": ""}
        await self._check(session, "read", path)

        async def content() -> dict[str, Any]:
            live = await self._documents.read(path)
            text = await asyncio.to_thread(read_text, path) if live is None else _text(live)
            self._seen.note(session.id, path, text)
            return {"content": _part(text, wanted.line, wanted.limit)}

        return await self._large_answers.make(session, content)

    async def write(self, session: SessionView, params: Any) -> dict[str, Any]:
        """Serve `fs/write_text_file`.

        Apply only what the agent changed since it last read the file: edits of the user and of
        others since then are kept.
        """
        wanted = parse(WriteFileParams, params)
        path = contained(wanted.path, [*session.roots, self._root_dir])
        value = _checked(format_of(path), wanted.content, path)
        await self._check(session, "write", path, wanted.content)
        async with self._turns.of(path):
            change = await self._change(
                path, lambda place: self._merged(session, path, place, value, wanted.content)
            )
        # The agent assumes this content now: it is the base for merging its next change.
        self._seen.note(session.id, path, wanted.content)
        self._changed(session, path, change)
        return {}

    async def revise(
        self, path: Path, before: str | None, after: str | None, *, whole: bool = False
    ) -> Change | None:
        """Redo or undo a change for the user, in the current content of the file.

        Without `before` the file is created, without `after` it is deleted. `whole` means that the
        texts are whole files and not pieces.
        """

        async def revised(place: Place) -> Any:
            if not place.exists and before is None:
                return _checked(place.format, after or "", path)
            if place.value is None or before is None or after is None:
                raise _moved_on(path, "there is no such file" if before else "it is there already")
            try:
                if place.format is NOTEBOOK:
                    return revise_notebook(place.value, before, after)
                return revise_text(place.value, before, after, whole=whole)
            except ConflictError as error:
                raise _moved_on(path, str(error)) from None

        async with self._turns.of(path):
            if after is not None:
                return await self._change(path, revised)
            await self._delete(path, before)
            return None

    async def _change(self, path: Path, wanted: Callable[[Place], Awaitable[Any]]) -> Change:
        """Change a file in the window that has it open, else on disk."""
        for _ in range(ATTEMPTS):
            live = await self._documents.read(path)
            place = await self._place(path, live)
            value = await wanted(place)
            if live is None:
                await self._save(path, place.format, value, place.text)
            elif not await self._documents.write(live, value):
                continue
            if place.value is None and place.text is not None:
                # The old file was no valid notebook: record the change as text.
                return Change(TEXT, place.text, place.format.text(value))
            return Change(place.format, place.value, value)
        raise _conflict(path, "the place where the user is typing")

    async def _place(self, path: Path, live: Any) -> Place:
        if live is None:
            text, format = await self._on_disk(path), format_of(path)
            return Place(format, _value(format, text), text, None)
        if live.format == NOTEBOOK.name:
            return Place(NOTEBOOK, NOTEBOOK.of(live.content, check=False), None, live)
        # The user may also have opened a notebook as text.
        return Place(TEXT, live.content, None, live)

    async def _merged(
        self, session: SessionView, path: Path, place: Place, value: Any, content: str
    ) -> Any:
        """Merge what an agent writes with the current content."""
        format, live = place.format, place.live
        seen = self._seen.get(session.id, path)
        if format is NOTEBOOK and seen == "" and place.text != "" and place.exists:
            raise _conflict(path, "it was not there")
        if live is None:
            base = place.value if seen is None else _value(format, seen)
            return _merge(format, base, place.value, value, path)
        if format is TEXT:
            # Open documents have only LF line ends.
            value = one_line_end(content)
        known = seen
        if known is None:
            known = await self._loaded(path, live)
        base = _value(format, known if format is NOTEBOOK or known is None else one_line_end(known))
        if base is None and live.dirty:
            raise _conflict(
                path, "it has unsaved changes, and its file is no longer the one that was opened"
            )
        return _merge(format, base, place.value, value, path)

    async def _delete(self, path: Path, content: str | None) -> None:
        """Delete a file, unless its content has changed."""
        if await self._documents.read(path) is not None:
            raise _moved_on(path, "it is open; close it first")
        if await self._on_disk(path) != content:
            raise _moved_on(path, "it was changed")
        await self._contents.delete(path)

    async def _is_new(self, session: SessionView, path: Path, asked: str) -> bool:
        """Return True if an agent checks for a missing file that it is about to create.

        Some agents read first and do not handle an error, so they get an empty text, as in editors.
        If a tool call names the file, the agent wants to read it and has to get the error.
        """
        if innermost(path, session.roots) is None or await asyncio.to_thread(os.path.lexists, path):
            return False
        is_named = any(
            call.get("kind") in ("read", "search") and _names(call, session.cwd, path, asked)
            for call in session.calls
        )
        # An open document without a file counts as a file.
        return not is_named and await self._documents.read(path) is None

    async def _check(
        self,
        session: SessionView,
        kind: Literal["read", "write"],
        path: Path,
        content: str = "",
        *,
        is_missing: bool = False,
    ) -> None:
        async def details() -> dict[str, Any]:
            shown: dict[str, Any] = {"locations": [{"path": str(path)}]}
            if kind == "write":
                before = await self._on_disk(path)
                diff = {"type": "diff", "path": str(path), "oldText": before, "newText": content}
                shown["content"] = [diff]
            return shown

        roots = [*session.roots, self._root_dir]
        root = innermost(path, roots)
        title = f"{kind.capitalize()} {path.relative_to(root) if root is not None else path}"
        action = Action.on_file(kind, path, roots, title, details)
        # Reading a missing file discloses nothing.
        asks = not is_missing and needs_permission(path, roots, kind)
        await self._permissions.check(session, action, "ask" if asks else "allow")

    def forget(self, session_id: str) -> None:
        """Drop the remembered texts of a session."""
        self._seen.forget(session_id)

    async def _loaded(self, path: Path, live: Any) -> str | None:
        """Return the file that the open document is based on, or None if the file has changed."""
        text = await self._on_disk(path)
        return text if text is None or self._documents.stems_from(live, text) else None

    async def _on_disk(self, path: Path) -> str | None:
        try:
            return await asyncio.to_thread(read_text, path)
        except RpcError as error:
            if error.code == NOT_FOUND:
                return None
            raise

    async def _save(self, path: Path, format: Format, value: Any, before: str | None) -> None:
        if not self._contents.covers(path):
            await asyncio.to_thread(write_text, path, format.text(value))
            return
        if format is NOTEBOOK:
            await self._contents.save_notebook(path, format.text(value), before)
        else:
            await self._contents.save_text(path, value)


class Seen:
    """The texts that agents have last read or written: the bases for merging their next writes."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[str, Path], str] = OrderedDict()
        self._size = 0

    def get(self, session: str, path: Path) -> str | None:
        """Return the text that a session knows of a file, or None."""
        return self._texts.get((session, path))

    def note(self, session: str, path: Path, text: str) -> None:
        """Remember a text; drop the oldest ones if the total is too large."""
        self._drop((session, path))
        self._texts[session, path] = text
        self._size += len(text)
        while self._size > SEEN_SIZE and len(self._texts) > 1:
            self._drop(next(iter(self._texts)))

    def forget(self, session: str) -> None:
        """Drop the texts of a session."""
        for key in [key for key in self._texts if key[0] == session]:
            self._drop(key)

    def _drop(self, key: tuple[str, Path]) -> None:
        self._size -= len(self._texts.pop(key, ""))


def _names(call: dict[str, Any], cwd: str, path: Path, asked: str) -> bool:
    """Return True if a tool call names a file, by the requested or by the resolved path."""
    for name in (*named_files(call), *_texts(call.get("rawInput"))):
        with contextlib.suppress(OSError, RuntimeError, ValueError, RpcError):
            if Path(cwd, uri_path(name)).resolve() == path:
                return True
    title = str(call.get("title"))
    whole, short = {asked, str(path)}, {os.path.relpath(each, cwd) for each in (asked, path)}
    spellings = [(r"\w.~-", each) for each in whole] + [(r"\w.~/-", each) for each in short]
    return any(
        re.search(rf"(?<![{before}]){re.escape(each)}(?![\w/~-]|\.\w)", title)
        for before, each in spellings
    )


def _texts(given: Any) -> Iterator[str]:
    """Yield the texts in a tool's input that could be file names: field names differ by agent."""
    for text in given.values() if isinstance(given, dict) else ():
        if isinstance(text, str) and 0 < len(text) <= LONGEST and "\n" not in text:
            yield text


def _text(live: Live) -> str:
    if live.format == NOTEBOOK.name:
        return NOTEBOOK.text(NOTEBOOK.of(live.content, check=False))
    return str(live.content)


def _part(text: str, line: int | None, limit: int | None) -> str:
    if line is None and limit is None:
        return text
    # Any number may be requested, but no text has more lines than characters.
    start = min(max((line or 1) - 1, 0), len(text))
    end = len(text) if limit is None else min(start + limit, len(text))
    return "".join(itertools.islice(io.StringIO(text, newline="\n"), start, max(start, end)))


def _checked(format: Format, text: str, path: Path) -> Any:
    try:
        return format.parse(text)
    except ValueError as error:
        raise invalid_params(f"{path} was not written: {error}.") from None


def _value(format: Format, text: str | None) -> Any:
    """Return the parsed text, or None if there is no text or it is invalid."""
    try:
        return None if text is None else format.parse(text)
    except ValueError:
        return None


def _merge(format: Format, base: Any, ours: Any, theirs: Any, path: Path) -> Any:
    """Merge an agent's change with the current content, based on the text that the agent knows."""
    if ours is None:
        # Assign cell ids only once: the recorded change and its undo need the same ids.
        return named(theirs) if format is NOTEBOOK else theirs
    try:
        return format.merge(ours if base is None else base, ours, theirs)
    except ConflictError as error:
        raise _conflict(path, str(error)) from None


def _moved_on(path: Path, why: str) -> RpcError:
    return RpcError(
        CONFLICT,
        f"{path.name} was left as it is, because it is no longer what this change made of it "
        f"({why}). Look at it and change it yourself.",
    )


def _conflict(path: Path, where: str) -> RpcError:
    return RpcError(
        CONFLICT,
        f"{path} was changed since you read it, in the same place ({where}). Nothing was written: "
        "read it again and make your change anew.",
    )
