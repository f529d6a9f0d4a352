# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Tell a command that is nothing but our own program, called for a tool of the same session.

What such a tool does is asked about by itself, with the cell and the code: asking whether the program
may run would be the same question twice. So the command must not be able to do anything else, and what
is not understood completely is a command as any other.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Mapping, Sequence

from ...agents.environment import is_ordinary_variable

_SHELLS = {f"{folder}{name}" for folder in ("/bin/", "/usr/bin/") for name in ("sh", "bash")}

# Words of a shell line in which the shell finds nothing to do but to take the quotes away.
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
    """Whether a shell line, or a program with its arguments, is `PROGRAM tool --session ID …` only.

    `program` is a file, or an interpreter with what makes it run ours. `path` is where the shell would look for it, `added` the variables that the agent sets for it.
    """
    if not all(is_ordinary_variable(*variable) for variable in (added or {}).items()):
        return False
    words = _words(command) if isinstance(command, str) else list(command)
    if len(words) == 3 and words[1] in ("-c", "-lc") and _found(words[0], path) in _SHELLS:
        # A login shell may look for programs elsewhere.
        path = path if words[1] == "-c" else ""
        words = _words(words[2])
    start = len(program)
    if not words or not program or words[1 : start + 1] != [*program[1:], "tool"]:
        return False
    # An interpreter that is reached by another path finds other packages.
    found = _found(words[0], path) if start == 1 else words[0]
    same = os.path.realpath if start == 1 else str
    if found is None or same(found) != same(program[0]):
        return False
    # Without any, it does nothing but to show its help.
    return _sessions(words[start + 1 :]) <= {session_id}


def _words(line: str) -> list[str]:
    """Return the words of a line, or none if a shell would do anything else with it."""
    return shlex.split(line) if _LINE.fullmatch(line) else []


def _found(name: str, path: str) -> str | None:
    """Return the file that a name stands for, unless the folder that one is in matters to it."""
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
    """Return every session that is named, in whichever way."""
    named = {word.partition("=")[2] for word in arguments if word.startswith("--session=")}
    pairs = itertools.pairwise(arguments)
    return named | {following for word, following in pairs if word == "--session"}
