# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the client on the other side offers, and how to ask it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..rpc import Connection
from . import paths

EXTENSION = "jupyter-acp"
RECENT_LIMIT = 10


@dataclass(frozen=True)
class Document:
    """A document that the client has, or had, open."""

    uri: str
    language: str

    @property
    def path(self) -> Path | None:
        """Return where it is, if it is a file."""
        return paths.from_uri(self.uri)


class Client:
    """The client as one session sees it: its capabilities and its methods."""

    def __init__(self, connection: Connection, capabilities: dict[str, Any], session: str) -> None:
        self._connection = connection
        self._capabilities = capabilities
        self._session = session

    @property
    def reads(self) -> bool:
        """Tell whether it hands out the text of files, unsaved changes included."""
        return _at(self._capabilities, "fs", "readTextFile") is True

    @property
    def writes(self) -> bool:
        """Tell whether it writes files for us."""
        return _at(self._capabilities, "fs", "writeTextFile") is True

    @property
    def terminals(self) -> bool:
        """Tell whether it runs commands for us."""
        return self._capabilities.get("terminal") is True

    @property
    def forms(self) -> bool:
        """Tell whether it shows forms."""
        return _at(self._capabilities, "elicitation", "form") is not None

    @property
    def booleans(self) -> bool:
        """Tell whether it has a control for an option that is on or off."""
        return _at(self._capabilities, "session", "configOptions", "boolean") is not None

    def tells(self, name: str) -> bool:
        """Tell whether it offers a `workspace/*` method: at the root, or in our own namespace."""
        found = _at(self._capabilities, "workspace", name)
        if found is None:
            # Libraries that know nothing of the proposal drop it from the root.
            found = _at(self._capabilities, "_meta", EXTENSION, "workspace", name)
        return found is not None and found is not False

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request of this session; an answer that is no object counts as an empty one."""
        result = await self._connection.request(method, {"sessionId": self._session, **params})
        return result if isinstance(result, dict) else {}

    def tell(self, method: str, **params: Any) -> None:
        """Send a request whose answer nobody waits for: cleaning up must not block."""
        self._connection.call(
            method, {"sessionId": self._session, **params}, lambda _result, _error: None
        )

    async def read(self, path: Path) -> str:
        """Return the text of a file as the client has it, or as the disk has it."""
        if not self.reads:
            return _from_disk(path)
        answer = await self.ask("fs/read_text_file", path=str(path))
        return str(answer.get("content") or "")

    async def write(self, path: Path, text: str) -> None:
        """Let the client write a file, so that an open editor sees it; or do so ourselves."""
        if self.writes:
            await self.ask("fs/write_text_file", path=str(path), content=text)
        else:
            _to_disk(path, text)

    async def open_documents(self) -> list[Document]:
        """Return what is open."""
        return _documents(await self.ask("workspace/open_documents"))

    async def recent_documents(self) -> list[Document]:
        """Return what was open lately, newest first."""
        return _documents(await self.ask("workspace/recent_documents", limit=RECENT_LIMIT))

    async def active_document(self) -> Document | None:
        """Return what has the focus, or None if that is no file."""
        return _document((await self.ask("workspace/active_document")).get("document"))


def _from_disk(path: Path) -> str:
    return path.read_bytes().decode()


def _to_disk(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _documents(answer: dict[str, Any]) -> list[Document]:
    listed = answer.get("documents")
    found = [_document(entry) for entry in listed] if isinstance(listed, list) else []
    return [document for document in found if document is not None]


def _document(entry: Any) -> Document | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("uri"), str):
        return None
    return Document(entry["uri"], str(entry.get("languageId") or "unknown"))
