# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""References to repositories: what is taken, what is refused, and that nothing secret is shown."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_acp.remote.refs import (
    GitRemoteRef,
    Policy,
    RefError,
    check_branch,
    git_ref,
    public_url,
    redacted,
)

REVISION = "0123456789abcdef" * 2 + "01234567"
REF = {"type": "git", "url": "https://example.org/a/b.git", "branch": "main", "revision": REVISION}


def ref(**fields):
    return {**REF, **fields}


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a/b.git",
        "https://example.org:8443/a/b",
        "https://example.org/My%20Project/_git/b",
        "https://user:word@example.org/a/b.git",
        "https://[::1]:8080/a.git",
        "ssh://git@example.org/a/b.git",
        "ssh://git@example.org:2222/~me/b.git",
        "git@example.org:a/b.git",
        "org-1234@example.org:a/b.git",
        "git@example.org:~/b.git",
    ],
)
def test_addresses_that_are_taken(url):
    assert git_ref(ref(url=url)).url == url
    Policy().check(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "-u/tmp/evil",
        "--upload-pack=touch /tmp/evil",
        "--upload-pack=touch${IFS}/tmp/evil",
        "ext::sh -c touch% /tmp/evil",
        "ext::sh",
        "fd::17/foo",
        "::address",
        "transport::address",
        "git+ext::x",
        "/home/ada/project",
        "./project",
        "../project.git",
        "project.git",
        "~/project",
        "C:\\project",
        "C:/project",
        "example.org:project",
        "-oProxyCommand=touch@example.org:a",
        "git@-oProxyCommand=evil:a",
        "git@example.org:-a",
        "ssh://-oProxyCommand=evil/a",
        "ssh://-oProxyCommand=evil@example.org/a",
        "ssh://git@-example.org/a",
        "https://-example.org/a",
        "https://example.org/-a",
        "https:///a/b",
        "https://example.org",
        "https://example.org/",
        "https://example.org/a?key=secret",
        "https://example.org/a#b",
        "https://example.org:0/a",
        "https://example.org:nine/a",
        "https://example.org/a\nb",
        "https://example.org/a%0ab",
        "https://example.org/a%00b",
        "https://example.org/a b",
        "https://exa\u202emple.org/a",
        "git://example.org/a.git",
        "ftp://example.org/a.git",
        "git+ssh://example.org/a.git",
        "javascript://example.org/a",
        "file://host/a.git",
        "file:a.git",
        "https://" + "a" * 3000 + ".org/x",
    ],
)
def test_addresses_that_are_refused(url):
    with pytest.raises(RefError, match=r"remote\.url"):
        git_ref(ref(url=url))


@pytest.mark.parametrize("url", ["http://example.org/a.git", "file:///srv/a.git"])
def test_ways_that_somebody_has_to_allow(url):
    git_ref(ref(url=url))
    with pytest.raises(RefError, match="remote_schemes"):
        Policy().check(url)
    Policy(schemes=("https", "http", "file")).check(url)


def test_only_hosts_that_are_listed():
    policy = Policy(hosts=("example.org", "*.example.com"))
    policy.check("https://example.org/a")
    policy.check("git@GIT.example.com:a")
    policy.check("ssh://git@a.b.example.com:22/a")
    for url in (
        "https://example.com/a",
        "git@example.org.evil.net:a",
        "https://evil.net/example.org",
    ):
        with pytest.raises(RefError, match="remote_hosts"):
            policy.check(url)
    # The name in front of the host is not the host.
    with pytest.raises(RefError, match=r"evil\.net"):
        policy.check("https://example.org@evil.net/a")


@pytest.mark.parametrize(
    "branch", ["main", "feature/x-1", "ümlaut", "a.b", "acp/1234", "v1@2", "a+b"]
)
def test_branches_that_are_taken(branch):
    assert git_ref(ref(branch=branch)).branch == branch


@pytest.mark.parametrize(
    "branch",
    [
        "",
        "-x",
        "--upload-pack=touch evil",
        "+main",
        "main:refs/heads/main",
        "a:refs/heads/main",
        "a..b",
        "a@{1}",
        "@",
        "HEAD",
        "refs/heads/main",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "a b",
        "a~1",
        "a^",
        "a?",
        "a*",
        "a[b",
        "a\\b",
        "a\x00b",
        "a\nb",
        "a\x7f",
        "a\u202eb",
        "x" * 256,
    ],
)
def test_branches_that_are_refused(branch):
    with pytest.raises(RefError, match=r"remote\.branch"):
        git_ref(ref(branch=branch))


@given(st.text("ab./-@{~^:?*[\\ lock+é", max_size=12))
def test_no_branch_is_taken_that_git_refuses(name):
    try:
        check_branch(name)
    except RefError:
        return
    done = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "revision", ["", "main", "HEAD", "abc123", REVISION + "0", "g" * 40, "-" * 40]
)
def test_only_whole_revisions(revision):
    with pytest.raises(RefError, match=r"remote\.revision"):
        git_ref(ref(revision=revision))


def test_revisions_of_both_lengths():
    assert git_ref(ref(revision=REVISION.upper())).revision == REVISION
    assert len(git_ref(ref(revision="ab" * 32)).revision) == 64


@pytest.mark.parametrize("value", [None, 7, [], {}, {"type": "git"}, ref(url=7), ref(branch=None)])
def test_what_is_no_reference_at_all(value):
    with pytest.raises(RefError, match="remote"):
        git_ref(value)


def test_another_kind_is_told_apart_from_a_broken_one():
    with pytest.raises(RefError, match="'tarball' is not known here"):
        git_ref({"type": "tarball", "url": "https://example.org/a.tar"})


def test_no_error_quotes_a_password():
    for url in ("https://u:s3cret@example.org", "https://u:s3cret@[", "ftp://u:s3cret@h/a"):
        with pytest.raises(RefError) as caught:
            git_ref(ref(url=url))
        assert "s3cret" not in str(caught.value)


def test_what_is_shown_has_no_password():
    shown = GitRemoteRef(**ref(url="https://ada:s3cret@example.org:8443/a.git")).public()
    assert shown == ref(url="https://example.org:8443/a.git")
    assert public_url("ssh://git:s3cret@example.org/a") == "ssh://git@example.org/a"
    assert public_url("git@example.org:a.git") == "git@example.org:a.git"
    printed = "fatal: unable to access 'https://ada:s3cret@example.org/a.git/': no"
    assert redacted(printed) == "fatal: unable to access 'https://example.org/a.git/': no"
    assert redacted("https://ada:s3@cret@example.org/a b@c") == "https://example.org/a b@c"
