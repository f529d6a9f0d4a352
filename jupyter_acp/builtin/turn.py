# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A turn: the messages and questions of a command that answers a prompt."""

from __future__ import annotations

import asyncio
import re
import uuid
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..context.block import without_context
from ..rpc import Connection
from .client import EXTENSION, Client
from .session import Session, characters

_PIECE = re.compile(r"\s*(?:\S{24,}|(?:\S+\s+){1,4}|\S+)\s*|\s+")
"""A few words, which are sent in one chunk."""


class Turn:
    """Sends the messages of a command to the client and stores them in the session's file."""

    def __init__(
        self,
        connection: Connection,
        client: Client,
        session: Session,
        prompt: list[dict[str, Any]],
    ) -> None:
        self.client = client
        self.session = session
        # Context from the editor comes last; the blocks before it are the user's.
        self.prompt = list(takewhile(lambda block: not _is_context(block), prompt))
        self.id = uuid.uuid4().hex
        self._connection = connection
        self._task: asyncio.Task[Any] | None = None
        self._is_cancelled = False
        self._message: dict[str, Any] = {}
        self._text: list[str] = []
        self._tools: list[Tool] = []

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return self.session.cwd

    @property
    def text(self) -> str:
        """The text that the user typed, without attachments."""
        blocks = (block for block in self.prompt if block["type"] == "text")
        return "\n".join(block["text"] for block in blocks if attached_uri(block) is None)

    def cancel(self) -> None:
        """Cancel the turn now, or as soon as it begins."""
        self._is_cancelled = True
        if self._task is not None:
            self._task.cancel()

    def begin(self) -> None:
        """Mark the current task as cancellable; apply an earlier cancel."""
        self._task = asyncio.current_task()
        if self._is_cancelled:
            raise asyncio.CancelledError

    def end(self) -> None:
        """End the message and all tool calls, and report the usage."""
        self._task = None
        for tool in self._tools:
            tool.fail("Ended with the turn.")
        self.flush()
        self.send(self.session.usage())

    def send(self, update: dict[str, Any]) -> None:
        """Send an update at once."""
        self._connection.notify("session/update", {"sessionId": self.session.id, "update": update})

    async def say(self, text: str) -> None:
        """Add text to the answer, in small chunks."""
        for piece in _PIECE.findall(text):
            self.stream(piece)
        await self.room()

    async def think(self, text: str) -> None:
        """Send a thought, if the user has turned thoughts on."""
        if self.session.settings.thoughts:
            self.stream(text, "agent_thought_chunk")
            await self.room()

    def stream(self, text: str, kind: str = "agent_message_chunk") -> None:
        """Add one chunk to the answer; the caller has to await `room` regularly."""
        if self._message.get("sessionUpdate") != kind:
            self.flush()
            self._message = {"sessionUpdate": kind, "messageId": uuid.uuid4().hex}
        update = {**self._message, "content": {"type": "text", "text": text}}
        self.send(update)
        self.session.used += characters(update)
        self._text.append(text)

    def flush(self) -> None:
        """Write the message so far into the session's file."""
        if self._text:
            content = {"type": "text", "text": "".join(self._text)}
            self.record({**self._message, "content": content})
        self._message, self._text = {}, []

    def show(self, update: dict[str, Any], *, is_kept: bool = True) -> None:
        """Send an update that is not text, and store it if `is_kept`."""
        self.flush()
        self.send(update)
        if is_kept:
            self.record(update)

    def tool(self, title: str, kind: str, path: Path | None = None, /, **raw_input: Any) -> Tool:
        """Begin a tool call."""
        self.flush()
        tool = Tool(self, title, kind, path, raw_input)
        self._tools.append(tool)
        return tool

    async def is_permitted(self, tool: Tool, *, always: str, about: str) -> bool:
        """Ask the user's permission for a tool call; return True only if it is given."""
        if always in self.session.allowed:
            return True
        options = [
            {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "allow_always", "name": f"Always allow {about}", "kind": "allow_always"},
            {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
        ]
        answer = await self.client.ask(
            "session/request_permission", toolCall=tool.state, options=options
        )
        outcome = answer.get("outcome")
        outcome = outcome if isinstance(outcome, dict) else {}
        if outcome.get("outcome") == "cancelled":
            raise asyncio.CancelledError
        if outcome.get("optionId") == "allow_always":
            self.session.allowed.add(always)
        return outcome.get("optionId") in ("allow_once", "allow_always")

    async def room(self) -> None:
        """Wait until the client has caught up, and let other tasks run."""
        await asyncio.sleep(0)
        await self._connection.room()

    def record(self, update: dict[str, Any]) -> None:
        """Store an update for a later `session/load`."""
        self.session.write(update=update)


class Tool:
    """A tool call, which reports its begin, progress and end to the client."""

    def __init__(self, turn: Turn, title: str, kind: str, path: Path | None, raw: Any) -> None:
        self._turn = turn
        self._has_ended = False
        self.state: dict[str, Any] = {
            "toolCallId": uuid.uuid4().hex,
            "title": title,
            "kind": kind,
            "status": "pending",
            "locations": [] if path is None else [{"path": str(path)}],
            "rawInput": raw,
        }
        turn.send({"sessionUpdate": "tool_call", **self.state})

    def update(self, **changes: Any) -> None:
        """Report changes of the tool call."""
        self.state.update(changes)
        id = self.state["toolCallId"]
        self._turn.send({"sessionUpdate": "tool_call_update", "toolCallId": id, **changes})

    def done(self, **changes: Any) -> None:
        """Report success."""
        self._end(status="completed", **changes)

    def fail(self, reason: str, **changes: Any) -> None:
        """Report a failure; append the reason to the content."""
        content = [*self.state.get("content", ()), text_content(reason)]
        self._end(status="failed", content=content, **changes)

    def _end(self, *, kept: str | None = None, **changes: Any) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self.update(**changes)
        # Terminals do not survive a restart: a later load shows their output.
        content = {} if kept is None else {"content": [text_content(kept)]}
        self._turn.record({"sessionUpdate": "tool_call", **self.state, **content})


def text_content(text: str) -> dict[str, Any]:
    """Return text as content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def attached_uri(block: dict[str, Any]) -> str | None:
    """Return the URI of an attachment in a prompt, or None."""
    meta = block.get("_meta")
    ours = meta.get(EXTENSION) if isinstance(meta, dict) else None
    for named in (block, block.get("resource"), ours):
        if isinstance(named, dict) and isinstance(uri := named.get("uri"), str):
            return uri
    return None


def _is_context(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and bool(block["text"]) and not without_context(block["text"])
