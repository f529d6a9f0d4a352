# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The record of a session: everything that is stored besides its messages."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

TITLE_LIMIT = 500
METADATA_LIMIT = 64 * 1024
"""Maximum length of a title in characters, and maximum size of all metadata in bytes."""

State = Literal["idle", "running", "disconnected", "closed"]


@dataclass
class SessionRecord:
    """The stored description of one session."""

    id: str
    agent: str
    cwd: str
    agent_session: str | None = None
    title: str = ""
    state: State = "idle"
    stop_reason: str | None = None
    error: str | None = None
    failed: bool = False
    """True if the last turn ended with an error."""

    created: str = ""
    updated: str = ""
    seq: int = 0
    setup: dict[str, Any] = field(default_factory=dict)
    """The latest modes, models, config options and commands, for windows that attach later."""

    additional_directories: list[str] = field(default_factory=list)
    mcp_servers: list[Any] = field(default_factory=list)
    can_fork: bool = False
    """True if the agent could fork the session when it was last connected."""

    can_reload: bool = False
    """True if the agent could replay the session when it was last connected."""

    alias: str | None = None
    """A second id of the session, requested by the client that opened it."""

    metadata: dict[str, Any] = field(default_factory=dict)
    """Metadata set when the session was opened, or later."""

    remote: dict[str, Any] | None = None
    """The repository, and its state at the start, of a remote session."""

    home: str = ""
    """The user's clone of that repository, into which results are fetched."""

    results: list[dict[str, Any]] = field(default_factory=list)
    """The results of a remote session, one for each turn that changed files."""

    dropped: int = 0
    """The number of the last message that a reload deleted."""

    offered: int = 0
    """Number of user messages that the agent knew when a reload was last offered."""

    retold: str = ""
    """The retelling to send with the next prompt, or empty."""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SessionRecord:
        """Read a saved record; ignore fields that a newer version added."""
        known = {f.name for f in dataclasses.fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})

    def to_json(self) -> dict[str, Any]:
        """Return the record for the journal."""
        return dataclasses.asdict(self)

    def fork(self, id: str, cwd: str) -> SessionRecord:
        """Return the record of a fork of this session."""
        return dataclasses.replace(
            self,
            id=id,
            cwd=cwd,
            agent_session=None,
            state="idle",
            error=None,
            created="",
            setup=dict(self.setup),
            alias=None,
            metadata=dict(self.metadata),
            results=[dict(result) for result in self.results],
        )

    def public(self) -> dict[str, Any]:
        """Return the description for windows and REST clients."""
        return {
            "id": self.id,
            "agent": self.agent,
            "cwd": self.cwd,
            "title": self.title,
            "state": self.state,
            "stopReason": self.stop_reason,
            "error": self.error,
            "failed": self.failed,
            "canFork": self.can_fork,
            "canReload": self.can_reload,
            "alias": self.alias,
            "metadata": self.metadata,
            "remote": self.remote,
            "created": self.created,
            "updated": self.updated,
            "seq": self.seq,
        }


def is_writable(value: Any) -> bool:
    """Return True if a value can be encoded inside a message; orjson reads deeper nesting."""
    try:
        orjson.dumps([[[[[[[[value]]]]]]]])
    except orjson.JSONEncodeError:
        return False
    return True


def is_acceptable(metadata: dict[str, Any]) -> bool:
    """Return True if metadata can be encoded and are not too large."""
    return is_writable(metadata) and len(orjson.dumps(metadata)) <= METADATA_LIMIT


def now() -> str:
    """Return the current time in ISO format, in UTC."""
    return dt.datetime.now(dt.timezone.utc).isoformat(timespec="milliseconds")
