# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools that read and change notebooks, called by the stock MCP client."""

from __future__ import annotations

import asyncio
import copy
import json

import nbformat
import pytest
from mcpclient import ASK, connected, decide, servers
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from page import Page

from jupyter_acp.tools.model_text import CELL_OUTPUT_LIMIT, NOTEBOOK_LIMIT

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOOLS = {
    "open_documents",
    "recent_documents",
    "active_document",
    "show_document",
    "save_document",
    "read_notebook",
    "cell_output",
    "create_notebook",
    "edit_cell",
    "insert_cell",
    "delete_cell",
    "move_cell",
    "run_cell",
    "run_cells",
    "run_code",
    "read_variables",
    "restart_kernel",
    "interrupt_kernel",
    "list_kernels",
}


@pytest.fixture
def entry(window, session, jp_asyncio_loop):
    (entry,) = jp_asyncio_loop.run_until_complete(servers(window, session))
    return entry


@pytest.fixture
def notebook(root):
    """A notebook on disk."""
    error = new_output(
        "error",
        ename="ValueError",
        evalue="no",
        traceback=["\x1b[31mTraceback\x1b[0m", "\x1b[31mValueError\x1b[0m: no"],
    )
    image = new_output("display_data", {"image/png": PNG, "text/plain": "<Figure>"})
    long = new_output("stream", text="begin\n" + "x" * 100_000 + "\nend\n")
    path = root / "n.ipynb"
    content = new_notebook(
        cells=[
            new_code_cell("x = 1", id="one"),
            new_code_cell("f()", id="two", outputs=[error], execution_count=3),
            new_markdown_cell("# Hello", id="three"),
            new_code_cell("plot()", id="four", outputs=[image, long], execution_count=4),
        ],
    )
    path.write_text(nbformat.writes(content) + "\n")
    return path


def cells(path):
    return json.loads(path.read_text())["cells"]


def sources(path):
    return ["".join(cell["source"]) for cell in cells(path)]


def described(name, schema):
    """Look whether a model can tell what to give."""
    assert schema["type"] == "object"
    for field, about in schema["properties"].items():
        assert len(about["description"]) > 15 and "type" in about, (name, field)


async def test_what_a_model_is_told_of_the_tools(entry):
    async with connected(entry) as mcp:
        tools = (await mcp.client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        for tool in tools:
            assert len(tool.description) > 60, tool.name
            assert "$ref" not in json.dumps(tool.input_schema), tool.name
            described(tool.name, tool.input_schema)
        cells = next(tool for tool in tools if tool.name == "create_notebook")
        described("a cell", cells.input_schema["properties"]["cells"]["items"])
        hints = {tool.name: tool.annotations for tool in tools}
        titles = {tool.name: tool.title for tool in tools}
        assert titles == {name: hints[name].title for name in hints}
        assert titles["run_cell"] == "Run cell" and titles["cell_output"] == "Cell output"

        def those(hint):
            return {name for name in hints if getattr(hints[name], hint)}

        assert those("read_only_hint") == {
            *("open_documents", "recent_documents", "active_document", "read_notebook"),
            *("cell_output", "read_variables", "list_kernels"),
        }
        running = {"run_cell", "run_cells", "run_code"}
        kernels = {"restart_kernel", "interrupt_kernel"}
        assert those("open_world_hint") == running
        assert those("destructive_hint") == running | kernels | {
            *("edit_cell", "delete_cell", "save_document"),
        }
        assert TOOLS - those("idempotent_hint") == running | kernels | {"insert_cell"}
        answer = await mcp.client.initialize()
        assert answer.server_info.name == "jupyter" and "JupyterLab" in answer.instructions


async def test_the_workspace(entry, page, window, session, notebook):
    async with connected(entry) as mcp:
        assert await mcp.json("open_documents") == {"documents": []}
        assert await mcp.json("active_document") == {"document": None}
        await page.open("n.ipynb")
        recents = [{"path": f"{n}.py", "languageId": "python"} for n in range(3)]
        await window.notify("_jupyter/workspace/update", {"window": "page", "recents": recents})
        await window.prompt(session, ["request", "workspace/active_document", {}])
        active = json.loads(window.texts()[-1])
        assert active["document"]["uri"] == notebook.as_uri()
        assert await mcp.json("active_document") == active
        assert await mcp.json("open_documents") == {"documents": [active["document"]]}
        assert len((await mcp.json("recent_documents", limit=2))["documents"]) == 2
        assert "limit" in await mcp.refused("recent_documents", limit=-1)


async def test_what_is_not_shared_is_not_there(entry, page, window, notebook):
    await page.open("n.ipynb")
    shares = {"activeDocument": False, "openDocuments": False}
    await window.notify("_jupyter/workspace/update", {"window": "page", "shares": shares})
    await window.result("session/list", {})
    async with connected(entry) as mcp:
        names = {tool.name for tool in (await mcp.client.list_tools()).tools}
        assert names == TOOLS - {"active_document", "open_documents"}
        assert "no tool active_document" in await mcp.refused("active_document")
        assert "does not share" in await mcp.refused("read_notebook")
        assert "4 cells" in await mcp.text("read_notebook", path="n.ipynb")


async def test_kernels_do_not_tell_which_notebooks_are_open(entry, window, notebook, jp_serverapp):
    sessions = jp_serverapp.session_manager
    begun = await sessions.create_session("n.ipynb", "n", "notebook", kernel_name="python3")
    try:
        async with connected(entry) as mcp:
            (kernel,) = (await mcp.json("list_kernels"))["running"]
            assert kernel["notebooks"] == [str(notebook)]
            shares = {"window": "page", "shares": {"openDocuments": False}}
            await window.notify("_jupyter/workspace/update", shares)
            await window.result("session/list", {})
            (kernel,) = (await mcp.json("list_kernels"))["running"]
            assert kernel["notebooks"] is None and kernel["name"] == "python3"
    finally:
        await sessions.delete_session(begun["id"])


async def test_a_notebook_is_told_in_words(entry, notebook):
    async with connected(entry) as mcp:
        told = await mcp.text("read_notebook", path="n.ipynb")
        assert told.startswith(
            f"{notebook}: 4 cells, 4 shown. Not open in a window. No kernel is running.\n"
        )
        assert '<cell index="0" id="one" type="code">\nx = 1\n</cell>\n<cell' in told
        assert 'id="two" type="code" execution_count="3">' in told
        assert "<output>\nTraceback\nValueError: no\n</output>" in told
        assert "[image/png," in told and "begin\n" in told and "\nend" in told
        assert "left out" in told and len(told) < 2 * CELL_OUTPUT_LIMIT
        for path in (str(notebook), notebook.as_uri()):
            assert await mcp.text("read_notebook", path=path) == told
        some = await mcp.text("read_notebook", path="n.ipynb", start=1, count=2)
        assert "4 cells, 2 shown" in some and 'id="two"' in some and 'id="four"' not in some
        some = await mcp.text("read_notebook", path="n.ipynb", cell_ids=["three"])
        assert "# Hello" in some and "x = 1" not in some
        result = await mcp.call("read_notebook", path="n.ipynb", images=True)
        (image,) = [block for block in result.content if block.type == "image"]
        assert image.mime_type == "image/png" and image.data == PNG


async def test_a_long_notebook_is_read_in_parts(entry, root):
    count = 40
    content = new_notebook(
        cells=[new_code_cell("y" * 5000, id=f"c{number}") for number in range(count)]
    )
    (root / "long.ipynb").write_text(nbformat.writes(content))
    async with connected(entry) as mcp:
        start, seen = 0, 0
        while True:
            told = await mcp.text("read_notebook", path="long.ipynb", start=start)
            assert len(told) < NOTEBOOK_LIMIT + 1000
            seen += told.count("<cell ")
            if "read on with start=" not in told:
                break
            start = int(told.rsplit("start=", 1)[1].rstrip("."))
        assert seen == count


async def test_the_open_notebook_is_read_and_changed_where_it_is(entry, page, window, notebook):
    unsaved = json.loads(notebook.read_text())
    unsaved["cells"][0]["source"] = "x = 2  # unsaved"
    await page.open("n.ipynb", unsaved, dirty=True)
    state = {"path": "n.ipynb", "cell": {"id": "three", "index": 2, "type": "markdown"}}
    await window.notify("_jupyter/workspace/update", {"window": "page", "documents": [state]})
    await window.result("session/list", {})
    async with connected(entry) as mcp:
        told = await mcp.text("read_notebook")
        assert "Open in a window, with unsaved changes." in told and "x = 2  # unsaved" in told
        assert 'id="three" type="markdown" active="true"' in told
        await mcp.text("edit_cell", cell_id="three", source="# Bye")
        said = await mcp.text("insert_cell", source="y = 3", after="one")
        assert "at index 1" in said
        await mcp.text("move_cell", cell_id="four", index=0)
        await mcp.text("delete_cell", cell_id="two")
    now = page.contents["n.ipynb"]["cells"]
    assert [cell["source"] for cell in now] == ["plot()", "x = 2  # unsaved", "y = 3", "# Bye"]
    assert now[0]["outputs"][0]["data"]["image/png"] == PNG and now[0]["execution_count"] == 4


async def test_a_notebook_that_nobody_has_open(entry, notebook, root):
    async with connected(entry) as mcp:
        await mcp.text("read_notebook", path="n.ipynb")
        await mcp.text("edit_cell", path="n.ipynb", cell_id="one", source="x = 5")
        said = await mcp.text("insert_cell", path="n.ipynb", source="*", type="markdown")
        assert "at index 4" in said
        await mcp.text("insert_cell", path="n.ipynb", source="first", index=0)
        await mcp.text("move_cell", path="n.ipynb", cell_id="three", after="four")
        await mcp.text("delete_cell", path="n.ipynb", cell_id="two")
        nbformat.validate(nbformat.read(notebook, as_version=4))
        assert sources(notebook) == ["first", "x = 5", "plot()", "# Hello", "*"]
        assert cells(notebook)[2]["outputs"][0]["data"]["image/png"].strip() == PNG
        assert "only 5 cells" in await mcp.refused(
            "insert_cell", path="n.ipynb", source="", index=9
        )
        assert "Say where" in await mcp.refused("move_cell", path="n.ipynb", cell_id="one")
        assert "itself" in await mcp.refused(
            "move_cell", path="n.ipynb", cell_id="one", after="one"
        )
        said = await mcp.refused("delete_cell", path="n.ipynb", cell_id="nope")
        assert "no cell 'nope'" in said and "one, four, three" in said


async def test_changes_side_by_side_are_all_made(entry, notebook):
    async with connected(entry) as mcp:
        await asyncio.gather(
            *(mcp.text("insert_cell", path="n.ipynb", source=f"c{n}") for n in range(20))
        )
    assert set(sources(notebook)) >= {f"c{n}" for n in range(20)}


async def test_stale_edits_are_refused(entry, page, notebook):
    await page.open("n.ipynb")
    async with connected(entry) as mcp:
        assert "not read cell one" in await mcp.refused("edit_cell", cell_id="one", source="a")
        assert "not read cell one" in await mcp.refused("delete_cell", cell_id="one")
        await mcp.text("read_notebook", cell_ids=["one"])
        typed = copy.deepcopy(page.contents["n.ipynb"])
        typed["cells"][0]["source"] = "x = 7"
        page.type("n.ipynb", typed)
        said = await mcp.refused("edit_cell", cell_id="one", source="a")
        assert "changed since you read it" in said and "x = 7" in said
        assert "changed since" in await mcp.refused("delete_cell", cell_id="one")
        edit = {"cell_id": "one", "source": "a"}
        assert "changed since" in await mcp.refused("edit_cell", **edit, old_source="x = 1")
        await mcp.text("edit_cell", **edit, old_source="x = 7")
        # Knowing what it has written itself, it may go on.
        await mcp.text("edit_cell", cell_id="one", source="b")
    assert page.contents["n.ipynb"]["cells"][0]["source"] == "b"


async def test_typing_elsewhere_during_a_change_makes_it_try_again(entry, page, notebook):
    await page.open("n.ipynb")
    async with connected(entry) as mcp:
        await mcp.text("read_notebook")
        typed = copy.deepcopy(page.contents["n.ipynb"])
        typed["cells"][2]["source"] = "# typed"
        page.before_write = lambda: page.type("n.ipynb", typed)
        await mcp.text("edit_cell", cell_id="one", source="agent")
    now = [cell["source"] for cell in page.contents["n.ipynb"]["cells"]]
    assert now == ["agent", "f()", "# typed", "plot()"]


async def test_an_old_notebook_without_ids(entry, root):
    path = root / "old.ipynb"
    content = new_notebook(cells=[new_code_cell(text) for text in ("a", "b", "a")])
    content.nbformat_minor = 4
    for cell in content.cells:
        del cell["id"]
    path.write_text(json.dumps(content))
    async with connected(entry) as mcp:
        told = await mcp.text("read_notebook", path="old.ipynb")
        ids = [part.split('"')[0] for part in told.split(' id="')[1:]]
        assert len(set(ids)) == 3
        await mcp.text("edit_cell", path="old.ipynb", cell_id=ids[2], source="c")
        await mcp.text("insert_cell", path="old.ipynb", source="new", index=0)
        await mcp.text("delete_cell", path="old.ipynb", cell_id=ids[1])
    assert sources(path) == ["new", "a", "c"]
    assert not any("id" in cell for cell in cells(path))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/etc/passwd.ipynb", "outside the folders"),
        ("../x.ipynb", "outside the folders"),
        ("link.ipynb", "outside the folders"),
        ("file://elsewhere/x.ipynb", "another machine"),
        ("a.py", "not a notebook"),
        ("missing.ipynb", "no file"),
        ("broken.ipynb", "cannot be read as a notebook"),
        ("a\0.ipynb", "not a usable path"),
    ],
)
async def test_what_is_no_notebook_of_the_session(entry, root, tmp_path_factory, path, words):
    outside = tmp_path_factory.mktemp("outside") / "n.ipynb"
    outside.write_text(nbformat.writes(new_notebook()))
    (root / "link.ipynb").symlink_to(outside)
    (root / "broken.ipynb").write_text("{")
    async with connected(entry) as mcp:
        assert words in await mcp.refused("read_notebook", path=path)
        assert words in await mcp.refused("insert_cell", path=path, source="x")


async def test_protected_notebooks_are_asked_for(entry, window, root):
    (root / ".hidden").mkdir()
    path = root / ".hidden" / "n.ipynb"
    path.write_text(nbformat.writes(new_notebook()))
    async with connected(entry) as mcp:
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused("insert_cell", path=str(path), source="x"))
        question = await decide(window, "deny", start)
        assert question["toolCall"]["title"] == f"Insert a cell into {path.name}"
        assert question["toolCall"]["content"][1]["newText"] == "x"
        assert "the user said no" in await calling
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("insert_cell", path=str(path), source="x"))
        await decide(window, "allow", start)
        await calling
    assert sources(path) == ["x"]


async def test_a_user_who_wants_to_be_asked_is_shown_what_is_done(entry, window, root, notebook):
    """With everything asked for, each question is about one tool, in its words."""
    asks = dict.fromkeys(("read", "write", "run", "restart"), "ask")
    path = str(root / "n.ipynb")

    async def asked(name, **given):
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.call(name, path="n.ipynb", **given))
        question = (await decide(window, "deny", start))["toolCall"]
        assert (await calling).is_error
        assert len([m for m in window.received[start:] if m.get("method") == ASK]) == 1
        assert question["locations"] == [{"path": path}]
        return question["title"], question.get("content")

    def diff(old, new):
        return [{"type": "diff", "path": path, "oldText": old, "newText": new}]

    def text(words):
        return {"type": "content", "content": {"type": "text", "text": words}}

    async with connected(entry) as mcp:
        await mcp.text("read_notebook", path="n.ipynb")
        before = sources(root / "n.ipynb")
        await window.notify("_jupyter/settings/update", {"defaults": asks})
        await window.result("session/list", {})
        assert await asked("read_notebook") == ("Read n.ipynb", None)
        assert await asked("read_variables") == ("Look at the variables of n.ipynb", None)
        assert await asked("cell_output", cell_id="two") == (
            "Read the output of cell 2 of n.ipynb",
            None,
        )
        assert await asked("edit_cell", cell_id="two", source="y") == (
            "Edit cell 2 of n.ipynb",
            diff(before[1], "y"),
        )
        assert await asked("insert_cell", source="y") == (
            "Insert a cell into n.ipynb",
            [text(f"It becomes cell {len(before) + 1}."), *diff(None, "y")],
        )
        assert await asked("delete_cell", cell_id="two") == (
            "Delete cell 2 of n.ipynb",
            diff(before[1], ""),
        )
        assert await asked("move_cell", cell_id="two", index=0) == (
            "Move cell 2 of n.ipynb",
            [text("It becomes cell 1."), text(f"```\n{before[1]}\n```")],
        )
        assert sources(root / "n.ipynb") == before
        # A rule that allows is more than what is asked where no rule fits.
        rules = {"*": [{"kind": "read", "match": "*.ipynb", "decision": "allow"}]}
        await window.notify("_jupyter/settings/update", {"rules": rules})
        await window.result("session/list", {})
        await mcp.text("read_notebook", path="n.ipynb")
        await asked("delete_cell", cell_id="two")


async def ask_everything(window, **rules):
    """Have the user want to be asked about everything for which there is no rule."""
    asks = dict.fromkeys(("read", "write", "run", "restart"), "ask")
    every = [{"kind": kind, "decision": decision} for kind, decision in rules.items()]
    await window.notify("_jupyter/settings/update", {"defaults": asks, "rules": {"*": every}})
    await window.result("session/list", {})


def questions(window, start):
    return [m["params"] for m in window.received[start:] if m.get("method") == ASK]


@pytest.fixture
def runnable(root):
    """A notebook with code that can be run."""
    cells = [new_code_cell(f"print({number})", id=f"c{number}") for number in (1, 2)]
    path = root / "r.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    return path


RUNS = {
    "run_cell": ({"cell_id": "c1"}, "Run cell 1 of r.ipynb"),
    "run_cells": ({}, "Run all cells of r.ipynb"),
    "run_code": ({"code": "print(1)"}, "Run code in the kernel of r.ipynb"),
}


@pytest.mark.parametrize("name", RUNS)
async def test_a_question_about_running_covers_what_it_implies(entry, window, runnable, name):
    """The code is read, and what it prints is saved: neither is a question of its own."""
    given, title = RUNS[name]
    await ask_everything(window)
    async with connected(entry) as mcp:
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text(name, path="r.ipynb", **given))
        await decide(window, "allow", start)
        assert "1" in await calling
        assert [each["toolCall"]["title"] for each in questions(window, start)] == [title]
        assert bool(cells(runnable)[0]["outputs"]) == (name != "run_code")
        # That was for this once; the next answer is for all that is run there.
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text(name, path="r.ipynb", **given))
        await decide(window, "always", start)
        await calling
        for each, (more, _) in RUNS.items():
            await mcp.text(each, path="r.ipynb", **more)
        assert len(questions(window, start)) == 1
        # But for nothing that only reads.
        calling = asyncio.ensure_future(mcp.refused("read_notebook", path="r.ipynb"))
        await decide(window, "deny", len(window.received))
        await calling


async def test_of_an_open_notebook_it_is_one_question_too(entry, window, page, runnable):
    await page.open("r.ipynb")
    await ask_everything(window)

    async def run(params):
        return {"status": "ok", "executionCount": 1, "outputs": []}

    page.run = run
    async with connected(entry) as mcp:
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("run_cells"))
        await decide(window, "allow", start)
        await calling
    assert len(questions(window, start)) == 1


@pytest.mark.parametrize("rules", [{"run": "allow"}, {"write": "ask"}, {"read": "allow"}])
async def test_a_rule_for_a_part_makes_it_no_more_than_one_question(entry, window, runnable, rules):
    await ask_everything(window, **rules)
    async with connected(entry) as mcp:
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.text("run_cell", path="r.ipynb", cell_id="c1"))
        await decide(window, "allow", start)
        await calling
    (question,) = questions(window, start)
    assert question["toolCall"]["title"] == "Run cell 1 of r.ipynb"


@pytest.mark.parametrize("kind", ["read", "write"])
async def test_a_rule_against_a_part_is_one_against_the_whole(
    entry, window, runnable, kind, jp_serverapp
):
    await ask_everything(window, **{kind: "deny"})
    async with connected(entry) as mcp:
        start = len(window.received)
        told = await mcp.refused("run_cell", path="r.ipynb", cell_id="c1")
    assert "a rule of the user does not allow it" in told
    assert questions(window, start) == []
    assert not await jp_serverapp.session_manager.list_sessions()


async def test_what_is_wrong_with_a_call_is_told_to_those_who_may_read(entry, window, runnable):
    await ask_everything(window)
    async with connected(entry) as mcp:
        for answer, words in (("deny", "the user said no"), ("allow", "Its cells are: c1, c2")):
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused("run_cell", path="r.ipynb", cell_id="nope"))
            await decide(window, answer, start)
            told = await calling
            assert words in told and ("c1" in told) == (answer == "allow")
            (question,) = questions(window, start)
            assert question["toolCall"]["title"] == "Read r.ipynb"


async def test_running_what_is_saved_among_files_that_run_by_themselves(entry, window, root):
    """Outputs are written there: the one card says what that may do, and allows it only once."""
    path = root / ".github" / "workflows" / "n.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(new_notebook(cells=[new_code_cell("print(1)", id="c1")])))
    await ask_everything(window, run="allow", read="allow", write="allow")
    async with connected(entry) as mcp:
        for _ in range(2):
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.text("run_cell", path=str(path), cell_id="c1"))
            question = await decide(window, "allow", start)
            await calling
            warning, code = question["toolCall"]["content"]
            assert warning["content"]["_meta"]["jupyter-acp"]["risk"] == "automation"
            assert "print(1)" in code["content"]["text"]
            assert [each["optionId"] for each in question["options"]] == ["allow", "deny"]
            assert "rule" not in question["_meta"]["jupyter-acp"]
            assert len(questions(window, start)) == 1


async def test_the_question_shows_what_is_really_replaced(entry, window, root):
    (root / ".hidden").mkdir()
    path = root / ".hidden" / "n.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=[new_code_cell("real", id="one")])))
    async with connected(entry) as mcp:
        start = len(window.received)
        edit = {"path": str(path), "cell_id": "one", "source": "new"}
        calling = asyncio.ensure_future(mcp.refused("edit_cell", **edit, old_source="told"))
        question = (await decide(window, "allow", start))["toolCall"]
        assert question["title"] == "Edit cell 1 of n.ipynb"
        assert question["locations"] == [{"path": str(path)}]
        (diff,) = [part for part in question["content"] if part["type"] == "diff"]
        assert (diff["oldText"], diff["newText"]) == ("real", "new")
        assert "changed since you read it" in await calling
    assert sources(path) == ["real"]


async def test_a_notebook_is_made(entry, root, window):
    async with connected(entry) as mcp:
        cells = [{"type": "markdown", "source": "# Hi"}, {"source": "x = 1"}]
        told = await mcp.text("create_notebook", path="new/n.ipynb", kernel="Python", cells=cells)
        path = root / "new" / "n.ipynb"
        made = nbformat.read(path, as_version=4)
        nbformat.validate(made)
        assert made.metadata.kernelspec.name == "python3"
        assert [(cell.cell_type, cell.source) for cell in made.cells] == [
            ("markdown", "# Hi"),
            ("code", "x = 1"),
        ]
        assert all(cell.id in told for cell in made.cells)
        # Knowing what it has written, it may go on.
        edit = {"path": "new/n.ipynb", "cell_id": made.cells[1].id}
        await mcp.text("edit_cell", **edit, source="x = 2")
        before = path.read_bytes()
        assert "there already" in await mcp.refused("create_notebook", path=str(path))
        assert path.read_bytes() == before
        told = await mcp.refused("create_notebook", path="odd.ipynb", kernel="cobol")
        assert "cobol is not installed" in told and "python3" in told
        assert "not end in .ipynb" in await mcp.refused("create_notebook", path="a.py")
        assert not (root / "odd.ipynb").exists()
        await mcp.text("create_notebook", path="empty.ipynb")
        assert "0 cells" in await mcp.text("read_notebook", path="empty.ipynb")
    (change,) = [
        m["params"]
        for m in window.of("_jupyter/file/changed")
        if m["params"]["oldText"] is None and m["params"]["path"] == str(path)
    ]
    assert "# Hi" in change["newText"]


async def test_a_notebook_where_files_are_protected_is_asked_for(entry, window, root):
    (root / ".hidden").mkdir()
    async with connected(entry) as mcp:
        start = len(window.received)
        calling = asyncio.ensure_future(mcp.refused("create_notebook", path=".hidden/n.ipynb"))
        question = await decide(window, "deny", start)
        assert question["toolCall"]["title"] == "Create n.ipynb"
        assert "the user said no" in await calling
    assert not (root / ".hidden" / "n.ipynb").exists()


async def test_one_output_in_full(entry, notebook):
    async with connected(entry) as mcp:
        out = {"path": "n.ipynb", "cell_id": "four"}
        result = await mcp.call("cell_output", **out, output=0)
        assert [b.data for b in result.content if b.type == "image"] == [PNG]
        told, start = "", 0
        while True:
            part = await mcp.text("cell_output", **out, output=1, start=start, length=60_000)
            told += part.split("\n[Characters")[0]
            if "Read on with start=" not in part:
                break
            start = int(part.rsplit("start=", 1)[1].rstrip(".]"))
        assert told == "begin\n" + "x" * 100_000 + "\nend"
        result = await mcp.call("cell_output", **out, length=100)
        assert {block.type for block in result.content} == {"text", "image"}
        assert "no outputs" in await mcp.refused("cell_output", path="n.ipynb", cell_id="one")
        assert "only 2" in await mcp.refused("cell_output", **out, output=2)


async def test_a_document_is_shown_in_the_window_that_was_looked_at_last(
    entry, page, root, notebook, acp_connect
):
    (root / "a.py").write_text("x = 1\n")
    async with connected(entry) as mcp:
        assert "No window can show" in await mcp.refused("show_document", path="a.py")
        await page.open("n.ipynb")
        second = Page(await acp_connect(), root, "second")
        await second.open("a.py")
        told = await mcp.text("show_document", path="n.ipynb", cell_id="three")
        assert "The user sees it now." in told
        assert second.shown == [{"path": "n.ipynb", "line": None, "cellId": "three"}]
        second.visible = False
        told = await mcp.text("show_document", line=1)
        assert "in a tab behind" in told and second.shown[1]["path"] == "a.py"
        assert page.shown == []
        assert "no file" in await mcp.refused("show_document", path="missing.py")
        assert "outside" in await mcp.refused("show_document", path="/etc/passwd")
        assert "not both" in await mcp.refused("show_document", line=1, cell_id="x")
        second.close()


async def test_what_is_shown_has_the_name_by_which_it_is_open(entry, page, root):
    (root / "real.py").write_text("x = 1\n")
    (root / "link.py").symlink_to(root / "real.py")
    await page.open("link.py")
    async with connected(entry) as mcp:
        await mcp.text("show_document", path="real.py")
    assert [each["path"] for each in page.shown] == ["link.py"]


async def test_an_open_document_is_saved(entry, page, root):
    path = root / "a.py"
    path.write_text("saved\n")
    async with connected(entry) as mcp:
        assert "Nobody has" in await mcp.text("save_document", path="a.py")
        await page.open("a.py")
        assert "no unsaved changes" in await mcp.text("save_document", path="a.py")
        page.type("a.py", "typed\n")
        assert "is saved" in await mcp.text("save_document")
    assert path.read_text() == "typed\n" and not page.dirty["a.py"]


async def test_protected_documents_are_asked_for(entry, page, root, window):
    path = root / ".env"
    path.write_text("A=1\n")
    await page.open(".env")
    page.type(".env", "A=2\n")
    async with connected(entry) as mcp:
        for name, title, done in (
            ("show_document", "Show .env", lambda: len(page.shown) == 1),
            ("save_document", "Save .env", lambda: path.read_text() == "A=2\n"),
        ):
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.refused(name, path=".env"))
            question = (await decide(window, "deny", start))["toolCall"]
            assert question["title"] == title and question["locations"] == [{"path": str(path)}]
            assert "the user said no" in await calling and not done()
            start = len(window.received)
            calling = asyncio.ensure_future(mcp.text(name, path=".env"))
            await decide(window, "allow", start)
            await calling
            assert done()


async def test_arguments_that_make_no_sense(entry, notebook):
    async with connected(entry) as mcp:
        assert "cell_id" in await mcp.refused("edit_cell", path="n.ipynb", source="x")
        assert "cel_id" in await mcp.refused("delete_cell", cel_id="x")
        assert "timeout" in await mcp.refused("run_cell", cell_id="one", timeout=1e9)
        assert "not looking at a notebook" in await mcp.refused("read_notebook")
        assert "no tool nonsense" in await mcp.refused("nonsense")
