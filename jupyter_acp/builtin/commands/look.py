# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Looking: what is open, and what is inside a notebook or a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from ...rpc import RpcError
from .. import notebook, paths
from ..client import Document
from ..tool import location, text_content
from ..turn import Turn
from .base import Command, file_meant, first_file, read

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*\Z")
_FENCE = re.compile(r"\s*(```|~~~)")


async def workspace(turn: Turn, _argument: str) -> None:
    """Tell what the client has open, part by part: it may offer only some of them."""
    await turn.think("I ask the client which documents it has open.")
    active: str | None = None
    if turn.client.tells("activeDocument"):
        try:
            document = await turn.client.active_document()
            active = document.uri if document is not None else None
            line = _listed(turn, document, None) if document else "- no document has the focus\n"
            await turn.say(f"**Active**\n\n{line}\n")
        except RpcError as error:
            await turn.say(f"**Active**: the client could not tell: {error.message}\n\n")
    else:
        await turn.say("**Active**: this client does not offer `workspace/active_document`.\n\n")
    await _listing(turn, "Open", "openDocuments", turn.client.open_documents, active)
    await _listing(turn, "Recent", "recentDocuments", turn.client.recent_documents, active)


async def _listing(
    turn: Turn,
    title: str,
    capability: str,
    ask: Callable[[], Awaitable[list[Document]]],
    active: str | None,
) -> None:
    if not turn.client.tells(capability):
        method = re.sub("([A-Z])", r"_\1", capability).lower()
        await turn.say(f"**{title}**: this client does not offer `workspace/{method}`.\n\n")
        return
    try:
        documents = await ask()
    except RpcError as error:
        await turn.say(f"**{title}**: the client could not tell: {error.message}\n\n")
        return
    lines = "".join(_listed(turn, document, active) for document in documents)
    await turn.say(f"**{title}**\n\n{lines or '- nothing' + chr(10)}\n")


def _listed(turn: Turn, document: Document, active: str | None) -> str:
    mark = " ← active" if document.uri == active else ""
    return f"- `{paths.shown_uri(document.uri, turn.folder)}` ({document.language}){mark}\n"


async def outline(turn: Turn, argument: str) -> None:
    """Show the parts of a notebook or a file."""
    path = await file_meant(turn, first_file(argument)[0])
    if path is None:
        await turn.say(
            "I do not know which file you mean: nothing is attached and no document has the focus. "
            "Name it: `/outline FILE`.\n"
        )
        return
    shown = paths.shown(path, turn.folder)
    tool = turn.tool(
        f"Read {shown}", "read", locations=[location(path)], raw_input={"path": str(path)}
    )
    tool.start()
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
    tool.done(content=[text_content(size)], raw_output={"characters": len(text)})
    await turn.say(f"**`{shown}`** ({size})\n\n{found}")


def _outline(path: Path, text: str) -> str:
    suffix = path.suffix.lower()
    if suffix == notebook.SUFFIX:
        return _of_notebook(text)
    found = _of_python(text) if suffix in (".py", ".pyi") else _of_prose(text)
    return found or "Nothing in it has a name: no headings, functions or classes.\n"


def _of_notebook(text: str) -> str:
    found = notebook.cells(text)
    lines, failed = [], 0
    for cell in found:
        count = f" [{cell.count}]" if cell.count is not None else ""
        line = f"{cell.number}. {cell.kind}{count} `{cell.first_line[:80] or '(empty)'}`"
        if outputs := notebook.outputs_in_words(cell):
            line += f" → {outputs}"
        for error in cell.errors:
            failed += 1
            line += f" → **{error}**"
        lines.append(line + "\n")
    errors = f"{failed} error(s)" if failed else "no errors"
    return f"{len(found)} cells, {errors}.\n\n" + "".join(lines)


def _of_python(text: str) -> str:
    lines: list[str] = []

    def visit(body: list[ast.stmt], depth: int) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                kind = "class" if isinstance(node, ast.ClassDef) else "def"
                lines.append(f"{'  ' * depth}- `{kind} {node.name}` (line {node.lineno})\n")
                if isinstance(node, ast.ClassDef):
                    visit(node.body, depth + 1)

    visit(ast.parse(text).body, 0)
    return "".join(lines)


def _of_prose(text: str) -> str:
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.match(line)):
            indent = "  " * (len(heading[1]) - 1)
            lines.append(f"{indent}- {heading[2]} (line {number})\n")
    return "".join(lines)


COMMANDS = [
    Command(
        "workspace",
        "Tell which documents are open, recent and active",
        workspace,
        words=("open", "opened", "documents", "tabs", "recent", "active"),
    ),
    Command(
        "outline",
        "Show the cells, outputs and errors of a notebook, or the parts of a file",
        outline,
        hint="[FILE]",
        words=("cells", "notebook", "errors", "error", "functions", "classes", "headings"),
    ),
]
