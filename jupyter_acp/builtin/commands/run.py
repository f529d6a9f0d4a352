# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Running a command in a terminal of the client."""

from __future__ import annotations

import os
from typing import Any

from ..settings import READ
from ..tool import text_content
from ..turn import Turn
from .base import Command

MOST_OUTPUT = 256 * 1024


async def run(turn: Turn, argument: str) -> None:
    """Run a shell line, if the person allows it, and tell how it ended."""
    if not argument:
        await turn.say("Tell me what to run: `/run COMMAND`.\n")
        return
    if turn.session.settings.mode == READ:
        await turn.say("I ran nothing: the mode is **Read only**.\n")
        return
    if not turn.client.terminals:
        await turn.say("I ran nothing: this client does not offer terminals (`terminal/create`).\n")
        return
    tool = turn.tool(
        argument, "execute", locations=[], raw_input={"command": argument, "cwd": str(turn.folder)}
    )
    if not await turn.permitted(tool, always=f"run {argument}", about="this command"):
        tool.fail("Rejected: nothing was run.")
        await turn.say("Rejected: I ran nothing.\n")
        return
    shell, flag = ("cmd", "/c") if os.name == "nt" else ("sh", "-c")
    created = await turn.client.ask(
        "terminal/create",
        command=shell,
        args=[flag, argument],
        cwd=str(turn.folder),
        outputByteLimit=MOST_OUTPUT,
    )
    terminal = str(created.get("terminalId"))
    finished = False
    try:
        tool.update(status="in_progress", content=[{"type": "terminal", "terminalId": terminal}])
        status = await turn.client.ask("terminal/wait_for_exit", terminalId=terminal)
        result = await turn.client.ask("terminal/output", terminalId=terminal)
        finished = True
    finally:
        if not finished:
            turn.client.tell("terminal/kill", terminalId=terminal)
        turn.client.tell("terminal/release", terminalId=terminal)
    output = str(result.get("output") or "")
    raw = {**_status(status), "output": output, "truncated": bool(result.get("truncated"))}
    # A terminal is gone after a restart: a later load shows what it printed.
    kept = [text_content(f"```\n{output}\n```" if output else "(no output)")]
    code = status.get("exitCode")
    if code == 0:
        tool.done(kept=kept, raw_output=raw)
    else:
        tool.fail(f"Ended {_in_words(status)}.", kept=kept, raw_output=raw)
    await turn.say(f"`{argument}` ended {_in_words(status)}.\n")


def _status(status: dict[str, Any]) -> dict[str, Any]:
    return {"exitCode": status.get("exitCode"), "signal": status.get("signal")}


def _in_words(status: dict[str, Any]) -> str:
    if status.get("exitCode") is not None:
        return f"with exit status {status['exitCode']}"
    return f"by signal {status.get('signal') or 'unknown'}"


COMMANDS = [
    Command(
        "run",
        "Run a command in a terminal, if you allow it",
        run,
        hint="COMMAND",
        words=("execute", "shell", "terminal", "command"),
    ),
]
