# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The command that runs a shell line in a terminal of the client."""

from __future__ import annotations

from ..settings import READ
from ..turn import Turn

MOST_OUTPUT = 256 * 1024


async def run(turn: Turn, argument: str) -> None:
    """Run a shell line with the user's permission, and report its exit status."""
    if not argument:
        await turn.say("Tell me what to run: `/run COMMAND`.\n")
        return
    if turn.session.settings.mode == READ:
        await turn.say("I ran nothing: the mode is **Read only**.\n")
        return
    if not turn.client.offers("terminal"):
        await turn.say("I ran nothing: this client does not offer terminals (`terminal/create`).\n")
        return
    tool = turn.tool(argument, "execute", command=argument, cwd=str(turn.folder))
    if not await turn.is_permitted(tool, always=f"run {argument}", about="this command"):
        tool.fail("Rejected: nothing was run.")
        await turn.say("Rejected: I ran nothing.\n")
        return
    created = await turn.client.ask(
        "terminal/create",
        command="sh",
        args=["-c", argument],
        cwd=str(turn.folder),
        outputByteLimit=MOST_OUTPUT,
    )
    terminal = str(created.get("terminalId"))
    has_ended = False
    try:
        tool.update(status="in_progress", content=[{"type": "terminal", "terminalId": terminal}])
        status = await turn.client.ask("terminal/wait_for_exit", terminalId=terminal)
        result = await turn.client.ask("terminal/output", terminalId=terminal)
        has_ended = True
    finally:
        if not has_ended:
            turn.client.tell("terminal/kill", terminalId=terminal)
        turn.client.tell("terminal/release", terminalId=terminal)
    code, output = status.get("exitCode"), str(result.get("output") or "")
    words = (
        f"by signal {status.get('signal') or 'unknown'}"
        if code is None
        else f"with exit status {code}"
    )
    raw = {"exitCode": code, "signal": status.get("signal"), "output": output}
    kept = f"```\n{output}\n```" if output else "(no output)"
    if code == 0:
        tool.done(rawOutput=raw, kept=kept)
    else:
        tool.fail(f"Ended {words}.", rawOutput=raw, kept=kept)
    await turn.say(f"`{argument}` ended {words}.\n")
