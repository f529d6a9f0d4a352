# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools that read notebooks and change them."""

from __future__ import annotations

from typing import Any

from ..client.notebooks.notebook import new_notebook
from ..paths import file_uri
from ..protocol import META
from ..rpc import RpcError, invalid_params
from ..rpc.errors import NOT_FOUND
from . import arguments as args
from .model_text import text, told_cells, told_in_full
from .records import Room, in_cell
from .tool import Answer, Call


async def read_notebook(call: Call[args.ReadNotebook]) -> Answer:
    """Read the cells of a Jupyter notebook as the user sees them, unsaved changes included:
    ids, types, sources, execution counts, outputs (cut where long) and errors, which cell is
    active, and the state of the kernel.

    Prefer it to reading the .ipynb file, and call it before you change cells: the other tools
    name cells by the ids that it returns.
    """
    given, path = call.given, call.path
    notebook = await call.services.notebooks.read(call.session, path, call.title)
    numbered = list(enumerate(notebook.cells))
    if given.cell_ids is not None:
        wanted = {notebook.index(cell_id) for cell_id in given.cell_ids}
        chosen = [pair for pair in numbered if pair[0] in wanted]
    else:
        end = None if given.count is None else given.start + given.count
        chosen = numbered[given.start : end]
    words, images, missing = told_cells(chosen, await _active_cell(call))
    shown = [cell for index, cell in chosen if missing is None or index < missing]
    call.services.notebooks.note(call.session, notebook, shown)
    about = await _about(call, notebook.live)
    head = f"{path}: {len(numbered)} cells, {len(shown)} shown. {about}"
    if missing is not None:
        words += f"\nThe answer is full: read on with start={missing}."
    content = [text(f"{head}\n{words}"), *(images if given.images else [])]
    return Answer(content, {"cells": len(numbered), "shown": len(shown)})


async def cell_output(call: Call[args.CellOutput]) -> Answer:
    """Read the outputs of a cell in full: their text, in parts if it is long, and their images.

    Use it where read_notebook or a run has cut an output, or to look at a plot.
    """
    given, path = call.given, call.path
    notebook = await call.services.notebooks.read(call.session, path, call.title)
    index = notebook.index(given.cell_id)
    outputs = notebook.cells[index].get("outputs") or []
    if not outputs:
        raise RpcError(NOT_FOUND, f"Cell {given.cell_id} has no outputs.")
    if given.output is not None:
        if given.output >= len(outputs):
            raise invalid_params(f"output: the cell has only {len(outputs)}, from 0 on.")
        outputs = [outputs[given.output]]
    told = {
        "cell": {"id": given.cell_id, "index": index},
        "output": given.output,
        "outputs": Room().outputs(outputs, in_cell(index, path)),
    }
    return Answer(told_in_full(outputs, given.start, given.length), told)


async def create_notebook(call: Call[args.CreateNotebook]) -> Answer:
    """Create a new Jupyter notebook, with a kernel and first cells if you want.

    Refused if the file exists already. Nothing is run or opened; show_document opens it.
    Returns the ids of its cells.
    """
    given, path = call.given, call.path
    metadata = await call.services.kernels.described(given.kernel)
    cells = [(cell.type, cell.source) for cell in given.cells]
    notebook = await call.services.notebooks.create(call.session, path, metadata, cells, call.title)
    kernel = metadata["kernelspec"]["name"]
    ids = ", ".join(cell["id"] for cell in notebook.cells)
    said = f"{path} is made, for the kernel {kernel}." + (f" Its cells are: {ids}." if ids else "")
    return Answer([text(said)], {"cells": len(cells), "kernel": kernel})


async def edit_cell(call: Call[args.EditCell]) -> Answer:
    """Replace the source of one notebook cell.

    It changes at once where the user has the notebook open, and can be undone there. Other
    cells, outputs and the kernel stay as they are; nothing is run. Refused if the cell was
    changed since you read it.
    """
    given, path = call.given, call.path
    at = await call.services.notebooks.edit(
        call.session, path, given.cell_id, given.source, given.old_source, call.title
    )
    said = f"Cell {given.cell_id} of {path} has its new source. It was not run."
    return Answer([text(said)], {"cell": {"id": given.cell_id, "index": at}})


async def insert_cell(call: Call[args.InsertCell]) -> Answer:
    """Add a code, markdown or raw cell to a notebook: behind a given cell, at an index, or at
    the end.

    Returns its id, for example for run_cell. Nothing is run.
    """
    given, path = call.given, call.path
    cell, at = await call.services.notebooks.insert(
        call.session,
        path,
        given.type,
        given.source,
        after=given.after,
        index=given.index,
        title=call.title,
    )
    said = f"The new cell has the id {cell} and is at index {at} of {path}."
    return Answer([text(said)], {"cell": {"id": cell, "index": at, "type": given.type}})


async def delete_cell(call: Call[args.OfCell]) -> Answer:
    """Delete one cell of a notebook, with its outputs.

    Refused if it was changed since you read it.
    """
    cell_id, path = call.given.cell_id, call.path
    at = await call.services.notebooks.delete(call.session, path, cell_id, call.title)
    said = f"Cell {cell_id} of {path} is deleted."
    return Answer([text(said)], {"cell": {"id": cell_id, "index": at}})


async def move_cell(call: Call[args.MoveCell]) -> Answer:
    """Move one cell of a notebook behind another cell or to an index; its outputs move with it."""
    given, path = call.given, call.path
    if given.after is None and given.index is None:
        raise invalid_params("Say where to: give `after` or `index`.")
    at = await call.services.notebooks.move(
        call.session,
        path,
        given.cell_id,
        after=given.after,
        index=given.index,
        title=call.title,
    )
    said = f"Cell {given.cell_id} is now at index {at} of {path}."
    return Answer([text(said)], {"cell": {"id": given.cell_id, "index": at}})


async def creation_card(call: Call[args.CreateNotebook]) -> dict[str, Any]:
    """Return the card for creating a notebook."""
    metadata = await call.services.kernels.described(call.given.kernel)
    cells = [(cell.type, cell.source) for cell in call.given.cells]
    content = new_notebook(metadata, cells)
    return await call.services.notebooks.creation_card(call.path, content)


async def edit_card(call: Call[args.EditCell]) -> dict[str, Any]:
    """Return the card for editing a cell."""
    given = call.given
    return await call.services.notebooks.edit_card(call.path, given.cell_id, given.source)


async def insertion_card(call: Call[args.InsertCell]) -> dict[str, Any]:
    """Return the card for inserting a cell."""
    given = call.given
    return await call.services.notebooks.insertion_card(
        call.path, given.source, given.after, given.index
    )


async def deletion_card(call: Call[args.OfCell]) -> dict[str, Any]:
    """Return the card for deleting a cell."""
    return await call.services.notebooks.edit_card(call.path, call.given.cell_id, "")


async def move_card(call: Call[args.MoveCell]) -> dict[str, Any]:
    """Return the card for moving a cell."""
    given = call.given
    return await call.services.notebooks.move_card(
        call.path, given.cell_id, given.after, given.index
    )


async def _active_cell(call: Call[args.ReadNotebook]) -> str | None:
    """Return the id of the active cell, if the user shares it."""
    try:
        found = await call.services.workspace.open_documents(
            call.session, {"sessionId": call.session.id}
        )
    except RpcError:
        return None
    uri = file_uri(call.path)
    for entry in found["documents"]:
        cell = entry.get("_meta", {}).get(META, {}).get("cell")
        if entry["uri"] == uri and isinstance(cell, dict):
            return cell.get("id")
    return None


async def _about(call: Call[args.ReadNotebook], live: Any) -> str:
    words = "Not open in a window."
    if live is not None:
        words = "Open in a window" + (", with unsaved changes." if live.dirty else ".")
    kernel = await call.services.kernels.find(call.path)
    if kernel is None:
        return f"{words} No kernel is running."
    return f"{words} Kernel {kernel.name}: {kernel.state}."
