# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a command is, and how one finds the file that a person means."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from ...rpc import RpcError
from .. import paths
from ..turn import Turn, attached_uri

_FILE = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|(\S+))\s*""")


@dataclass(frozen=True)
class Command:
    """An entry of the table: everything that there is to know about a command."""

    name: str
    description: str
    run: Callable[[Turn, str], Awaitable[None]]
    hint: str | None = None
    words: tuple[str, ...] = ()
    """Words of a free question that this command answers."""


def first_file(text: str) -> tuple[str, str]:
    """Return the file name at the beginning, quoted if it has spaces, and the rest."""
    match = _FILE.match(text)
    if match is None:
        return "", ""
    return match[1] or match[2] or match[3], text[match.end() :]


async def file_meant(turn: Turn, name: str) -> Path | None:
    """Return the file that was named, else the attached one, else the one with the focus."""
    if name:
        return paths.from_person(name, turn.folder)
    for block in turn.prompt:
        uri = attached_uri(block)
        if uri is not None and (path := paths.from_uri(uri)) is not None:
            return path
    if turn.client.tells("activeDocument"):
        document = await turn.client.active_document()
        return document.path if document is not None else None
    return None


async def read(turn: Turn, path: Path) -> str | None:
    """Return the text of a file, or say why there is none."""
    shown = paths.shown(path, turn.folder)
    if is_folder(path):
        await turn.say(f"`{shown}` is a folder; name a file.\n")
        return None
    try:
        return await turn.client.read(path)
    except UnicodeDecodeError:
        reason = "it is not text"
    except (RpcError, OSError) as error:
        reason = str(error)
    if exists(path):
        await turn.say(f"I could not read `{shown}`: {reason}\n")
    else:
        await turn.say(f"There is no file `{shown}` in `{turn.folder}`.\n")
    return None


def exists(path: Path) -> bool:
    """Tell whether the disk has it; a client's own word for "not found" may be any."""
    return path.exists()


def is_folder(path: Path) -> bool:
    """Tell whether it is no file at all."""
    return path.is_dir()
