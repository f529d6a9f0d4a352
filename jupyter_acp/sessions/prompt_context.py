# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The context that accompanies a prompt."""

from __future__ import annotations

from typing import Any

from .. import protocol
from ..context.block import Block
from .agent_session import AgentSession
from .transcript import Transcript


async def context_for(session: AgentSession, params: dict[str, Any]) -> Block | None:
    """Return the context for a prompt, as far as it is new to the agent, or None."""
    prompt: list[Any] = params["prompt"]
    meta = params.get("_meta")
    ours = meta.get(protocol.META) if isinstance(meta, dict) else None
    is_wanted = not isinstance(ours, dict) or ours.get("context") is not False
    if session.is_remote or not is_wanted:
        return None
    if _is_command(session.transcript, prompt):
        # Text after a command could change its meaning; the command may also clear the agent's memory.
        session.told.forget()
        return None
    try:
        return await session.editor_context()
    except Exception as error:
        # Send the prompt without context rather than not at all.
        session.logger.warning("What is open was not told with a message: %r", error)
        return None


def with_context(transcript: Transcript, content: list[Any], block: Block) -> list[Any]:
    """Return a prompt's content with its context, and write the context into the transcript."""
    block.on_sent()
    can = transcript.setup.known.get("promptCapabilities")
    along = block.content(takes_images=isinstance(can, dict) and bool(can.get("image")))
    transcript.append(protocol.CONTEXT, {"text": block.text, "images": len(along) - 1})
    return [*content, *along]


def _is_command(transcript: Transcript, prompt: list[Any]) -> bool:
    """Return True if a prompt begins with a command that the agent offers."""
    first = next((block for block in prompt if isinstance(block, dict)), {})
    text = str(first.get("text") or "")
    offered = transcript.setup.known.get("availableCommands")
    names = {f"/{each.get('name')}" for each in offered or [] if isinstance(each, dict)}
    return not names.isdisjoint(text.split(maxsplit=1)[:1])
