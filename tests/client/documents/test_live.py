# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`fs/*` on documents that a window has open, and on notebooks that nobody has."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from mcpclient import ASK, decide
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


async def fs(window, session, method, path, **params):
    await window.prompt(
        session, ["request", f"fs/{method}_text_file", {"path": str(path), **params}]
    )
    return json.loads(window.texts()[-1])


async def read(window, session, path, **params):
    return (await fs(window, session, "read", path, **params))["content"]


OUTPUT = new_output("stream", text="1\n")


def example():
    return new_notebook(
        cells=[
            new_code_cell("x = 1", id="one"),
            new_code_cell("print(x)", id="two", outputs=[OUTPUT], execution_count=3),
            new_markdown_cell("# Hello", id="three"),
        ]
    )


def save(path, notebook):
    path.write_text(nbformat.writes(notebook) + "\n")


def sources(notebook):
    return [cell["source"] for cell in notebook["cells"]]


async def test_unsaved_text_is_read_and_written_where_it_is(window, page, session, root):
    (root / "a.py").write_text("one\ntwo\nthree\n")
    await page.open("a.py", "one\nTWO\nthree\n", dirty=True)
    path = root / "a.py"
    assert await read(window, session, path) == "one\nTWO\nthree\n"
    assert await read(window, session, path, line=2, limit=1) == "TWO\n"
    assert await fs(window, session, "write", path, content="one\nTWO\n3\n") == {}
    assert page.contents["a.py"] == path.read_text() == "one\nTWO\n3\n"


async def test_what_was_typed_since_is_kept(window, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\nthree\nfour\n")
    await page.open("a.py")
    await read(window, session, path)
    page.type("a.py", "one\ntwo\nthree\nFOUR\n")
    await fs(window, session, "write", path, content="ONE\ntwo\nthree\nfour\n")
    assert page.contents["a.py"] == "ONE\ntwo\nthree\nFOUR\n"
    # The agent still takes the last line for what it was: that is no wish to change it.
    await fs(window, session, "write", path, content="ONE\n2\nthree\nfour\n")
    assert page.contents["a.py"] == "ONE\n2\nthree\nFOUR\n"


async def test_an_agent_that_never_read_it_changes_what_is_on_disk(window, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\nthree\n")
    await page.open("a.py", "one\ntwo\nthree\nuser\n", dirty=True)
    await fs(window, session, "write", path, content="agent\ntwo\nthree\n")
    assert page.contents["a.py"] == "agent\ntwo\nthree\nuser\n"


async def test_the_same_place_is_left_alone_and_the_agent_told(window, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    await read(window, session, path)
    page.type("a.py", "user\ntwo\n")
    answer = await fs(window, session, "write", path, content="agent\ntwo\n")
    assert answer["code"] == -32012
    assert "line 1" in answer["message"] and "read it again" in answer["message"]
    assert page.contents["a.py"] == "user\ntwo\n" and path.read_text() == "one\ntwo\n"
    # Having read it again, it may.
    await read(window, session, path)
    assert await fs(window, session, "write", path, content="agent\ntwo\n") == {}
    assert page.contents["a.py"] == "agent\ntwo\n"


async def test_typing_during_the_write_makes_it_try_again(window, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\nthree\n")
    await page.open("a.py")
    await read(window, session, path)
    page.before_write = lambda: page.type("a.py", "one\ntwo\nuser\n")
    assert await fs(window, session, "write", path, content="agent\ntwo\nthree\n") == {}
    assert page.contents["a.py"] == "agent\ntwo\nuser\n"


async def test_an_open_notebook_is_changed_cell_by_cell(window, page, session, root):
    path = root / "n.ipynb"
    save(path, example())
    await page.open("n.ipynb")
    text = await read(window, session, path)
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    typed = copy.deepcopy(page.contents["n.ipynb"])
    typed["cells"][0]["source"] = "x = 2  # dirty"
    page.type("n.ipynb", typed)
    notebook.cells[2].source = "# Bye"
    notebook.cells.append(new_code_cell("new", id="four"))
    assert await fs(window, session, "write", path, content=nbformat.writes(notebook)) == {}
    now = page.contents["n.ipynb"]
    assert sources(now) == ["x = 2  # dirty", "print(x)", "# Bye", "new"]
    assert now["cells"][1]["outputs"] == [OUTPUT] and now["cells"][1]["execution_count"] == 3
    assert [cell["id"] for cell in now["cells"]] == ["one", "two", "three", "four"]


async def test_cells_without_ids_are_recognised(window, page, session, root):
    path = root / "n.ipynb"
    save(path, example())
    await page.open("n.ipynb")
    notebook = json.loads(await read(window, session, path))
    for cell in notebook["cells"]:
        del cell["id"]
    notebook["cells"][1]["source"] = "print(x + 1)"
    notebook["cells"].insert(0, {**notebook["cells"][2], "source": "new"})
    assert await fs(window, session, "write", path, content=json.dumps(notebook)) == {}
    now = page.contents["n.ipynb"]
    assert sources(now) == ["new", "x = 1", "print(x + 1)", "# Hello"]
    assert [cell["id"] for cell in now["cells"]][1:] == ["one", "two", "three"]


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no notebook"),
        ('{"cells": []}', "no notebook"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}', "not a valid"),
        ('{"nbformat": 9, "nbformat_minor": 5, "metadata": {}, "cells": []}', "format 9"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}', "not a valid"),
    ],
)
async def test_what_is_no_notebook_is_refused(window, page, session, root, opened, content, words):
    path = root / "n.ipynb"
    save(path, example())
    before = path.read_text()
    if opened:
        await page.open("n.ipynb")
    answer = await fs(window, session, "write", path, content=content)
    assert answer["code"] == -32602 and words in answer["message"], answer
    assert path.read_text() == before and page.writes == []


async def test_a_notebook_that_nobody_has_open(window, session, root, jp_serverapp):
    path = root / "deep" / "er" / "n.ipynb"
    manager = jp_serverapp.contents_manager
    saved = []
    manager.register_post_save_hook(
        lambda model, os_path, **_: saved.append((model["type"], os_path))
    )
    answer = await fs(window, session, "write", path, content=nbformat.writes(example()))
    assert answer == {}
    assert saved == [("notebook", str(path))]
    manager.notary.sign(nbformat.read(path, as_version=4))
    notebook = nbformat.reads(await read(window, session, path), as_version=4)
    notebook.cells[0].source = "y = 2"
    await fs(window, session, "write", path, content=nbformat.writes(notebook))
    now = nbformat.read(path, as_version=4)
    assert sources(now) == ["y = 2", "print(x)", "# Hello"] and now.cells[1].outputs == [OUTPUT]
    assert manager.notary.check_signature(now), "a trusted notebook is not trusted any more"
    now.cells[0].outputs = [new_output("display_data", {"text/html": "<script>1</script>"})]
    await fs(window, session, "write", path, content=nbformat.writes(now))
    assert not manager.notary.check_signature(nbformat.read(path, as_version=4))


async def test_an_old_notebook_stays_as_old_as_it_was(window, session, root):
    path = root / "old.ipynb"
    notebook = example()
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        del cell["id"]
    path.write_text(json.dumps(notebook))
    text = json.loads(await read(window, session, path))
    text["cells"][0]["source"] = "y = 2"
    assert await fs(window, session, "write", path, content=json.dumps(text)) == {}
    now = json.loads(path.read_text())
    assert now["nbformat_minor"] == 4 and not any("id" in cell for cell in now["cells"])
    assert "".join(now["cells"][0]["source"]) == "y = 2"


async def test_a_broken_notebook_can_be_mended(window, session, root):
    path = root / "n.ipynb"
    path.write_text("<<<<<<< HEAD")
    assert await read(window, session, path) == "<<<<<<< HEAD"
    assert await fs(window, session, "write", path, content=nbformat.writes(example())) == {}
    assert sources(nbformat.read(path, as_version=4))[0] == "x = 1"


async def test_a_window_that_has_closed_it_or_gone(window, page, session, root, acp_connect):
    path = root / "a.py"
    path.write_text("one\n")
    await page.open("a.py")
    del page.contents["a.py"]
    assert await read(window, session, path) == "one\n"
    other = await acp_connect()
    document = {"path": "a.py", "languageId": "python", "kind": "file"}
    await other.notify("_jupyter/workspace/update", {"window": "2", "documents": [document]})
    await other.result("session/list", {})
    await other.close()
    assert await read(window, session, path) == "one\n"


async def test_a_window_that_does_not_answer(window, page, session, root, monkeypatch):
    from jupyter_acp.client.documents import live

    monkeypatch.setattr(live, "PATIENCE", 0.2)
    (root / "a.py").write_text("one\n")
    await page.open("a.py")
    page.silent = True
    answer = await fs(window, session, "write", root / "a.py", content="two\n")
    assert "does not answer" in answer["message"]
    assert (root / "a.py").read_text() == "one\n"


async def test_a_document_that_is_open_by_way_of_a_link(window, page, session, root):
    (root / "real").mkdir()
    (root / "real" / "a.py").write_text("one\n")
    (root / "link").symlink_to("real")
    (root / "other.py").symlink_to("real/a.py")
    await page.open("link/a.py", "unsaved\n")
    assert await read(window, session, root / "other.py") == "unsaved\n"
    await page.open("other.py", "newer\n")
    assert await read(window, session, root / "link" / "a.py") == "newer\n"


async def test_lines_that_end_in_another_way_are_no_change(window, page, session, root):
    path = root / "dos.py"
    path.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await page.open("dos.py", "one\ntwo\nthree\nuser\n", dirty=True)
    answer = await fs(window, session, "write", path, content="ONE\r\ntwo\r\nthree\r\n")
    assert answer == {}
    assert page.contents["dos.py"] == "ONE\ntwo\nthree\nuser\n"


async def test_a_notebook_that_is_not_quite_valid_can_be_read_and_mended(
    window, page, session, root
):
    path = root / "odd.ipynb"
    notebook = example()
    notebook.cells[1].outputs = [{"output_type": "display_data", "data": {"text/plain": "1"}}]
    path.write_text(json.dumps(notebook))
    await page.open("odd.ipynb")
    text = json.loads(await read(window, session, path))
    text["cells"][1]["outputs"][0]["metadata"] = {}
    text["cells"][0]["source"] = "mended"
    assert await fs(window, session, "write", path, content=json.dumps(text)) == {}
    assert sources(page.contents["odd.ipynb"]) == ["mended", "print(x)", "# Hello"]


@pytest.mark.parametrize("opened", [True, False])
async def test_cells_that_were_copied_with_their_ids_are_not_lost(
    window, page, session, root, opened
):
    path = root / "twins.ipynb"
    notebook = example()
    notebook.cells[1].id = "one"
    path.write_text(json.dumps(notebook))
    if opened:
        await page.open("twins.ipynb")
    text = json.loads(await read(window, session, path))
    text["cells"][2]["source"] = "# Bye"
    assert await fs(window, session, "write", path, content=json.dumps(text)) == {}
    now = page.contents["twins.ipynb"] if opened else json.loads(path.read_text())
    assert ["".join(s) for s in sources(now)] == ["x = 1", "print(x)", "# Bye"]


async def test_two_agents_at_once_lose_nothing(window, root):
    path = root / "shared.txt"
    lines = [f"{n}\n" for n in range(20)]
    path.write_text("".join(lines))
    sessions = [await window.new(root) for _ in range(2)]
    for session in sessions:
        await read(window, session, path)
    turns = []
    for place, session in ((0, sessions[0]), (19, sessions[1])):
        content = "".join([*lines[:place], "changed\n", *lines[place + 1 :]])
        write = ["request", "fs/write_text_file", {"path": str(path), "content": content}]
        turns.append(await window.start_prompt(session, write))
    for turn in turns:
        await window.response(turn)
    now = path.read_text().split("\n")
    assert (now[0], now[19]) == ("changed", "changed")


async def test_unsaved_text_whose_file_is_gone_is_left_alone(window, page, session, root):
    path = root / "gone.py"
    path.write_text("one\n")
    await page.open("gone.py", "only here\n", dirty=True)
    path.unlink()
    answer = await fs(window, session, "write", path, content="agent\n")
    assert answer["code"] == -32012 and "gone" in answer["message"]
    assert page.contents["gone.py"] == "only here\n"


async def test_unsaved_text_whose_file_is_gone_is_read_as_any_other(window, page, session, root):
    for name in ("gone.py", ".env"):
        (root / name).write_text("one\n")
        await page.open(name, "only here\n", dirty=True)
        (root / name).unlink()
    assert await read(window, session, root / "gone.py") == "only here\n"
    for option in ("deny", "allow"):
        start = len(window.received)
        step = ["request", "fs/read_text_file", {"path": str(root / ".env")}]
        turn = await window.start_prompt(session, step)
        assert (await decide(window, option, start))["toolCall"]["title"] == "Read .env"
        await window.response(turn)
        answer = json.loads(window.texts()[-1])
        assert answer == {"content": "only here\n"} or (option, answer["code"]) == ("deny", -32011)


async def test_a_protected_file_that_is_made_meanwhile_is_asked_about(window, session, root):
    path = root / ".env"
    rules = {"*": [{"kind": "read", "match": "*", "decision": "ask"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    step = ["request", "fs/read_text_file", {"path": str(path)}]
    turn = await window.start_prompt(session, step)
    await window.wait(lambda m: m.get("method") == ASK)
    path.write_text("secret")
    start = len(window.received)
    await decide(window, "allow")
    await decide(window, "deny", start)
    await window.response(turn)
    assert json.loads(window.texts()[-1])["code"] == -32011


async def test_unsaved_text_of_a_file_that_is_another_by_now_is_left_alone(
    window, page, session, root
):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    page.type("a.py", "one\ntwo\nuser\n")
    path.write_text("ONE\ntwo\n")
    # An agent that has not read it: what it changes cannot be told from what the user did.
    answer = await fs(window, session, "write", path, content="ONE\nagent\n")
    assert "no longer the one that was opened" in answer["message"]
    assert page.writes == [] and path.read_text() == "ONE\ntwo\n"
