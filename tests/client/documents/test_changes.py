# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents have changed: written down, kept, undone and made once more."""

from __future__ import annotations

import asyncio
import json

import nbformat
import pytest
from acpclient import is_state
from mcpclient import connected
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from jupyter_acp.client.documents import changes

CHANGED, DECIDED = "_jupyter/file/changed", "_jupyter/change/decided"
OUTPUT = new_output("stream", text="x" * 1000)


async def write(window, session, path, content):
    step = ["request", "fs/write_text_file", {"path": str(path), "content": content}]
    await window.prompt(session, step)


async def decide(window, session, path, decision, before=None, after=None, parts=("0",)):
    params = {"sessionId": session, "change": "c", "parts": list(parts), "decision": decision}
    texts = {"path": str(path), "before": before, "after": after}
    return await window.ask("_jupyter/change/decide", {**params, **texts})


def noted(window):
    return [
        (m["params"]["path"], m["params"].get("oldText"), m["params"].get("newText"))
        for m in window.of(CHANGED)
    ]


async def test_what_an_agent_writes_is_noted_and_can_be_undone(window, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await write(window, session, path, "one\n2\n")
    assert noted(window) == [(str(path), "one\ntwo\n", "one\n2\n")]
    path.write_text("zero\none\n2\n")
    answer = await decide(window, session, path, "undo", "one\n2\n", "one\ntwo\n")
    assert answer["result"] == {} and path.read_text() == "zero\none\ntwo\n"
    await decide(window, session, path, "redo", "one\ntwo\n", "one\n2\n")
    assert path.read_text() == "zero\none\n2\n"


async def test_an_open_document_is_changed_where_it_is(window, page, session, root):
    path = root / "a.py"
    path.write_text("one\ntwo\n")
    await page.open("a.py")
    await write(window, session, path, "one\n2\n")
    page.type("a.py", "one\n2\ntyped\n")
    await decide(window, session, path, "undo", "one\n2\n", "one\ntwo\n")
    assert page.contents["a.py"] == "one\ntwo\ntyped\n"


async def test_decisions_are_in_the_transcript_of_every_window(window, session, root, acp_connect):
    path = root / "a.py"
    path.write_text("same")
    await decide(window, session, path, "keep", parts=["0", "2"])
    assert path.read_text() == "same"
    other = await acp_connect()
    await other.attach(session)
    message = await other.wait(lambda m: m.get("method") == DECIDED)
    assert {key: message["params"][key] for key in ("change", "parts", "decision")} == {
        "change": "c",
        "parts": ["0", "2"],
        "decision": "keep",
    }


async def test_what_has_gone_on_is_left_alone(window, session, root):
    path = root / "a.py"
    path.write_text("mine\n")
    answer = await decide(window, session, path, "undo", "agent\n", "old\n")
    assert "no longer what this change made of it" in answer["error"]["message"]
    assert path.read_text() == "mine\n" and not window.of(DECIDED)


async def test_files_that_an_agent_made(window, page, session, root):
    path = root / "new.py"
    await write(window, session, path, "new\n")
    assert noted(window) == [(str(path), None, "new\n")]
    path.write_text("new\nmine\n")
    answer = await decide(window, session, path, "undo", "new\n", None)
    assert "it was changed" in answer["error"]["message"] and path.exists()
    path.write_text("new\n")
    await page.open("new.py")
    answer = await decide(window, session, path, "undo", "new\n", None)
    assert "close it first" in answer["error"]["message"] and path.exists()
    page.contents.clear()
    await window.start_prompt(session, ["exit", 3])
    await window.wait(is_state("disconnected"))
    assert "result" in await decide(window, session, path, "undo", "new\n", None)
    assert not path.exists()
    assert "result" in await decide(window, session, path, "redo", None, "new\n")
    assert path.read_text() == "new\n"
    answer = await decide(window, session, path, "redo", None, "new\n")
    assert "it is there already" in answer["error"]["message"]


async def test_notebooks_are_noted_without_outputs_and_undone_with_them(window, session, root):
    path = root / "n.ipynb"
    cells = [
        new_code_cell("1", id="a", outputs=[OUTPUT]),
        new_code_cell("2", id="b", outputs=[OUTPUT]),
    ]
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    await window.prompt(session, ["mcp"])
    (entry,) = json.loads(window.texts()[-1])
    async with connected(entry) as mcp:
        await mcp.text("read_notebook", path=str(path))
        await mcp.text("edit_cell", path=str(path), cell_id="a", source="one")
        await mcp.text("delete_cell", path=str(path), cell_id="b")
    (_, old, edited), (_, before, after) = noted(window)
    assert [c["outputs"] for c in nbformat.reads(old, 4).cells] == [[], []]
    assert [c["source"] for c in nbformat.reads(edited, 4).cells] == ["one", "2"]
    # What was deleted is kept with all that it had.
    assert nbformat.reads(before, 4).cells[1].outputs == [OUTPUT]
    await decide(window, session, path, "undo", after, before)
    await decide(window, session, path, "undo", edited, old)
    now = nbformat.read(path, 4)
    assert [(c.id, c.source, c.outputs) for c in now.cells] == [
        ("a", "1", [OUTPUT]),
        ("b", "2", [OUTPUT]),
    ]


async def test_what_is_too_long_is_only_named(window, session, root, monkeypatch):
    monkeypatch.setattr(changes, "TEXT_LIMIT", 10)
    await write(window, session, root / "long.txt", "x" * 11)
    assert noted(window) == [(str(root / "long.txt"), None, None)]
    assert "newText" not in window.of(CHANGED)[0]["params"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "/etc/passwd"},
        {"path": "a.py"},
        {"decision": "delete"},
        {"parts": "0"},
        {"change": ""},
        {"before": 3},
    ],
)
async def test_bad_decisions(window, session, root, wrong):
    params = {"sessionId": session, "change": "c", "parts": [], "decision": "undo"}
    texts = {"path": str(root / "a.py"), "before": "a", "after": "b"}
    answer = await window.ask("_jupyter/change/decide", {**params, **texts, **wrong})
    assert answer["error"]["code"] == -32602 and not window.of(DECIDED)


async def test_only_what_was_seen_to_be_made_is_deleted(window, session, root):
    path = root / "precious.py"
    path.write_text("precious\n")
    await write(window, session, path, "new\n")
    # An agent that says that it was new: windows have it from there.
    answer = await decide(window, session, path, "undo", "new\n", None)
    assert "was not deleted" in answer["error"]["message"] and path.exists()
    empty = root / "__init__.py"
    empty.write_text("")
    answer = await decide(window, session, empty, "undo", None, None)
    assert answer["error"]["code"] == -32602 and empty.exists()


async def test_a_file_is_deleted_only_while_it_is_what_was_made(window, session, root):
    path = root / "new.py"
    await write(window, session, path, "agent's\n")
    assert "result" in await decide(window, session, path, "undo", "agent's\n", None)
    # Another file of that name; an agent can tell of it whatever it likes.
    path.write_text("precious\n")
    answer = await decide(window, session, path, "undo", "precious\n", None)
    assert "was not deleted" in answer["error"]["message"] and path.exists()
    path.unlink()
    await write(window, session, path, "agent's\n")
    path.write_text("precious\n")
    answer = await decide(window, session, path, "undo", "precious\n", None)
    assert "was not deleted" in answer["error"]["message"] and path.exists()
    # Nor is it the agent's when it has changed what somebody else has written.
    await write(window, session, path, "precious\nand more\n")
    answer = await decide(window, session, path, "undo", "precious\nand more\n", None)
    assert "was not deleted" in answer["error"]["message"] and path.exists()


async def test_a_file_that_was_made_in_steps_is_unmade_in_steps(window, session, root):
    path = root / "new.py"
    await write(window, session, path, "one\n")
    await write(window, session, path, "one\ntwo\n")
    answer = await decide(window, session, path, "undo", "one\n", None)
    assert "was not deleted" in answer["error"]["message"] and path.exists()
    assert "result" in await decide(window, session, path, "undo", "one\ntwo\n", "one\n")
    assert "result" in await decide(window, session, path, "undo", "one\n", None)
    assert not path.exists()
    assert "result" in await decide(window, session, path, "redo", None, "one\n")
    assert "result" in await decide(window, session, path, "redo", "one\n", "one\ntwo\n")
    assert "result" in await decide(window, session, path, "undo", "one\ntwo\n", None)
    assert not path.exists()


async def test_a_whole_file_is_not_undone_inside_of_a_line(window, session, root):
    path = root / "a.py"
    path.write_text("1")
    await write(window, session, path, "10")
    path.write_text("print(10)\n")
    answer = await decide(window, session, path, "undo", "10", "1")
    assert "no longer what this change made of it" in answer["error"]["message"]
    assert path.read_text() == "print(10)\n"


@pytest.mark.parametrize("name", ["全角\u3000.py", "no\u00a0break.py", "👩\u200d🔬.py", "a\nb.py"])
async def test_names_of_every_kind_are_noted(window, session, root, name):
    path = root / name
    await write(window, session, path, "new\n")
    assert noted(window) == [(str(path), None, "new\n")]
    assert "result" in await decide(window, session, path, "undo", "new\n", None)
    assert not path.exists()


async def test_protected_files_are_undone_only_where_the_change_was_seen(window, session, root):
    path = root / ".bashrc"
    path.write_text("mine\n")
    answer = await decide(window, session, path, "undo", "mine\n", "evil\n")
    assert "protected file" in answer["error"]["message"] and path.read_text() == "mine\n"


async def test_a_notebook_that_was_none_is_never_lost(window, session, root):
    path = root / "broken.ipynb"
    path.write_text("{ half a notebook")
    whole = nbformat.writes(new_notebook(cells=[new_code_cell("1", id="a")]))
    await write(window, session, path, whole)
    ((_, old, new),) = noted(window)
    assert old == "{ half a notebook"
    await decide(window, session, path, "undo", new, None)
    assert path.exists()
    path.write_text("{ broken again")
    answer = await decide(window, session, path, "redo", None, new)
    assert "it is there already" in answer["error"]["message"]
    assert path.read_text() == "{ broken again"


async def test_a_new_notebook_without_ids_is_undone(window, session, root):
    path = root / "plain.ipynb"
    notebook = new_notebook(cells=[new_code_cell("1")])
    del notebook.cells[0]["id"]
    await write(window, session, path, json.dumps(notebook))
    ((_, old, new),) = noted(window)
    assert old is None
    assert "result" in await decide(window, session, path, "undo", new, None)
    assert not path.exists()


async def test_what_was_undone_is_written_down_though_the_window_goes(
    window, session, root, acp_connect, monkeypatch, acp
):
    path = root / "a.py"
    path.write_text("old\n")
    await write(window, session, path, "new\n")
    manager = await acp.manager()
    revise = manager.services._files.revise

    async def slowly(*args, **options):
        change = await revise(*args, **options)
        await asyncio.sleep(0.3)
        return change

    monkeypatch.setattr(manager.services._files, "revise", slowly)
    other = await acp_connect()
    params = {"sessionId": session, "change": "c", "parts": ["0"], "decision": "undo"}
    texts = {"path": str(path), "before": "new\n", "after": "old\n"}
    await other.start("_jupyter/change/decide", {**params, **texts})
    while path.read_text() != "old\n":
        await asyncio.sleep(0.02)
    await other.close()
    await window.wait(lambda m: m.get("method") == DECIDED)


async def test_cells_that_became_text_come_back_with_their_outputs(window, session, root):
    path = root / "n.ipynb"
    cell = new_code_cell("1", id="a", outputs=[OUTPUT], execution_count=4)
    path.write_text(nbformat.writes(new_notebook(cells=[cell])))
    text = nbformat.writes(new_notebook(cells=[new_markdown_cell("1", id="a")]))
    await window.prompt(session, ["request", "fs/read_text_file", {"path": str(path)}])
    await write(window, session, path, text)
    ((_, old, new),) = noted(window)
    await decide(window, session, path, "undo", new, old)
    (back,) = nbformat.read(path, 4).cells
    assert (back.cell_type, back.outputs) == ("code", [OUTPUT])
