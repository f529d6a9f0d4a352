# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Running cells and code in the kernels of notebooks, with the user's permission."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...rpc import RpcError, invalid_params
from ...rpc.errors import CONFLICT, NOT_FOUND, UNAVAILABLE
from ..documents.live import Documents
from ..permissions.policy import Action
from ..permissions.service import Permissions
from ..view import SessionView
from .kernels import Conversation, Kernels
from .outputs import Ran, RanCell
from .question_cards import card, fenced, words
from .service import Notebooks
from .variables import EXPRESSION

INSPECTION_TIME = 10.0
"""Timeout for listing the variables of a kernel, in seconds."""

PATIENCE = 5.0
"""Timeout for a window to report the end of an interrupted cell, in seconds."""


class Running:
    """Runs cells and code for agents, in the user's window if it has the notebook open."""

    def __init__(
        self,
        root_dir: str,
        documents: Documents,
        notebooks: Notebooks,
        kernels: Kernels,
        permissions: Permissions,
    ) -> None:
        self._root_dir = root_dir
        self._documents = documents
        self._notebooks = notebooks
        self._kernels = kernels
        self._permissions = permissions

    async def cell(
        self, session: SessionView, path: Path, cell_id: str, timeout: float, title: str
    ) -> RanCell:
        """Run a cell: in the window that has the notebook open, else here, saving the outputs."""
        async with self._for_readers(session, path):
            notebook = await self._notebooks.load(path)
            index = notebook.index(cell_id)
            kind, source = notebook.cells[index]["cell_type"], notebook.cells[index]["source"]
            if kind != "code":
                raise invalid_params(
                    f"Cell {cell_id} is a {kind} cell: there is nothing to run in it."
                )
        shown, is_closed = _code_card(path, source, notebook.language), notebook.live is None
        await self._ask(session, path, title, source, shown, saves=is_closed)
        place = _Place(session, path, timeout, notebook.language, may_save=is_closed)
        return RanCell(cell_id, index, source, await self._run(place, cell_id, source))

    async def cells(
        self,
        session: SessionView,
        path: Path,
        first: str | None,
        last: str | None,
        timeout: float,
        title: str,
        done: Callable[[RanCell], None],
    ) -> int:
        """Run the code cells from `first` to `last` in order, until one fails.

        Pass each result to `done`, and return the number of cells that were not run.
        """
        async with self._for_readers(session, path):
            notebook = await self._notebooks.load(path)
            wanted = notebook.to_run(first, last)
        sources: dict[int, str] = {at: notebook.cells[at]["source"] for at in wanted}
        shown, is_closed = _cells_card(path, sources, notebook.language), notebook.live is None
        code = "\n\n".join(sources.values())
        await self._ask(session, path, title, code, shown, saves=is_closed)
        place = _Place(session, path, timeout, notebook.language, may_save=is_closed)
        deadline = time.monotonic() + timeout
        for count, (index, source) in enumerate(sources.items(), 1):
            cell_id: str = notebook.cells[index]["id"]
            place.timeout = round(deadline - time.monotonic(), 1)
            over = f"The {timeout:g} s for all cells are over."
            ran = Ran("aborted", note=over, language=notebook.language)
            try:
                if place.timeout > 0:
                    ran = await self._run(place, cell_id, source)
            except RpcError as error:
                # Report an error as a result: the cells before have run.
                ran.note = error.text
            except asyncio.CancelledError:
                ran.note = "It was cancelled."
                done(RanCell(cell_id, index, source, ran))
                raise
            done(RanCell(cell_id, index, source, ran))
            if ran.status != "ok":
                return len(wanted) - count
        return 0

    async def code(
        self, session: SessionView, path: Path, code: str, timeout: float, title: str
    ) -> Ran:
        """Run code in a notebook's kernel without changing the notebook."""
        if not code.strip():
            raise invalid_params("code: there is nothing to run.")
        async with self._for_readers(session, path):
            notebook = await self._notebooks.load(path)
        shown = _code_card(path, code, notebook.language)
        await self._ask(session, path, title, code, shown, saves=False)
        kernel = await self._kernels.find(path)
        if kernel is None and notebook.live is not None:
            # Start the kernel from the window, so that the window is connected to it.
            await self._start_in_window(path, timeout)
        kernel = await self._kernels.start(path, notebook.content["metadata"])
        ran = await self._kernels.execute(
            kernel, code, timeout=timeout, store_history=False, owner=session.id
        )
        # The run is not in the history: this count belongs to another run.
        ran.execution_count = None
        return ran

    async def variables(self, session: SessionView, path: Path, title: str) -> dict[str, Any]:
        """Return the variables of a notebook's kernel without changing its state."""
        await self._notebooks.read(session, path, title)
        kernel = await self._kernels.find(path)
        if kernel is None:
            raise RpcError(NOT_FOUND, f"No kernel runs for {path}: there are no variables yet.")
        language = await self._kernels.language(kernel, timeout=INSPECTION_TIME)
        if language != "python":
            raise invalid_params(
                f"The kernel of {path} speaks {language or 'an unknown language'}: variables can be "
                "listed for Python only. Use run_code with whatever lists them in that language."
            )
        answer = await self._kernels.evaluate(kernel, EXPRESSION, timeout=INSPECTION_TIME)
        try:
            return dict(json.loads(ast.literal_eval(answer["data"]["text/plain"])))
        except (KeyError, TypeError, ValueError, SyntaxError):
            raise RpcError(
                UNAVAILABLE, "The kernel did not tell its variables; use run_code to look at them."
            ) from None

    # Contents of cards, as fields of a tool call

    async def cell_card(self, path: Path, cell_id: str) -> dict[str, Any]:
        """Return the card for running a cell."""
        notebook = await self._notebooks.load(path)
        source: str = notebook.cells[notebook.index(cell_id)]["source"]
        return _code_card(path, source, notebook.language)

    async def cells_card(self, path: Path, first: str | None, last: str | None) -> dict[str, Any]:
        """Return the card for running cells."""
        notebook = await self._notebooks.load(path)
        wanted = notebook.to_run(first, last)
        sources: dict[int, str] = {at: notebook.cells[at]["source"] for at in wanted}
        return _cells_card(path, sources, notebook.language)

    async def code_card(self, path: Path, code: str) -> dict[str, Any]:
        """Return the card for running code."""
        notebook = await self._notebooks.load(path)
        return _code_card(path, code, notebook.language)

    async def _run(self, place: _Place, cell_id: str, source: str) -> Ran:
        """Run a cell if its source is still the allowed one: another tool may have changed it."""
        session, path, timeout = place.session, place.path, place.timeout
        notebook = await self._notebooks.load(path)
        if notebook.live is not None:
            ran = await self._in_window(place, cell_id, source)
            if ran is not None:
                return ran
        if not place.may_save:
            await self._notebooks.check(session, "write", path, _saving(path))
            place.may_save = True
            notebook = await self._notebooks.load(path)
        if notebook.cells[notebook.index(cell_id)]["source"] != source:
            raise RpcError(
                CONFLICT, f"Cell {cell_id} was changed before it could run; it was not run."
            )
        kernel = await self._kernels.start(path, notebook.content["metadata"])
        ran = await self._kernels.execute(
            kernel, source, timeout=timeout, store_history=True, owner=session.id
        )
        await self._keep(path, cell_id, source, ran)
        return ran

    @contextlib.asynccontextmanager
    async def _for_readers(self, session: SessionView, path: Path) -> AsyncIterator[None]:
        """Raise errors about the notebook only for agents that may read it."""
        try:
            yield
        except RpcError:
            await self._notebooks.check(session, "read", path, f"Read {path.name}")
            raise

    async def _ask(
        self,
        session: SessionView,
        path: Path,
        title: str,
        code: str,
        shown: dict[str, Any],
        *,
        saves: bool,
    ) -> None:
        """Return if the agent may run code, read the notebook and save outputs; else raise."""

        async def details() -> dict[str, Any]:
            return shown

        action = Action.on_file("run", path, [*session.roots, self._root_dir], title, details)
        # A permission to edit a notebook is not a permission to run code in it.
        action.granted_by = [code]
        implied = [self._notebooks.wish(session, "read", path, f"Read {path.name}")]
        if saves:
            saving = self._notebooks.wish(session, "write", path, _saving(path))
            action.risk = saving[0].risk
            implied.append(saving)
        await self._permissions.check(session, action, "ask", implied)

    async def _start_in_window(self, path: Path, timeout: float) -> bool:
        """Start the kernel in the window; return False if no window has the notebook open."""
        starting = self._documents.run(path)
        try:
            return await asyncio.wait_for(starting, timeout) is not None
        except asyncio.TimeoutError:
            raise RpcError(
                UNAVAILABLE,
                f"The window that has {path} open did not start a kernel; ask the user to.",
            ) from None

    async def _in_window(self, place: _Place, cell: str, source: str) -> Ran | None:
        path, timeout = place.path, place.timeout
        deadline = time.monotonic() + timeout
        kernel = await self._kernels.find(path)
        if kernel is None:
            # Start the kernel first: it has to be watched before the cell begins.
            if not await self._start_in_window(path, timeout):
                return None
            kernel = await self._kernels.find(path)
        # A window queues the cell behind whatever the user runs, so ask it only when the kernel is
        # free. The user can still be faster: interrupt the kernel only while it runs the allowed
        # code, and never a kernel that is unknown here.
        watching: contextlib.AbstractAsyncContextManager[Conversation | None] = (
            contextlib.nullcontext()
            if kernel is None
            else self._kernels.watch(
                kernel, source, timeout=deadline - time.monotonic(), owner=place.session.id
            )
        )
        async with watching as watch:
            language = watch.language if watch is not None else place.language
            running = asyncio.ensure_future(self._documents.run(path, cell, source))
            is_interrupted = False
            try:
                done, _ = await asyncio.wait({running}, timeout=deadline - time.monotonic())
                if not done and watch is not None and watch.started:
                    is_interrupted = True
                    await self._kernels.interrupt(watch.kernel)
                    done, _ = await asyncio.wait({running}, timeout=PATIENCE)
            except asyncio.CancelledError:
                running.cancel()
                if watch is not None and watch.started:
                    await self._kernels.interrupt(watch.kernel)
                raise
        late = f"It took longer than {timeout:g} s and"
        if not done:
            running.cancel()
            if is_interrupted:
                return Ran("timeout", note=f"{late} may still be running.", language=language)
            return Ran(
                "aborted",
                note=f"{late} the kernel is not at it, so nothing was interrupted. The window may "
                "still run it: read the notebook to see how far it came.",
                language=language,
            )
        ran = running.result()
        if ran is None:
            return None
        if is_interrupted:
            note = f"{late} was interrupted."
            return Ran("timeout", ran.outputs, ran.execution_count, note, language)
        return Ran(ran.status, ran.outputs, ran.execution_count, language=language)

    async def _keep(self, path: Path, cell_id: str, source: str, ran: Ran) -> None:
        """Save the result of a cell in its notebook, if its source is unchanged."""

        def edit(cells: list[dict[str, Any]]) -> None:
            for cell in cells:
                if cell["id"] == cell_id and cell["source"] == source:
                    cell["outputs"] = ran.outputs
                    cell["execution_count"] = ran.execution_count

        await self._notebooks.apply(path, edit)


@dataclass
class _Place:
    """The notebook and the limits for running allowed cells."""

    session: SessionView
    path: Path
    timeout: float
    language: str
    """Language of the notebook."""

    may_save: bool
    """True if outputs may be saved to the file; permission for that is checked once."""


def _code_card(path: Path, code: str, language: str) -> dict[str, Any]:
    return card(path, words(fenced(code, language)), code=code)


def _cells_card(path: Path, sources: dict[int, str], language: str) -> dict[str, Any]:
    """Return a card with the code of cells, each under the number of its cell."""
    cells = (f"Cell {at + 1}:\n\n{fenced(sources[at], language)}" for at in sources)
    return card(path, *map(words, cells))


def _saving(path: Path) -> str:
    return f"Save outputs in {path.name}"
