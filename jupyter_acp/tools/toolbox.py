# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The table of tools, and the only way to call them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..protocol import parse
from ..rpc import RpcError
from ..rpc.errors import METHOD_NOT_FOUND
from . import arguments as args
from . import kernels, notebooks, workspace
from .call_title import about
from .model_text import Content
from .records import Record
from .tool import Call, Services, Tool

if TYPE_CHECKING:
    from ..client.view import SessionView


Claim = Callable[["SessionView", str, Any], "str | None"]
"""Returns the id of the call that the agent reports for a call of a tool, if it is known."""


class FailedRunError(Exception):
    """Code was run and failed: the agent gets the output, marked as an error."""

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.content = content


class Toolbox:
    """The tools of one session."""

    def __init__(self, services: Services, session: SessionView, claim: Claim) -> None:
        """Use `claim` to find the agent's own id of a call."""
        self._services = services
        self._session = session
        self._claim = claim

    def tools(self) -> list[Tool]:
        """Return the tools that are available to this session now."""
        shared = self._services.workspace.capabilities()
        return [tool for tool in TOOLS if tool.shares is None or tool.shares in shared]

    async def run(self, name: str, arguments: Any) -> Content:
        """Call a tool, and report the call to the transcript."""
        tool = self._get(name)
        record = Record(self._session, tool.name, arguments, tool.title, self._claim)
        call: Call[Any] | None = None
        try:
            given = parse(tool.arguments, arguments)
            call = await about(self._services, self._session, tool, given)
            record.begin(call.title, call.document)
            answer = await tool.call(call)
        except RpcError as error:
            record.fail(error.text)
            raise
        except asyncio.CancelledError:
            record.fail("The agent has cancelled it.", call.result if call is not None else {})
            raise
        except Exception as error:
            record.fail(f"{tool.name} failed: {error}")
            raise
        record.end(answer.result, failed=answer.failed)
        if answer.failed:
            raise FailedRunError(answer.content)
        return answer.content

    def _get(self, name: str) -> Tool:
        for tool in self.tools():
            if tool.name == name:
                return tool
        names = ", ".join(tool.name for tool in self.tools())
        raise RpcError(METHOD_NOT_FOUND, f"There is no tool {name}; there are: {names}.")


TOOLS = [
    Tool(
        workspace.open_documents,
        args.Nothing,
        "Look at what is open",
        reads_only=True,
        shares="openDocuments",
    ),
    Tool(
        workspace.recent_documents,
        args.Recent,
        "Look at what was open lately",
        reads_only=True,
        shares="recentDocuments",
    ),
    Tool(
        workspace.active_document,
        args.Nothing,
        "Look at which document is in use",
        reads_only=True,
        shares="activeDocument",
    ),
    Tool(workspace.show_document, args.ShowDocument, "Show {file}"),
    Tool(workspace.save_document, args.OfDocument, "Save {file}", destroys=True),
    Tool(notebooks.read_notebook, args.ReadNotebook, "Read {file}", reads_only=True),
    Tool(
        notebooks.cell_output,
        args.CellOutput,
        "Read the output of {cell} of {file}",
        reads_only=True,
    ),
    Tool(
        notebooks.create_notebook,
        args.CreateNotebook,
        "Create {file}",
        card=notebooks.creation_card,
    ),
    Tool(
        notebooks.edit_cell,
        args.EditCell,
        "Edit {cell} of {file}",
        card=notebooks.edit_card,
        destroys=True,
    ),
    Tool(
        notebooks.insert_cell,
        args.InsertCell,
        "Insert a cell into {file}",
        card=notebooks.insertion_card,
        repeats=True,
    ),
    Tool(
        notebooks.delete_cell,
        args.OfCell,
        "Delete {cell} of {file}",
        card=notebooks.deletion_card,
        destroys=True,
    ),
    Tool(
        notebooks.move_cell,
        args.MoveCell,
        "Move {cell} of {file}",
        card=notebooks.move_card,
    ),
    Tool(
        kernels.run_cell,
        args.RunCell,
        "Run {cell} of {file}",
        card=kernels.cell_card,
        destroys=True,
        repeats=True,
        reaches_out=True,
    ),
    Tool(
        kernels.run_cells,
        args.RunCells,
        "Run {cells} of {file}",
        card=kernels.cells_card,
        destroys=True,
        repeats=True,
        reaches_out=True,
    ),
    Tool(
        kernels.run_code,
        args.RunCode,
        "Run code in the kernel of {file}",
        card=kernels.code_card,
        destroys=True,
        repeats=True,
        reaches_out=True,
    ),
    Tool(
        kernels.read_variables,
        args.OfNotebook,
        "Look at the variables of {file}",
        reads_only=True,
    ),
    Tool(
        kernels.restart_kernel,
        args.OfNotebook,
        "Restart the kernel of {file}",
        card=kernels.restart_card,
        destroys=True,
        repeats=True,
    ),
    Tool(
        kernels.interrupt_kernel,
        args.OfNotebook,
        "Interrupt the kernel of {file}",
        card=kernels.interrupt_card,
        destroys=True,
        repeats=True,
    ),
    Tool(kernels.list_kernels, args.Nothing, "Look at the kernels", reads_only=True),
]
