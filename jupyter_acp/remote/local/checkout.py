# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The action that checks a result out as a new branch."""

from __future__ import annotations

from ..filenames import with_parents
from ..refs import RefError, check_branch
from .action import perform, taking
from .isolated import IsolatedRepository
from .record import Action, Move
from .repository import Head, RepositoryError
from .results import Result


async def checkout(isolated: IsolatedRepository, result: Result, branch: str) -> Action:
    """Create a branch from a result and switch to it."""
    try:
        check_branch(branch)
    except RefError as error:
        raise RepositoryError("badName", f"The name of the branch {error}.") from None
    name = f"refs/heads/{branch}"
    async with taking(isolated, result) as head:
        await _check_is_free(isolated, branch)
        at = f"refs/heads/{head.branch}" if head.branch else head.revision
        moves = [
            Move(name, None, result.revision, f"branch: Created from {result.ref}"),
            Move("HEAD", at, name, f"checkout: moving from {head.name} to {branch}"),
        ]
        action = Action(
            "checkout",
            before=head,
            after=Head(result.revision, branch),
            old=await isolated.tree(head.revision),
            new=await isolated.tree(result.revision),
            message=f"Checked out as the new branch {branch}.",
            moves=moves,
        )
        return await perform(isolated, action)


async def _check_is_free(isolated: IsolatedRepository, branch: str) -> None:
    repository = isolated.repository
    taken = {ref.removeprefix("refs/heads/") for ref in await repository.refs("refs/heads/")}
    # git does not allow the branches `a` and `a/b` together.
    if branch in with_parents(taken) or with_parents([branch]) & taken:
        raise RepositoryError(
            "branchExists", f"There is a branch {branch} already. Choose another name."
        )
    if place := await repository.elsewhere(branch):
        raise RepositoryError(
            "branchElsewhere", f"{branch} is checked out in {place}. Choose another name."
        )
