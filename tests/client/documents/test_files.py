# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`fs/*` as an agent meets it."""

from __future__ import annotations

import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def fs(window, session, method, **params):
    await window.prompt(session, ["request", f"fs/{method}_text_file", params])
    return json.loads(window.texts()[-1])


async def test_read_whole_and_in_part(window, folder):
    (folder / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    session = await window.new(folder)
    path = str(folder / "a.txt")
    assert await fs(window, session, "read", path=path) == {"content": "one\ntwo\nthree\nfour\n"}
    assert await fs(window, session, "read", path=path, line=2, limit=2) == {
        "content": "two\nthree\n"
    }
    assert await fs(window, session, "read", path=path, line=4) == {"content": "four\n"}
    assert await fs(window, session, "read", path=path, line=99) == {"content": ""}
    assert await fs(window, session, "read", path=path, limit=0) == {"content": ""}


async def test_write_makes_folders_and_keeps_the_mode(window, folder):
    session = await window.new(folder)
    new = folder / "deep" / "er" / "b.txt"
    assert await fs(window, session, "write", path=str(new), content="héllo\n") == {}
    assert new.read_text() == "héllo\n"
    new.chmod(0o750)
    await fs(window, session, "write", path=str(new), content="again")
    assert new.read_text() == "again" and new.stat().st_mode & 0o777 == 0o750
    assert sorted(p.name for p in new.parent.iterdir()) == ["b.txt"]


async def test_what_cannot_be_read_says_why(window, folder):
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    os.mkfifo(folder / "pipe")
    session = await window.new(folder)
    for name, words in {
        "latin.txt": "not UTF-8",
        "pipe": "not a regular file",
        ".": "is a folder",
    }.items():
        error = await fs(window, session, "read", path=str(folder / name))
        assert words in error["message"], error


@pytest.mark.parametrize("method", ["read", "write"])
async def test_nothing_outside_the_folders_is_touched(
    window, folder, tmp_path, method, jp_root_dir
):
    outside = tmp_path / "work-x"
    outside.mkdir()
    secret = outside / "secret.txt"
    secret.write_text("secret")
    (folder / "link").symlink_to(secret)
    (folder / "door").symlink_to(outside)
    session = await window.new(folder)
    for path in (
        secret,
        folder / ".." / "work-x" / "secret.txt",
        folder / "link",
        folder / "door" / "secret.txt",
        folder / "door" / "new.txt",
        "/etc/passwd",
    ):
        error = await fs(window, session, method, path=str(path), content="changed")
        assert "outside the folders" in error["message"], (path, error)
        assert str(folder) in error["message"]
    for path in ("relative.txt", "a\0b", 7):
        error = await fs(window, session, method, path=path, content="x")
        assert error["code"] == -32602
    assert secret.read_text() == "secret"
    assert sorted(p.name for p in outside.iterdir()) == ["secret.txt"]
    # The server's own root is always inside.
    (jp_root_dir / "c.txt").write_text("root")
    assert "message" not in await fs(
        window, session, method, path=str(jp_root_dir / "c.txt"), content="x"
    )


async def test_a_session_of_nobody_is_refused(window, folder):
    session = await window.new(folder)
    request = '{"jsonrpc":"2.0","id":"r","method":"fs/read_text_file","params":{"sessionId":"x","path":"/etc/passwd"}}\n'
    await window.prompt(session, ["raw", request], ["until_answer", "r"])
    assert json.loads(window.texts()[-1])["error"]["code"] == -32602


async def test_a_file_that_is_not_there_yet_reads_as_empty(window, folder):
    """Some agents look for a file before they make it, and cannot go on after an error."""
    session = await window.new(folder)
    path = str(folder / "deep" / "new.txt")
    assert await fs(window, session, "read", path=path) == {"content": ""}
    assert await fs(window, session, "write", path=path, content="made") == {}
    assert (folder / "deep" / "new.txt").read_text() == "made"
    assert await fs(window, session, "read", path=path) == {"content": "made"}
    error = await fs(window, session, "read", path=str(folder.parent / "other" / "new.txt"))
    assert "outside the folders" in error["message"]


@pytest.mark.parametrize("kind", ["read", "search"])
@pytest.mark.parametrize("how", ["locations", "rawInput", "another field", "title", "short title"])
async def test_who_wants_to_read_it_learns_that_there_is_none(window, folder, kind, how):
    session = await window.new(folder)
    path = str(folder / "none.txt")
    told = {
        "locations": {"locations": [{"path": path}]},
        "rawInput": {"rawInput": {"file_path": "none.txt"}},
        "another field": {"rawInput": {"target": path}},
        "title": {"title": f"Read {path}"},
        "short title": {"title": "Read none.txt"},
    }[how]
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "kind": kind, **told}
    end = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    read = ["request", "fs/read_text_file", {"path": path}]
    other = ["request", "fs/read_text_file", {"path": str(folder / "other.txt")}]
    await window.prompt(session, ["update", call], read, other, ["update", end], read)
    error, empty, later = map(json.loads, window.texts()[-3:])
    assert error["code"] == -32002 and "no file" in error["message"]
    assert empty == later == {"content": ""}


@pytest.mark.parametrize(
    ("title", "is_named"),
    [
        ("Read {link}/none.txt", True),
        ("Read `{link}/none.txt`", True),
        ("Read {link}/none.txt:1-20.", True),
        ("Read file://{real}/none.txt", True),
        ("Read {real}/none.txt.bak", False),
        ("Read {link}/none.txt/more", False),
        ("Read {link}/none.txt~", False),
        ("Read /elsewhere{real}/none.txt", False),
        ("Read `none.txt`", True),
        ("Read sub/none.txt", False),
        ("Read ../none.txt", False),
    ],
)
async def test_a_title_names_a_file_by_its_whole_path(window, folder, title, is_named):
    link = folder.parent / "link"
    link.symlink_to(folder)
    session = await window.new(link)
    words = title.format(link=link, real=folder)
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read", "title": words}
    read = ["request", "fs/read_text_file", {"path": str(link / "none.txt")}]
    await window.prompt(session, ["update", call], read)
    answer = json.loads(window.texts()[-1])
    assert answer.get("code") == (-32002 if is_named else None)


async def test_a_call_ends_with_its_turn(window, folder):
    session = await window.new(folder)
    path = str(folder / "none.txt")
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read"}
    await window.prompt(session, ["update", {**call, "locations": [{"path": path}]}])
    assert await fs(window, session, "read", path=path) == {"content": ""}


async def test_what_somebody_else_has_made_meanwhile_is_kept(window, folder):
    session = await window.new(folder)
    path = folder / "new.txt"
    assert await fs(window, session, "read", path=str(path)) == {"content": ""}
    path.write_text("the user's\n")
    error = await fs(window, session, "write", path=str(path), content="the agent's\n")
    assert error["code"] == -32012 and path.read_text() == "the user's\n"
    path = folder / "new.ipynb"
    assert await fs(window, session, "read", path=str(path)) == {"content": ""}
    theirs = nbformat.writes(new_notebook(cells=[new_code_cell("'the user'")]))
    path.write_text(theirs)
    ours = nbformat.writes(new_notebook(cells=[new_code_cell("'the agent'")]))
    error = await fs(window, session, "write", path=str(path), content=ours)
    assert error["code"] == -32012 and path.read_text() == theirs
