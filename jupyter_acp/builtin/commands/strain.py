# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Straining a client: floods, waits and crashes on demand."""

from __future__ import annotations

import asyncio
import os
import sys

from ..turn import Turn
from .base import Command

MOST_CHUNKS = 1_000_000
MOST_SECONDS = 3600.0
TICK = 0.5
BREATH = 256
"""Chunks between two looks at whether the reader keeps up and the turn is still wanted."""

CRASH_STATUS = 3


async def stream(turn: Turn, argument: str) -> None:
    """Send numbered chunks as fast as they are read: a gap or a double can be seen."""
    try:
        count = int(argument.replace(",", "").replace("_", "") or 100)
    except ValueError:
        count = 0
    if count < 1:
        await turn.say(f"Tell me how many: `/stream N`, with N from 1 to {MOST_CHUNKS:,}.\n")
        return
    for number in range(1, min(count, MOST_CHUNKS) + 1):
        turn.stream(f"{number} ")
        if number % BREATH == 0:
            await turn.room()
    await turn.room()


async def slow(turn: Turn, argument: str) -> None:
    """Take a while, and show that it goes on."""
    try:
        seconds = float(argument or 5)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_SECONDS:
        most = f"{MOST_SECONDS:,.0f}"
        await turn.say(f"Tell me how long: `/slow SECONDS`, with SECONDS from 0 to {most}.\n")
        return
    passed = 0.0
    while passed < seconds:
        step = min(TICK, seconds - passed)
        await asyncio.sleep(step)
        passed += step
        await turn.say(f"{passed:g} of {seconds:g} s\n\n")
    await turn.say("Done.\n")


async def crash(turn: Turn, _argument: str) -> None:
    """Die in the middle of a turn, as a real agent might."""
    await turn.say("I crash now, as you asked. This conversation is kept: load it again.\n")
    turn.keep_message()
    # The last words shall be on the wire, so that what is lost is only what was never said.
    await asyncio.sleep(TICK / 5)
    sys.stderr.write(
        "jupyter-acp-builtin: fatal: the crash that /crash asked for\n"
        f"  session {turn.session.id}, in the middle of a turn; exit status {CRASH_STATUS}\n"
    )
    sys.stderr.flush()
    os._exit(CRASH_STATUS)


COMMANDS = [
    Command("stream", "Send N numbered pieces as fast as possible", stream, hint="N"),
    Command(
        "slow", "Take a while; try to cancel it", slow, hint="SECONDS", words=("wait", "cancel")
    ),
    Command("crash", "End this agent's process in the middle of the turn", crash),
]
