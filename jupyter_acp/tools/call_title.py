# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Subject of a tool call: its document, and its title for users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..rpc import RpcError, invalid_params
from ..rpc.errors import NOT_FOUND
from . import arguments as args
from .tool import A, Call, Services, Tool

if TYPE_CHECKING:
    from ..client.view import SessionView


async def about(services: Services, session: SessionView, tool: Tool, given: A) -> Call[A]:
    """Return the call of a tool, with its document and its title."""
    path = await _path(services, session, given)
    if path is None:
        return Call(services, session, given, tool.words, None)
    places = {"file": path.name}
    if "{cell" in tool.words:
        places |= await _cells(services, path, given)
    return Call(services, session, given, tool.words.format_map(places), path)


async def _cells(services: Services, path: Path, given: Any) -> dict[str, str]:
    """Return the names of a call's cells for its title, by their numbers from 1."""
    try:
        notebook = await services.notebooks.load(path)
        if not isinstance(given, args.RunCells):
            return {"cell": f"cell {notebook.index(given.cell_id) + 1}"}
        found = notebook.to_run(given.first, given.last)
    except RpcError:
        # The tool itself reports the error.
        return {"cell": "a cell", "cells": "cells"}
    if given.first is None and given.last is None:
        return {"cells": "all cells"}
    if len(found) == 1:
        return {"cells": f"cell {found[0] + 1}"}
    return {"cells": f"cells {found[0] + 1} to {found[-1] + 1}"}


async def _path(services: Services, session: SessionView, given: args.Arguments) -> Path | None:
    if isinstance(given, (args.OfNotebook, args.CreateNotebook)):
        named = (
            given.path if given.path is not None else await _active(services, session, "notebook")
        )
        return services.notebooks.path(session, named)
    if isinstance(given, args.OfDocument):
        named = (
            given.path if given.path is not None else await _active(services, session, "document")
        )
        return services.showing.path(session, named)
    return None


async def _active(services: Services, session: SessionView, kind: str) -> str:
    """Return the URI of the active notebook, or of any active document."""
    try:
        found = await services.workspace.active_document(session, {"sessionId": session.id})
    except RpcError:
        raise invalid_params(
            f"path: name the {kind}, since the user does not share which one is in use."
        ) from None
    uri = found["document"]["uri"] if found["document"] is not None else ""
    if not uri or (kind == "notebook" and not uri.endswith(".ipynb")):
        raise RpcError(
            NOT_FOUND, f"The user is not looking at a {kind}: name the one that you mean."
        )
    return str(uri)
