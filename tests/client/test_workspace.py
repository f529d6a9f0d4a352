# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`workspace/*` as an agent meets it, with windows that tell what they have open."""

from __future__ import annotations

import asyncio
import json
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from jupyter_server.services.contents.manager import ContentsManager

from jupyter_acp.client import workspace as module
from jupyter_acp.paths import file_uri

UPDATE = "_jupyter/workspace/update"


async def ask(window, session, method, **params):
    """Let the agent ask; return what it got."""
    await window.prompt(session, ["request", f"workspace/{method}", params])
    return json.loads(window.texts()[-1])


def document(path, language="python", kind="file", **more):
    return {"path": path, "languageId": language, "kind": kind, "dirty": False, **more}


async def until(condition):
    for _ in range(1500):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to that")


async def tell(window, page="page", **state):
    await window.notify(UPDATE, {"window": page, **state})


def uris(answer):
    return [d["uri"] for d in answer["documents"]]


@pytest.fixture
def root(jp_root_dir):
    return jp_root_dir.resolve().as_uri()


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/home/u/a.py"), "file:///home/u/a.py"),
        (PurePosixPath("/a b/#1/100%.py"), "file:///a%20b/%231/100%25.py"),
        (PurePosixPath("/é/日本?.ipynb"), "file:///%C3%A9/%E6%97%A5%E6%9C%AC%3F.ipynb"),
        (PurePosixPath("/bad/\udcff"), "file:///bad/%FF"),
        (PurePosixPath("/x/a:b@c~d"), "file:///x/a:b@c~d"),
        (PurePosixPath("/back\\slash"), "file:///back%5Cslash"),
        (PureWindowsPath("C:\\Users\\Zoë K\\a.py"), "file:///C:/Users/Zo%C3%AB%20K/a.py"),
        (PureWindowsPath("\\\\host\\share\\a b.py"), "file:////host/share/a%20b.py"),
    ],
)
def test_uris_are_as_the_rfc_writes_them(path, uri):
    assert file_uri(path) == uri


async def test_the_three_methods_tell_what_a_window_told(window, tmp_path, root):
    session = await window.new(tmp_path)
    assert await ask(window, session, "open_documents") == {"documents": []}
    assert await ask(window, session, "recent_documents") == {"documents": []}
    assert await ask(window, session, "active_document") == {"document": None}
    notebook = document(
        "work/a b.ipynb", kind="notebook", cell={"id": "c1", "index": 0, "type": "code"}
    )
    script = document("x.R", "r", cursor={"line": 1, "character": 2})
    recents = [{"path": "x.R", "languageId": "r", "kind": "file"}]
    await tell(
        window,
        full=True,
        documents=[notebook, script],
        active="work/a b.ipynb",
        focused=True,
        recents=recents,
    )
    expected = {
        "uri": f"{root}/work/a%20b.ipynb",
        "languageId": "python",
        "_meta": {
            "jupyter-acp": {
                "kind": "notebook",
                "dirty": False,
                "cell": {"id": "c1", "index": 0, "type": "code"},
            }
        },
    }
    opened = await ask(window, session, "open_documents")
    assert opened["documents"][0] == expected
    assert opened["documents"][1]["uri"] == f"{root}/x.R"
    assert (await ask(window, session, "active_document")) == {"document": expected}
    assert (await ask(window, session, "recent_documents")) == {
        "documents": [
            {
                "uri": f"{root}/x.R",
                "languageId": "r",
                "_meta": {"jupyter-acp": {"kind": "file"}},
            }
        ]
    }


async def test_changes_after_the_whole_state(window, tmp_path, root):
    session = await window.new(tmp_path)
    await tell(window, full=True, documents=[document("a.py"), document("b.py")], active="a.py")
    await tell(window, documents=[document("c.py"), document("a.py", dirty=True)], closed=["b.py"])
    opened = await ask(window, session, "open_documents")
    assert uris(opened) == [f"{root}/a.py", f"{root}/c.py"]
    assert opened["documents"][0]["_meta"]["jupyter-acp"]["dirty"] is True
    assert (await ask(window, session, "active_document"))["document"]["uri"] == f"{root}/a.py"
    await tell(window, active=None)
    assert await ask(window, session, "active_document") == {"document": None}
    await tell(window, full=True, documents=[])
    assert await ask(window, session, "open_documents") == {"documents": []}


async def test_several_windows_are_one_workspace(window, acp_connect, tmp_path, root):
    session = await window.new(tmp_path)
    other = await acp_connect()
    await tell(
        window, "one", full=True, focused=True, active="a.py", documents=[document("a.py", x=1)]
    )
    both = [document("a.py", x=2), document("b.py")]
    await tell(other, "two", full=True, focused=True, active="b.py", documents=both)
    await other.result("session/list", {})
    opened = await ask(window, session, "open_documents")
    assert sorted(uris(opened)) == [f"{root}/a.py", f"{root}/b.py"]
    assert {d["_meta"]["jupyter-acp"].get("x") for d in opened["documents"]} == {2, None}
    assert (await ask(window, session, "active_document"))["document"]["uri"] == f"{root}/b.py"
    await tell(window, "one", focused=True)
    assert (await ask(window, session, "active_document"))["document"]["uri"] == f"{root}/a.py"
    await tell(window, "one", gone=True)
    assert (await ask(window, session, "active_document"))["document"]["uri"] == f"{root}/b.py"


async def test_a_lost_window_counts_for_a_while(
    window, acp, acp_connect, tmp_path, root, monkeypatch
):
    session = await window.new(tmp_path)
    monkeypatch.setattr(module, "GRACE", 600)
    windows = (await acp.manager()).services.workspace._windows
    other = await acp_connect()
    recents = [{"path": "b.py", "languageId": "python", "kind": "file"}]
    state = {"full": True, "documents": [document("b.py")], "active": "b.py", "focused": True}
    await tell(other, "two", **state, recents=recents)
    await other.result("session/list", {})
    await other.close()
    await until(lambda: windows["two"].leaving is not None)
    leaving = windows["two"].leaving
    assert uris(await ask(window, session, "open_documents")) == [f"{root}/b.py"]
    # It comes back on another socket, and what it has closed meanwhile is closed.
    again = await acp_connect()
    await tell(again, "two", full=True, documents=[document("c.py")], active="c.py")
    await again.result("session/list", {})
    assert uris(await ask(window, session, "open_documents")) == [f"{root}/c.py"]
    # Nor is it forgotten when the time is up.
    assert leaving.cancelled() and windows["two"].leaving is None
    monkeypatch.setattr(module, "GRACE", 0.2)
    await again.close()
    await until(lambda: not windows)
    assert await ask(window, session, "open_documents") == {"documents": []}
    assert await ask(window, session, "active_document") == {"document": None}
    # What was opened lately is known without a window.
    assert uris(await ask(window, session, "recent_documents")) == [f"{root}/b.py"]


async def test_recents_and_their_languages_outlive_the_server(window, acp, acp_connect, tmp_path):
    await tell(window, full=True, documents=[document("n.ipynb", "julia", "notebook")])
    recents = [
        {"path": "n.ipynb", "kind": "notebook"},
        {"path": "never-open.ipynb", "kind": "notebook"},
        {"path": "notes.txt", "kind": "file", "languageId": "plaintext"},
    ]
    await tell(window, recents=recents, shares={"openDocuments": False})
    await window.result("session/list", {})
    await acp.stop_extension()
    later = await acp_connect()
    session = await later.new(tmp_path)
    answer = await ask(later, session, "recent_documents")
    assert [d["languageId"] for d in answer["documents"]] == ["julia", "json", "plaintext"]
    # So do the user's wishes.
    assert (await ask(later, session, "open_documents"))["code"] == -32601


@pytest.mark.parametrize(
    ("limit", "count"),
    [(0, 0), (2, 2), (10**9, 3), (None, 3), (-1, None), ("2", None), (1.5, None)],
)
async def test_limit(window, tmp_path, limit, count):
    session = await window.new(tmp_path)
    recents = [{"path": f"{n}.py", "languageId": "python", "kind": "file"} for n in range(3)]
    await tell(window, full=True, documents=[], recents=recents)
    answer = await ask(window, session, "recent_documents", limit=limit)
    if count is None:
        assert answer["code"] == -32602 and "limit" in answer["message"]
    else:
        assert len(answer["documents"]) == count


async def test_more_recents_than_anybody_reads(window, tmp_path, root):
    session = await window.new(tmp_path)
    recents = [{"path": f"{n}.py", "languageId": "python", "kind": "file"} for n in range(1500)]
    await tell(window, full=True, documents=[], recents=recents)
    answer = await ask(window, session, "recent_documents")
    assert uris(answer) == [f"{root}/{n}.py" for n in range(1000)]
    assert await ask(window, session, "recent_documents", limit=1400) == answer


async def test_what_is_no_file_is_left_out(window, tmp_path):
    session = await window.new(tmp_path)
    for path in ("../../etc/passwd", "/", "a\0b"):
        await tell(window, full=True, documents=[document(path)], active=path, focused=True)
        assert await ask(window, session, "open_documents") == {"documents": []}
        assert await ask(window, session, "active_document") == {"document": None}


async def test_bad_updates_are_refused_whole(window, tmp_path, root):
    session = await window.new(tmp_path)
    await tell(window, full=True, documents=[document("a.py")])
    for bad in (None, {}, {"window": "page", "documents": "x"}, {"window": "", "full": True}):
        await window.notify(UPDATE, bad)
    await window.notify(UPDATE, {"window": "page", "full": True, "documents": [{"path": ""}]})
    assert uris(await ask(window, session, "open_documents")) == [f"{root}/a.py"]


async def test_a_session_of_nobody_gets_nothing(window, tmp_path):
    session = await window.new(tmp_path)
    await tell(window, full=True, documents=[document("secret.py")], active="secret.py")
    for method in ("open_documents", "recent_documents", "active_document"):
        answer = await ask(window, session, method, sessionId="another")
        assert answer["code"] == -32602 and "secret" not in str(answer)


class TestSwitchedOff:
    """What an admin does not share."""

    @pytest.fixture
    def acp_config(self, acp_config):
        return {**acp_config, "workspace": ["recentDocuments"]}

    async def test_by_the_admin(self, window, tmp_path):
        session = await window.new(tmp_path)
        await tell(window, full=True, shares={"openDocuments": True}, documents=[document("a.py")])
        await window.prompt(session, ["capabilities"])
        told = json.loads(window.texts()[-1])
        assert told["workspace"] == told["_meta"]["jupyter-acp"]["workspace"]
        assert told["workspace"] == {"recentDocuments": {}}
        for method in ("open_documents", "active_document"):
            assert (await ask(window, session, method))["code"] == -32601
        assert await ask(window, session, "recent_documents") == {"documents": []}


async def test_by_the_user(window, tmp_path):
    shares = {"openDocuments": True, "recentDocuments": False, "activeDocument": True}
    await tell(window, full=True, shares=shares)
    session = await window.new(tmp_path)
    await window.prompt(session, ["capabilities"])
    told = json.loads(window.texts()[-1])
    assert told["workspace"] == {"openDocuments": {}, "activeDocument": {}}
    assert (await ask(window, session, "recent_documents"))["code"] == -32601
    # A change of mind counts at once, whatever was advertised.
    await tell(window, shares={**shares, "openDocuments": False})
    assert (await ask(window, session, "open_documents"))["code"] == -32601


class Elsewhere(ContentsManager):
    """Documents that are not files."""


class TestWithoutFiles:
    """A contents manager that keeps its documents somewhere else."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config):
        jp_server_config["ServerApp"]["contents_manager_class"] = Elsewhere
        return jp_server_config

    async def test_nothing_is_a_file(self, window, tmp_path):
        session = await window.new(tmp_path)
        recents = [{"path": "a.py", "languageId": "python", "kind": "file"}]
        await tell(
            window,
            full=True,
            documents=[document("a.py")],
            active="a.py",
            focused=True,
            recents=recents,
        )
        assert await ask(window, session, "open_documents") == {"documents": []}
        assert await ask(window, session, "recent_documents") == {"documents": []}
        assert await ask(window, session, "active_document") == {"document": None}
        # Files inside of the session's folder are files nevertheless.
        write = {"path": str(tmp_path / "a.py"), "content": "x"}
        await window.prompt(session, ["request", "fs/write_text_file", write])
        assert json.loads(window.texts()[-1]) == {}
        assert (tmp_path / "a.py").read_text() == "x"
