# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The specification of an agent, common to all sources of agents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

Source = Literal["built-in", "path", "registry", "config"]
Kind = Literal["command", "websocket"]

_ENV_NAME = re.compile(r"[^=\0]+")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class AgentSpec(BaseModel):
    """The identity of an agent, and either its command or the address of its websocket."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    name: Annotated[str, Field(validate_default=True)] = ""
    description: str = ""
    icon: str | None = None
    source: Source
    install: str | None = None

    # Arguments and URLs may contain keys, as variables and headers do. All four are excluded from
    # dumps and reprs, so that no log line or handler can leak them.
    argv: list[str] = Field(default_factory=list, exclude=True, repr=False)
    url: str | None = Field(default=None, exclude=True, repr=False)
    headers: dict[str, SecretStr] = Field(default_factory=dict, exclude=True, repr=False)
    env: dict[str, SecretStr] = Field(default_factory=dict, exclude=True, repr=False)

    @field_validator("name")
    @classmethod
    def _named(cls, name: str, info: ValidationInfo) -> str:
        return _visible(name) or str(info.data.get("id", ""))

    @field_validator("install")
    @classmethod
    def _copied_as_seen(cls, install: str | None) -> str | None:
        return install and _visible(install)

    @field_validator("argv")
    @classmethod
    def _startable(cls, argv: list[str]) -> list[str]:
        if argv and not argv[0].strip():
            raise ValueError("must start with the name of a program")
        if any("\0" in word for word in argv):
            raise ValueError("must not contain NUL characters")
        return argv

    @field_validator("url")
    @classmethod
    def _reachable(cls, url: str | None) -> str | None:
        if url is None:
            return None
        wrong = "must be a websocket address such as wss://example.org/acp"
        if not url.isprintable() or " " in url:
            raise ValueError(wrong)
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("ws", "wss") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            # Outside of the `except` block, because the cause would quote the address with its password.
            raise ValueError(wrong)
        return url

    @field_validator("env")
    @classmethod
    def _env_fits(cls, env: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in env.items():
            if not _ENV_NAME.fullmatch(name):
                raise ValueError("has a name that is empty or contains '='")
            if "\0" in value.get_secret_value():
                raise ValueError(f"has a NUL character in the value of {name}")
        return env

    @field_validator("headers")
    @classmethod
    def _headers_fit(cls, headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError("has a name that is not a valid HTTP header name")
            if re.search(r"[\r\n\0]", value.get_secret_value()):
                raise ValueError(f"has a line break in the value of {name}")
        return headers

    @model_validator(mode="after")
    def _one_way_in(self) -> AgentSpec:
        if bool(self.argv) == bool(self.url):
            raise ValueError("needs either `argv` (a command) or `url` (a websocket), and not both")
        if self.headers and not self.url:
            raise ValueError("has `headers`, which only make sense with `url`")
        if self.env and self.url:
            raise ValueError("has `env`, which only makes sense with `argv`")
        return self

    @property
    def kind(self) -> Kind:
        """The kind of connection to the agent."""
        return "websocket" if self.url else "command"

    @property
    def takes_tools(self) -> bool:
        """True if the agent is to get our MCP server; the built-in one uses the services directly."""
        return self.source != "built-in"

    @property
    def takes_servers(self) -> bool:
        """True if the agent can use the MCP servers of this machine."""
        return self.url is None and self.source != "built-in"

    def env_values(self) -> dict[str, str]:
        """Return the variables in plain text, for the agent's process."""
        return {name: value.get_secret_value() for name, value in self.env.items()}

    def header_values(self) -> dict[str, str]:
        """Return the headers in plain text, for the connection."""
        return {name: value.get_secret_value() for name, value in self.headers.items()}

    def public(self) -> dict[str, Any]:
        """Return the description for windows and REST clients, which contains no secrets."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "icon": self.icon,
            "source": self.source,
            "kind": self.kind,
            "command": basename(self.argv[0]) if self.argv else None,
            "url": public_url(self.url) if self.url else None,
        }


@dataclass(frozen=True)
class Candidate:
    """One way to run an agent, and the message for users if its program is not installed."""

    spec: AgentSpec
    missing: str


def basename(program: str) -> str:
    """Return the last part of a POSIX or Windows path."""
    return re.split(r"[\\/]", program)[-1]


def public_url(url: str) -> str:
    """Return the address without user, password, query and fragment, which may contain keys."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def explain(error: ValidationError) -> str:
    """Return the invalid fields and their problems, without the invalid values."""
    return "; ".join(_sentence(item) for item in error.errors(include_input=False))


_WORDS = {
    "missing": "is missing",
    "string_type": "must be text",
    "list_type": 'must be a list of words such as ["my-agent", "--acp"]',
    "dict_type": "must be a dictionary of names and values",
    "string_pattern_mismatch": (
        "must be 1 to 64 letters, digits, dots, underscores or hyphens, "
        "starting with a letter or a digit"
    ),
}


def _sentence(item: Any) -> str:
    field = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = ", ".join(name for name in AgentSpec.model_fields if name not in ("id", "source"))
        return f"`{field}` is not a known field (known are {known})"
    if item["type"] == "value_error":
        words = str(item["ctx"]["error"])
    else:
        words = _WORDS.get(item["type"], item["msg"])
    return f"`{field}` {words}" if field else f"it {words}"


def _visible(text: str) -> str:
    # Invisible or reordering characters could make an entry look like another one.
    if not text.isprintable():
        raise ValueError("must be one line without control or invisible characters")
    return text
