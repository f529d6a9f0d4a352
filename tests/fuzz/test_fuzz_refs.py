# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is taken for a repository's address means to git what it means to us, and shows no secret."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_acp.remote.refs import (
    KNOWN_SCHEMES,
    GitRemoteRef,
    Policy,
    RefError,
    address_of,
    git_ref,
    public_url,
    redacted,
)

SECRET = "s3cret"
REVISION = "0123456789abcdef0123456789abcdef01234567"

PLAIN = [
    "https://example.org/a/b.git",
    f"https://git:{SECRET}@example.org:22/a",
    f"https://{SECRET}@[::1]:22/a",
    "http://127.0.0.1/~a/%7Eb",
    "ssh://example.org/a",
    f"ssh://git:{SECRET}@example.org/a/b",
    "ssh://git@example.org:22/~a",
    "ssh://git@[::1]/a",
    "git@example.org:a/b.git",
    "git@example.org:~/a",
    "file:///srv/a",
]
WORDS = ["example.org", "evil.net", "[evil.net]", "git", "ssh", "file", "22", "::1", "~", "-a", "ü"]
SIGNS = ["@", ":", "::", "/", "//", "://", "[", "]", "@[", "-", ".", "..", "?", "#", "\\", "+", "="]
CODES = ["%2f", "%2F", "%40", "%3a", "%5b", "%5d", "%2d", "%00", "%ff", "%25", "%", "\n", "\t", " "]
TOKENS = st.sampled_from([*WORDS, *SIGNS, *CODES])


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Draw an address into which somebody has put something, or nearly one."""
    url = draw(st.sampled_from(PLAIN))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(url)))
        end = draw(st.integers(start, min(start + 2, len(url))))
        url = url[:start] + draw(TOKENS) + url[end:]
    return draw(st.sampled_from([url, url, url, url.upper(), url.title()]))


def is_taken(url: str) -> bool:
    try:
        address_of(url)
    except RefError:
        return False
    return True


ADDRESSES = addresses() | st.lists(TOKENS, max_size=8).map("".join) | st.text(max_size=20)
TAKEN = addresses().filter(is_taken)


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, which git wants before it says anything."""
    path = tmp_path_factory.mktemp("somewhere")
    subprocess.run(["git", "init", "-q", path], check=True)
    return path


def git(somewhere: Path, *words: str) -> str:
    env = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "LC_ALL": "C",
    }
    done = subprocess.run(["git", *words], cwd=somewhere, env=env, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode(errors="replace")


@pytest.mark.parametrize(
    "url",
    [
        "ssh://evil.net%2Fa@example.org/b",
        "ssh://example.org/a@[evil.net]/b",
        "ssh://example.org/a@%5Bevil.net%5D/b",
        "git@example.org:a@[evil.net]:b",
        "file:///a@[b]/c",
        "ssh://evil.net[::1]/a",
        "https://a@evil.net@example.org/b",
        "https://example.org/a?",
        "HTTPS://example.org/a",
        "file:/a://b",
    ],
)
def test_what_git_takes_for_another_place_is_refused(url):
    with pytest.raises(RefError):
        address_of(url)


@given(url=TAKEN)
def test_git_takes_the_way_that_we_think_it_takes(somewhere, url):
    address = address_of(url)
    # It says which way it was going to take, and goes none.
    said = git(somewhere, "-c", "protocol.allow=never", "ls-remote", "--", url)
    assert said.strip() == f"fatal: transport '{address.scheme}' not allowed"


@given(url=TAKEN)
def test_ssh_leads_to_the_host_that_we_think_it_leads_to(somewhere, url):
    address = address_of(url)
    assume(address.scheme == "ssh")
    lines = git(somewhere, "fetch-pack", "--diag-url", url).splitlines()
    said = dict(line.removeprefix("Diag: ").split("=", 1) for line in lines)
    user, _, host = said["userandhost"].rpartition("@")
    assert said["protocol"] == "ssh"
    # With a colon in the name before it, git leaves the port to ssh, which knows none there.
    assert address.host in (host.lower(), re.sub(r":[0-9]*$", "", host.lower()))
    assert not user.startswith("-") and not host.startswith("-")
    assert not said["path"].startswith("-")


@given(TAKEN)
def test_what_is_taken_is_plain(url):
    address = address_of(url)
    assert not url.startswith("-")
    assert unquote(url).isprintable() and " " not in url
    assert address.scheme in KNOWN_SCHEMES
    assert address.scheme == "file" or (address.host and not address.host.startswith("-"))


@given(TAKEN)
def test_what_is_shown_leads_to_the_same_place_and_has_no_secret(url):
    address = address_of(url)
    shown = public_url(url)
    assert address_of(shown) == address
    assert public_url(shown) == shown
    name = shown.partition("://")[2].partition("/")[0].rpartition("@")[0]
    assert ":" not in name and (not name or address.scheme == "ssh")
    ref = GitRemoteRef(url=url, branch="main", revision=REVISION)
    assert ref.public() == {"type": "git", "url": shown, "branch": "main", "revision": REVISION}


@given(TAKEN, st.sampled_from(["'{}'", "fatal: {}\n", "{}", "a@b {} c@d"]))
def test_no_word_that_a_program_printed_has_a_secret(url, words):
    path = url.partition("://")[2].partition("/")[2]
    assert f"{SECRET}@" not in redacted(words.format(url)) or f"{SECRET}@" in path


@given(ADDRESSES)
def test_no_refusal_has_a_secret(url):
    with_secret = url.replace("evil.net", SECRET)
    for check in (address_of, Policy(hosts=("nowhere.org",)).check):
        try:
            check(with_secret)
        except RefError as error:
            words = str(error)
        else:
            words = ""
        # The name of a host is none, nor that of a way to get there.
        assert f":{SECRET}" not in words and f"{SECRET}@" not in words


@given(TAKEN)
def test_only_listed_hosts_are_reached(url):
    address = address_of(url)
    policy = Policy(schemes=KNOWN_SCHEMES, hosts=("example.org", "*.example.org"))
    try:
        policy.check(url)
    except RefError:
        assert address.host != "example.org" or address.scheme == "file"
    else:
        assert address.scheme == "file" or address.host.endswith("example.org")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | ADDRESSES | st.just("git"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "url", "branch", "revision"]) | st.text(max_size=3), inner
        )
    ),
    max_leaves=6,
)


@given(VALUES | st.dictionaries(st.sampled_from(["type", "url", "branch", "revision"]), VALUES))
def test_what_is_no_reference_is_refused_and_does_not_fail(value):
    try:
        ref = git_ref(value)
    except RefError as error:
        words = str(error)
    else:
        words = f"remote.url: {address_of(ref.url).scheme}"
    assert words.startswith("remote")


NAMES = st.lists(
    st.sampled_from(["main", "a", "é", "@", "-", "+", ".", "/", "HEAD", "refs/", ".lock"])
    | st.sampled_from(["@{", "..", "~", "^", ":", "?", "*", "[", "\\", " ", "\x7f", "\u202e"])
    | st.text(max_size=3),
    min_size=1,
    max_size=4,
).map("".join)


@given(name=NAMES)
def test_a_branch_that_is_taken_is_one_branch_to_git(somewhere, name):
    with contextlib.suppress(RefError):
        git_ref({"type": "git", "url": "https://a/b", "branch": name, "revision": REVISION})
        # Expanded, had it been another's name; refused, had it been an option.
        assert git(somewhere, "check-ref-format", "--branch", name) == f"{name}\n"
