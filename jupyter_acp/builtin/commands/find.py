# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Searching the session's folder."""

from __future__ import annotations

from .. import folder, paths
from ..settings import SCOPES
from ..tool import location, text_content
from ..turn import Turn
from .base import Command

MOST_HITS = 100
MOST_SHOWN = 20
MOST_LINE = 160


async def find(turn: Turn, argument: str) -> None:
    """Search file by file, and stop when there is more than a person can read."""
    if not argument:
        await turn.say("Tell me what to look for: `/find TEXT`.\n")
        return
    scope = SCOPES[turn.session.settings.scope][0].lower()
    await turn.think(f"I look for it in {scope}, upper or lower case alike.")
    tool = turn.tool(
        f"Find “{argument}”",
        "search",
        locations=[],
        raw_input={"text": argument, "folder": str(turn.folder)},
    )
    tool.start()
    hits: list[folder.Line] = []
    wanted, searched = argument.casefold(), 0
    async for path in folder.files(turn.folder, turn.session.settings.suffixes):
        searched += 1
        hits += (line for line in folder.lines(path) if wanted in line.text.casefold())
        if len(hits) >= MOST_HITS:
            del hits[MOST_HITS:]
            break
    listed = "".join(
        f"- `{hit.place(paths.shown(hit.path, turn.folder))}` {_quoted(hit.text)}\n" for hit in hits
    )
    limit = f", and stopped at {MOST_HITS}" if len(hits) == MOST_HITS else ""
    summary = (
        f"{len(hits)} line(s) in {len({hit.path for hit in hits})} of {searched} file(s){limit}"
    )
    tool.done(
        locations=[location(hit.path, hit.number, hit.cell) for hit in hits],
        content=[text_content(listed or "Nothing.")],
        raw_output={"hits": len(hits), "files": searched},
    )
    if not hits:
        await turn.say(f"“{argument}” is in none of the {searched} file(s) that I searched.\n")
        return
    await turn.say(f"Found “{argument}”: {summary}.\n\n")
    if not turn.brief:
        rows = listed.splitlines(keepends=True)
        await turn.say("".join(rows[:MOST_SHOWN]))
        if len(rows) > MOST_SHOWN:
            await turn.say(f"\n… and {len(rows) - MOST_SHOWN} more in the tool call above.\n")


def _quoted(text: str) -> str:
    """Return a line as code, whatever ticks it holds."""
    line = text.strip()
    line = line if len(line) <= MOST_LINE else line[: MOST_LINE - 1] + "…"
    return f"`` {line} ``" if "`" in line else f"`{line}`"


COMMANDS = [
    Command(
        "find",
        "Search the session's folder",
        find,
        hint="TEXT",
        words=("search", "where", "grep", "look"),
    ),
]
