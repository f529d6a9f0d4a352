# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A result of a session, and the reference `refs/jupyter-acp/SESSION/NUMBER` that keeps it."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, field_validator

from ..refs import RefError, check_branch
from .repository import Repository, RepositoryError

PREFIX = "refs/jupyter-acp/"

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Result(BaseModel):
    """A result: `sent` is the revision it began from, `base` their common ancestor."""

    model_config = ConfigDict(frozen=True)

    session: str
    number: int
    url: str
    branch: str
    revision: str
    sent: str
    base: str

    @field_validator("session")
    @classmethod
    def _session(cls, session: str) -> str:
        return check_session(session)

    @field_validator("number")
    @classmethod
    def _number(cls, number: int) -> int:
        if number < 0:
            raise ValueError("must not be negative")
        return number

    @field_validator("revision", "sent", "base")
    @classmethod
    def _revision(cls, revision: str) -> str:
        if not re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", revision):
            raise ValueError("must be the hexadecimal digits of a commit")
        return revision

    @property
    def ref(self) -> str:
        """The reference that keeps the result in the user's repository."""
        return f"{PREFIX}{self.session}/{self.number}"

    async def check_is_kept(self, repository: Repository) -> None:
        """Refuse a result that was discarded."""
        if await repository.resolve(self.ref) != self.revision:
            raise RepositoryError(
                "gone", "The result is not here any more: it was discarded. Fetch it again."
            )


def check_session(session: str) -> str:
    """Return a session's id, or raise a `RefError` if no reference can contain it."""
    try:
        if not _SESSION.fullmatch(session):
            raise RefError("must be letters, digits, dots, dashes and underscores")
        return check_branch(session)
    except RefError as error:
        raise RefError(f"The id of the session {error}.") from None


async def keep(repository: Repository, result: Result) -> None:
    """Create the reference of a result; refuse to replace another result."""
    kept = await repository.resolve(result.ref)
    if kept is not None and kept != result.revision:
        raise RepositoryError(
            "taken", f"There is another result under the name {result.ref} already."
        )
    if kept is None:
        nothing = "0" * len(result.revision)
        await repository.git.run("update-ref", result.ref, result.revision, nothing)


async def own(repository: Repository, result: Result, session: str) -> Result:
    """Keep another session's result for this one, too, and return it."""
    await result.check_is_kept(repository)
    mine = result.model_copy(update={"session": check_session(session)})
    await keep(repository, mine)
    return mine


async def discard(repository: Repository, result: Result) -> None:
    """Delete the reference of a result; git's next clean-up removes the objects."""
    await repository.git.run("update-ref", "-d", result.ref)


async def discard_session(repository: Repository, session: str) -> None:
    """Delete the references of all results of a session."""
    for ref in await repository.refs(f"{PREFIX}{check_session(session)}/"):
        await repository.git.run("update-ref", "-d", ref)
