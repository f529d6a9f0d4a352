# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Free text: what this agent is, what it sees and which command would help."""

from __future__ import annotations

import difflib
import re

from ...rpc import RpcError
from .. import paths
from ..settings import MODES
from ..turn import Turn
from .base import Command

MOST_SHOWN = 8

_WORD = re.compile(r"[a-z]+")


async def free_text(turn: Turn, commands: list[Command]) -> None:
    """Say what a person can expect, and what to type instead."""
    await turn.think("No language model here: I look for a command that fits these words.")
    fitting = _fitting(turn.text, commands)
    seen = [*_attached(turn), *await _open_documents(turn)]
    await turn.say(
        "I am the **Notebook Assistant**, the agent that comes with Jupyter ACP. There is no "
        "language model behind me: I cannot answer free questions, but I can look around, search, "
        "edit and run commands here.\n\n"
    )
    if turn.brief:
        await turn.say(_suggestions(fitting) if fitting else "`/help` lists what I can do.\n")
        return
    await turn.say("**What I see**\n\n" + "".join(f"- {line}\n" for line in [*_place(turn), *seen]))
    await turn.say("\n**What you can do**\n\n")
    if fitting:
        await turn.say(_suggestions(fitting))
    await turn.say(
        "- `/help` lists everything that I can do.\n"
        "- Choose another agent for answers from a language model.\n"
    )


async def unknown(turn: Turn, name: str, commands: list[Command]) -> None:
    """Say which command was probably meant."""
    near = difflib.get_close_matches(name, [command.name for command in commands], n=1)
    guess = f" Did you mean `/{near[0]}`?" if near else ""
    await turn.say(f"There is no command `/{name}`.{guess} `/help` lists all of them.\n")


async def help(turn: Turn, commands: list[Command]) -> None:
    """List the commands, the modes and what the meter counts."""
    rows = "".join(
        f"| `/{command.name}{' ' + command.hint if command.hint else ''}` "
        f"| {command.description} |\n"
        for command in commands
    )
    await turn.say("| command | what it does |\n|---|---|\n" + rows)
    if turn.brief:
        return
    modes = "".join(f"- **{name}**: {about}\n" for name, about in MODES.values())
    await turn.say(
        f"\n**Modes** (now: {MODES[turn.session.settings.mode][0]})\n\n{modes}\n"
        "The usage meter counts the characters of this conversation: there is no model here that "
        "would count tokens.\n"
    )


def _fitting(text: str, commands: list[Command]) -> list[Command]:
    words = set(_WORD.findall(text.lower()))
    return [
        command
        for command in commands
        if command.name in words or words.intersection(command.words)
    ]


def _suggestions(commands: list[Command]) -> str:
    return "".join(
        f"- Try `/{command.name}{' ' + command.hint if command.hint else ''}`: "
        f"{command.description[:1].lower()}{command.description[1:]}.\n"
        for command in commands[:MOST_SHOWN]
    )


def _place(turn: Turn) -> list[str]:
    name, about = MODES[turn.session.settings.mode]
    lines = [f"the folder `{turn.folder}`", f"the mode **{name}**: {about}"]
    if not turn.folder.is_dir():
        lines[0] += ", which does not exist"
    if turn.session.servers:
        lines.append(
            f"{turn.session.servers} MCP server(s) that you gave me, which I do not use: "
            "tools are for agents with a model"
        )
    if turn.store.trouble is not None:
        lines.append(f"that this conversation cannot be kept: {turn.store.trouble}")
    return lines


def _attached(turn: Turn) -> list[str]:
    """Return what came with the prompt, one line each."""
    lines = []
    for block in turn.prompt:
        kind = block["type"]
        if kind == "resource_link":
            lines.append(f"a link to `{paths.shown_uri(block['uri'], turn.folder)}`")
        elif kind == "resource":
            resource = block["resource"]
            text = resource.get("text")
            size = f"{len(text.splitlines())} lines" if isinstance(text, str) else "not text"
            name = paths.shown_uri(str(resource.get("uri") or "something"), turn.folder)
            lines.append(f"the content of `{name}` ({size})")
        elif kind in ("image", "audio"):
            count = len(block["data"]) * 3 // 4
            about = f"{block.get('mimeType') or 'unknown type'}, {count:,} bytes"
            noun = "an image" if kind == "image" else "a recording"
            lines.append(f"{noun} ({about})")
    return lines


async def _open_documents(turn: Turn) -> list[str]:
    if not turn.client.tells("openDocuments"):
        return []
    try:
        documents = await turn.client.open_documents()
        active = (
            await turn.client.active_document() if turn.client.tells("activeDocument") else None
        )
    except RpcError as error:
        return [f"no open documents, for the client could not tell: {error.message}"]
    if not documents:
        return ["no open documents"]
    names = [
        f"`{paths.shown_uri(document.uri, turn.folder)}`"
        + (" (active)" if active is not None and document.uri == active.uri else "")
        for document in documents
    ]
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return [f"open: {', '.join(names[:MOST_SHOWN])}{more}"]
