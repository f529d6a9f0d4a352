# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Actions that change files and references together, or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from ..git import GitError
from .interrupted import action_lock, what_is_left
from .isolated import IsolatedRepository
from .record import Action, Records
from .repository import Head, RepositoryError
from .results import Result
from .uninterrupted import to_the_end
from .working_tree import check_free, switch

_PATIENCE = 30.0


@contextlib.asynccontextmanager
async def acting(isolated: IsolatedRepository) -> AsyncIterator[Head]:
    """Lock a working tree against other actions; return what is checked out."""
    repository = isolated.repository
    lock = action_lock(isolated.place)
    if not await lock.wait(_PATIENCE):
        raise RepositoryError("locked", "Something else is being done here. Try again in a while.")
    try:
        if words := await what_is_left(isolated):
            raise RepositoryError("halfDone", words)
        if repository.lock.exists():
            raise RepositoryError(
                "locked",
                "Another git is at work in this repository. Try again when it is through. If there "
                f"is none, one has died: remove {repository.lock} and try again.",
            )
        if repository.going_on:
            raise RepositoryError(
                "inProgress",
                f"There is {repository.going_on} in progress in this repository. Finish it or give "
                "it up first.",
            )
        yield await repository.head()
    finally:
        lock.release()


@contextlib.asynccontextmanager
async def taking(isolated: IsolatedRepository, result: Result) -> AsyncIterator[Head]:
    """Lock a working tree while a result is taken in; return what is checked out."""
    async with acting(isolated) as head:
        await result.check_is_kept(isolated.repository)
        if head.revision is None:
            raise RepositoryError("noCommits", "There is no commit yet to put the result on.")
        try:
            yield head
        except RepositoryError as error:
            contains = ("merge-base", "--is-ancestor", result.sent, head.revision)
            if error.code != "dirty" or await isolated.git.succeeds(*contains):
                raise
            raise RepositoryError(
                error.code,
                f"{error} The session began with work of yours that was not committed, and the "
                "result contains it: you can stash it and take the result.",
                error.files,
            ) from None


async def perform(isolated: IsolatedRepository, action: Action) -> Action:
    """Do an action completely or not at all; it cannot be cancelled in the middle."""
    await check_free(isolated, action.old, action.new)
    await to_the_end(_perform(isolated, action))
    return action


async def _perform(isolated: IsolatedRepository, action: Action) -> None:
    records = Records(isolated.place)
    try:
        records.begin(action)
    except OSError as error:
        raise RepositoryError(
            "noRecord", f"The action could not be written down first, so nothing was done: {error}."
        ) from None
    try:
        await switch(isolated, action.old, action.new)
        await _move(isolated, action)
        records.finish(action)
    except (GitError, OSError) as error:
        if words := await what_is_left(isolated):
            raise RepositoryError("halfDone", f"It did not work: {error} {words}") from None
        raise RepositoryError("failed", f"It did not work, and all is as before. {error}") from None


async def _move(isolated: IsolatedRepository, action: Action) -> None:
    """Change the references; if that fails, restore references and files."""
    made = []
    try:
        for move in action.moves:
            await move.make(isolated.repository)
            made.append(move)
    except GitError:
        # If a step back fails, too, the error says what is left.
        with contextlib.suppress(GitError):
            for move in reversed(made):
                await move.back.make(isolated.repository)
        with contextlib.suppress(GitError):
            await switch(isolated, action.new, action.old)
        raise
