# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools: what each does, and what it is for; models choose by what is written there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..paths import file_uri
from ..protocol import META, parse
from ..rpc import RpcError, invalid_params
from ..rpc.errors import METHOD_NOT_FOUND, NOT_FOUND
from . import arguments as args
from .words import Content, text, told_cells, told_run, told_variables

if TYPE_CHECKING:
    from ..client.kernels import Kernels
    from ..client.notebooks import Notebooks
    from ..client.running import Running
    from ..client.view import SessionView
    from ..client.workspace import Workspace
    from ..outputs import Ran


@dataclass(frozen=True)
class Services:
    """What the tools are made of."""

    workspace: Workspace
    notebooks: Notebooks
    running: Running
    kernels: Kernels


@dataclass(frozen=True)
class Tool:
    """One tool."""

    call: Callable[[Toolbox, Any], Awaitable[Content]]
    arguments: type[args.Arguments]
    reads_only: bool = False
    destroys: bool = False
    shares: str | None = None
    """What the user has to share for it to be there."""

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.call.__name__

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name.replace("_", " ").capitalize()

    @property
    def description(self) -> str:
        """What it is for: what its documentation says."""
        return " ".join((self.call.__doc__ or "").split())


class FailedRunError(Exception):
    """Code that was run and failed: the agent gets what it printed, marked as an error."""

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.content = content


class Toolbox:
    """The tools of one session."""

    def __init__(self, services: Services, session: SessionView) -> None:
        self._services = services
        self._session = session

    def tools(self) -> list[Tool]:
        """Return the tools that there are for this session now."""
        shared = self._services.workspace.capabilities()
        return [tool for tool in TOOLS if tool.shares is None or tool.shares in shared]

    def get(self, name: str) -> Tool:
        """Return a tool by its name."""
        for tool in self.tools():
            if tool.name == name:
                return tool
        names = ", ".join(tool.name for tool in self.tools())
        raise RpcError(METHOD_NOT_FOUND, f"There is no tool {name}; there are: {names}.")

    async def run(self, name: str, arguments: Any) -> Content:
        """Run a tool; every way that leads to the tools ends here."""
        tool = self.get(name)
        return await tool.call(self, parse(tool.arguments, arguments))

    # The workspace

    async def open_documents(self, _: args.Nothing) -> Content:
        """List the notebooks and files that the user has open in JupyterLab, with unsaved changes,
        cursor, selection, active cell and kernel of each.

        Use it to learn what the user is working on.
        """
        found = await self._services.workspace.open_documents(self._session, self._params())
        return [_json(found)]

    async def recent_documents(self, given: args.Recent) -> Content:
        """List the documents that the user had open lately in JupyterLab, newest first."""
        params = {**self._params(), "limit": given.limit}
        return [_json(await self._services.workspace.recent_documents(self._session, params))]

    async def active_document(self, _: args.Nothing) -> Content:
        """Return the one document that the user is looking at in JupyterLab, with cursor, selection
        and active cell; null if it is a terminal or nothing.

        Use it for questions about "this notebook", "this cell" or "the selected code".
        """
        found = await self._services.workspace.active_document(self._session, self._params())
        return [_json(found)]

    # Notebooks

    async def read_notebook(self, given: args.ReadNotebook) -> Content:
        """Read the cells of a Jupyter notebook as the user sees them, unsaved changes included:
        ids, types, sources, execution counts, outputs (cut where long) and errors, which cell is
        active, and the state of the kernel.

        Prefer it to reading the .ipynb file, and call it before you change cells: the other tools
        name cells by the ids that it returns.
        """
        path = await self._path(given)
        notebook = await self._services.notebooks.read(self._session, path)
        numbered = list(enumerate(notebook.cells))
        if given.cell_ids is not None:
            wanted = {notebook.index(cell_id) for cell_id in given.cell_ids}
            chosen = [pair for pair in numbered if pair[0] in wanted]
        else:
            end = None if given.count is None else given.start + given.count
            chosen = numbered[given.start : end]
        words, images, missing = told_cells(chosen, await self._active_cell(path))
        shown = [cell for index, cell in chosen if missing is None or index < missing]
        self._services.notebooks.note(self._session, notebook, shown)
        about = await self._about(path, notebook.live)
        head = f"{path}: {len(numbered)} cells, {len(shown)} shown. {about}"
        if missing is not None:
            words += f"\nThe answer is full: read on with start={missing}."
        return [text(f"{head}\n{words}"), *(images if given.images else [])]

    async def edit_cell(self, given: args.EditCell) -> Content:
        """Replace the source of one notebook cell.

        It changes at once where the user has the notebook open, and can be undone there. Other
        cells, outputs and the kernel stay as they are; nothing is run. Refused if the cell was
        changed since you read it.
        """
        path = await self._path(given)
        await self._services.notebooks.edit(
            self._session, path, given.cell_id, given.source, given.old_source
        )
        return [text(f"Cell {given.cell_id} of {path} has its new source. It was not run.")]

    async def insert_cell(self, given: args.InsertCell) -> Content:
        """Add a code, markdown or raw cell to a notebook: behind a given cell, at an index, or at
        the end.

        Returns its id, for example for run_cell. Nothing is run.
        """
        path = await self._path(given)
        cell, at = await self._services.notebooks.insert(
            self._session, path, given.type, given.source, after=given.after, index=given.index
        )
        return [text(f"The new cell has the id {cell} and is at index {at} of {path}.")]

    async def delete_cell(self, given: args.OfCell) -> Content:
        """Delete one cell of a notebook, with its outputs.

        Refused if it was changed since you read it.
        """
        path = await self._path(given)
        await self._services.notebooks.delete(self._session, path, given.cell_id)
        return [text(f"Cell {given.cell_id} of {path} is deleted.")]

    async def move_cell(self, given: args.MoveCell) -> Content:
        """Move one cell of a notebook behind another cell or to an index; its outputs move with it."""
        path = await self._path(given)
        if given.after is None and given.index is None:
            raise invalid_params("Say where to: give `after` or `index`.")
        at = await self._services.notebooks.move(
            self._session, path, given.cell_id, after=given.after, index=given.index
        )
        return [text(f"Cell {given.cell_id} is now at index {at} of {path}.")]

    # Kernels

    async def run_cell(self, given: args.RunCell) -> Content:
        """Run one code cell of a notebook in the notebook's own kernel, which is started if need
        be, and return what it printed, its result, error and images.

        The outputs are kept in the notebook, and the user sees them. The user may be asked first.
        """
        path = await self._path(given)
        ran = await self._services.running.cell(self._session, path, given.cell_id, given.timeout)
        return _result(ran, f"Cell {given.cell_id}")

    async def run_code(self, given: args.RunCode) -> Content:
        """Run code in the kernel of a notebook without adding a cell: to look at data, try
        something, or check a result.

        It shares its variables with the notebook; the notebook itself stays as it is. Returns
        output, result, error and images. The user may be asked first.
        """
        path = await self._path(given)
        ran = await self._services.running.code(self._session, path, given.code, given.timeout)
        return _result(ran, "The code")

    async def read_variables(self, given: args.OfNotebook) -> Content:
        """List the variables in a notebook's Python kernel: name, type, shape or length, columns of
        tables, short value, and the imported modules.

        Runs none of the user's cells and changes nothing. Use it before you write code that builds
        on what the notebook has computed.
        """
        path = await self._path(given)
        return [text(told_variables(await self._services.running.variables(self._session, path)))]

    async def list_kernels(self, _: args.Nothing) -> Content:
        """List the running kernels with their notebooks, languages and states (idle, busy), and the
        kernels that are installed.
        """
        kernels = self._services.kernels
        running = await kernels.list()
        if "openDocuments" not in self._services.workspace.capabilities():
            # Which notebooks have one is as good as which are open.
            running = [{**kernel, "notebooks": None} for kernel in running]
        return [_json({"running": running, "installed": await kernels.specs()})]

    # Inside

    def _params(self) -> dict[str, Any]:
        return {"sessionId": self._session.id}

    async def _path(self, given: args.OfNotebook) -> Path:
        if given.path is not None:
            return self._services.notebooks.path(self._session, given.path)
        try:
            found = await self._services.workspace.active_document(self._session, self._params())
        except RpcError:
            raise invalid_params(
                "path: name the notebook, since the user does not share which one is in use."
            ) from None
        document = found["document"]
        if document is None or not document["uri"].endswith(".ipynb"):
            raise RpcError(
                NOT_FOUND, "The user is not looking at a notebook: name the one that you mean."
            )
        return self._services.notebooks.path(self._session, document["uri"])

    async def _active_cell(self, path: Path) -> str | None:
        """Return the cell that the user is in, if that is shared."""
        try:
            found = await self._services.workspace.open_documents(self._session, self._params())
        except RpcError:
            return None
        uri = file_uri(path)
        for entry in found["documents"]:
            cell = entry.get("_meta", {}).get(META, {}).get("cell")
            if entry["uri"] == uri and isinstance(cell, dict):
                return cell.get("id")
        return None

    async def _about(self, path: Path, live: Any) -> str:
        words = "Not open in a window."
        if live is not None:
            words = "Open in a window" + (", with unsaved changes." if live.dirty else ".")
        kernel = await self._services.kernels.find(path)
        if kernel is None:
            return f"{words} No kernel is running."
        return f"{words} Kernel {kernel.name}: {kernel.state}."


def _result(ran: Ran, what: str) -> Content:
    content = told_run(ran, what)
    if ran.status != "ok":
        raise FailedRunError(content)
    return content


def _json(value: Any) -> dict[str, Any]:
    return text(json.dumps(value, ensure_ascii=False, indent=1))


TOOLS = [
    Tool(Toolbox.open_documents, args.Nothing, reads_only=True, shares="openDocuments"),
    Tool(Toolbox.recent_documents, args.Recent, reads_only=True, shares="recentDocuments"),
    Tool(Toolbox.active_document, args.Nothing, reads_only=True, shares="activeDocument"),
    Tool(Toolbox.read_notebook, args.ReadNotebook, reads_only=True),
    Tool(Toolbox.edit_cell, args.EditCell, destroys=True),
    Tool(Toolbox.insert_cell, args.InsertCell),
    Tool(Toolbox.delete_cell, args.OfCell, destroys=True),
    Tool(Toolbox.move_cell, args.MoveCell),
    Tool(Toolbox.run_cell, args.RunCell, destroys=True),
    Tool(Toolbox.run_code, args.RunCode, destroys=True),
    Tool(Toolbox.read_variables, args.OfNotebook, reads_only=True),
    Tool(Toolbox.list_kernels, args.Nothing, reads_only=True),
]
