# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Pushing work that is not on the remote yet to a new scratch branch, for a remote session.

The user's index, branches and files do not change; the commit is made from a copy of the index.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Iterable
from pathlib import Path

from ..changes import stage, unstaged, untracked
from ..git import GitError, Report, Room
from ..limits import Limits
from ..refs import GitRemoteRef, RefError, git_ref, public_url
from .fetch import same_repository
from .isolated import IsolatedRepository
from .repository import Head, RepositoryError
from .settings import Remote
from .uninterrupted import to_the_end

PREFIX = "acp/scratch/"

_ALONE = ("--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")


async def push_scratch(
    isolated: IsolatedRepository,
    *,
    include_uncommitted: bool,
    report: Report | None = None,
    limits: Limits | None = None,
) -> GitRemoteRef:
    """Push HEAD, with the uncommitted changes if wanted, and return a reference to it."""
    repository = isolated.repository
    head = await repository.head()
    if head.revision is None:
        raise RepositoryError("noCommits", "There is no commit yet. Make one (git commit) first.")
    remote = _remote(isolated, head)
    limits = limits or Limits()
    tip = head.revision
    if include_uncommitted:
        tip = await _commit(isolated, head, limits)
    branch = PREFIX + secrets.token_hex(8)
    name = f"refs/heads/{branch}"
    try:
        await isolated.git.run(
            "push",
            "--progress",
            *_ALONE,
            # Fail if a branch of this name exists.
            f"--force-with-lease={name}:",
            "--end-of-options",
            remote.push_url,
            f"{tip}:{name}",
            report=report,
            room=Room(isolated.work, limits.size),
        )
        url = await _readable(isolated, remote, name, tip)
    except asyncio.CancelledError:
        # The branch may exist already when the push is cancelled.
        with contextlib.suppress(GitError):
            await to_the_end(_delete(isolated, remote, name, tip))
        raise
    return git_ref({"type": "git", "url": public_url(url), "branch": branch, "revision": tip})


async def delete_scratch(isolated: IsolatedRepository, ref: GitRemoteRef) -> None:
    """Delete a scratch branch, unless somebody has pushed to it since."""
    name = f"refs/heads/{ref.branch}"
    if not ref.branch.startswith(PREFIX):
        return
    for each in isolated.settings.remotes:
        remote = isolated.settings.named_remote(each)
        try:
            places = (remote.address, remote.real_url, remote.real_push_url)
            if any(same_repository(place, ref.url) for place in places):
                remote.check_push(isolated.policy)
                await _delete(isolated, remote, name, ref.revision)
                return
        except RefError:
            continue
    raise RepositoryError("noRemote", f"There is no remote here that has {ref.branch}.")


async def _delete(isolated: IsolatedRepository, remote: Remote, name: str, tip: str) -> None:
    lease = f"--force-with-lease={name}:{tip}"
    await isolated.git.run(
        "push", "-q", *_ALONE, lease, "--end-of-options", remote.push_url, f":{name}"
    )


def _remote(isolated: IsolatedRepository, head: Head) -> Remote:
    remote = isolated.settings.remote(head.branch)
    if remote is None:
        raise RepositoryError(
            "noRemote", "It is not known where to push to: the repository has no remote."
        )
    try:
        remote.check(isolated.policy)
        remote.check_push(isolated.policy)
    except RefError as error:
        words = str(error).removeprefix("remote.url: ")
        raise RepositoryError("urlRefused", f"The remote {remote.name}: {words}.") from None
    return remote


async def _readable(isolated: IsolatedRepository, remote: Remote, name: str, tip: str) -> str:
    """Return the address to fetch the branch from, which may differ from the one for pushing."""
    if remote.push_url == remote.url:
        return remote.address
    seen = await isolated.git.text(
        "ls-remote", "--end-of-options", remote.url, name, ok=(0, 2, 128)
    )
    return remote.address if seen.startswith(tip) else remote.real_push_url


async def _commit(isolated: IsolatedRepository, head: Head, limits: Limits) -> str:
    """Return a commit of all files in their current state, on top of HEAD."""
    assert head.revision is not None
    git = await isolated.on_copy()
    if await git.run("ls-files", "-z", "--unmerged"):
        raise RepositoryError(
            "unmerged", "There are files with conflicts. Resolve them before their work is sent."
        )
    paths = [*await unstaged(git), *await untracked(git)]
    # A nested repository is not part of this one.
    paths = [path for path in paths if not path.endswith("/")]
    await asyncio.to_thread(_measure, isolated.repository.toplevel, paths, limits)
    await stage(git, paths)
    tree = await git.text("write-tree")
    if tree == await git.text("rev-parse", f"{head.revision}^{{tree}}"):
        return head.revision
    on = f" on {head.branch}" if head.branch else ""
    who = isolated.git.at(isolated.git.git_dir, env=isolated.settings.identity)
    return await who.text("commit-tree", "-p", head.revision, "-m", f"Work in progress{on}", tree)


def _measure(toplevel: Path, paths: Iterable[str], limits: Limits) -> None:
    """Refuse to send too many or too large files, before they are read."""
    size = count = 0
    for path in paths:
        count += 1
        with contextlib.suppress(OSError):
            size += (toplevel / path).lstat().st_size
    if count > limits.files:
        raise RepositoryError(
            "tooManyFiles",
            f"{count:,} files are changed or new; {limits.files:,} can be sent at most "
            "(AcpExtension.remote_files). Ignore what does not belong to the project (.gitignore).",
        )
    if size > limits.size:
        raise RepositoryError(
            "tooLarge",
            f"What is changed or new takes {size / 1e6:,.0f} MB; {limits.size / 1e6:,.0f} MB can "
            "be sent at most (AcpExtension.remote_size). Ignore what does not belong to the "
            "project (.gitignore).",
        )
