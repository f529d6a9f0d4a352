# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is remembered of a session besides its messages."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

TITLE_LIMIT = 500
METADATA_LIMIT = 64 * 1024
"""How long a session's title may be, in characters, and its metadata together, in bytes."""

State = Literal["idle", "running", "disconnected", "closed"]


@dataclass
class SessionRecord:
    """One row of the session list; it outlives the server."""

    id: str
    agent: str
    cwd: str
    agent_session: str | None = None
    title: str = ""
    state: State = "idle"
    stop_reason: str | None = None
    error: str | None = None
    failed: bool = False
    """Whether it was an error that ended the last turn."""

    created: str = ""
    updated: str = ""
    seq: int = 0
    setup: dict[str, Any] = field(default_factory=dict)
    """The latest modes, models, config options and commands, for windows that come later."""

    additional_directories: list[str] = field(default_factory=list)
    mcp_servers: list[Any] = field(default_factory=list)
    can_fork: bool = False
    """Whether its agent, when it was last there, could fork it by itself."""

    can_reload: bool = False
    """Whether its agent, when it was last there, could tell what was said."""

    alias: str | None = None
    """The id that whoever opened it wanted it to have: it is known by it as well."""

    metadata: dict[str, Any] = field(default_factory=dict)
    """What else was said of it when it was opened, and since."""

    remote: dict[str, Any] | None = None
    """The state of a repository that it began with, if its files are not here."""

    home: str = ""
    """The user's own copy of that repository, to which results come back."""

    results: list[dict[str, Any]] = field(default_factory=list)
    """What has come back, one for each turn that has changed something."""

    dropped: int = 0
    """The number of the last message that was replaced by what the agent told."""

    offered: int = 0
    """How many messages of users the agent knew when that was offered to the user."""

    retold: str = ""
    """What its agent has to be told with the first prompt: what was said before it came."""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SessionRecord:
        """Read a saved record; what a newer version added is left out."""
        known = {f.name for f in dataclasses.fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})

    def to_json(self) -> dict[str, Any]:
        """Return all of it, to be saved."""
        return dataclasses.asdict(self)

    def fork(self, id: str, cwd: str) -> SessionRecord:
        """Return the record of a session that goes on from here."""
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
        """Return what a window or a REST client may see."""
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
    """Whether a value can be written inside of others: more can be read than can be written."""
    try:
        orjson.dumps([[[[[[[[value]]]]]]]])
    except orjson.JSONEncodeError:
        return False
    return True


def is_acceptable(metadata: dict[str, Any]) -> bool:
    """Whether metadata can be kept and told to every window."""
    return is_writable(metadata) and len(orjson.dumps(metadata)) <= METADATA_LIMIT


def now() -> str:
    """Return the time as it is saved and shown."""
    return dt.datetime.now(dt.timezone.utc).isoformat(timespec="milliseconds")
