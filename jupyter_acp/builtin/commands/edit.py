# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Commands that change files: they show a diff, ask permission, and write through the client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...rpc import RpcError
from .. import files, notebook
from ..settings import ASK, READ
from ..turn import Turn
from .look import file_meant, first_file, read

ARROW = "=>"
TODO_FILE = "TODO.md"
BEGIN = "<!-- collected by /todo: what is between these two lines is replaced -->"
END = "<!-- end of what /todo collected -->"
MOST_TODOS = 500

_TODO = re.compile(r"(?:#|//|--|/\*|<!--|%|;)\W*\b(TODO|FIXME|XXX|HACK)\b(.*?)\s*(?:\*/|-->)?\s*\Z")
_TRAILING = re.compile(r"(\S?)[ \t]+(?=\r?$)", re.MULTILINE)
_COLLECTED = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


async def edit(turn: Turn, argument: str) -> None:
    """Replace a text in a file, or tidy the file."""
    name, change = first_file(argument)
    path = await file_meant(turn, name)
    if path is None:
        await turn.say("Tell me which file: `/edit FILE`, or `/edit FILE old text => new text`.\n")
        return
    shown = files.shown(path, turn.folder)
    old, arrow, new = (part.strip() for part in change.partition(ARROW))
    if change and not (arrow and old):
        await turn.say(f"Write what to replace as `/edit {shown} old text {ARROW} new text`.\n")
        return
    before = await read(turn, path)
    if before is None:
        return

    def changed(text: str, is_markdown: bool) -> str:
        return text.replace(old, new) if old else _tidied(text, is_markdown)

    def change_of(text: str | None) -> str:
        if path.suffix.lower() == notebook.SUFFIX:
            return notebook.edited(text or "", changed)
        return changed(text or "", path.suffix.lower() in (".md", ".rmd", ".qmd"))

    try:
        is_same = change_of(before) == before
    except ValueError as error:
        await turn.say(f"`{shown}` is no notebook that I can edit: {error}.\n")
        return
    if is_same:
        reason = f"it does not contain `{old}`" if old else "it is tidy already"
        await turn.say(f"Nothing to change in `{shown}`: {reason}.\n")
        return
    what = f"`{old}` replaced by `{new}`" if old else "tidied"
    await _propose(turn, path, before, what, change_of)


async def todo(turn: Turn, _argument: str) -> None:
    """Collect the TODO comments of the folder into a file."""
    path = turn.folder / TODO_FILE
    await turn.think(f"I collect TODO and FIXME comments into {TODO_FILE}.")
    items: list[str] = []
    for file in files.walk(turn.folder, turn.session.settings.suffixes):
        await asyncio.sleep(0)
        items += (
            f"- [ ] `{line.place(turn.folder)}` {found[1]}{found[2]}"
            for line in (files.lines(file) if file != path else ())
            if (found := _TODO.search(line.text))
        )
    before = await _existing(turn, path)

    def change_of(text: str | None) -> str:
        return _collected(text or "", items[:MOST_TODOS])

    if not items and before is None:
        await turn.say("There are no TODO or FIXME comments in this folder.\n")
    elif change_of(before) == before:
        await turn.say(f"`{TODO_FILE}` is up to date: {len(items)} comment(s).\n")
    else:
        await _propose(turn, path, before, f"{len(items)} comment(s) listed", change_of)


async def _existing(turn: Turn, path: Path) -> str | None:
    try:
        return await turn.client.read(path)
    except (RpcError, FileNotFoundError):
        # Clients use different error codes for a missing file.
        if await asyncio.to_thread(path.exists):
            raise
        return None


async def _propose(
    turn: Turn, path: Path, before: str | None, what: str, change_of: Callable[[str | None], str]
) -> None:
    """Show an edit, and make it if the mode and the user allow it."""
    shown = files.shown(path, turn.folder)
    mode, after = turn.session.settings.mode, change_of(before)
    tool = turn.tool(f"Edit {shown}", "edit", path, path=str(path), change=what)
    diff = {"type": "diff", "path": str(path), "oldText": before, "newText": after}
    tool.update(content=[diff])
    if mode == READ:
        tool.done(rawOutput={"written": False})
        await turn.say(
            f"This is what I propose ({what}). I wrote nothing: the mode is **Read only**.\n"
        )
        return
    if mode == ASK and not await turn.is_permitted(
        tool, always="edit", about="edits in this session"
    ):
        tool.fail("Rejected: the file is as it was.", rawOutput={"written": False})
        await turn.say(f"Rejected: I left `{shown}` as it was.\n")
        return
    tool.update(status="in_progress")
    now = await _existing(turn, path)
    if _told(path, now) != _told(path, before):
        tool.fail("The file changed in the meantime.", rawOutput={"written": False})
        await turn.say(f"`{shown}` changed while I waited, so I wrote nothing. Ask me again.\n")
        return
    after = change_of(now)
    await turn.client.write(path, after)
    tool.done(rawOutput={"written": True, "characters": len(after)})
    await turn.say(f"Done: I wrote `{shown}` ({what}).\n")


def _told(path: Path, text: str | None) -> Any:
    """Return the parts of a file to compare: a starting kernel changes a notebook's metadata."""
    try:
        is_notebook = text is not None and path.suffix.lower() == notebook.SUFFIX
        return notebook.cells(text or "") if is_notebook else text
    except ValueError:
        return text


def _tidied(text: str, is_markdown: bool) -> str:
    def ending(match: re.Match[str]) -> str:
        # Two spaces at the end of a line of Markdown are a line break.
        is_break = is_markdown and match[1] and match[0].endswith("  ")
        return match[1] + ("  " if is_break else "")

    return _TRAILING.sub(ending, text)


def _collected(before: str, items: list[str]) -> str:
    """Return the file with the new list; keep the text around the list."""
    block = "\n".join([BEGIN, "", *(items or ["Nothing is left to do."]), "", END])
    if _COLLECTED.search(before):
        return _COLLECTED.sub(lambda _: block, before, count=1)
    return f"{before.rstrip() or '# To do'}\n\n{block}\n"
