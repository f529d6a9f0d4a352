# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Commands that read: the client's documents, a file, the folder."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path

from ...rpc import RpcError
from .. import files, notebook
from ..client import method_of
from ..settings import SCOPES
from ..turn import Turn, attached_uri, text_content

MOST_HITS = 100
MOST_SHOWN = 20
MOST_LINE = 160

_NAME = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|(\S+))\s*""")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*\Z")
_FENCE = re.compile(r"\s*(```|~~~)")


def first_file(text: str) -> tuple[str, str]:
    """Return the file name at the beginning, which may be quoted, and the rest."""
    match = _NAME.match(text)
    return (match[1] or match[2] or match[3], text[match.end() :]) if match else ("", "")


async def file_meant(turn: Turn, name: str) -> Path | None:
    """Return the named file, else the attached one, else the active one."""
    if name:
        return files.from_person(name, turn.folder)
    uris = (attached_uri(block) for block in turn.prompt)
    if attached := next((path for uri in uris if uri and (path := files.from_uri(uri))), None):
        return attached
    active = await turn.client.documents("active")
    return files.from_uri(active[0].uri) if active else None


async def read(turn: Turn, path: Path) -> str | None:
    """Return the text of a file; if it cannot be read, tell the user and return None."""
    try:
        return await turn.client.read(path)
    except (RpcError, OSError, UnicodeDecodeError) as error:
        reason = "it is not text" if isinstance(error, UnicodeDecodeError) else str(error)
    await turn.say(f"I could not read `{files.shown(path, turn.folder)}`: {reason}\n")
    return None


async def workspace(turn: Turn, _argument: str) -> None:
    """List the active, open and recent documents, as far as the client offers them."""
    await turn.think("I ask the client which documents it has open.")
    focused: list[str] = []
    for which in ("active", "open", "recent"):
        title = which.capitalize()
        if not turn.client.tells(which):
            await turn.say(f"**{title}**: this client does not offer `{method_of(which)}`.\n\n")
            continue
        try:
            documents = await turn.client.documents(which)
        except RpcError as error:
            await turn.say(f"**{title}**: the client could not tell: {error.message}\n\n")
            continue
        lines = "".join(
            f"- `{files.shown_uri(document.uri, turn.folder)}` ({document.language})"
            f"{' ← active' if document.uri in focused else ''}\n"
            for document in documents
        )
        if which == "active":
            focused = [document.uri for document in documents]
        await turn.say(f"**{title}**\n\n{lines or '- nothing' + chr(10)}\n")


async def outline(turn: Turn, argument: str) -> None:
    """Show the parts of a notebook or a file."""
    path = await file_meant(turn, first_file(argument)[0])
    if path is None:
        await turn.say(
            "I do not know which file you mean: nothing is attached and no document has the focus. "
            "Name it: `/outline FILE`.\n"
        )
        return
    shown = files.shown(path, turn.folder)
    tool = turn.tool(f"Read {shown}", "read", path, path=str(path))
    tool.update(status="in_progress")
    text = await read(turn, path)
    if text is None:
        tool.fail("It could not be read.")
        return
    try:
        found = _outline(path, text)
    except (ValueError, SyntaxError) as error:
        tool.fail(f"{shown} could not be understood: {error}")
        await turn.say(f"I read `{shown}`, but I cannot outline it: {error}.\n")
        return
    size = f"{len(text.splitlines())} lines"
    tool.done(content=[text_content(size)], rawOutput={"characters": len(text)})
    await turn.say(f"**`{shown}`** ({size})\n\n{found}")


def _outline(path: Path, text: str) -> str:
    suffix = path.suffix.lower()
    if suffix == notebook.SUFFIX:
        cells = notebook.cells(text)
        failed = sum(len(cell.errors) for cell in cells)
        listed = "".join(cell.in_words() for cell in cells)
        return f"{len(cells)} cells, {failed or 'no'} error(s).\n\n{listed}"
    found = _of_python(ast.parse(text).body) if suffix in (".py", ".pyi") else _of_prose(text)
    return found or "Nothing in it has a name: no headings, functions or classes.\n"


def _of_python(body: list[ast.stmt], indent: str = "") -> str:
    lines = ""
    for node in body:
        if isinstance(node, ast.ClassDef):
            lines += f"{indent}- `class {node.name}` (line {node.lineno})\n"
            lines += _of_python(node.body, indent + "  ")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines += f"{indent}- `def {node.name}` (line {node.lineno})\n"
    return lines


def _of_prose(text: str) -> str:
    lines, is_fenced = "", False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced and (heading := _HEADING.match(line)):
            lines += f"{'  ' * (len(heading[1]) - 1)}- {heading[2]} (line {number})\n"
    return lines


async def find(turn: Turn, argument: str) -> None:
    """Search file by file, and stop after `MOST_HITS` hits."""
    if not argument:
        await turn.say("Tell me what to look for: `/find TEXT`.\n")
        return
    scope = SCOPES[turn.session.settings.scope][0].lower()
    await turn.think(f"I look for it in {scope}, upper or lower case alike.")
    tool = turn.tool(f"Find “{argument}”", "search", text=argument, folder=str(turn.folder))
    tool.update(status="in_progress")
    hits: list[files.Line] = []
    wanted, searched = argument.casefold(), 0
    for path in files.walk(turn.folder, turn.session.settings.suffixes):
        await asyncio.sleep(0)
        searched += 1
        hits += (line for line in files.lines(path) if wanted in line.text.casefold())
        if len(hits) >= MOST_HITS:
            del hits[MOST_HITS:]
            break
    rows = [f"- `{hit.place(turn.folder)}` `` {hit.text.strip()[:MOST_LINE]} ``\n" for hit in hits]
    tool.done(
        locations=[_location(hit) for hit in hits],
        content=[text_content("".join(rows) or "Nothing.")],
        rawOutput={"hits": len(hits), "files": searched},
    )
    if not hits:
        await turn.say(f"“{argument}” is in none of the {searched} file(s) that I searched.\n")
        return
    limit = f", and stopped at {MOST_HITS}" if len(hits) == MOST_HITS else ""
    found = f"{len(hits)} line(s) in {len({hit.path for hit in hits})} of {searched} file(s){limit}"
    await turn.say(f"Found “{argument}”: {found}.\n\n")
    more = f"\n… and {len(rows) - MOST_SHOWN} more in the tool call above.\n"
    await turn.say("".join(rows[:MOST_SHOWN]) + (more if len(rows) > MOST_SHOWN else ""))


def _location(line: files.Line) -> dict[str, object]:
    """Return a location in a file; in a notebook, cell and line instead of the line of the JSON."""
    path = str(line.path)
    if line.cell is None:
        return {"path": path, "line": line.number}
    return {"path": path, "_meta": {"jupyter-acp": {"cell": line.cell, "line": line.number}}}
