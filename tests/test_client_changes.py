# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents have changed: written down, kept, undone and made once more."""

from __future__ import annotations

import json

import nbformat
import pytest
from mcpclient import connected
from nbformat.v4 import new_code_cell, new_notebook, new_output

from jupyter_acp.client import changes

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
