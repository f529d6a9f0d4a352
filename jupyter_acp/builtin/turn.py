# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""One turn: what a command may say, show and ask while it answers a prompt."""

from __future__ import annotations

import asyncio
import re
import uuid
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..context.block import without_context
from ..rpc import Connection, RpcError
from .client import EXTENSION, Client
from .session import Session, characters
from .store import Store
from .tool import Tool

CHUNK = 24
KEPT = 256 * 1024
"""How many characters of one message are kept for a later load."""

_WORD = re.compile(r"\S+\s*|\s+")


class TurnCancelledError(Exception):
    """The person ended the turn while we waited for an answer."""


class Turn:
    """The way from a command to the client, and the record of what went along it."""

    def __init__(
        self,
        connection: Connection,
        client: Client,
        session: Session,
        store: Store,
        prompt: list[dict[str, Any]],
    ) -> None:
        self.client = client
        self.session = session
        self.store = store
        # What the client tells of its editor comes last: all the rest is what the person has sent.
        self.prompt = list(takewhile(lambda block: not _is_context(block), prompt))
        self.id = uuid.uuid4().hex
        self._connection = connection
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False
        self._kind = ""
        self._message = ""
        self._text: list[str] = []
        self._length = 0
        self._tools: list[Tool] = []

    @property
    def folder(self) -> Path:
        """Return the session's folder."""
        return self.session.cwd

    @property
    def text(self) -> str:
        """Return what the person typed, without what they attached."""
        blocks = (block for block in self.prompt if block["type"] == "text")
        return "\n".join(block["text"] for block in blocks if attached_uri(block) is None)

    @property
    def brief(self) -> bool:
        """Tell whether the person wants short answers."""
        return self.session.settings.verbosity == "brief"

    def cancel(self) -> None:
        """End the turn now, or as soon as it begins."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    def begin(self) -> None:
        """Become cancellable; a cancel that overtook us counts."""
        self._task = asyncio.current_task()
        if self._cancelled:
            raise TurnCancelledError

    def end(self) -> None:
        """Leave nothing open: no half message in the file, no tool call that runs for ever."""
        self._task = None
        for tool in self._open_tools():
            tool.fail("Ended with the turn.")
        self._flush()
        self.send(self.session.usage())

    def send(self, update: dict[str, Any]) -> None:
        """Send an update at once."""
        self._connection.notify("session/update", {"sessionId": self.session.id, "update": update})

    async def say(self, text: str) -> None:
        """Add to the answer, in small pieces as a person would read them."""
        for piece in _pieces(text):
            self.stream(piece)
        await self.room()

    async def think(self, text: str) -> None:
        """Tell what comes next, if the person wants to know."""
        if self.session.settings.thoughts:
            self._speak("agent_thought_chunk", text)
            await self.room()

    def stream(self, text: str) -> None:
        """Add one chunk to the answer, as it is; call `room` now and then."""
        self._speak("agent_message_chunk", text)

    async def show(self, content: dict[str, Any]) -> None:
        """Add something that is not text to the answer."""
        self._flush()
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": content,
            "messageId": uuid.uuid4().hex,
        }
        self.send(update)
        self.record(update)
        await self.room()

    def plan(self, entries: list[dict[str, Any]]) -> None:
        """Show the plan as it stands."""
        self._flush()
        update = {"sessionUpdate": "plan", "entries": entries}
        self.send(update)
        if all(entry["status"] == "completed" for entry in entries):
            self.record(update)

    def tool(
        self, title: str, kind: str, *, locations: list[dict[str, Any]], raw_input: Any
    ) -> Tool:
        """Begin a tool call."""
        self._flush()
        tool = Tool(self, title, kind, locations=locations, raw_input=raw_input)
        self._tools.append(tool)
        return tool

    async def permitted(self, tool: Tool, *, always: str, about: str) -> bool:
        """Ask whether a tool may go on; only a clear yes is one."""
        if always in self.session.allowed:
            return True
        options = [
            {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "allow_always", "name": f"Always allow {about}", "kind": "allow_always"},
            {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
        ]
        try:
            answer = await self.client.ask(
                "session/request_permission", toolCall=tool.described(), options=options
            )
        except RpcError as error:
            await self.say(f"I could not ask for permission ({error.message}), so I did not.\n\n")
            return False
        outcome = answer.get("outcome")
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        if isinstance(outcome, dict) and outcome.get("outcome") == "cancelled":
            raise TurnCancelledError
        if chosen == "allow_always":
            self.session.allowed.add(always)
        return chosen in ("allow_once", "allow_always")

    async def room(self) -> None:
        """Wait for a slow reader, and let the other sessions have their turn."""
        await asyncio.sleep(0)
        await self._connection.room()

    def record(self, update: dict[str, Any]) -> None:
        """Keep an update for a later load."""
        self.store.append(self.session.id, "update", update)

    def keep_message(self) -> None:
        """Put what was said so far into the file."""
        self._flush()

    def _speak(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self._flush()
            self._kind, self._message = kind, uuid.uuid4().hex
        update = {
            "sessionUpdate": kind,
            "content": {"type": "text", "text": text},
            "messageId": self._message,
        }
        self.send(update)
        self.session.used += characters(update)
        if self._length < KEPT:
            self._text.append(text)
        self._length += len(text)

    def _flush(self) -> None:
        if self._text:
            text = "".join(self._text)
            if self._length > len(text):
                text += f"\n\n… ({self._length - len(text):,} more characters were not kept)"
            self.record(
                {
                    "sessionUpdate": self._kind,
                    "content": {"type": "text", "text": text},
                    "messageId": self._message,
                }
            )
        self._kind, self._text, self._length = "", [], 0

    def _open_tools(self) -> list[Tool]:
        return [tool for tool in self._tools if not tool.ended]


def attached_uri(block: dict[str, Any]) -> str | None:
    """Return the address of what a block of a prompt attaches, if it tells one."""
    meta = block.get("_meta")
    ours = meta.get(EXTENSION) if isinstance(meta, dict) else None
    for named in (block, block.get("resource"), ours):
        if isinstance(named, dict) and isinstance(uri := named.get("uri"), str):
            return uri
    return None


def _is_context(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and bool(block["text"]) and not without_context(block["text"])


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    piece = ""
    for word in _WORD.findall(text):
        piece += word
        if len(piece) >= CHUNK:
            pieces.append(piece)
            piece = ""
    if piece:
        pieces.append(piece)
    return pieces
