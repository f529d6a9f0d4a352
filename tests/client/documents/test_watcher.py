# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files that agents write with tools of their own, while they are open in a window."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json

import nbformat
import pytest
from acpclient import file_there
from nbformat.v4 import new_code_cell, new_notebook
from page import READ, Page

from jupyter_acp.client.documents import watcher

ASK = "session/request_permission"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(watcher, "BUSY_INTERVAL", 0.05)
    monkeypatch.setattr(watcher, "QUIET_INTERVAL", 0.05)
    monkeypatch.setattr(watcher, "PATIENCE", 0.1)


async def until(condition):
    for _ in range(1500):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to that")


async def seen(acp, path):
    """Wait until the server has had a first look at a file."""
    manager = await acp.manager()
    await until(lambda: path in manager.services.watcher._known)


def writing(text, path):
    """Let the agent write a file in one go: nobody sees half of it."""
    return ["shell", f"printf '{text}' > '{path}.new' && mv '{path}.new' '{path}'"]


async def test_a_clean_document_follows_its_file(window, acp, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    await seen(acp, path)
    await window.prompt(session, writing("one\\n2\\n", path))
    await until(lambda: page.contents["a.py"] == "one\n2\n")
    assert page.dirty["a.py"] is False
    (write,) = page.writes
    digest = hashlib.sha256(b"one\n2\n").hexdigest()
    assert write["save"] is False and write["onDisk"] == {"dirty": False, "hash": digest}


async def test_what_was_typed_is_merged(window, acp, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\nthree\n")
    await page.open("a.py")
    await seen(acp, path)
    page.type("a.py", "one\ntwo\nTHREE\n")
    path.write_text("1\ntwo\nthree\n")
    await until(lambda: page.contents["a.py"] == "1\ntwo\nTHREE\n")
    assert page.dirty["a.py"] is True and path.read_text() == "1\ntwo\nthree\n"


async def test_notebooks_are_merged_by_cells(window, acp, page, session, root):
    path = root / "n.ipynb"
    notebook = new_notebook(cells=[new_code_cell("1", id="a"), new_code_cell("2", id="b")])
    path.write_text(nbformat.writes(notebook))
    await page.open("n.ipynb")
    await seen(acp, path)
    typed = copy.deepcopy(page.contents["n.ipynb"])
    typed["cells"][0]["source"] = "user"
    page.type("n.ipynb", typed)
    # Half of it first, as programs do that write in place.
    notebook.cells[1].source = "agent"
    text = nbformat.writes(notebook)
    path.write_text(text[:40])
    await asyncio.sleep(0.4)
    assert page.writes == []
    path.write_text(text)
    await until(lambda: page.writes)
    cells = page.contents["n.ipynb"]["cells"]
    assert [cell["source"] for cell in cells] == ["user", "agent"]


@pytest.mark.parametrize("choice", ["theirs", "ours", None])
async def test_the_user_decides_a_conflict(window, acp, page, session, root, choice):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    await seen(acp, path)
    page.type("a.py", "user\ntwo\n")
    go = root / "go"
    turn = await window.start_prompt(session, writing("agent\\ntwo\\n", path), file_there(go))
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m)
    go.touch()
    call = question["params"]["toolCall"]
    assert "a.py was changed on disk" in call["title"] and "line 1" in call["title"]
    (diff,) = call["content"]
    assert (diff["oldText"], diff["newText"]) == ("user\ntwo\n", "agent\ntwo\n")
    assert page.contents["a.py"] == "user\ntwo\n"
    outcome = {"outcome": "cancelled"}
    if choice is not None:
        outcome = {"outcome": "selected", "optionId": choice}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": outcome}})
    await window.response(turn)
    if choice is None:
        await asyncio.sleep(0.3)
        assert page.writes == [] and page.contents["a.py"] == "user\ntwo\n"
    else:
        await until(lambda: page.writes)
        expected = {"theirs": ("agent\ntwo\n", False), "ours": ("user\ntwo\n", True)}[choice]
        assert (page.contents["a.py"], page.dirty["a.py"]) == expected
    assert path.read_text() == "agent\ntwo\n", "nothing is overwritten"


async def test_what_jupyter_saves_is_no_news(
    window, acp, page, session, root, jp_fetch, monkeypatch
):
    # The news of the save must be quicker, also on a machine that has much else to do.
    monkeypatch.setattr(watcher, "PATIENCE", 1.0)
    path = root / "a.py"
    path.write_text("one\n")
    await page.open("a.py")
    await seen(acp, path)
    model = {"type": "file", "format": "text", "content": "saved\n"}
    # While an agent works: it would be the one to be asked about.
    turn = await window.start_prompt(session, file_there(root / "go"))
    await jp_fetch("api", "contents", "a.py", method="PUT", body=json.dumps(model))
    page.loaded("a.py")
    page.type("a.py", "saved and more\n")
    await asyncio.sleep(2)
    assert page.writes == [] and not window.of(ASK)
    (root / "go").touch()
    await window.response(turn)
    # It is what later changes are changes of.
    page.type("a.py", "saved\nuser\n")
    path.write_text("agent\nsaved\n")
    await until(lambda: page.contents["a.py"] == "agent\nsaved\nuser\n")


async def test_a_write_of_the_agent_through_us_is_no_news(window, acp, page, session, root):
    path = root / "a.py"
    path.write_text("one\n")
    await page.open("a.py")
    await seen(acp, path)
    write = ["request", "fs/write_text_file", {"path": str(path), "content": "two\n"}]
    await window.prompt(session, write)
    await asyncio.sleep(0.5)
    assert page.contents["a.py"] == "two\n" and not window.of(ASK)


async def test_files_that_go_and_come_again(window, acp, page, session, root):
    path = root / "a.py"
    path.write_text("one\n")
    await page.open("a.py")
    await seen(acp, path)
    path.unlink()
    await asyncio.sleep(0.3)
    assert page.writes == []
    path.write_bytes(b"caf\xe9\n")
    await asyncio.sleep(0.3)
    assert page.writes == [], "what is no text is not brought into a text editor"
    path.write_text("back\n")
    await until(lambda: page.contents["a.py"] == "back\n")


async def test_what_was_typed_into_an_empty_file_and_what_was_written_there(
    window, acp, page, session, root
):
    path = root / "empty.py"
    path.write_text("")
    await page.open("empty.py")
    await seen(acp, path)
    page.type("empty.py", "user\n")
    go = root / "go"
    turn = await window.start_prompt(session, writing("agent\\n", path), file_there(go))
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m)
    go.touch()
    assert "empty.py" in question["params"]["toolCall"]["title"]
    assert page.writes == []
    await window.response(turn)


async def test_a_change_after_one_that_nobody_decided_about(window, acp, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\nthree\n")
    await page.open("a.py")
    await seen(acp, path)
    page.type("a.py", "user\ntwo\nthree\n")
    path.write_text("agent\ntwo\nthree\n")
    await asyncio.sleep(0.5)
    assert page.writes == []
    # The first line is still in dispute: nothing of it may be taken for the user's change.
    path.write_text("agent\ntwo\nTHREE\n")
    await asyncio.sleep(0.5)
    assert page.writes == [] and page.contents["a.py"] == "user\ntwo\nthree\n"


async def opened(acp, acp_connect, root, name="other"):
    """Another page, which has a file open with something typed into it."""
    page = Page(await acp_connect(), root, name)
    (root / "a.py").write_text("one\ntwo\nthree\n")
    await page.open("a.py")
    await seen(acp, root / "a.py")
    page.type("a.py", "one\ntwo\nuser\n")
    return page


async def lose(page):
    page.close()
    await page.window.close()


async def back(page, acp_connect):
    """A page that was lost, with all that it had, on another socket."""
    again = Page(await acp_connect(), page.root, page.name)
    again.contents, again.versions, again.dirty = page.contents, page.versions, page.dirty
    again.hashes = page.hashes
    document = {"path": "a.py", "languageId": "python", "kind": "file"}
    await again.window.notify(
        "_jupyter/workspace/update", {"window": page.name, "full": True, "documents": [document]}
    )
    return again


async def test_what_changed_while_the_window_was_away(window, acp, acp_connect, session, root):
    page = await opened(acp, acp_connect, root)
    await lose(page)
    (root / "a.py").write_text("agent\ntwo\nthree\n")
    await asyncio.sleep(0.5)
    again = await back(page, acp_connect)
    await until(lambda: again.contents["a.py"] == "agent\ntwo\nuser\n")
    again.close()


async def test_a_window_that_is_lost_while_it_is_asked_has_not_heard(
    window, acp, acp_connect, session, root
):
    page = await opened(acp, acp_connect, root)
    page.silent = True
    (root / "a.py").write_text("agent\ntwo\nthree\n")
    await page.window.wait(lambda m: m.get("method") == READ)
    handling = (await acp.manager()).services.watcher._handling[root / "a.py"]
    await lose(page)
    await asyncio.wait({handling}, timeout=30)
    again = await back(page, acp_connect)
    await until(lambda: again.contents["a.py"] == "agent\ntwo\nuser\n")
    again.close()


async def test_a_window_that_is_back_while_another_is_asked_has_not_heard(
    window, acp, acp_connect, page, session, root
):
    lost = await opened(acp, acp_connect, root)
    await page.open("a.py")
    await window.result("session/list", {})
    await lose(lost)
    workspace = (await acp.manager()).services.workspace
    await until(lambda: workspace.is_away(root / "a.py"))
    page.silent = True
    (root / "a.py").write_text("agent\ntwo\nthree\n")
    asked = await window.wait(lambda m: m.get("method") == READ)
    again = await back(lost, acp_connect)
    await until(lambda: not workspace.is_away(root / "a.py"))
    page.silent = False
    answer = page._serve(READ, asked["params"])
    await window.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
    await until(lambda: again.contents["a.py"] == "agent\ntwo\nuser\n")
    again.close()


async def test_lines_that_end_in_another_way_are_merged_all_the_same(
    window, acp, page, session, root
):
    path = root / "dos.py"
    path.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await page.open("dos.py", "one\ntwo\nthree\n")
    page.dirty["dos.py"] = False
    await seen(acp, path)
    page.type("dos.py", "one\ntwo\nuser\n")
    path.write_bytes(b"agent\r\ntwo\r\nthree\r\n")
    await until(lambda: page.contents["dos.py"] == "agent\ntwo\nuser\n")


@pytest.fixture
def others(acp, acp_connect, page, session, root, jp_asyncio_loop):
    """Another page that has the same file open."""

    async def make():
        (root / "a.py").write_text("one\n")
        await page.open("a.py")
        others = Page(await acp_connect(), root, "others")
        await others.open("a.py")
        await others.window.result("session/list", {})
        await seen(acp, root / "a.py")
        return others

    others = jp_asyncio_loop.run_until_complete(make())
    yield others
    others.close()


@pytest.mark.parametrize("is_seen_first", [False, True])
async def test_what_one_window_saves_the_others_show(
    acp, page, others, root, jp_fetch, is_seen_first
):
    if is_seen_first:
        # As if a look at the files had fallen between the save and the news of it.
        watcher, file = (await acp.manager()).services.watcher, root / "a.py"
        looking = watcher._handle(file, watcher._compare)
        watcher._handling[file] = asyncio.ensure_future(looking)
    page.contents["a.py"] = "saved\n"
    model = {"type": "file", "format": "text", "content": "saved\n"}
    await jp_fetch("api", "contents", "a.py", method="PUT", body=json.dumps(model))
    await until(lambda: others.contents["a.py"] == "saved\n")
    assert others.dirty["a.py"] is False


async def test_what_is_saved_while_the_others_are_shown_what_was_saved_before(
    acp, page, others, root, jp_fetch
):
    watcher, path = (await acp.manager()).services.watcher, root / "a.py"

    def save(text):
        page.contents["a.py"] = text
        path.write_text(text)
        page.loaded("a.py")
        watcher.saved(path)

    others.before_write = lambda: save("second\n")
    save("first\n")
    await until(lambda: others.contents["a.py"] == "second\n")
    assert [write["content"] for write in others.writes] == ["first\n", "second\n"]
    assert others.dirty["a.py"] is False


@pytest.fixture
def unwatched(monkeypatch):
    """Let nobody look at files until this is called."""
    monkeypatch.setattr(watcher, "QUIET_INTERVAL", 0.6)


async def test_a_file_that_changed_before_anybody_looked(
    window, acp, page, session, root, unwatched
):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    path.write_text("agent\ntwo\n")
    await until(lambda: page.contents["a.py"] == "agent\ntwo\n")
    assert page.dirty["a.py"] is False


async def test_what_was_typed_on_top_of_an_unknown_past_is_asked_about(
    window, acp, page, session, root, unwatched
):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    turn = await window.start_prompt(session, file_there(root / "go"))
    await page.open("a.py")
    # Without its past, "one" would be taken for the user's and put back.
    page.type("a.py", "one\ntwo\nuser\n")
    path.write_text("agent\ntwo\n")
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m)
    assert "what both started from is not known" in question["params"]["toolCall"]["title"]
    assert page.writes == []
    (root / "go").touch()
    await window.response(turn)


async def test_a_window_that_loaded_another_version_is_not_merged_by_ours(
    window, acp, page, session, root
):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    await seen(acp, path)
    page.hashes["a.py"] = hashlib.sha256(b"of some other time\n").hexdigest()
    page.type("a.py", "one\nuser\n")
    path.write_text("agent\ntwo\n")
    await asyncio.sleep(0.5)
    assert page.writes == [] and page.contents["a.py"] == "one\nuser\n"
