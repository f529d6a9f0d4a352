# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The results of remote sessions: fetching, reviewing, taking in and discarding."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..protocol import RemoteAction
from ..remote.git import Git, GitError, Report
from ..remote.local import review
from ..remote.local.checkout import checkout
from ..remote.local.fetch import fetch_target
from ..remote.local.inspection import inspect
from ..remote.local.interrupted import interrupted, may_be_interrupted
from ..remote.local.isolated import IsolatedRepository
from ..remote.local.merge import merge, pick
from ..remote.local.push import PREFIX as SCRATCH
from ..remote.local.push import delete_scratch, push_scratch
from ..remote.local.record import Action, Records
from ..remote.local.repository import Repository, RepositoryError
from ..remote.local.results import Result, discard, discard_session, own
from ..remote.local.undo import undo
from ..remote.local.uninterrupted import to_the_end
from ..remote.options import RemoteOptions
from ..remote.progress import Reporter
from ..remote.refs import GitRemoteRef, RefError, git_ref
from ..rpc import Logger, RpcError, invalid_params
from ..rpc.errors import CONFLICT, NOT_FOUND, UNAVAILABLE
from .remote import tell_result

if TYPE_CHECKING:
    from .session import Session

Tell = Callable[[dict[str, Any]], None]
"""Reports progress to windows."""

UNUSED = 3600.0
"""Time after which an unused scratch branch is deleted, in seconds."""

_DONE = {"checkout": "checkedOut", "merge": "merged", "pick": "picked", "discard": "discarded"}


class RemoteResults:
    """Sends work from the user's repositories, and takes results into them."""

    def __init__(
        self,
        options: RemoteOptions,
        sessions: Callable[[], Collection[Session]],
        on_change: Callable[[], None],
        on_progress: Tell,
        log: Logger,
    ) -> None:
        self._sessions = sessions
        self._on_change = on_change
        self._on_progress = on_progress
        self._log = log
        self._git = Git(policy=options.policy, timeout=options.timeout)
        self._limits = options.limits
        self._cache = options.cache / "home"
        self._fetching: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._working: set[asyncio.Task[None]] = set()
        self._loose: set[str] = set()
        """The scratch branches that no session uses yet."""

    def close(self) -> None:
        """Cancel all fetches; they can be repeated later."""
        for task in self._fetching.values():
            task.cancel()
        for task in self._working:
            task.cancel()

    # Actions that a killed server left half done

    def look_for_interrupted(self, folders: Collection[str]) -> None:
        """Search the folders' repositories in the background, and log interrupted actions."""
        self._in_background(self._look_for_interrupted(folders))

    async def _look_for_interrupted(self, folders: Collection[str]) -> None:
        for folder in sorted(folders):
            try:
                # Do not log folders that no longer have a repository.
                with contextlib.suppress(RepositoryError):
                    repository = await Repository.find(Path(folder), self._git)
                    if not await asyncio.to_thread(may_be_interrupted, repository, self._cache):
                        continue
                    async with self._isolated(folder) as isolated:
                        if words := await interrupted(isolated):
                            self._log.warning("%s", words)
            except RpcError as error:
                self._log.warning("%s", error.message)
            except Exception:
                self._log.exception("The repository of %s could not be looked at", folder)

    # Before a session begins

    async def inspect(self, folder: str) -> dict[str, Any]:
        """Return the state of a folder's repository, for a new remote session."""
        async with self._isolated(folder) as isolated:
            found = await inspect(isolated)
            return {**found, "folder": _within(folder, isolated.repository.toplevel)}

    async def push(self, folder: str, *, uncommitted: bool, report: Report) -> dict[str, Any]:
        """Push unpushed work to a scratch branch, and return a reference to it."""
        async with self._isolated(folder) as isolated:
            ref = await push_scratch(
                isolated, include_uncommitted=uncommitted, report=report, limits=self._limits
            )
            self._loose.add(ref.branch)
            self._in_background(self._delete_unused(folder, ref))
            return ref.public()

    def dropped(self, session: Session) -> None:
        """Delete the scratch branch of a session that is deleted or was not opened."""
        record = session.record
        if record.home and record.remote is not None:
            self._in_background(self._delete_scratch(record.home, git_ref(record.remote)))

    async def _delete_unused(self, folder: str, ref: GitRemoteRef) -> None:
        await asyncio.sleep(UNUSED)
        if ref.branch in self._loose:
            await self._delete_scratch(folder, ref)

    async def _delete_scratch(self, folder: str, ref: GitRemoteRef) -> None:
        """Delete a scratch branch unless a session uses it; log a failure."""
        self._loose.discard(ref.branch)
        used = (session.record.remote for session in self._sessions())
        if not ref.branch.startswith(SCRATCH) or ref.public() in used:
            return
        try:
            async with self._isolated(folder) as isolated:
                await delete_scratch(isolated, ref)
        except RpcError as error:
            self._log.warning("%s stays on the remote: %s", ref.branch, error.message)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    # Results

    def arrived(self, session: Session, result: dict[str, Any]) -> None:
        """Fetch the result of a turn, if the session was begun from a repository here."""
        if session.record.home:
            self._fetch_in_background(session, result)

    def fetch(self, session: Session, number: int) -> None:
        """Fetch a result again."""
        self._fetch_in_background(session, _result(session, number))

    def _fetch_in_background(self, session: Session, result: dict[str, Any]) -> None:
        key = (session.id, int(result["number"]))
        if key not in self._fetching:
            task = asyncio.get_running_loop().create_task(self._fetch(session, result))
            self._fetching[key] = task
            task.add_done_callback(lambda _: self._fetching.pop(key, None))

    def cancel(self, session: Session, number: int) -> None:
        """Stop fetching a result."""
        result = _result(session, number)
        if task := self._fetching.get((session.id, number)):
            task.cancel()
        elif result["state"] == "fetching":
            # A fork copied this state; the fetch belongs to the other session.
            _become(session, result, state="there")

    async def _fetch(self, session: Session, result: dict[str, Any]) -> None:
        _become(session, result, state="fetching")
        try:
            async with self._isolated(session.record.home) as isolated:
                fetched = await fetch_target(
                    isolated,
                    git_ref(result["target"]),
                    sent=git_ref(session.record.remote),
                    session=session.id,
                    number=int(result["number"]),
                    report=Reporter(self._on_progress, _token(session, result)),
                    limits=self._limits,
                )
                files = await review.files(isolated, fetched)
                commits = await review.commits(isolated, fetched)
        except (RpcError, RefError) as error:
            message = error.message if isinstance(error, RpcError) else f"{error}."
            _become(session, result, state="failed", message=message)
        except asyncio.CancelledError:
            _become(session, result, state="there")
            raise
        except Exception as error:
            self._log.exception("A result could not be fetched")
            _become(session, result, state="failed", message=f"It could not be fetched: {error}")
        else:
            _become(
                session,
                result,
                state="ready",
                fetched=fetched.model_dump(),
                files=files["total"],
                commits=commits["total"],
            )

    async def review(self, session: Session, number: int) -> dict[str, Any]:
        """Return the commits and the changed files of a result."""
        async with self._isolated(session.record.home) as isolated:
            fetched = await _fetched(isolated, session, number)
            return {
                "commits": await review.commits(isolated, fetched),
                "files": await review.files(isolated, fetched),
            }

    async def contents(
        self, session: Session, number: int, path: str, old_path: str | None
    ) -> dict[str, Any]:
        """Return a file before and after a result's changes."""
        async with self._isolated(session.record.home) as isolated:
            fetched = await _fetched(isolated, session, number)
            before = await review.contents(isolated, fetched, old_path or path, before=True)
            after = await review.contents(isolated, fetched, path)
            return {"before": before, "after": after}

    async def act(
        self, session: Session, number: int, action: RemoteAction, branch: str | None
    ) -> dict[str, Any]:
        """Take in, discard or undo a result, completely or not at all.

        The action finishes even if the window closes, so that it is recorded and can be undone.
        """
        return await to_the_end(self._act(session, number, action, branch))

    async def _act(
        self, session: Session, number: int, action: RemoteAction, branch: str | None
    ) -> dict[str, Any]:
        result = _result(session, number)
        async with self._isolated(session.record.home) as isolated:
            done: str | None = None
            if action == "undo":
                words = await self._undo(isolated, session, result)
                state = "ready"
            elif action == "discard":
                await discard(isolated.repository, await _fetched(isolated, session, number))
                words = "Discarded here. It can be fetched again as long as it is on the remote."
                state = "discarded"
            else:
                fetched = await _fetched(isolated, session, number)
                earlier = Records(isolated.place).last
                taken = await self._take(isolated, fetched, session, action, branch)
                words, state, done = taken.message, _DONE[action], taken.id
                if earlier is not None:
                    self._withdraw_undo(earlier.id)
        _become(session, result, state=state, message=words, undo=done)
        self._on_change()
        return {"message": words}

    async def _take(
        self,
        isolated: IsolatedRepository,
        fetched: Result,
        session: Session,
        action: str,
        branch: str | None,
    ) -> Action:
        if action == "checkout":
            return await checkout(isolated, fetched, branch or fetched.branch)
        if action == "merge":
            title = session.record.title or "a remote session"
            return await merge(isolated, fetched, f"Merge “{title}” ({fetched.branch})")
        return await pick(isolated, fetched)

    async def _undo(
        self, isolated: IsolatedRepository, session: Session, result: dict[str, Any]
    ) -> str:
        if not result.get("undo"):
            raise invalid_params("There is nothing to undo.")
        try:
            return (await undo(isolated, result["undo"])).message
        except RepositoryError as error:
            if error.code == "unknownRecord":
                _become(session, result, undo=None)
            raise

    def _withdraw_undo(self, id: str) -> None:
        """Withdraw the offer to undo an action that is no longer the last one."""
        for session in self._sessions():
            for result in session.record.results:
                if result.get("undo") == id:
                    _become(session, result, undo=None)

    async def forget(self, session: Session) -> None:
        """Discard all results of a session that is deleted."""
        for key in [key for key in self._fetching if key[0] == session.id]:
            self._fetching[key].cancel()
        if session.record.home and any("fetched" in each for each in session.record.results):
            with contextlib.suppress(RpcError):
                async with self._isolated(session.record.home) as isolated:
                    await discard_session(isolated.repository, session.id)
        self.dropped(session)

    @contextlib.asynccontextmanager
    async def _isolated(self, folder: str) -> AsyncIterator[IsolatedRepository]:
        """Open the repository of a folder; turn git's failures into RPC errors."""
        try:
            repository = await Repository.find(Path(folder), self._git)
            async with IsolatedRepository.of(repository, self._cache) as isolated:
                yield isolated
        except RepositoryError as error:
            told = error.public()
            data = {"reason": told["code"], "files": told["files"]}
            raise RpcError(CONFLICT, told["message"], data) from None
        except GitError as error:
            raise RpcError(UNAVAILABLE, str(error)) from None


def _within(folder: str, toplevel: Path) -> str:
    """Return the path of a folder relative to the top of its repository."""
    within = Path(folder).resolve().relative_to(toplevel)
    return "" if within == Path() else within.as_posix()


def _become(session: Session, result: dict[str, Any], **facts: Any) -> None:
    """Change the state of a result, and report it to every window."""
    result.pop("message", None)
    result.update(facts)
    tell_result(session, result)


def _result(session: Session, number: int) -> dict[str, Any]:
    for result in session.record.results:
        if result["number"] == number:
            return result
    raise RpcError(NOT_FOUND, f"The session has no result {number}.")


async def _fetched(isolated: IsolatedRepository, session: Session, number: int) -> Result:
    """Return a fetched result; a fork gets its own reference to it."""
    result = _result(session, number)
    if (found := result.get("fetched")) is None:
        raise RpcError(CONFLICT, "The result has not been fetched yet. Fetch it first.")
    fetched = Result(**found)
    if fetched.session != session.id:
        fetched = await own(isolated.repository, fetched, session.id)
        result["fetched"] = fetched.model_dump()
        session.changed()
    return fetched


def _token(session: Session, result: dict[str, Any]) -> str:
    """Return the token for progress messages about a result."""
    return f"{session.id}/{result['number']}"
