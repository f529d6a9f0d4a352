# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""References to the files of remote sessions: a repository, a branch and a revision.

Others write these values and git gets them as arguments, so each is checked strictly: it may be an
attack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Tag,
    TypeAdapter,
    ValidationError,
    field_validator,
)

SCHEMES = ("https", "ssh")
"""The schemes that are allowed by default."""

KNOWN_SCHEMES = (*SCHEMES, "http", "file")
LONGEST = 2048

_REVISION = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SCP_LIKE = re.compile(
    r"([A-Za-z0-9_][A-Za-z0-9._-]*)@([A-Za-z0-9][A-Za-z0-9.-]*):(?!//)([^\s:][^\s]*)"
)
_PLACE = re.compile(r"(?:[a-z0-9][a-z0-9.-]*|\[[0-9a-f:.]+\])(?::[0-9]*)?")
_USERINFO = re.compile(r"(?<=://)[^/\s]*@")
_NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?=/|$)|\.$")


class RefError(ValueError):
    """An invalid or forbidden reference; the message is for the user and contains no secret."""


class GitRemoteRef(BaseModel):
    """A revision of a git repository, and a branch that contains it."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    type: Literal["git"] = "git"
    url: str
    branch: str
    revision: str

    @field_validator("url")
    @classmethod
    def _url(cls, url: str) -> str:
        address_of(url)
        return url

    @field_validator("branch")
    @classmethod
    def _branch(cls, branch: str) -> str:
        return check_branch(branch)

    @field_validator("revision")
    @classmethod
    def _revision(cls, revision: str) -> str:
        if not _REVISION.fullmatch(revision.lower()):
            raise RefError("must be the 40 (or 64) hexadecimal digits of a commit")
        return revision.lower()

    def public(self) -> dict[str, str]:
        """Return the reference without secrets, to show, store and send."""
        return {**self.model_dump(), "url": public_url(self.url)}


class OtherRemoteRef(BaseModel):
    """A reference to an unknown kind of storage."""

    model_config = ConfigDict(extra="allow", hide_input_in_errors=True)

    type: str


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "git" if kind == "git" else "other"


RemoteRef = Annotated[
    Annotated[GitRemoteRef, Tag("git")] | Annotated[OtherRemoteRef, Tag("other")],
    Discriminator(_kind),
]
_ADAPTER: TypeAdapter[GitRemoteRef | OtherRemoteRef] = TypeAdapter(RemoteRef)


def git_ref(value: Any) -> GitRemoteRef:
    """Return a reference to a repository, or raise a `RefError`."""
    try:
        ref = _ADAPTER.validate_python(value)
    except ValidationError as error:
        raise RefError(
            "; ".join(
                f"remote.{problem['loc'][-1] if problem['loc'] else ''}: {_words(problem)}"
                for problem in error.errors(include_input=False, include_url=False)
            )
        ) from None
    if not isinstance(ref, GitRemoteRef):
        raise RefError(
            f"remote.type: {ref.type[:40]!r} is not known here; only git repositories are"
        )
    return ref


def _words(problem: Any) -> str:
    return str(problem["ctx"]["error"]) if problem["type"] == "value_error" else problem["msg"]


@dataclass(frozen=True)
class Address:
    """The scheme and the host of a repository's address."""

    scheme: str
    host: str


@dataclass(frozen=True)
class Policy:
    """The schemes and hosts that addresses of repositories may have."""

    schemes: Sequence[str] = SCHEMES
    hosts: Sequence[str] = ()

    def check(self, url: str) -> None:
        """Raise a `RefError` if an address is not allowed here."""
        address = address_of(url)
        if address.scheme not in self.schemes:
            raise RefError(
                f"remote.url: {address.scheme}:// is not allowed here, only "
                f"{' and '.join(f'{scheme}://' for scheme in self.schemes)}. "
                "Who runs the server can change that (AcpExtension.remote_schemes)"
            )
        if self.hosts and address.scheme != "file" and not self._knows(address.host):
            raise RefError(
                f"remote.url: {address.host} is not among the hosts that are allowed here: "
                f"{', '.join(self.hosts)}. Who runs the server can change that "
                "(AcpExtension.remote_hosts)"
            )

    def _knows(self, host: str) -> bool:
        return any(fnmatchcase(host, pattern.lower()) for pattern in self.hosts)

    @property
    def protocols(self) -> str:
        """The allowed schemes in the format of git, which checks redirections with them."""
        return ":".join(self.schemes)


def address_of(url: str) -> Address:
    """Parse an address; raise a `RefError` if it is more than an address."""
    if not url or len(url) > LONGEST:
        raise RefError("must be the address of a repository")
    if url.startswith("-"):
        raise RefError("must not begin with a dash")
    if not unquote(url).isprintable() or " " in url:
        raise RefError("must have neither spaces nor control characters")
    if re.match(r"[A-Za-z0-9+.-]*::", url):
        raise RefError("must not name a program that is to fetch it")
    if "://" in url:
        return _of_url(url)
    if plain := _SCP_LIKE.fullmatch(url):
        if plain[3].startswith("-"):
            raise RefError("must not have a path that begins with a dash")
        if "@[" in plain[3]:
            raise RefError("must name its host plainly, and no other one")
        return Address("ssh", plain[2].lower())
    raise RefError(
        "must be an address such as https://example.org/you/project.git or "
        "git@example.org:you/project.git; a folder is none"
    )


def _of_url(url: str) -> Address:
    try:
        parts = urlsplit(url)
        host, user = parts.hostname or "", parts.username or ""
        port = parts.port
    except ValueError:
        # Without the message of the error, which may quote a password.
        raise RefError("is not an address that can be read") from None
    if url.partition("://")[0] not in KNOWN_SCHEMES:
        # Git accepts only lower case.
        raise RefError("must begin with https:// or ssh://, in small letters")
    if "?" in url or "#" in url:
        raise RefError("must have neither a query nor a fragment")
    # If curl is not used, git decodes the address before it looks for the host, and prefers a host
    # in brackets.
    is_decoded = not parts.scheme.startswith("http")
    is_hidden = is_decoded and ("%" in parts.netloc or "@[" in unquote(parts.path))
    # With several @, git ends the user name at the first one, curl at the last one.
    if is_hidden or parts.netloc.count("@") > 1:
        raise RefError("must name its host plainly, and no other one")
    if parts.scheme == "file":
        if parts.netloc or not parts.path.startswith("/"):
            raise RefError("must name a file on this machine: file:///path/to/repository.git")
        return Address("file", "")
    if not _PLACE.fullmatch(parts.netloc.rpartition("@")[2].lower()) or port == 0:
        raise RefError("must name a host")
    if unquote(user).startswith("-") or parts.path.startswith("/-"):
        raise RefError("must not have a part that begins with a dash")
    if parts.path in ("", "/"):
        raise RefError("must name a repository, not only a host")
    return Address(parts.scheme, host)


def check_branch(branch: str) -> str:
    """Return the name of a branch, or raise a `RefError`; the rules are stricter than git's."""
    if not branch or len(branch) > 255:
        raise RefError("must be the name of a branch")
    if branch.startswith(("-", "+", "/", ".", "refs/")) or branch.endswith("/"):
        raise RefError("must not begin with a dash, a plus, a dot, a slash or refs/")
    if branch in ("@", "HEAD") or _NOT_IN_REFS.search(branch) or not branch.isprintable():
        raise RefError("is not a name that git allows for a branch")
    return branch


def public_url(url: str) -> str:
    """Return an address without a password; the user name for ssh is kept."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    place, slash, path = rest.partition("/")
    user, _, host = place.rpartition("@")
    name = user.partition(":")[0]
    kept = f"{name}@" if name and scheme == "ssh" else ""
    return f"{scheme}://{kept}{host}{slash}{path}"


def redacted(text: str) -> str:
    """Return a program's output without user names and passwords in addresses."""
    return _USERINFO.sub("", text)
