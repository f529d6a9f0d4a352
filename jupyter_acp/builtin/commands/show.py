# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Commands for demonstration: plans, forms, pictures, streams, waits and crashes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from typing import Any

from .. import files, notebook
from ..turn import Turn

STEP_SECONDS = 0.2
"""Pause between two steps, in seconds: long enough to see the change."""

MOST_CHUNKS = 1_000_000
MOST_SECONDS = 3600.0
TICK = 0.5
BREATH = 256
"""Number of chunks between two checks for a slow client and for cancellation."""

CRASH_STATUS = 3

FIELDS: dict[str, dict[str, Any]] = {
    "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 60},
    "notebooks": {"type": "integer", "title": "Open notebooks", "minimum": 0, "default": 3},
    "hours": {
        "type": "number",
        "title": "Hours of your longest cell",
        "minimum": 0,
        "default": 0.5,
    },
    "autosave": {"type": "boolean", "title": "Autosave", "default": True},
    "theme": {"type": "string", "title": "Theme", "enum": ["light", "dark"], "default": "light"},
    "languages": {
        "type": "array",
        "title": "Languages",
        "items": {
            "anyOf": [{"const": "python", "title": "Python"}, {"const": "julia", "title": "Julia"}]
        },
        "minItems": 1,
        "default": ["python"],
    },
}
FORM = {
    "type": "object",
    "title": "About your notebook",
    "properties": FIELDS,
    "required": ["name", "languages"],
}

BARS = (
    "iVBORw0KGgoAAAANSUhEUgAAAHgAAABQAgMAAACv9VkaAAAADFBMVEX////zdyZhYWGenp62l/d0AAAAM0lEQVR42mNgGAVwwP"
    "8fCEalh7U0stCoND2lWUOBYIRIIwuNSo9Kj0oPMulVeMBgbqIAAONnQ1fTa8fLAAAAAElFTkSuQmCC"
)
"""A small bar chart, as a PNG."""


async def plan(turn: Turn, _argument: str) -> None:
    """Count the files and cells of the folder, in visible steps."""
    entries = [
        {"content": "List the files of the folder", "priority": "high", "status": "pending"},
        {"content": "Read the notebooks", "priority": "medium", "status": "pending"},
        {"content": "Tell what there is", "priority": "low", "status": "pending"},
    ]

    def tell() -> None:
        is_done = entries[-1]["status"] == "completed"
        turn.show({"sessionUpdate": "plan", "entries": entries}, is_kept=is_done)

    tell()
    kinds: Counter[str] = Counter()
    cells = 0
    for index, entry in enumerate(entries):
        entry["status"] = "in_progress"
        tell()
        await asyncio.sleep(STEP_SECONDS)
        if index == 0:
            kinds.update(path.suffix.lower() or "(no suffix)" for path in files.walk(turn.folder))
        elif index == 1:
            for path in files.walk(turn.folder, (notebook.SUFFIX,)):
                cells += len({line.cell for line in files.lines(path)})
        else:
            most = ", ".join(f"`{kind}` {count}" for kind, count in kinds.most_common(6))
            await turn.say(
                f"This folder holds {sum(kinds.values())} file(s): {most or 'none'}. "
                f"Its notebooks have {cells} cell(s) with something in them.\n"
            )
        entry["status"] = "completed"
        tell()


async def ask(turn: Turn, _argument: str) -> None:
    """Show a form with a field of every type, and then the answers."""
    if not turn.client.offers("elicitation", "form"):
        await turn.say("I cannot ask: this client does not offer forms (`elicitation.form`).\n")
        return
    answer = await turn.client.ask(
        "elicitation/create",
        mode="form",
        message="A form with one field of every type. Nothing of it is kept.",
        requestedSchema=FORM,
    )
    action, content = answer.get("action"), answer.get("content")
    if action == "accept":
        rows = content.items() if isinstance(content, dict) else ()
        listed = "".join(
            f"- {FIELDS.get(name, {}).get('title', name)}: {_value(value)}\n"
            for name, value in rows
        )
        await turn.say(f"Thank you. You answered:\n\n{listed}")
    else:
        words = {"decline": "declined to answer", "cancel": "closed the form without an answer"}
        await turn.say(f"You {words.get(action or '', f'answered with {action!r}')}.\n")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


async def image(turn: Turn, _argument: str) -> None:
    """Show a picture."""
    await turn.say("A picture:\n\n")
    content = {"type": "image", "mimeType": "image/png", "data": BARS}
    turn.show({"sessionUpdate": "agent_message_chunk", "content": content})


async def stream(turn: Turn, argument: str) -> None:
    """Send numbered chunks as fast as the client reads; gaps and duplicates are visible."""
    digits = argument.replace(",", "") or "100"
    count = int(digits) if digits.isdecimal() else 0
    if not 1 <= count <= MOST_CHUNKS:
        await turn.say(f"Tell me how many: `/stream N`, with N from 1 to {MOST_CHUNKS:,}.\n")
        return
    for number in range(1, count + 1):
        turn.stream(f"{number} ")
        if number % BREATH == 0:
            await turn.room()


async def slow(turn: Turn, argument: str) -> None:
    """Wait, and report the progress."""
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
    """End this process in the middle of a turn, like an agent that crashes."""
    await turn.say("I crash now, as you asked. This conversation is kept: load it again.\n")
    turn.flush()
    # Let the outbox send what is in it.
    await asyncio.sleep(TICK / 5)
    sys.stderr.write(
        "jupyter-acp-builtin: fatal: the crash that /crash asked for\n"
        f"  session {turn.session.id}, in the middle of a turn; exit status {CRASH_STATUS}\n"
    )
    sys.stderr.flush()
    os._exit(CRASH_STATUS)
