# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Undo of the last action, if nothing has changed since."""

from __future__ import annotations

from ..filenames import some
from .action import acting, perform
from .isolated import IsolatedRepository
from .record import Action, Records
from .repository import RepositoryError


async def undo(isolated: IsolatedRepository, id: str) -> Action:
    """Undo an action if it is the last one; return the action that undid it."""
    async with acting(isolated) as head:
        last = Records(isolated.place).last
        if last is None or last.id != id:
            raise RepositoryError(
                "unknownRecord", "This cannot be undone any more: only the last action can."
            )
        if head != last.after:
            raise RepositoryError(
                "changedSince",
                "It cannot be undone: something else was checked out or committed since.",
            )
        try:
            return await perform(isolated, last.undoing)
        except RepositoryError as error:
            if error.code != "dirty":
                raise
            raise RepositoryError(
                "changedSince",
                f"It cannot be undone: {some(error.files) or 'your files'} changed since. Nothing "
                "was touched.",
                error.files,
            ) from None
