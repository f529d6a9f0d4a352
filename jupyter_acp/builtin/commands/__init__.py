# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The table of commands, and the answer to prompts without a command."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from ...rpc import RpcError
from .. import files
from ..settings import MODES
from ..turn import Turn, attached_uri
from . import edit, look, run, show

_COMMAND = re.compile(r"/([\w-]+)(?:\s+(.*))?\s*\Z", re.DOTALL)


class Command(NamedTuple):
    """A command, with its name and description for users."""

    name: str
    description: str
    run: Callable[[Turn, str], Awaitable[None]]
    hint: str = ""


def advertised() -> list[dict[str, Any]]:
    """Return the commands in the format of `available_commands_update`."""
    return [
        {"name": command.name, "description": command.description}
        | ({"input": {"hint": command.hint}} if command.hint else {})
        for command in TABLE
    ]


async def answer(turn: Turn) -> str:
    """Answer a prompt and return the stop reason."""
    try:
        turn.begin()
        match = _COMMAND.match(turn.text.strip())
        if match is None:
            await _free_text(turn)
        elif command := next((command for command in TABLE if command.name == match[1]), None):
            await command.run(turn, (match[2] or "").strip())
        else:
            near = difflib.get_close_matches(match[1], [command.name for command in TABLE], n=1)
            guess = f" Did you mean `/{near[0]}`?" if near else ""
            await turn.say(f"There is no command `/{match[1]}`.{guess} `/help` lists them all.\n")
    except asyncio.CancelledError:
        return "cancelled"
    except (RpcError, OSError) as error:
        # The user sees errors of the client and the disk; the prompt itself does not fail.
        await turn.say(f"\n\nThat did not work: {error}\n")
    return "end_turn"


async def _help(turn: Turn, _argument: str) -> None:
    rows = "".join(
        f"| `{' '.join(filter(None, ('/' + command.name, command.hint)))}` "
        f"| {command.description} |\n"
        for command in TABLE
    )
    await turn.say("| command | what it does |\n|---|---|\n" + rows)
    modes = "".join(f"- **{name}**: {about}\n" for name, about in MODES.values())
    await turn.say(
        f"\n**Modes** (now: {MODES[turn.session.settings.mode][0]})\n\n{modes}\n"
        "The usage meter counts the characters of this conversation: there is no model here that "
        "would count tokens.\n"
    )


async def _free_text(turn: Turn) -> None:
    """Explain the agent to a user who typed no command."""
    await turn.think("No language model here: I tell what I see.")
    await turn.say(
        "I am the **Notebook Assistant**, the agent that comes with Jupyter ACP. There is no "
        "language model behind me: I cannot answer free questions, but I can look around, search, "
        "edit and run commands here.\n\n"
    )
    name, about = MODES[turn.session.settings.mode]
    seen = [f"the folder `{turn.folder}`", f"the mode **{name}**: {about}"]
    seen += [f"attached: `{said}`" for block in turn.prompt if (said := _attached(turn, block))]
    if turn.client.tells("open"):
        seen.append(await _open_documents(turn))
    await turn.say("**What I see**\n\n" + "".join(f"- {line}\n" for line in seen))
    await turn.say(
        "\n`/help` lists everything that I can do. Choose another agent for answers from a language "
        "model.\n"
    )


def _attached(turn: Turn, block: dict[str, Any]) -> str:
    uri = attached_uri(block)
    return files.shown_uri(uri, turn.folder) if uri else str(block.get("mimeType") or "")


async def _open_documents(turn: Turn) -> str:
    focused = [document.uri for document in await turn.client.documents("active")]
    names = [
        f"`{files.shown_uri(document.uri, turn.folder)}`"
        + (" (active)" if document.uri in focused else "")
        for document in await turn.client.documents("open")
    ]
    return f"open: {', '.join(names) or 'nothing'}"


TABLE = [
    Command("help", "What this assistant can do", _help),
    Command("workspace", "Tell which documents are open, recent and active", look.workspace),
    Command(
        "outline",
        "Show the cells, outputs and errors of a notebook, or the parts of a file",
        look.outline,
        "[FILE]",
    ),
    Command("find", "Search the session's folder", look.find, "TEXT"),
    Command(
        "edit",
        "Replace a text in a file, or tidy the file; you see the diff and decide",
        edit.edit,
        "FILE [old => new]",
    ),
    Command("todo", "Collect the TODO and FIXME comments of the folder into TODO.md", edit.todo),
    Command("run", "Run a command in a terminal, if you allow it", run.run, "COMMAND"),
    Command("plan", "Take stock of the folder, step by step", show.plan),
    Command("ask", "Show a form with a field of every type", show.ask),
    Command("image", "Show a picture", show.image),
    Command("stream", "Send N numbered pieces as fast as possible", show.stream, "N"),
    Command("slow", "Take a while; try to cancel it", show.slow, "SECONDS"),
    Command("crash", "End this agent's process in the middle of the turn", show.crash),
]
