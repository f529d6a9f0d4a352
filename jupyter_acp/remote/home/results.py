# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What came back from a session elsewhere: fetched, checked, and kept under a name of its own.

It is fetched into a `Shadow` first. Only what is whole, and what was named, gets into the user's
repository, as objects and one reference; files, index, HEAD and branches are not touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, field_validator

from ..git import GitError, Report, Room
from ..limits import Limits
from ..refs import GitRemoteRef, RefError, address_of, check_branch, public_url
from .files import steps
from .repository import Repository, RepositoryError
from .shadow import PROMISED, Shadow

PREFIX = "refs/jupyter-acp/"

_ENOUGH_KNOWN = 64
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_CHECKED = {
    "fetch.fsckObjects": "true",
    # A pack is smaller than its parts, and checked as a whole.
    "fetch.unpackLimit": "1",
    # Old sins of old programs, which harm nobody.
    "fetch.fsck.badTimezone": "warn",
    "fetch.fsck.missingSpaceBeforeDate": "warn",
    "fetch.fsck.missingSpaceBeforeEmail": "warn",
    "fetch.fsck.missingNameBeforeEmail": "warn",
    "fetch.fsck.badDate": "warn",
    "fetch.fsck.badEmail": "warn",
    "fetch.fsck.zeroPaddedFilemode": "warn",
    "fetch.fsck.zeroPaddedDate": "warn",
}


class Result(BaseModel):
    """Work that came back; `sent` is where it began, `base` what both have in common."""

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
        """What keeps it in the user's repository."""
        return f"{PREFIX}{self.session}/{self.number}"

    def public(self) -> dict[str, str | int]:
        """Return what is shown and stored; it can be made into the same again."""
        return self.model_dump()


async def fetch_target(
    shadow: Shadow,
    target: GitRemoteRef,
    *,
    sent: GitRemoteRef,
    session: str,
    number: int,
    report: Report | None = None,
    limits: Limits | None = None,
) -> Result:
    """Fetch what an agent says it has made of what was sent to it, and keep it."""
    limits = limits or Limits()
    ref = f"{PREFIX}{check_session(session)}/{number:d}"
    if not same_repository(target.url, sent.url):
        raise RepositoryError(
            "otherRepository",
            f"The agent answers with another repository ({public_url(target.url)}) than the one "
            f"it was given ({public_url(sent.url)}). It is not fetched.",
        )
    repository = shadow.repository
    known = await _remember(shadow, sent.revision)
    room = Room(shadow.work, limits.size)
    source, config = _source(shadow, sent)
    # Nothing is left out by this, but it tells git that things may be.
    partly = [f"--filter=blob:limit={limits.size}"] if source == PROMISED else ["--no-filter"]
    await shadow.git.at(shadow.git.git_dir, config=config).run(
        "fetch",
        "--progress",
        "--no-tags",
        "--no-prune",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        *partly,
        "--end-of-options",
        source,
        f"+refs/heads/{target.branch}:{ref}",
        report=report,
        room=room,
    )
    await _verify(shadow, ref, target)
    base = await _base(shadow, sent, target)
    count = len(await steps(shadow.git, base, target.revision))
    if count > limits.files:
        raise RepositoryError(
            "tooManyFiles",
            f"The result changes {count:,} files; {limits.files:,} can be taken at most "
            "(AcpExtension.remote_files).",
        )
    await shadow.give([target.revision], known, report=report, room=room)
    await _keep(repository, ref, target.revision)
    return Result(
        session=session,
        number=number,
        url=public_url(sent.url),
        branch=target.branch,
        revision=target.revision,
        sent=sent.revision,
        base=base,
    )


async def own(repository: Repository, result: Result, session: str) -> Result:
    """Return a result of another session as one of this, which keeps it when the other lets it go."""
    mine = result.model_copy(update={"session": check_session(session)})
    if await repository.resolve(result.ref) != result.revision:
        raise RepositoryError(
            "gone", "The result is not here any more: it was discarded. Fetch it again."
        )
    await _keep(repository, mine.ref, mine.revision)
    return mine


async def discard(repository: Repository, result: Result) -> None:
    """Forget a result; its objects go when git next cleans up."""
    await repository.git.run("update-ref", "-d", result.ref)


async def discard_session(repository: Repository, session: str) -> None:
    """Forget all results of a session."""
    for ref in await repository.refs(f"{PREFIX}{check_session(session)}/"):
        await repository.git.run("update-ref", "-d", ref)


def check_session(session: str) -> str:
    """Return a session's id if it can be part of a reference's name, and nothing else."""
    try:
        if not _SESSION.fullmatch(session):
            raise RefError("must be letters, digits, dots, dashes and underscores")
        return check_branch(session)
    except RefError as error:
        raise RefError(f"The id of the session {error}.") from None


def same_repository(one: str, other: str) -> bool:
    """Return whether two addresses are of one repository, whichever way leads there."""
    return _place(one) == _place(other) and _port(one, other) == _port(other, one)


def _place(url: str) -> tuple[str, str]:
    host = address_of(url).host
    path = urlsplit(url).path if "://" in url else url.partition(":")[2]
    return host, path.strip("/").removesuffix(".git")


def _port(url: str, other: str) -> int | None:
    """Return the port where it tells something: that of ssh is never that of https."""
    if "://" not in url or "://" not in other:
        return None
    parts, others = urlsplit(url), urlsplit(other)
    if parts.scheme != others.scheme:
        return None
    return parts.port or {"https": 443, "http": 80, "ssh": 22}.get(parts.scheme)


def _source(shadow: Shadow, sent: GitRemoteRef) -> tuple[str, Mapping[str, str]]:
    """Return where to fetch from, and how what comes is checked."""
    promised = shadow.promised
    if promised is None:
        return _address(shadow, sent), _CHECKED
    # Where objects may be missing, git checks only what comes from where they were promised.
    if same_repository(promised.address, sent.url):
        return PROMISED, _CHECKED
    return _address(shadow, sent), {}


def _address(shadow: Shadow, sent: GitRemoteRef) -> str:
    """Return where to fetch from: the user's own remote knows the password."""
    settings = shadow.settings
    for name in settings.remotes:
        remote = settings.named_remote(name)
        for url in (remote.url, remote.push_url):
            try:
                if same_repository(settings.rewritten(url), sent.url) or same_repository(
                    url, sent.url
                ):
                    shadow.policy.check(settings.rewritten(url))
                    return url
            except RefError:
                continue
    try:
        shadow.policy.check(sent.url)
    except RefError as error:
        raise RepositoryError("urlRefused", f"{error}.") from None
    return sent.url


async def _remember(shadow: Shadow, sent: str) -> Sequence[str]:
    """Let our repository know what the user's has, so that only what is new is asked for."""
    repository = shadow.repository
    head = await repository.head()
    refs = {**await repository.refs(PREFIX), **await repository.refs("refs/heads/")}
    asked = list(dict.fromkeys([sent, head.revision or sent, *refs.values()]))[:_ENOUGH_KNOWN]
    printed = await shadow.git.run(
        "cat-file",
        "--batch-check=%(objectname) %(objecttype)",
        input="".join(f"{revision}\n" for revision in asked).encode(),
    )
    lines = (line.split(" ") for line in printed.decode().splitlines())
    known = [name for name, *kind in lines if kind == ["commit"]]
    await shadow.git.run(
        "update-ref",
        "--stdin",
        input="".join(f"create refs/known/{n} {tip}\n" for n, tip in enumerate(known)).encode(),
    )
    return known


async def _verify(shadow: Shadow, ref: str, target: GitRemoteRef) -> None:
    """Refuse what is not on the branch that was named; others may have pushed on top of it since."""
    found = await shadow.git.text("rev-parse", "--verify", ref)
    await shadow.git.run("update-ref", "-d", ref)
    status, kind = await shadow.git.result("cat-file", "-t", target.revision, ok=(0, 128))
    # A tag has a number of its own, which is not that of what is on the branch.
    is_commit = status == 0 and kind == b"commit\n"
    contains = ("merge-base", "--is-ancestor", target.revision, found)
    if not is_commit or not await shadow.git.succeeds(*contains):
        raise RepositoryError(
            "otherRevision",
            f"The branch {target.branch} is at {found[:12]}, which does not contain "
            f"{target.revision[:12]} as the agent says: somebody has replaced it since, or the "
            "answer is wrong. It is not kept.",
        )


async def _base(shadow: Shadow, sent: GitRemoteRef, target: GitRemoteRef) -> str:
    try:
        bases = await shadow.git.text("merge-base", sent.revision, target.revision, ok=(0, 1))
    except GitError:
        bases = ""
    if not bases:
        raise RepositoryError(
            "unrelated",
            "The result has no commit in common with what was sent, so what was changed cannot be "
            "told. It is not kept.",
        )
    return bases.split()[0]


async def _keep(repository: Repository, ref: str, revision: str) -> None:
    kept = await repository.resolve(ref)
    if kept == revision:
        return
    if kept is not None:
        raise RepositoryError("taken", f"There is another result under the name {ref} already.")
    nothing = "0" * len(revision)
    await repository.git.run("update-ref", ref, revision, nothing)
