# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Detection of commands that only call our own program, for a tool of the same session.

The tool itself asks for permission, with the cell and the code, so a question about the command
would be a duplicate. The command must not be able to do anything else: if it is not completely
understood, it is treated as any other command.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Mapping, Sequence

from ...agents.environment import is_ordinary_variable

_SHELLS = {f"{folder}{name}" for folder in ("/bin/", "/usr/bin/") for name in ("sh", "bash")}

# Words in which a shell removes quotes and does nothing else.
_WORD = (
    r"(?:[A-Za-z0-9_./:@%+=,-]|\\'"
    r"|'[^'\x00-\x1f\x7f]*'"
    r'|"(?:[^"\\$`\x00-\x1f\x7f]|\\["\\/A-Za-z])*")+'
)
_LINE = re.compile(rf" *{_WORD}(?: +{_WORD})* *")


def is_own_command(
    command: str | Sequence[str],
    program: Sequence[str],
    session_id: str,
    path: str,
    added: Mapping[str, str] | None = None,
) -> bool:
    """Return True if a shell line or a list of words is only `PROGRAM tool --session ID …`.

    `program` is a file, or an interpreter with the arguments that run ours. `path` is the search
    path of the shell, `added` are the variables that the agent sets.
    """
    if not all(is_ordinary_variable(*variable) for variable in (added or {}).items()):
        return False
    words = _words(command) if isinstance(command, str) else list(command)
    if len(words) == 3 and words[1] in ("-c", "-lc") and _found(words[0], path) in _SHELLS:
        # A login shell may have another search path.
        path = path if words[1] == "-c" else ""
        words = _words(words[2])
    start = len(program)
    if not words or not program or words[1 : start + 1] != [*program[1:], "tool"]:
        return False
    # An interpreter that is called by another path finds other packages.
    found = _found(words[0], path) if start == 1 else words[0]
    same = os.path.realpath if start == 1 else str
    if found is None or same(found) != same(program[0]):
        return False
    # Without a session, the program only shows its help.
    return _sessions(words[start + 1 :]) <= {session_id}


def _words(line: str) -> list[str]:
    """Return the words of a line, or none if a shell would do more than split it."""
    return shlex.split(line) if _LINE.fullmatch(line) else []


def _found(name: str, path: str) -> str | None:
    """Return the program file for a name, or None if that depends on the current folder."""
    if "/" in name:
        return name if os.path.isabs(name) else None
    for folder in path.split(os.pathsep):
        if not os.path.isabs(folder):
            return None
        candidate = os.path.join(folder, name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _sessions(arguments: list[str]) -> set[str]:
    """Return all session ids in the arguments, in both spellings of the option."""
    named = {word.partition("=")[2] for word in arguments if word.startswith("--session=")}
    pairs = itertools.pairwise(arguments)
    return named | {following for word, following in pairs if word == "--session"}
