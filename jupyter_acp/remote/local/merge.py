# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The actions that merge a result into the current branch, or take its changes without a commit.

`git merge-tree` finds conflicts before anything is changed.
"""

from __future__ import annotations

from ..filenames import listed, some
from .action import perform, taking
from .isolated import IsolatedRepository
from .record import Action, Move
from .repository import Head, RepositoryError
from .results import Result


async def merge(isolated: IsolatedRepository, result: Result, message: str | None = None) -> Action:
    """Merge a result, by fast-forward if that is possible."""
    async with taking(isolated, result) as head:
        branch = await _branch(isolated, head)
        ours, theirs = head.revision or "", result.revision
        if await isolated.git.succeeds("merge-base", "--is-ancestor", theirs, ours):
            raise RepositoryError("nothing", f"{branch} has all of the result already.")
        if await isolated.git.succeeds("merge-base", "--is-ancestor", ours, theirs):
            tip, how, words = theirs, "Fast-forward", "fast-forward"
        else:
            text = message or f"Merge the result of session {result.session}"
            tip = await _merge_commit(isolated, ours, theirs, text)
            how, words = "Merge made by jupyter-acp.", "merge commit"
        action = Action(
            "merge",
            before=head,
            after=Head(tip, branch),
            old=await isolated.tree(ours),
            new=await isolated.tree(tip),
            message=f"Merged into {branch} ({words}).",
            moves=[Move(f"refs/heads/{branch}", ours, tip, f"merge {result.ref}: {how}")],
        )
        return await perform(isolated, action)


async def pick(isolated: IsolatedRepository, result: Result) -> Action:
    """Apply the changes of a result to files and index without a commit."""
    async with taking(isolated, result) as head:
        old = await isolated.tree(head.revision)
        new = await _merged_tree(isolated, head.revision or "", result.revision)
        if new == old:
            raise RepositoryError("nothing", "All changes of the result are here already.")
        words = "The changes are in your files, staged and not committed."
        action = Action("pick", before=head, after=head, old=old, new=new, message=words)
        return await perform(isolated, action)


async def _branch(isolated: IsolatedRepository, head: Head) -> str:
    if head.branch is None:
        raise RepositoryError(
            "detached",
            "No branch is checked out (detached HEAD), so there is none to merge into. Check a "
            "branch out first, or take the result as a branch of its own.",
        )
    if place := await isolated.repository.elsewhere(head.branch):
        raise RepositoryError(
            "branchElsewhere",
            f"{head.branch} is checked out in {place}, too, which would be out of step. Check "
            "another branch out in one of the two.",
        )
    return head.branch


async def _merge_commit(isolated: IsolatedRepository, ours: str, theirs: str, text: str) -> str:
    tree = await _merged_tree(isolated, ours, theirs)
    git = isolated.storing(isolated.settings.identity)
    return await git.text("commit-tree", "-p", ours, "-p", theirs, "-m", text, tree)


async def _merged_tree(isolated: IsolatedRepository, ours: str, theirs: str) -> str:
    """Return the merged tree of two commits, or raise an error that names the conflicts."""
    options = ("--write-tree", "-z", "--name-only", "--no-messages")
    status, printed = await isolated.storing().result(
        "merge-tree", *options, ours, theirs, ok=(0, 1)
    )
    tree, *files = listed(printed)
    if status:
        raise RepositoryError(
            "conflict",
            f"You and the session have changed the same parts of {some(files)}. Nothing was "
            "changed. Check the result out as a branch and merge by hand.",
            files,
        )
    return tree
