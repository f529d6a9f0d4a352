# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""JSON-RPC errors as exceptions, which any layer can raise to refuse a message."""

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
"""Our own code: the agent or another part is not available."""

FORBIDDEN = -32011
"""Our own code: the administrator or the user does not allow the action."""

CONFLICT = -32012
"""Our own code: the object was changed by somebody else meanwhile."""


class RpcError(Exception):
    """An error that is sent to the other side as a JSON-RPC error object."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.is_theirs = False
        """True if the other side sent the error."""

    @classmethod
    def from_json(cls, error: Any) -> RpcError:
        """Create an error from any value that the other side sent as one."""
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
        """The full message, including the details that many agents put into the data."""
        details = self.data.get("details") if isinstance(self.data, dict) else self.data
        if isinstance(details, str) and details not in self.message:
            return f"{self.message}: {details}"
        return self.message

    @property
    def brief(self) -> str:
        """A message for the log, without texts of the agent, which may be private."""
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
    """Return the error for a request with an unknown method."""
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method}", {"method": method})


def invalid_params(message: str) -> RpcError:
    """Return the error for a request with invalid parameters."""
    return RpcError(INVALID_PARAMS, message)
