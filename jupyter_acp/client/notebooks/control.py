# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Restarting and interrupting the kernels of notebooks, with the user's permission."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

from ...rpc import RpcError
from ...rpc.errors import CONFLICT, NOT_FOUND, UNAVAILABLE
from ..documents.live import Documents
from ..permissions.policy import Action, Details
from ..permissions.service import Permissions
from ..view import SessionView
from .kernels import Kernels
from .question_cards import card, words

RESTART_TIME = 60.0
"""Timeout for a restart, in seconds."""

PATIENCE = 5.0
"""Timeout for an interrupted run to end, in seconds."""

PULSE = 0.1


class KernelControl:
    """Restarts and interrupts kernels for agents."""

    def __init__(
        self, root_dir: str, documents: Documents, kernels: Kernels, permissions: Permissions
    ) -> None:
        self._root_dir = root_dir
        self._documents = documents
        self._kernels = kernels
        self._permissions = permissions

    async def restart(self, session: SessionView, path: Path, title: str) -> str:
        """Restart the kernel of a notebook and wait until it is ready; return its name."""
        kernel = await self._kernel(path)
        await self._ask(session, path, title, partial(self.restart_card, path))
        try:
            await asyncio.wait_for(self._restart(path, kernel), RESTART_TIME)
        except asyncio.TimeoutError:
            raise RpcError(
                UNAVAILABLE,
                f"The kernel of {path} was restarted and is not back after {RESTART_TIME:g} s.",
            ) from None
        return str(kernel.name)

    async def interrupt(self, session: SessionView, path: Path) -> bool | None:
        """Interrupt the kernel of a notebook; return True if it stopped, None if it was idle."""
        kernel = await self._kernel(path)
        run = self._kernels.run(kernel)
        if run is None and kernel.state != "busy":
            return None
        if run is None or run.owner != session.id:
            whose = "what you run" if run is None else "what another session runs"
            title = f"Interrupt {whose} in the kernel of {path.name}"
            await self._ask(session, path, title, partial(self.interrupt_card, path))
            kernel = await self._kernel(path)
            if self._kernels.run(kernel) is not run:
                raise RpcError(
                    CONFLICT,
                    "The user said yes, but what it was about has ended meanwhile: nothing was "
                    "interrupted.",
                )
            if run is None and kernel.state != "busy":
                return None
        await self._kernels.interrupt(kernel)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            kernel = await self._kernels.find(path)
            if kernel is None or kernel.state != "busy":
                return True
            await asyncio.sleep(PULSE)
        return False

    # Contents of cards, as fields of a tool call

    async def restart_card(self, path: Path) -> dict[str, Any]:
        """Return a card with what would be lost."""
        kernel = await self._kernel(path)
        lost = "Its variables are lost."
        if kernel.state == "busy":
            lost = f"The kernel is busy: what it runs is ended. {lost}"
        return card(path, words(lost))

    async def interrupt_card(self, path: Path) -> dict[str, Any]:
        """Return a card with what would be lost."""
        return card(path, words("What it has computed so far may be lost."))

    async def _restart(self, path: Path, kernel: Any) -> None:
        if not await self._documents.restart(path):
            await self._kernels.restart(kernel)
        # The restart may return before the kernel accepts requests.
        await self._kernels.language(kernel, timeout=RESTART_TIME)

    async def _kernel(self, path: Path) -> Any:
        kernel = await self._kernels.find(path)
        if kernel is None:
            raise RpcError(NOT_FOUND, f"No kernel runs for {path}: there is nothing to do.")
        return kernel

    async def _ask(self, session: SessionView, path: Path, title: str, details: Details) -> None:
        action = Action.on_file("restart", path, [*session.roots, self._root_dir], title, details)
        # No permission that the agent itself has requested covers this.
        action.granted_by = ()
        action.verb = title.split(maxsplit=1)[0]
        await self._permissions.check(session, action, "ask")
