# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Secrets that settings refer to by name: from a file of the user, or the environment."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..agents.environment import is_server_secret

SIZE_LIMIT = 1024 * 1024

_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class SecretError(Exception):
    """A secret is not available; the message gives the reason and the remedy, never a value."""


@dataclass(frozen=True)
class Secrets:
    """The secrets that are available now."""

    path: Path
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    problem: str = ""
    """Reason why an existing file was not read, or an empty text."""

    @classmethod
    def read(cls, path: Path) -> Secrets:
        """Read the file, if it exists and no other user has access."""
        try:
            return cls(path, _values(_private_text(path)))
        except FileNotFoundError:
            return cls(path)
        except UnicodeDecodeError:
            return cls(path, problem=f"{path} is not UTF-8 text.")
        except SecretError as error:
            return cls(path, problem=str(error))
        except OSError as error:
            return cls(path, problem=f"{path} cannot be read: {error.strerror}.")

    def filled(self, text: str) -> str:
        """Return a text in which each `${NAME}` is replaced by the secret of that name."""
        return _NAMED.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        if self.problem:
            # The file may define the name: do not fall back to the environment.
            raise SecretError(f"The secret {name} cannot be looked up. {self.problem}")
        if name in self.values:
            return self.values[name]
        if is_server_secret(name):
            raise SecretError(f"{name} belongs to the Jupyter server and is given to nobody else.")
        if name in os.environ:
            return os.environ[name]
        raise SecretError(
            f"There is no secret {name}. Write the line {name}=… into {self.path}, which only you may "
            "be able to read (chmod 600), or set it in the environment of the Jupyter server."
        )


def _private_text(path: Path) -> str:
    """Return the text of a file that nobody else can read; raise SecretError if others can."""
    # Do not block on a pipe; check the opened file, because the path may change.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SecretError(f"{path} is not a file.")
        if status.st_uid != os.geteuid():
            raise SecretError(f"{path} belongs to another user. Make one of your own.")
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            raise SecretError(f"Others can get at {path} ({mode:o}). Run: chmod 600 {path}")
        if status.st_size > SIZE_LIMIT:
            raise SecretError(f"{path} is larger than {SIZE_LIMIT:,} bytes.")
        return file.read(SIZE_LIMIT).decode("utf-8-sig")


def _values(text: str) -> dict[str, str]:
    """Return the values of lines of the form `NAME=value`, without quotes around a value."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not equals or name.startswith("#"):
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values[name.removeprefix("export ").strip()] = value
    return values
