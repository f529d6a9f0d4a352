# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The client: its capabilities and the requests to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

from ..rpc import Connection

EXTENSION = "jupyter-acp"
RECENT_LIMIT = 10
CAPABILITIES = {"open": "openDocuments", "recent": "recentDocuments", "active": "activeDocument"}


class Document(NamedTuple):
    """A document that the client has, or had, open."""

    uri: str
    language: str


class Client:
    """The client from the view of one session."""

    def __init__(self, connection: Connection, capabilities: dict[str, Any], session: str) -> None:
        self._connection = connection
        self._capabilities = capabilities
        self._session = session

    def offers(self, *keys: str) -> bool:
        """Return True if the client's capabilities have a value at this path."""
        found: Any = self._capabilities
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found not in (None, False)

    def tells(self, which: str) -> bool:
        """Return True if the client lists documents of a kind: `open`, `recent` or `active`."""
        name = CAPABILITIES[which]
        # Libraries without support for the proposal drop it from the root.
        return self.offers("workspace", name) or self.offers("_meta", EXTENSION, "workspace", name)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request for this session; an answer that is no object counts as an empty one."""
        result = await self._connection.request(method, {"sessionId": self._session, **params})
        return result if isinstance(result, dict) else {}

    def tell(self, method: str, **params: Any) -> None:
        """Send a request and ignore its answer, because a clean-up must not block."""
        self._connection.call(
            method, {"sessionId": self._session, **params}, lambda _result, _error: None
        )

    async def read(self, path: Path) -> str:
        """Return the text of a file from the client, or from the disk."""
        if not self.offers("fs", "readTextFile"):
            return (await asyncio.to_thread(path.read_bytes)).decode()
        answer = await self.ask("fs/read_text_file", path=str(path))
        return str(answer.get("content") or "")

    async def write(self, path: Path, text: str) -> None:
        """Write a file through the client, for open editors to show it, or else to the disk."""
        if self.offers("fs", "writeTextFile"):
            await self.ask("fs/write_text_file", path=str(path), content=text)
        else:
            await asyncio.to_thread(path.write_bytes, text.encode())

    async def documents(self, which: str) -> list[Document]:
        """Return the `open`, `recent` or `active` documents, if the client lists them."""
        if not self.tells(which):
            return []
        params = {"limit": RECENT_LIMIT} if which == "recent" else {}
        answer = await self.ask(method_of(which), **params)
        listed = [answer.get("document")] if which == "active" else answer.get("documents")
        return [
            Document(entry["uri"], str(entry.get("languageId") or "unknown"))
            for entry in (listed if isinstance(listed, list) else ())
            if isinstance(entry, dict) and isinstance(entry.get("uri"), str)
        ]


def method_of(which: str) -> str:
    """Return the method that lists the `open`, `recent` or `active` documents."""
    return f"workspace/{which}_document{'' if which == 'active' else 's'}"
