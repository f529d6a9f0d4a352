# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""JSON-RPC errors as exceptions, so that any layer can refuse a message in words for a person."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
AUTH_REQUIRED = -32000
NOT_FOUND = -32002
UNAVAILABLE = -32010
"""Ours, from the range left to implementations: the agent is not there to answer."""

FORBIDDEN = -32011
"""Ours too: the administrator or the user does not allow it."""

CONFLICT = -32012
"""And this: somebody else has changed the same thing."""


class RpcError(Exception):
    """An error that travels to the other side as a JSON-RPC error object."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.is_theirs = False
        """Whether it is in words of the other side."""

    @classmethod
    def from_json(cls, error: Any) -> RpcError:
        """Take what the other side sent, however oddly shaped, without failing on it."""
        given = error if isinstance(error, dict) else {"message": error}
        code = given.get("code")
        taken = cls(
            code if type(code) is int else INTERNAL_ERROR,
            _text(given.get("message") or "The other side reported an error without a message."),
            given.get("data"),
        )
        taken.is_theirs = True
        return taken

    @property
    def text(self) -> str:
        """What happened, in full: many agents say little and put the rest into the data."""
        details = self.data.get("details") if isinstance(self.data, dict) else self.data
        if isinstance(details, str) and details not in self.message:
            return f"{self.message}: {details}"
        return self.message

    @property
    def brief(self) -> str:
        """What happened, for the log: nothing that an agent has said or printed, which may be private."""
        return f"error {self.code}" if self.is_theirs else self.message.split("\n", 1)[0]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON-RPC error object."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


def _text(value: Any) -> str:
    try:
        return str(value)
    except RecursionError:
        return "The other side reported an error that is nested too deeply to be shown."


def method_not_found(method: str) -> RpcError:
    """Refuse a request that nobody here serves."""
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})


def invalid_params(message: str) -> RpcError:
    """Refuse a request whose parameters make no sense."""
    return RpcError(INVALID_PARAMS, message)
