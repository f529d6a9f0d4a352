# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""No name, however it is written and wherever its links lead, gets out of the folders of a session."""

from __future__ import annotations

import contextlib
import os
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jupyter_acp.client.documents.disk import read_text, write_text
from jupyter_acp.client.permissions.policy import Action, Rule
from jupyter_acp.client.permissions.protected_files import (
    _NAMES,
    _PAIRS,
    folded,
    needs_permission,
    risk_of_writing,
)
from jupyter_acp.paths import (
    contained,
    containing,
    file_uri,
    folder_of,
    innermost,
    os_path,
    uri_path,
)
from jupyter_acp.rpc import RpcError

SECRET = "not for agents"
ROOTS = ["/work"]
"""A folder that need not be there: what is said of names is said without looking."""

NAMES = ["a", "b", "c", "a.", "...", "..a", "%2e%2e", "%2f", "é", "e\u0301", " ", "a\\..\\b"]
STEPS = [*NAMES, "..", ".", "", "../..", "/", "a/..", "link", "\0", "\udcff", "\ud800", "x" * 300]
NEAR = ["..", ".", "a", "b/c", "link", "../outside", "../../outside", "../outside/secret", "../new"]
NEAR += ["{root}", "{root}/a", "{root}/../outside", "{root}-not/secret", "nowhere", "{outside}/new"]
NEAR += ["{outside}", "{outside}/secret", "//{outside}"]
FAR = ["/", "/proc/self/root", "/proc/self/cwd", "/nowhere", "/dev/fd/0"]


def entries(targets: list[str]) -> Any:
    """Draw what is in a folder: files, other folders, and links to these places."""
    names = st.lists(st.sampled_from([*NAMES, "link"]), min_size=1, max_size=3).map("/".join)
    return st.lists(st.tuples(names, st.sampled_from(["file", "folder", *targets])), max_size=6)


LOOKED_AT = entries([*NEAR, *FAR])
WRITTEN_TO = entries(NEAR)
"""Whatever goes wrong, it goes wrong in a folder of the test's own."""

PLACES = st.sampled_from(["{root}/", "{root}/", "{root}/../", "{root}-not/", "{outside}/"])
PATHS = st.builds("{}{}".format, PLACES, st.lists(st.sampled_from(STEPS), max_size=5).map("/".join))
ANYWHERE = PATHS | st.lists(st.sampled_from([*STEPS, "{root}", "~"]), max_size=5).map("/".join)


class World:
    """A folder with whatever is in it, and what is outside."""

    def __init__(self, folder: Path, entries: list[tuple[str, str]]) -> None:
        self.folder = folder.resolve()
        self.root, self.outside = self.folder / "root", self.folder / "outside"
        self.beside = self.folder / "root-not"
        for place in (self.outside, self.beside):
            (place / "dir").mkdir(parents=True)
            (place / "secret").write_text(SECRET)
            (place / "dir" / "secret").write_text(SECRET)
        self.root.mkdir()
        for name, what in entries:
            with contextlib.suppress(OSError):
                self._make(self.root / name, what)
        self.before = self.all_outside()

    def _make(self, path: Path, what: str) -> None:
        # A link may lead anywhere: nothing is made there.
        if any(each.is_symlink() for each in (path, *path.parents)):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if what == "file":
            path.write_text("for agents")
        elif what == "folder":
            path.mkdir()
        else:
            path.symlink_to(self.named(what))

    def named(self, text: str) -> str:
        return text.replace("{root}", str(self.root)).replace("{outside}", str(self.outside))

    def is_inside(self, path: Path) -> bool:
        return path == self.root or self.root in path.parents

    def all_outside(self) -> list[tuple[Any, ...]]:
        """Return everything there is beside the root, byte by byte."""
        found: list[tuple[Any, ...]] = []
        for at, folders, files in os.walk(self.folder):
            if Path(at) == self.folder:
                folders.remove("root")
            for name in sorted(folders + files):
                path = Path(at, name)
                text = path.read_bytes() if path.is_file() else os.path.islink(path)
                found.append((str(path), path.lstat().st_mode, text))
        return sorted(found, key=str)


@contextlib.contextmanager
def world(entries: list[tuple[str, str]]) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        it = World(Path(folder), entries)
        yield it
        assert it.all_outside() == it.before


@given(LOOKED_AT, st.lists(ANYWHERE, min_size=1, max_size=5))
def test_nothing_is_contained_that_leads_outside(entries, paths):
    with world(entries) as it:
        for path in map(it.named, paths):
            with contextlib.suppress(RpcError):
                target = contained(path, [str(it.root)])
                assert it.is_inside(target)
                assert os.path.realpath(path) == str(target) == os.path.realpath(target)


@given(WRITTEN_TO, st.lists(PATHS, min_size=1, max_size=5))
def test_what_is_read_and_written_is_inside(entries, paths):
    with world(entries) as it:
        for path in map(it.named, paths):
            with contextlib.suppress(RpcError):
                target = contained(path, [str(it.root)])
                assert it.is_inside(target)
                with contextlib.suppress(RpcError):
                    assert SECRET not in read_text(target)
                write_text(target, "by an agent")
                assert read_text(target) == "by an agent"


@given(
    WRITTEN_TO,
    PATHS,
    st.integers(0, 3),
    st.sampled_from(["outside", "root-not/dir", "outside/secret"]),
)
def test_a_link_that_comes_later_leads_nowhere(entries, path, depth, elsewhere):
    with world(entries) as it:
        try:
            target = contained(it.named(path), [str(it.root)])
        except RpcError:
            return
        steps = [target, *target.parents]
        place = steps[min(depth, len(steps) - 1)]
        assume(it.is_inside(place) and place != it.root)
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                place.rename(it.root / "moved")
            place.symlink_to(it.folder / elsewhere)
        for work in (read_text, lambda target: write_text(target, "by an agent")):
            with contextlib.suppress(RpcError):
                assert work(target) != SECRET


@given(
    LOOKED_AT,
    ANYWHERE,
    st.sampled_from(["{root}", "{root}/a", "{root}/link", "{outside}", "{root}/.."]),
)
def test_what_is_in_a_folder_is_said_of_where_it_really_is(entries, path, root):
    with world(entries) as it:
        roots = [it.named(root), str(it.root)]
        try:
            target = contained(it.named(path), roots)
        except (RpcError, RuntimeError):
            return
        found = containing(target, roots)
        assert found and found[0] == innermost(target, roots)
        assert all(target == folder or folder in target.parents for folder in found)


@given(st.lists(st.sampled_from([*STEPS, "/a", "C:", "..\\"]), max_size=5).map("/".join))
def test_a_path_of_jupyter_never_climbs(path):
    found = os_path("/work", path)
    assert found is None or (found.parts[:2] == ("/", "work") and ".." not in found.parts)


# Addresses

LETTERS = st.characters(codec="utf-8", exclude_characters="/\0") | st.sampled_from(
    "%:?#;[]@~ \\é\udc80"
)
NAME = st.text(LETTERS, min_size=1, max_size=8).filter(lambda name: name not in (".", ".."))


@given(st.lists(NAME, max_size=4))
def test_the_address_of_a_file_leads_back_to_it(names):
    path = PurePosixPath("/work", *names)
    uri = file_uri(path)
    assert uri.isascii() and uri.startswith("file:///") and " " not in uri
    assert uri_path(uri) == str(path)


SCHEMES = ["file:", "file://", "file:///", "file://{root}/", "FILE://localhost{root}/", "http:"]
CODES = ["%2e%2e", "%2E.", "%2f", "%00", "%ff", "%5c", "/", "..", "a", "link", "?", "#", "\t"]
HOSTS = ["", "@", ":", "localhost", "host", "[::1]", "é"]
URIS = st.builds(
    "{}{}{}".format,
    st.sampled_from(SCHEMES),
    st.sampled_from(HOSTS),
    st.lists(st.sampled_from(CODES), max_size=6).map("".join),
)


@given(LOOKED_AT, URIS | ANYWHERE)
def test_no_address_leads_outside(entries, uri):
    with world(entries) as it, contextlib.suppress(RpcError):
        path = os.path.join(it.root, uri_path(it.named(uri)))
        assert it.is_inside(contained(path, [str(it.root)]))


# Names that are not to be touched

UNSEEN = ["\u200b", "\u200d", "\u202e", "\u2060", "\ufeff", "\u00ad", "\U000e0001"]
ENDS = ["", " ", ".", "...", " . ", ":", "::$DATA", ":x", ". :x"]
KNOWN = sorted(_NAMES) + sorted(name for pair in _PAIRS for name in pair)


@st.composite
def spellings(draw: Any, names: Any) -> str:
    """Draw another way to write a name, which some file system takes for the same."""
    form = draw(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
    letters = [
        draw(st.sampled_from([letter, letter.upper(), letter.title(), wide(letter)]))
        + draw(st.sampled_from(["", "", "", *UNSEEN]))
        for letter in draw(names)
    ]
    front = draw(st.sampled_from(["", "", *UNSEEN]))
    return front + unicodedata.normalize(form, "".join(letters)) + draw(st.sampled_from(ENDS))


def wide(letter: str) -> str:
    """Return a letter as it is written between others that are as wide as they are high."""
    return chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter


@given(st.text())
@example("ẞ\u0345")
@example("\u1e9b\u0323")
def test_a_name_is_folded_once_and_for_all(name):
    assert folded(folded(name)) == folded(name)


@given(
    st.sampled_from(sorted(_NAMES)).flatmap(
        lambda name: st.tuples(st.just(name), spellings(st.just(name)))
    )
)
def test_another_spelling_of_a_name_is_as_dangerous(names):
    name, spelling = names
    assert folded(spelling) == name
    for path in (f"/work/{spelling}", f"/work/{spelling}/x", f"/work/x/{spelling}"):
        assert risk_of_writing(Path(path), ROOTS) == _NAMES[name]
        assert needs_permission(Path(path), ROOTS, "write")


@given(st.sampled_from(sorted(_PAIRS)), st.data())
def test_another_spelling_of_two_names_is_as_dangerous(pair, data):
    one, other = (data.draw(spellings(st.just(name))) for name in pair)
    path = Path("/work", one, other, "x")
    assert risk_of_writing(path, ROOTS) == _PAIRS[pair]
    assert needs_permission(path, ROOTS, "write")


PARTS = st.sampled_from(["a", "x.py", ".x", "x.pth", "jupyter_server_config.py", *KNOWN]) | NAME


@given(st.lists(PARTS, max_size=5))
def test_what_is_dangerous_needs_permission_wherever_it_is(parts):
    path = PurePosixPath("/work", *parts)
    for roots in (ROOTS, ["/elsewhere"], ["/"]):
        if risk_of_writing(Path(path), roots) is not None:
            assert needs_permission(Path(path), roots, "write")


@given(
    st.lists(PARTS, max_size=3),
    st.sampled_from("abcx"),
    st.text(LETTERS, max_size=4),
    st.lists(PARTS, max_size=2),
)
def test_what_is_hidden_needs_permission_whatever_it_is_called(before, letter, name, after):
    path = PurePosixPath("/work", *before, f".{letter}{name}", *after)
    assert needs_permission(Path(path), ROOTS, "write")


@given(
    spellings(st.sampled_from(["notes.txt", "data", "straße", ".env"])),
    st.sampled_from(["deny", "ask"]),
)
def test_what_a_rule_forbids_is_not_had_by_another_spelling(name, decision):
    plain = next(n for n in ("notes.txt", "data", "straße", ".env") if folded(n) == folded(name))
    action = Action.on_file("write", Path("/work", "x", name), ROOTS, "Write")
    assert Rule(kind="write", match=f"x/{plain}", decision=decision).fits(action)
    assert Rule(kind="*", match=f"/work/*/{plain}", decision=decision).fits(action)


@given(LOOKED_AT, PATHS)
def test_a_folder_is_opened_without_any_link_on_the_way(entries, path):
    with world(entries) as it:
        path = Path(os.path.normpath(it.named(path)))
        with contextlib.suppress(OSError, ValueError), folder_of(path) as folder:
            assert os.fstat(folder).st_ino == path.parent.stat().st_ino
            assert path.parent.resolve() == path.parent


# Found by the tests above.


@pytest.mark.parametrize("uri", ["file://[", "file://]", "file://\u2100/a"])
def test_an_address_that_cannot_be_read_is_refused(uri):
    with pytest.raises(RpcError):
        uri_path(uri)


def test_the_address_of_a_folder_that_begins_with_a_colon_leads_back_to_it():
    assert uri_path(file_uri(PurePosixPath("/:a/b"))) == "/:a/b"


@pytest.mark.parametrize("name", ["...", ". ", ".:a", "..:a", ".\u200b"])
def test_what_is_hidden_needs_permission_though_nothing_is_behind_the_dot(name):
    assert needs_permission(Path("/work", name), ROOTS, "write")


@pytest.mark.parametrize("unseen", ["\ufe0f", "\u034f", "\u115f", "\U000e0100"])
def test_what_cannot_be_seen_makes_no_name_harmless(unseen):
    assert risk_of_writing(Path("/work", f".gi{unseen}t", "config"), ROOTS) == _NAMES[".git"]


def test_a_folder_that_has_become_a_loop_contains_nothing(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RpcError):
        contained("/a", [str(tmp_path / "loop")])
