# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Showing what a conversation can hold besides text: plans, forms and pictures."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from typing import Any

from .. import folder, notebook, png
from ..turn import Turn
from .base import Command

STEP_SECONDS = 0.2
"""Long enough for a person to see an entry move."""

FORM: dict[str, Any] = {
    "type": "object",
    "title": "About your notebook",
    "properties": {
        "name": {
            "type": "string",
            "title": "Name",
            "description": "What shall I call you?",
            "minLength": 1,
            "maxLength": 60,
        },
        "notebooks": {
            "type": "integer",
            "title": "Notebooks",
            "description": "How many do you keep open?",
            "minimum": 0,
            "maximum": 1000,
            "default": 3,
        },
        "hours": {
            "type": "number",
            "title": "Hours",
            "description": "How long did your longest cell run?",
            "minimum": 0,
            "default": 0.5,
        },
        "autosave": {"type": "boolean", "title": "Autosave", "default": True},
        "theme": {
            "type": "string",
            "title": "Theme",
            "oneOf": [
                {"const": "light", "title": "Light"},
                {"const": "dark", "title": "Dark"},
                {"const": "system", "title": "As the system"},
            ],
            "default": "system",
        },
        "languages": {
            "type": "array",
            "title": "Languages",
            "description": "Which ones do you write?",
            "items": {
                "anyOf": [
                    {"const": "python", "title": "Python"},
                    {"const": "r", "title": "R"},
                    {"const": "julia", "title": "Julia"},
                ]
            },
            "minItems": 1,
            "default": ["python"],
        },
    },
    "required": ["name", "languages"],
}


async def plan(turn: Turn, _argument: str) -> None:
    """Take stock of the folder in steps that can be watched."""
    entries = [
        {"content": content, "priority": priority, "status": "pending"}
        for content, priority in (
            ("List the files of the folder", "high"),
            ("Read the notebooks", "medium"),
            ("Tell what there is", "low"),
        )
    ]
    turn.plan(entries)
    kinds: Counter[str] = Counter()
    cells = 0
    for index, entry in enumerate(entries):
        entry["status"] = "in_progress"
        turn.plan(entries)
        await asyncio.sleep(STEP_SECONDS)
        if index == 0:
            async for path in folder.files(turn.folder):
                kinds[path.suffix.lower() or "(no suffix)"] += 1
        elif index == 1:
            async for path in folder.files(turn.folder, (notebook.SUFFIX,)):
                cells += len({line.cell for line in folder.lines(path)})
        else:
            most = ", ".join(f"`{kind}` {count}" for kind, count in kinds.most_common(6))
            await turn.say(
                f"This folder holds {sum(kinds.values())} file(s): {most or 'none'}. "
                f"Its notebooks have {cells} cell(s) with something in them.\n"
            )
        entry["status"] = "completed"
        turn.plan(entries)


async def ask(turn: Turn, _argument: str) -> None:
    """Show a form with a field of every type and tell what came back."""
    if not turn.client.forms:
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
        listed = "".join(f"- {_title(name)}: {_value(value)}\n" for name, value in rows)
        await turn.say(f"Thank you. You answered:\n\n{listed or '- nothing' + chr(10)}")
    elif action == "decline":
        await turn.say("You declined to answer. That is fine.\n")
    elif action == "cancel":
        await turn.say("You closed the form without an answer.\n")
    else:
        await turn.say(f"The client answered the form with {action!r}, which I do not know.\n")


def _title(name: str) -> str:
    field = FORM["properties"].get(name)
    return str(field["title"]) if field else f"`{name}`"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


async def image(turn: Turn, _argument: str) -> None:
    """Draw a picture."""
    data = base64.b64encode(png.interference()).decode()
    await turn.say("Two rings of waves that cross, computed just now:\n\n")
    await turn.show({"type": "image", "mimeType": "image/png", "data": data})


COMMANDS = [
    Command(
        "plan",
        "Take stock of the folder, step by step",
        plan,
        words=("plan", "steps", "summary", "overview", "folder"),
    ),
    Command("ask", "Show a form with a field of every type", ask, words=("form", "question")),
    Command("image", "Draw a picture", image, words=("picture", "draw", "plot", "png")),
]
