# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Changing files: shown as a diff, asked for, written through the client, or left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ...rpc import RpcError
from .. import folder, notebook, paths
from ..settings import ASK, READ
from ..tool import diff_content, location
from ..turn import Turn
from .base import Command, exists, file_meant, first_file, read

ARROW = "=>"
TODO_FILE = "TODO.md"
BEGIN = "<!-- collected by /todo: what is between these two lines is replaced -->"
END = "<!-- end of what /todo collected -->"
MOST_TODOS = 500

_TODO = re.compile(r"(?:#|//|--|/\*|<!--|%|;)\W*\b(TODO|FIXME|XXX|HACK)\b(.*)")
_TRAILING = re.compile(r"[ \t]+(?=\r?$)", re.MULTILINE)
_COLLECTED = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


async def edit(turn: Turn, argument: str) -> None:
    """Replace a text in a file, or tidy the file."""
    name, change = first_file(argument)
    path = await file_meant(turn, name)
    if path is None:
        await turn.say("Tell me which file: `/edit FILE`, or `/edit FILE old text => new text`.\n")
        return
    shown = paths.shown(path, turn.folder)
    old, arrow, new = (part.strip() for part in change.partition(ARROW))
    if change and not (arrow and old):
        await turn.say(f"Write what to replace as `/edit {shown} old text {ARROW} new text`.\n")
        return
    before = await read(turn, path)
    if before is None:
        return
    if old and old not in before and path.suffix.lower() != notebook.SUFFIX:
        await turn.say(f"`{shown}` does not contain `{old}`; I left it as it was.\n")
        return

    def change_of(text: str) -> str:
        return _replaced(path, text, old, new) if old else _tidied(path, text)

    try:
        after = change_of(before)
    except notebook.NotebookError as error:
        await turn.say(f"`{shown}` is no notebook that I can edit: {error}.\n")
        return
    if after == before:
        reason = f"no cell contains `{old}`" if old else "it is tidy already"
        await turn.say(f"Nothing to change in `{shown}`: {reason}.\n")
        return
    what = f"`{old}` replaced by `{new}`" if old else "tidied"
    await _propose(turn, path, before, after, what, change_of)


async def todo(turn: Turn, _argument: str) -> None:
    """Collect the TODO comments of the folder into a file of its own."""
    path = turn.folder / TODO_FILE
    await turn.think(f"I collect TODO and FIXME comments into {TODO_FILE}.")
    items: list[str] = []
    async for file in folder.files(turn.folder, turn.session.settings.suffixes):
        if file == path:
            continue
        for line in folder.lines(file):
            if match := _TODO.search(line.text):
                place = line.place(paths.shown(file, turn.folder))
                items.append(f"- [ ] `{place}` {match[1]}{_ending(match[2])}")
        if len(items) >= MOST_TODOS:
            break
    before = await _existing(turn, path)
    if not items and before is None:
        await turn.say("There are no TODO or FIXME comments in this folder.\n")
        return
    after = _collected(before, items[:MOST_TODOS])
    if after == before:
        await turn.say(f"`{TODO_FILE}` is up to date: {len(items)} comment(s).\n")
        return
    await _propose(turn, path, before, after, f"{len(items)} comment(s) listed")


async def _existing(turn: Turn, path: Path) -> str | None:
    try:
        return await turn.client.read(path)
    except (RpcError, FileNotFoundError):
        if exists(path):
            raise
        return None


async def _propose(
    turn: Turn,
    path: Path,
    before: str | None,
    after: str,
    what: str,
    change_of: Callable[[str], str] | None = None,
) -> None:
    """Show an edit and make it, if the mode, the client and the person allow it."""
    shown = paths.shown(path, turn.folder)
    mode = turn.session.settings.mode
    tool = turn.tool(
        f"Edit {shown}",
        "edit",
        locations=[location(path)],
        raw_input={"path": str(path), "change": what},
    )
    tool.update(content=[diff_content(path, before, after)])
    if mode == READ:
        tool.done(raw_output={"written": False})
        await turn.say(
            f"This is what I propose ({what}). I wrote nothing: the mode is **Read only**.\n"
        )
        return
    if mode == ASK and not await turn.permitted(tool, always="edit", about="edits in this session"):
        tool.fail("Rejected: the file is as it was.", raw_output={"written": False})
        await turn.say(f"Rejected: I left `{shown}` as it was.\n")
        return
    tool.start()
    now = await _existing(turn, path)
    if now is not None and change_of is not None and _has_same_cells(path, before, now):
        # A kernel that starts writes into its notebook, and not into what was shown.
        after = change_of(now)
    elif now != before:
        tool.fail("The file changed in the meantime.", raw_output={"written": False})
        await turn.say(f"`{shown}` changed while I waited, so I wrote nothing. Ask me again.\n")
        return
    await turn.client.write(path, after)
    tool.done(raw_output={"written": True, "characters": len(after)})
    await turn.say(f"Done: I wrote `{shown}` ({what}).\n")


def _has_same_cells(path: Path, before: str | None, now: str) -> bool:
    if path.suffix.lower() != notebook.SUFFIX or before is None:
        return False
    try:
        return notebook.cells(before) == notebook.cells(now)
    except notebook.NotebookError:
        return False


def _replaced(path: Path, text: str, old: str, new: str) -> str:
    if path.suffix.lower() == notebook.SUFFIX:
        return notebook.replace(text, old, new)
    return text.replace(old, new)


def _tidied(path: Path, text: str) -> str:
    suffix = path.suffix.lower()
    if suffix == notebook.SUFFIX:
        return notebook.tidy(
            text, path.stem.replace("_", " ").replace("-", " ").strip().capitalize()
        )
    # Two spaces at the end of a line of Markdown are a line break, not a slip.
    keeps = suffix in (".md", ".rmd", ".qmd")
    text = _TRAILING.sub(lambda match: "  " if keeps and _is_break(match) else "", text)
    if text and not text.endswith("\n"):
        text += "\r\n" if "\r\n" in text else "\n"
    return text


def _is_break(match: re.Match[str]) -> bool:
    before = match.string[match.start() - 1 : match.start()]
    return match[0].endswith("  ") and before not in ("", "\n")


def _ending(text: str) -> str:
    """Return the rest of a comment without the sign that closes it."""
    return re.sub(r"\s*(\*/|-->)?\s*\Z", "", text).rstrip()


def _collected(before: str | None, items: list[str]) -> str:
    """Return the file with the list in it; what people wrote around the list stays."""
    block = "\n".join([BEGIN, "", *(items or ["Nothing is left to do."]), "", END])
    if before is None:
        return f"# To do\n\n{block}\n"
    if _COLLECTED.search(before):
        return _COLLECTED.sub(lambda _: block, before, count=1)
    return f"{before.rstrip()}\n\n{block}\n" if before.strip() else f"# To do\n\n{block}\n"


COMMANDS = [
    Command(
        "edit",
        "Replace a text in a file, or tidy the file; you see the diff and decide",
        edit,
        hint=f"FILE [old {ARROW} new]",
        words=("change", "replace", "fix", "tidy", "rename", "write", "clean"),
    ),
    Command(
        "todo",
        f"Collect the TODO and FIXME comments of the folder into {TODO_FILE}",
        todo,
        words=("todos", "fixme", "tasks"),
    ),
]
