# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The table of commands; adding a command is adding an entry to one of its families."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from ...rpc import RpcError
from ..turn import Turn, TurnCancelledError
from . import chat, edit, find, look, run, show, strain
from .base import Command

TABLE: dict[str, Command] = {
    command.name: command
    for family in (look, find, edit, run, show, strain)
    for command in family.COMMANDS
}
HELP = Command("help", "What this assistant can do", lambda turn, _: chat.help(turn, _all()))

_COMMAND = re.compile(r"/([\w-]+)(?:\s+(.*))?\s*\Z", re.DOTALL)


def advertised() -> list[dict[str, Any]]:
    """Return the commands as `available_commands_update` carries them."""
    return [
        {"name": command.name, "description": command.description}
        | ({"input": {"hint": command.hint}} if command.hint else {})
        for command in _all()
    ]


async def answer(turn: Turn) -> str:
    """Answer a prompt and return why the turn ended."""
    try:
        turn.begin()
        await _dispatch(turn)
    except (TurnCancelledError, asyncio.CancelledError):
        return "cancelled"
    except (RpcError, OSError) as error:
        # What the client or the disk refuses is news for the person, not a failed prompt.
        await turn.say(f"\n\nThat did not work: {error}\n")
    return "end_turn"


async def _dispatch(turn: Turn) -> None:
    match = _COMMAND.match(turn.text.strip())
    if match is None:
        await chat.free_text(turn, _all())
        return
    command = next((command for command in _all() if command.name == match[1]), None)
    if command is None:
        await chat.unknown(turn, match[1], _all())
        return
    await command.run(turn, (match[2] or "").strip())


def _all() -> list[Command]:
    return [HELP, *TABLE.values()]
