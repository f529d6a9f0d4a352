# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools for the user's windows: listing, showing and saving documents."""

from __future__ import annotations

from ..rpc import invalid_params
from . import arguments as args
from .model_text import json_text, text
from .tool import Answer, Call


async def open_documents(call: Call[args.Nothing]) -> Answer:
    """List the notebooks and files that the user has open in JupyterLab, with unsaved changes,
    cursor, selection, active cell and kernel of each.

    Use it to learn what the user is working on.
    """
    found = await call.services.workspace.open_documents(
        call.session, {"sessionId": call.session.id}
    )
    return Answer([json_text(found)], {"documents": len(found["documents"])})


async def recent_documents(call: Call[args.Recent]) -> Answer:
    """List the documents that the user had open lately in JupyterLab, newest first."""
    params = {"sessionId": call.session.id, "limit": call.given.limit}
    found = await call.services.workspace.recent_documents(call.session, params)
    return Answer([json_text(found)], {"documents": len(found["documents"])})


async def active_document(call: Call[args.Nothing]) -> Answer:
    """Return the one document that the user is looking at in JupyterLab, with cursor, selection
    and active cell; null if it is a terminal or nothing.

    Use it for questions about "this notebook", "this cell" or "the selected code".
    """
    found = await call.services.workspace.active_document(
        call.session, {"sessionId": call.session.id}
    )
    return Answer([json_text(found)])


async def show_document(call: Call[args.ShowDocument]) -> Answer:
    """Open a file in the user's JupyterLab window, or bring it to the front there, at a line or,
    in a notebook, at a cell.

    Use it to let the user see what you talk about. The focus stays where the user types; the
    content of the file is not returned.
    """
    given, path = call.given, call.path
    if given.line is not None and given.cell_id is not None:
        raise invalid_params("Give `line` or `cell_id`, not both.")
    is_visible = await call.services.showing.show(
        call.session, path, given.line, given.cell_id, call.title
    )
    where = "The user sees it now."
    if not is_visible:
        where = "It is open in a tab behind the one in which the user is typing."
    return Answer([text(f"{path} is shown. {where}")], {"visible": is_visible})


async def save_document(call: Call[args.OfDocument]) -> Answer:
    """Save a file or notebook that the user has open with unsaved changes.

    Use it before you run a program that reads the file from disk.
    """
    path = call.path
    saved = await call.services.showing.save(call.session, path, call.title)
    if saved is None:
        said = f"Nobody has {path} open: there is nothing to save."
    elif saved:
        said = f"{path} is saved."
    else:
        said = f"{path} has no unsaved changes."
    return Answer([text(said)], {"saved": bool(saved)})
