# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`workspace/*`: the user's open, recent and active documents, as reported by windows."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import orjson

from ..paths import file_uri, os_path
from ..protocol import META, RecentParams, SessionParams, WorkspaceUpdate, parse
from ..rpc import method_not_found
from .view import SessionView

GRACE = 60.0
"""Time for which documents of a disconnected window count as open, in seconds."""

RECENT_LIMIT = 10_000
ANSWER_LIMIT = 1_000
"""Maximum number of recent documents in an answer."""

METHODS = {
    "openDocuments": "workspace/open_documents",
    "recentDocuments": "workspace/recent_documents",
    "activeDocument": "workspace/active_document",
}


class Host(Protocol):
    """A window that has documents open."""

    def request(self, method: str, params: dict[str, Any]) -> Awaitable[Any]:
        """Send a request to the window."""


class OpenWindow:
    """The state that a window has reported, and its connection."""

    def __init__(self, host: Host) -> None:
        self.host: Host | None = host
        self.documents: dict[str, dict[str, Any]] = {}
        self.hashes: dict[str, str] = {}
        """Hashes of the files that the window has loaded, by the same names."""

        self.recents: list[dict[str, Any]] = []
        self.active: str | None = None
        self.focused = 0
        self.leaving: asyncio.TimerHandle | None = None


class Workspace:
    """Answers from memory, because agents may ask at every turn about hundreds of documents."""

    def __init__(self, root: str | None, *, shared: Iterable[str] = METHODS) -> None:
        """Share what the administrator allows; `root` is the folder of contents paths.

        It is None where documents are not files; nothing is shared then.
        """
        self.keep: Callable[[bytes], None] = lambda _: None
        """Called with the state to store for times without a window."""

        self._root = root
        self._allowed = set(shared)
        self._shares: dict[str, bool] = {}
        self._windows: dict[str, OpenWindow] = {}
        self._focus = itertools.count(1)
        self._remembered: list[dict[str, Any]] = []
        self._languages: dict[str, str] = {}
        self._kept = b""
        self._open: list[dict[str, Any]] | None = None
        self._recent: list[dict[str, Any]] | None = None

    # Requests from agents

    def capabilities(self) -> dict[str, Any]:
        """Return the requests that the user and the administrator allow agents."""
        return {name: {} for name in METHODS if self._shared(name)}

    async def open_documents(self, session: SessionView, params: Any) -> dict[str, Any]:  # noqa: ARG002
        """Serve `workspace/open_documents`."""
        self._check("openDocuments")
        parse(SessionParams, params)
        if self._open is None:
            windows = self._by_focus()
            # If several windows have a document open, the last used one has the right cursor.
            paths = {path: w.documents[path] for w in reversed(windows) for path in w.documents}
            self._open = [entry for path in paths if (entry := self._entry(paths[path]))]
        return {"documents": self._open}

    async def recent_documents(self, session: SessionView, params: Any) -> dict[str, Any]:  # noqa: ARG002
        """Serve `workspace/recent_documents`."""
        self._check("recentDocuments")
        limit = parse(RecentParams, params).limit
        if self._recent is None:
            entries = (self._entry(item) for item in self._remembered)
            self._recent = [*itertools.islice(filter(None, entries), ANSWER_LIMIT)]
        return {"documents": self._recent[: ANSWER_LIMIT if limit is None else limit]}

    async def active_document(self, session: SessionView, params: Any) -> dict[str, Any]:  # noqa: ARG002
        """Serve `workspace/active_document`."""
        self._check("activeDocument")
        parse(SessionParams, params)
        windows = self._by_focus()
        active = windows[0].documents.get(windows[0].active or "") if windows else None
        return {"document": self._entry(active) if active else None}

    # Reports from windows

    def update(self, host: Host, params: Any) -> None:
        """Apply a report: the whole state of a window, or a change of it."""
        news = parse(WorkspaceUpdate, params)
        window = self._windows.get(news.window)
        if window is None:
            window = self._windows[news.window] = OpenWindow(host)
        window.host = host
        if window.leaving is not None:
            window.leaving.cancel()
            window.leaving = None
        if news.full:
            window.documents.clear()
            window.hashes.clear()
        for path in news.closed:
            window.documents.pop(path, None)
            window.hashes.pop(path, None)
        for document in news.documents:
            window.documents[document.path] = document.public()
            if document.file_hash is not None:
                window.hashes[document.path] = document.file_hash
        if news.full or "active" in news.model_fields_set:
            window.active = news.active
        if news.focused:
            window.focused = next(self._focus)
        if news.recents is not None:
            window.recents = [item.public() for item in news.recents[:RECENT_LIMIT]]
        if news.shares is not None:
            self._shares = news.shares
        if news.gone:
            del self._windows[news.window]
        languages = {d.path: d.language_id for d in news.documents if d.language_id is not None}
        is_new = any(self._languages.get(path) != languages[path] for path in languages)
        self._languages.update(languages)
        self._open = None
        if is_new or news.gone or news.recents is not None or news.shares is not None:
            self._remember()

    def files(self) -> dict[Path, set[str]]:
        """Return the open files, including those of disconnected windows.

        Each comes with the hashes that it had when windows loaded it, where reported.
        """
        found: dict[Path, set[str]] = {}
        for window in self._windows.values():
            for name in window.documents:
                if (path := os_path(self._root, name)) is not None:
                    hashes = found.setdefault(path.resolve(), set())
                    if name in window.hashes:
                        hashes.add(window.hashes[name])
        return found

    def is_away(self, path: Path) -> bool:
        """Return True if a window that has a file open is disconnected."""
        return any(
            self._leads_to(name, path)
            for window in self._windows.values()
            if window.host is None
            for name in window.documents
        )

    def find(self, path: Path) -> list[tuple[Host, str]]:
        """Return the connected windows that have a file open, with its contents path there."""
        return [
            (window.host, name)
            for window in self._by_focus()
            for name in sorted(window.documents, key=lambda name: name != window.active)
            if window.host is not None and self._leads_to(name, path)
        ]

    def to_show(self, path: Path) -> list[tuple[Host, str]]:
        """Return the windows that can show a file, the last used first, with its contents path."""
        if self._root is None or Path(self._root) not in path.parents:
            return []
        name = path.relative_to(self._root).as_posix()
        # The window may have it open by the name of a link to it.
        known = {id(host): name for host, name in reversed(self.find(path))}
        hosts = [window.host for window in self._by_focus() if window.host is not None]
        return [(host, known.get(id(host), name)) for host in hosts]

    def left(self, host: Host) -> None:
        """Keep the documents of a disconnected window for a while: it may reconnect."""
        loop = asyncio.get_running_loop()
        for key, window in self._windows.items():
            if window.host is host:
                window.host = None
                window.leaving = loop.call_later(GRACE, self._forget, key)

    def restore(self, kept: bytes) -> None:
        """Restore the state that an earlier server process has stored."""
        self._kept = kept
        past = orjson.loads(kept)
        self._remembered, self._shares = past["recents"], past["shares"]
        self._languages = {item["path"]: item["languageId"] for item in self._remembered}

    def close(self) -> None:
        """Drop all windows and their timers."""
        for window in self._windows.values():
            if window.leaving is not None:
                window.leaving.cancel()
        self._windows.clear()

    # Internals

    def _shared(self, name: str) -> bool:
        return name in self._allowed and self._shares.get(name, True)

    def _check(self, name: str) -> None:
        if not self._shared(name):
            raise method_not_found(METHODS[name])

    def _by_focus(self) -> list[OpenWindow]:
        return sorted(self._windows.values(), key=lambda window: window.focused, reverse=True)

    def _remember(self) -> None:
        """Store the recent documents, newest first; without a window, those of the last one."""
        self._recent = None
        if self._windows:
            found: dict[str, dict[str, Any]] = {}
            for window in self._by_focus():
                for item in window.recents:
                    found.setdefault(item["path"], item)
            self._remembered = [
                # The language of a notebook is known only while it is open, so it is stored.
                {"languageId": self._languages.get(path), **found[path]}
                for path in itertools.islice(found, RECENT_LIMIT)
            ]
        kept = orjson.dumps({"recents": self._remembered, "shares": self._shares})
        if kept != self._kept:
            self._kept = kept
            self.keep(kept)

    def _leads_to(self, name: str, path: Path) -> bool:
        file = os_path(self._root, name)
        # Resolve links only where needed: most documents have another name.
        if file is None or (file != path and file.name != path.name and not file.is_symlink()):
            return False
        return file == path or file.resolve() == path

    def _forget(self, key: str) -> None:
        del self._windows[key]
        self._open = None
        self._remember()

    def _entry(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """Return a document in the format of the protocol, with our own fields in `_meta`."""
        path = os_path(self._root, document["path"])
        if path is None:
            return None
        language = document.get("languageId")
        if language is None:
            # The language of a notebook that was never open here is unknown; its file is JSON.
            language = "json" if document.get("kind") == "notebook" else "plaintext"
        entry: dict[str, Any] = {"uri": file_uri(path), "languageId": language}
        more = {key: document[key] for key in document if key not in ("path", "languageId")}
        if more:
            entry["_meta"] = {META: more}
        return entry
