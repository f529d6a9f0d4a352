# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools for kernels: running code, listing variables, restarting and interrupting."""

from __future__ import annotations

from typing import Any

from ..client.notebooks.outputs import RanCell
from . import arguments as args
from .model_text import json_text, text, told_run, told_runs, told_variables
from .records import Room
from .tool import Answer, Call


async def run_cell(call: Call[args.RunCell]) -> Answer:
    """Run one code cell of a notebook in the notebook's own kernel, which is started if
    needed, and return what it printed, its result, error and images.

    The outputs are kept in the notebook, and the user sees them. The user may be asked first.
    """
    given, path = call.given, call.path
    cell = await call.services.running.cell(
        call.session, path, given.cell_id, given.timeout, call.title
    )
    said = told_run(cell.ran, f"Cell {given.cell_id}")
    return Answer(said, Room().of_cell(cell, path), failed=cell.ran.status != "ok")


async def run_cells(call: Call[args.RunCells]) -> Answer:
    """Run several code cells of a notebook from top to bottom: all of them, those from a cell
    on, or those from one cell to another. It stops at the first that fails.

    Prefer it to many calls of run_cell: the user is asked once for all of them. The outputs are
    kept in the notebook; long ones are cut in the answer, and cell_output returns them in full.
    """
    given, path = call.given, call.path
    cells: list[RanCell] = []
    room = Room()

    def done(cell: RanCell) -> None:
        cells.append(cell)
        call.result.setdefault("cells", []).append(room.of_cell(cell, path))
        call.result["language"] = cell.ran.language or call.result.get("language", "")

    left = await call.services.running.cells(
        call.session, path, given.first, given.last, given.timeout, call.title, done
    )
    return Answer(told_runs(cells, left), call.result, failed=cells[-1].ran.status != "ok")


async def run_code(call: Call[args.RunCode]) -> Answer:
    """Run code in the kernel of a notebook without adding a cell: to look at data, try
    something, or check a result.

    It shares its variables with the notebook; the notebook itself stays as it is. Returns
    output, result, error and images. The user may be asked first.
    """
    given, path = call.given, call.path
    ran = await call.services.running.code(
        call.session, path, given.code, given.timeout, call.title
    )
    result = Room().of(ran, given.code, "It went to the agent only.")
    return Answer(told_run(ran, "The code"), result, failed=ran.status != "ok")


async def read_variables(call: Call[args.OfNotebook]) -> Answer:
    """List the variables in a notebook's Python kernel: name, type, shape or length, columns of
    tables, short value, and the imported modules.

    Runs none of the user's cells and changes nothing. Use it before you write code that builds
    on what the notebook has computed.
    """
    found = await call.services.running.variables(call.session, call.path, call.title)
    return Answer([text(told_variables(found))], found)


async def restart_kernel(call: Call[args.OfNotebook]) -> Answer:
    """Restart the kernel of a notebook and wait until it is back. All its variables are lost;
    cells and outputs stay.

    Use it when the kernel is stuck, or to check that the notebook runs from a clean start. The
    user is asked first.
    """
    name = await call.services.control.restart(call.session, call.path, call.title)
    said = f"The kernel {name} of {call.path} is back. It has no variables; nothing was run."
    return Answer([text(said)], {"kernel": name})


async def interrupt_kernel(call: Call[args.OfNotebook]) -> Answer:
    """Interrupt what the kernel of a notebook is running. Its variables stay.

    Use it for code of yours that takes too long. The user is asked first if it is not yours.
    """
    is_over = await call.services.control.interrupt(call.session, call.path)
    if is_over is None:
        said = "The kernel is idle: there was nothing to interrupt."
    elif is_over:
        said = "It was interrupted."
    else:
        said = "The kernel does not react to the interrupt: it may still be running."
    return Answer([text(said)], {"interrupted": bool(is_over)})


async def list_kernels(call: Call[args.Nothing]) -> Answer:
    """List the running kernels with their notebooks, languages and states (idle, busy), and the
    kernels that are installed.
    """
    kernels = call.services.kernels
    running = await kernels.list()
    if "openDocuments" not in call.services.workspace.capabilities():
        # The notebooks of the kernels would show which notebooks are open.
        running = [{**kernel, "notebooks": None} for kernel in running]
    installed = await kernels.specs()
    content = [json_text({"running": running, "installed": installed})]
    return Answer(content, {"running": len(running), "installed": len(installed)})


async def cell_card(call: Call[args.RunCell]) -> dict[str, Any]:
    """Return the card for running a cell."""
    return await call.services.running.cell_card(call.path, call.given.cell_id)


async def cells_card(call: Call[args.RunCells]) -> dict[str, Any]:
    """Return the card for running cells."""
    return await call.services.running.cells_card(call.path, call.given.first, call.given.last)


async def code_card(call: Call[args.RunCode]) -> dict[str, Any]:
    """Return the card for running code."""
    return await call.services.running.code_card(call.path, call.given.code)


async def restart_card(call: Call[args.OfNotebook]) -> dict[str, Any]:
    """Return a card with what would be lost."""
    return await call.services.control.restart_card(call.path)


async def interrupt_card(call: Call[args.OfNotebook]) -> dict[str, Any]:
    """Return a card with what would be lost."""
    return await call.services.control.interrupt_card(call.path)
