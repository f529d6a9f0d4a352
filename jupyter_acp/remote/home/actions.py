# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a user can do with a result: check it out, merge it, pick it, and undo that.

Each either completes or leaves files, index, HEAD and branches exactly as they were.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from ..refs import RefError, check_branch
from .files import enter, entries
from .names import listed, some, with_parents
from .records import KEPT, Move, Record, Records, new_id
from .recovery import recover
from .repository import Head, RepositoryError
from .results import Result
from .shadow import Shadow
from .transaction import locked, transact
from .working import Session, make_plan
from .written import put_back


async def checkout(shadow: Shadow, result: Result, branch: str) -> Record:
    """Check a result out as a new branch."""
    repository = shadow.repository
    try:
        check_branch(branch)
    except RefError as error:
        raise RepositoryError("badName", f"The name of the branch {error}.") from None
    name = f"refs/heads/{branch}"
    async with _begun(shadow, result) as doing:
        head = doing.head
        taken = {ref.removeprefix("refs/heads/") for ref in await repository.refs("refs/heads/")}
        # One cannot be the folder of another.
        if branch in with_parents(taken) or with_parents([branch]) & taken:
            raise RepositoryError(
                "branchExists", f"There is a branch {branch} already. Choose another name."
            )
        if place := await repository.elsewhere(branch):
            raise RepositoryError(
                "branchElsewhere", f"{branch} is checked out in {place}. Choose another name."
            )
        moves = [
            Move(name, None, result.revision, f"branch: Created from {result.ref}"),
            Move(
                "HEAD",
                f"refs/heads/{head.branch}" if head.branch else head.revision,
                name,
                f"checkout: moving from {head.name} to {branch}",
            ),
        ]
        after = Head(result.revision, branch)
        words = f"Checked out as the new branch {branch}."
        return await doing.do("checkout", after, moves, result.revision, words)


async def merge(shadow: Shadow, result: Result, message: str | None = None) -> Record:
    """Merge a result into the branch that is checked out."""
    repository = shadow.repository
    async with _begun(shadow, result) as doing:
        head = doing.head
        if head.branch is None:
            raise RepositoryError(
                "detached",
                "No branch is checked out (detached HEAD), so there is none to merge into. Check a "
                "branch out first, or take the result as a branch of its own.",
            )
        if place := await repository.elsewhere(head.branch):
            raise RepositoryError(
                "branchElsewhere",
                f"{head.branch} is checked out in {place}, too, which would be out of step. Check "
                "another branch out in one of the two.",
            )
        ours, theirs = head.revision or "", result.revision
        if await shadow.git.succeeds("merge-base", "--is-ancestor", theirs, ours):
            raise RepositoryError("nothing", f"{head.branch} has all of the result already.")
        if await shadow.git.succeeds("merge-base", "--is-ancestor", ours, theirs):
            tip, how = theirs, "Fast-forward"
        else:
            tree = await _merged(shadow, ours, theirs)
            who = shadow.git.at(shadow.git.git_dir, env=shadow.settings.identity)
            text = message or f"Merge the result of session {result.session}"
            tip = await who.text("commit-tree", "-p", ours, "-p", theirs, "-m", text, tree)
            await shadow.give([tip], [ours, theirs])
            how = "Merge made by jupyter-acp."
        move = Move(f"refs/heads/{head.branch}", ours, tip, f"merge {result.ref}: {how}")
        words = (
            f"Merged into {head.branch} ({'fast-forward' if tip == theirs else 'merge commit'})."
        )
        after = Head(tip, head.branch)
        return await doing.do("merge", after, [move], tip, words)


async def pick(shadow: Shadow, result: Result) -> Record:
    """Take the changes of a result into files and index, and commit nothing."""
    async with _begun(shadow, result) as doing:
        head = doing.head
        assert head.revision is not None
        tree = await _merged(shadow, head.revision, result.revision)
        if tree == await shadow.git.text("rev-parse", f"{head.revision}^{{tree}}"):
            raise RepositoryError("nothing", "All changes of the result are here already.")
        await shadow.give([tree], [head.revision, result.revision])
        words = "The changes are in your files, staged and not committed."
        return await doing.do("pick", head, [], tree, words)


async def undo(shadow: Shadow, id: str) -> Record:
    """Undo what was done under an id, if nothing of it was changed since; return what that was."""
    repository, records = shadow.repository, Records(shadow.records)
    await recover(shadow)
    record = records.find(id)
    if record is None or not record.done:
        raise RepositoryError(
            "unknownRecord", f"This cannot be undone any more: only the last {KEPT} actions can."
        )
    moves = [move.back for move in reversed(list(record.moves))]
    again = Record(
        "undo",
        record.session,
        record.number,
        record.after,
        record.head,
        record.new,
        record.old,
        f"Undone: {record.message}",
        moves,
        undoes=id,
    )
    with locked(repository, again.id):
        _check_quiet(shadow)
        if await repository.head() != record.after:
            raise RepositoryError(
                "changedSince",
                "It cannot be undone: something else was checked out or committed since.",
            )
        try:
            plan = await make_plan(shadow, record.new, record.old, also=record.saved.copies)
        except RepositoryError as error:
            if error.code != "dirty":
                raise
            raise RepositoryError(
                "changedSince",
                f"It cannot be undone: {some(error.files) or 'your files'} changed since. Nothing "
                "was touched.",
                error.files,
            ) from None

        theirs: set[str] = set()

        async def as_before() -> None:
            """Bring back the files byte by byte, and have git look at them anew."""
            copies = record.saved.copies
            theirs.update(await put_back(shadow, records, record, again))
            lines = {e.path: e for e in await entries(plan.git) if copies.get(e.path) is not None}
            lines |= {entry.path: entry for entry in record.before}
            await enter(plan.git, lines.values())
            await plan.git.run("update-index", "-q", "--refresh", ok=(0, 1))

        again = await transact(shadow, plan, again, as_before)
    if theirs or records.replaced(again.id).exists():
        words = (
            f"{again.message} But {some(theirs) or 'some files'} were written by somebody else "
            f"meanwhile; copies are in {records.folder(id)} and {records.folder(again.id)}."
        )
        return replace(again, message=words)
    records.remove(id)
    records.remove(again.id)
    return again


@dataclass(frozen=True)
class _Doing:
    """Something that is being done with a result while the repository stands still."""

    shadow: Shadow
    result: Result
    head: Head
    id: str

    async def do(
        self, action: str, after: Head, moves: Sequence[Move], there: str, words: str
    ) -> Record:
        git, result = self.shadow.git, self.result
        old = await git.text("rev-parse", f"{self.head.revision}^{{tree}}")
        new = await git.text("rev-parse", f"{there}^{{tree}}")
        plan = await make_plan(self.shadow, old, new, session=await self._session())
        record = Record(
            action,
            result.session,
            result.number,
            self.head,
            after,
            old,
            new,
            words,
            moves,
            id=self.id,
        )
        return await transact(self.shadow, plan, record)

    async def _session(self) -> Session | None:
        """Return what was sent without being committed; what was committed is nothing special."""
        git, sent, head = self.shadow.git, self.result.sent, self.head.revision or ""
        status, _ = await git.result("merge-base", "--is-ancestor", sent, head, ok=(0, 1, 128))
        return Session(sent, self.result.revision) if status == 1 else None


@contextlib.asynccontextmanager
async def _begun(shadow: Shadow, result: Result) -> AsyncIterator[_Doing]:
    """Hold the repository still while something is done with a result."""
    repository = shadow.repository
    await recover(shadow)
    id = new_id()
    with locked(repository, id):
        _check_quiet(shadow)
        if await repository.resolve(result.ref) != result.revision:
            raise RepositoryError(
                "gone", "The result is not here any more: it was discarded. Fetch it again."
            )
        head = await repository.head()
        if head.revision is None:
            raise RepositoryError("noCommits", "There is no commit yet to put the result on.")
        yield _Doing(shadow, result, head, id)


def _check_quiet(shadow: Shadow) -> None:
    if going_on := shadow.repository.going_on:
        raise RepositoryError(
            "inProgress",
            f"There is {going_on} in progress in this repository. Finish it or give it up first.",
        )


async def _merged(shadow: Shadow, ours: str, theirs: str) -> str:
    """Return the tree that two commits make together; nothing is written if they do not."""
    git = shadow.on_files(shadow.new_index())
    status, printed = await git.result(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, ok=(0, 1)
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
