# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""MCP servers that the administrator and the user have configured, for the agents of sessions."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .secrets import SecretError, Secrets

SECRETS_FILE = Path("acp", "secrets.env")
"""Path below Jupyter's configuration directory."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ENV_NAME = re.compile(r"[^=\0]+")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Server(BaseModel):
    """An MCP server: a program that the agent starts, or an address that it calls."""

    # Values may contain secrets: errors must not quote them.
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str
    enabled: bool = True
    type: Literal["stdio", "http", "sse"] | None = None
    command: str = ""
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _usable(cls, name: str) -> str:
        # Agents build tool names from it, and most accept only these characters.
        if not _NAME.fullmatch(name):
            raise ValueError("must be 1 to 64 letters, digits, underscores or hyphens")
        return name

    @model_validator(mode="after")
    def _one_way_in(self) -> Server:
        self.command, self.url = self.command.strip(), self.url.strip()
        if self.type is None:
            self.type = "http" if self.url and not self.command else "stdio"
        if self.type == "stdio":
            _check_command(self.command, self.args)
        else:
            _check_address(self.url)
        return self

    def entry(self, secrets: Secrets) -> dict[str, Any]:
        """Return the entry for `mcpServers`; raise SecretError or ValueError if it is invalid."""
        if self.type == "stdio":
            return {
                "name": self.name,
                "command": self.program(),
                "args": self.args,
                "env": _pairs("environment variable", self.env, secrets, _ENV_NAME, "\0"),
            }
        headers = _pairs("header", self.headers, secrets, _HEADER_NAME, "\0\r\n")
        return {"type": self.type, "name": self.name, "url": self.url, "headers": headers}

    def program(self) -> str:
        """Return the program's absolute path: ACP requires one, and an agent's PATH may differ."""
        found = shutil.which(os.path.expanduser(self.command))
        if found is None:
            raise ValueError(
                f"There is no program {self.command}. Install it, or write its whole path."
            )
        return os.path.abspath(found)


class Given(NamedTuple):
    """The MCP servers of one session."""

    entries: list[dict[str, Any]]
    """Entries for the agent; they contain secrets and go nowhere else."""

    told: list[dict[str, Any]]
    """Entries for users: `name`, `type`, `state`, and `message` if the state is `failed`."""


class Servers:
    """Holds the configured servers, and makes the entries for agents."""

    def __init__(self, administrator: Mapping[str, Any], secrets: Path) -> None:
        """Take the administrator's servers by name; `secrets` is the user's file."""
        self._administrator = [
            {**entry, "name": name}
            if isinstance(entry, Mapping)
            else {"name": name, "entry": entry}
            for name, entry in administrator.items()
        ]
        self._user: list[dict[str, Any]] = []
        self._secrets = secrets

    def set_user_servers(self, servers: list[dict[str, Any]]) -> None:
        """Set the user's servers, from the settings; errors in them are reported on use."""
        self._user = servers

    async def given(self, capabilities: Mapping[str, Any], taken: Iterable[str]) -> Given:
        """Return the servers for an agent; a server whose name is `taken` fails."""
        if not self._administrator and not self._user:
            return Given([], [])
        # In a thread, because it reads files.
        return await asyncio.to_thread(self._given, _transports(capabilities), taken)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Check every server; yield its name and its error message, empty if it is valid."""
        for told in self._given({"stdio", "http", "sse"}, ()).told:
            yield told["name"], told.get("message", "")

    def _given(self, transports: set[str], taken: Iterable[str]) -> Given:
        secrets = Secrets.read(self._secrets)
        names = {name.lower() for name in taken}
        given = Given([], [])
        for raw in [*self._administrator, *self._user]:
            if raw.get("enabled") is False:
                continue
            told: dict[str, Any] = {"name": str(raw.get("name") or "")[:64], "state": "on"}
            given.told.append(told)
            try:
                server = Server.model_validate(raw)
                told["type"] = server.type
                if server.name.lower() in names:
                    raise ValueError("Another server has this name already.")
                names.add(server.name.lower())
                if server.type in transports:
                    given.entries.append(server.entry(secrets))
                else:
                    told["state"] = "unsupported"
            except ValidationError as error:
                told.update(state="failed", message=_explained(error))
            except (SecretError, ValueError) as error:
                told.update(state="failed", message=str(error))
        return given


def _transports(capabilities: Mapping[str, Any]) -> set[str]:
    """Return the transports that an agent supports; ACP requires stdio."""
    offered = capabilities.get("mcpCapabilities")
    known = offered if isinstance(offered, dict) else {}
    return {"stdio", *(name for name in ("http", "sse") if known.get(name) is True)}


def _check_command(command: str, args: list[str]) -> None:
    if not command:
        raise ValueError("It has no command.")
    if "\0" in command or any("\0" in word for word in args):
        raise ValueError("Its command has a NUL character.")
    is_name = os.path.basename(command) == command
    if not is_name and not os.path.isabs(os.path.expanduser(command)):
        raise ValueError("Its command must be the name of a program or an absolute path.")


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isprintable() or " " in url:
        # Without the URL, which may contain a password.
        raise ValueError("Its URL must be one such as https://example.org/mcp.") from None


def _pairs(
    what: str, values: Mapping[str, str], secrets: Secrets, names: re.Pattern[str], wrong: str
) -> list[dict[str, str]]:
    """Return variables or headers in the format of ACP, with their secrets filled in."""
    pairs = []
    for name, text in values.items():
        if not names.fullmatch(name):
            raise ValueError(f"The {what} {name!r} has no usable name.")
        value = secrets.filled(text)
        if any(character in value for character in wrong):
            raise ValueError(f"The value of the {what} {name} has a line break or a NUL character.")
        pairs.append({"name": name, "value": value})
    return pairs


def _explained(error: ValidationError) -> str:
    """Return a validation error as text, without the invalid value."""
    sentences = []
    for problem in error.errors(include_input=False, include_url=False):
        words = problem["msg"].removeprefix("Value error, ")
        field = ".".join(str(part) for part in problem["loc"])
        sentences.append(f"`{field}`: {words}." if field else words)
    return " ".join(sentences)
