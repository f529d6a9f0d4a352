# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Fetching a result, checking it, and keeping it in the user's repository.

The result is first fetched into an `IsolatedRepository`. If it is complete and is the revision that
the agent named, its objects and one reference are added to the user's repository. Files, index,
HEAD and branches do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from ..changes import steps
from ..git import GitError, Report, Room
from ..limits import Limits
from ..refs import GitRemoteRef, RefError, address_of, public_url
from .isolated import PROMISED, IsolatedRepository
from .repository import RepositoryError
from .results import PREFIX, Result, check_session, keep

_ENOUGH_KNOWN = 64
_FETCHED = "refs/fetched"
_CHECKED = {
    "fetch.fsckObjects": "true",
    # Keep the pack: it is smaller than single objects, and checked as a whole.
    "fetch.unpackLimit": "1",
    # Harmless mistakes of old programs.
    "fetch.fsck.badTimezone": "warn",
    "fetch.fsck.missingSpaceBeforeDate": "warn",
    "fetch.fsck.missingSpaceBeforeEmail": "warn",
    "fetch.fsck.missingNameBeforeEmail": "warn",
    "fetch.fsck.badDate": "warn",
    "fetch.fsck.badEmail": "warn",
    "fetch.fsck.zeroPaddedFilemode": "warn",
    "fetch.fsck.zeroPaddedDate": "warn",
}


async def fetch_target(
    isolated: IsolatedRepository,
    target: GitRemoteRef,
    *,
    sent: GitRemoteRef,
    session: str,
    number: int,
    report: Report | None = None,
    limits: Limits | None = None,
) -> Result:
    """Fetch and keep the result that an agent names; `sent` is the revision it began from."""
    check_session(session)
    limits = limits or Limits()
    if not same_repository(target.url, sent.url):
        raise RepositoryError(
            "otherRepository",
            f"The agent answers with another repository ({public_url(target.url)}) than the one "
            f"it was given ({public_url(sent.url)}). It is not fetched.",
        )
    known = await _remember(isolated, sent.revision)
    room = Room(isolated.work, limits.size)
    source, config = _source(isolated, sent)
    # This filter leaves out nothing, but it tells git that objects may be missing.
    partly = f"--filter=blob:limit={limits.size}" if source == PROMISED else "--no-filter"
    await isolated.git.at(isolated.git.git_dir, config=config).run(
        "fetch",
        "--progress",
        "--no-tags",
        "--no-prune",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        partly,
        "--end-of-options",
        source,
        f"+refs/heads/{target.branch}:{_FETCHED}",
        report=report,
        room=room,
    )
    await _check_contains(isolated, target)
    base = await _base(isolated, sent, target)
    count = len(await steps(isolated.git, base, target.revision))
    if count > limits.files:
        raise RepositoryError(
            "tooManyFiles",
            f"The result changes {count:,} files; {limits.files:,} can be taken at most "
            "(AcpExtension.remote_files).",
        )
    await _store(isolated, target.revision, known, report, room)
    result = Result(
        session=session,
        number=number,
        url=public_url(sent.url),
        branch=target.branch,
        revision=target.revision,
        sent=sent.revision,
        base=base,
    )
    await keep(isolated.repository, result)
    return result


def same_repository(one: str, other: str) -> bool:
    """Return True if two addresses name the same repository, with any protocol."""
    return _place(one) == _place(other) and _port(one, other) == _port(other, one)


def _place(url: str) -> tuple[str, str]:
    host = address_of(url).host
    path = urlsplit(url).path if "://" in url else url.partition(":")[2]
    return host, path.strip("/").removesuffix(".git")


def _port(url: str, other: str) -> int | None:
    """Return the port, or None if the schemes differ: ssh and https have different ports."""
    if "://" not in url or "://" not in other:
        return None
    parts, others = urlsplit(url), urlsplit(other)
    if parts.scheme != others.scheme:
        return None
    return parts.port or {"https": 443, "http": 80, "ssh": 22}.get(parts.scheme)


def _source(isolated: IsolatedRepository, sent: GitRemoteRef) -> tuple[str, Mapping[str, str]]:
    """Return the source to fetch from, and the settings for checking objects."""
    if isolated.promised is None:
        return _address(isolated, sent), _CHECKED
    # In a partial clone, git can check only objects from the promisor remote.
    if same_repository(isolated.promised.address, sent.url):
        return PROMISED, _CHECKED
    return _address(isolated, sent), {}


def _address(isolated: IsolatedRepository, sent: GitRemoteRef) -> str:
    """Return the address to fetch from; the one of the user's own remote has the password."""
    settings = isolated.settings
    for name in settings.remotes:
        remote = settings.named_remote(name)
        for url in (remote.url, remote.push_url):
            try:
                if any(same_repository(each, sent.url) for each in (settings.rewritten(url), url)):
                    isolated.policy.check(settings.rewritten(url))
                    return url
            except RefError:
                continue
    try:
        isolated.policy.check(sent.url)
    except RefError as error:
        raise RepositoryError("urlRefused", f"{error}.") from None
    return sent.url


async def _remember(isolated: IsolatedRepository, sent: str) -> Sequence[str]:
    """Create references to the user's commits, so that git fetches only new objects."""
    repository = isolated.repository
    head = (await repository.head()).revision
    refs = {**await repository.refs(PREFIX), **await repository.refs("refs/heads/")}
    asked = list(dict.fromkeys([sent, head or sent, *refs.values()]))[:_ENOUGH_KNOWN]
    format = "--batch-check=%(objectname) %(objecttype)"
    printed = await isolated.git.run("cat-file", format, input=_as_lines(asked))
    answers = (line.split(" ") for line in printed.decode().splitlines())
    known = [name for name, *kind in answers if kind == ["commit"]]
    named = (f"create refs/known/{number} {tip}" for number, tip in enumerate(known))
    await isolated.git.run("update-ref", "--stdin", input=_as_lines(named))
    return known


async def _check_contains(isolated: IsolatedRepository, target: GitRemoteRef) -> None:
    """Refuse a revision that the branch does not contain; later commits are allowed."""
    found = await isolated.git.text("rev-parse", "--verify", _FETCHED)
    kind = await isolated.git.text("cat-file", "-t", target.revision, ok=(0, 128))
    # The hash of a tag differs from that of its commit.
    contains = ("merge-base", "--is-ancestor", target.revision, found)
    if kind != "commit" or not await isolated.git.succeeds(*contains):
        raise RepositoryError(
            "otherRevision",
            f"The branch {target.branch} is at {found[:12]}, which does not contain "
            f"{target.revision[:12]} as the agent says: somebody has replaced it since, or the "
            "answer is wrong. It is not kept.",
        )


async def _base(isolated: IsolatedRepository, sent: GitRemoteRef, target: GitRemoteRef) -> str:
    try:
        bases = await isolated.git.text("merge-base", sent.revision, target.revision, ok=(0, 1))
    except GitError:
        bases = ""
    if not bases:
        raise RepositoryError(
            "unrelated",
            "The result has no commit in common with what was sent, so what was changed cannot be "
            "told. It is not kept.",
        )
    return bases.split()[0]


async def _store(
    isolated: IsolatedRepository, tip: str, known: Iterable[str], report: Report | None, room: Room
) -> None:
    """Copy the objects of a result into the user's repository, in one pack."""
    options = ("--revs", "--local", "--non-empty", "--delta-base-offset")
    wanted = _as_lines([tip, *(f"^{revision}" for revision in known)])
    name = await isolated.git.run(
        "pack-objects",
        *options,
        "--progress" if report else "-q",
        str(isolated.work / "result"),
        input=wanted,
        report=report,
        room=room,
    )
    if name:
        pack = isolated.work / f"result-{name.decode().strip()}.pack"
        await isolated.repository.git.run("index-pack", "--stdin", input=pack)


def _as_lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()
