# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Every command of the built-in agent, through its real process."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from builtindriver import EVERYTHING, Driver, drives, names


def notebook(*cells: dict[str, Any]) -> str:
    """Return a notebook as Jupyter writes it."""
    content = {"cells": cells, "metadata": {"x": "é"}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def code(source: str, *outputs: dict[str, Any], count: int | None = None) -> dict[str, Any]:
    """Return a code cell."""
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": "c0de",
        "metadata": {},
        "outputs": list(outputs),
        "source": source.splitlines(keepends=True),
    }


def markdown(source: str) -> dict[str, Any]:
    """Return a Markdown cell."""
    return {"cell_type": "markdown", "id": "mark", "metadata": {}, "source": source}


ERROR = {"output_type": "error", "ename": "NameError", "evalue": "no x", "traceback": []}
PLOT = {"output_type": "display_data", "data": {"text/plain": "<Figure>", "image/png": "iVBO"}}
PRINT = {"output_type": "stream", "name": "stdout", "text": ["hi\n"]}


@drives
async def test_free_text_tells_what_it_sees(agent: Driver, folder: Path) -> None:
    agent.workspace = {
        "workspace/open_documents": {
            "documents": [{"uri": (folder / "a b.ipynb").as_uri(), "languageId": "python"}]
        },
        "workspace/active_document": {"document": {"uri": (folder / "a b.ipynb").as_uri()}},
    }
    await agent.start()
    said = await agent.prompt(
        "please help me",
        {"type": "resource_link", "name": "b", "uri": (folder / "b.py").as_uri()},
        {"type": "resource", "resource": {"uri": "file:///c.txt", "text": "1\n2\n"}},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
    )
    assert "no language model" in said
    assert str(folder) in said
    for seen in ("`b.py`", "`/c.txt`", "`image/png`", "`a b.ipynb` (active)", "`/help`"):
        assert seen in said


@drives
async def test_help_lists_what_is_advertised(agent: Driver) -> None:
    await agent.start()
    said = await agent.prompt("/help")
    [update] = agent.of("available_commands_update")
    for command in update["availableCommands"]:
        assert f"/{command['name']}" in said
        assert command["description"] in said
    assert "Read only" in said


@drives
async def test_an_unknown_command_is_guessed(agent: Driver) -> None:
    await agent.start()
    assert "Did you mean `/outline`?" in await agent.prompt("/outlin x")
    assert "no command" not in await agent.prompt("/usr/bin is a path")


@pytest.mark.parametrize("nested", [False, True])
@drives
async def test_workspace(agent: Driver, folder: Path, nested: bool) -> None:
    offered = {"openDocuments": {}, "activeDocument": True}
    if nested:
        await agent.start({"_meta": {"jupyter-acp": {"workspace": offered}}})
    else:
        await agent.start({"workspace": offered})
    uri = (folder / "n.ipynb").as_uri()
    agent.workspace = {
        "workspace/open_documents": {"documents": [{"uri": uri, "languageId": "python"}, 7]},
        "workspace/active_document": {"document": {"uri": uri, "languageId": "python"}},
    }
    said = await agent.prompt("/workspace")
    assert "`n.ipynb` (python) ← active" in said
    assert "does not offer `workspace/recent_documents`" in said
    assert "workspace/recent_documents" not in agent.methods()
    assert agent.asked[-1].params["sessionId"] == agent.session


@drives
async def test_workspace_of_a_client_that_offers_it_but_fails(agent: Driver) -> None:
    await agent.start()
    agent.workspace = {
        "workspace/active_document": {"document": None},
        "workspace/recent_documents": {"documents": []},
    }
    said = await agent.prompt("/workspace")
    assert "**Active**\n\n- nothing" in said
    assert "**Open**: the client could not tell: Method not found" in said
    assert agent.asked[-1].params["limit"] == 10


@drives
async def test_workspace_of_a_client_without_it(agent: Driver) -> None:
    await agent.start({})
    said = await agent.prompt("/workspace")
    for name in ("active_document", "open_documents", "recent_documents"):
        assert f"does not offer `workspace/{name}`" in said
    assert agent.asked == []


@drives
async def test_outline_of_the_active_notebook(agent: Driver, folder: Path) -> None:
    path = folder / "n.ipynb"
    path.write_text(
        notebook(markdown("# Title"), code("\nx + 1", ERROR, count=7), code("plot()", PLOT, PRINT))
    )
    agent.workspace = {"workspace/active_document": {"document": {"uri": path.as_uri()}}}
    await agent.start()
    said = await agent.prompt("/outline")
    assert "3 cells, 1 error(s)" in said
    assert "2. code [7] `x + 1` → **NameError: no x**" in said
    assert "3. code `plot()` → image/png, stdout" in said
    tool = agent.tool()
    assert (tool["kind"], tool["status"]) == ("read", "completed")
    assert tool["locations"] == [{"path": str(path)}]
    assert "fs/read_text_file" in agent.methods()


@drives
async def test_outline_of_an_attached_notebook(agent: Driver, folder: Path) -> None:
    path = folder / "my n.ipynb"
    path.write_text(notebook(markdown("# Title")))
    await agent.start()
    attached = {
        "type": "text",
        "text": f"\nThe notebook my n.ipynb ({path}): read it with read_notebook.\n",
        "_meta": {"jupyter-acp": {"name": "my n.ipynb", "uri": path.as_uri()}},
    }
    assert "1 cells" in await agent.prompt("/outline", attached)
    assert agent.tool()["locations"] == [{"path": str(path)}]
    assert agent.of("session_info_update")[-1]["title"] == "/outline"


@drives
async def test_outline_of_files(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("import x\nclass A:\n    def b(self): ...\nasync def c(): ...\n")
    (folder / "my notes.md").write_text("# One\n```\n# no\n```\n## Two ##\n")
    (folder / "bad.py").write_text("def (\n")
    (folder / "bad.ipynb").write_text("[]")
    await agent.start()
    said = await agent.prompt("/outline a.py")
    assert "- `class A` (line 2)\n  - `def b` (line 3)\n- `def c` (line 4)" in said
    said = await agent.prompt('/outline "my notes.md"')
    assert "- One (line 1)\n  - Two (line 5)" in said
    assert "cannot outline" in await agent.prompt("/outline bad.py")
    assert "no list of cells" in await agent.prompt("/outline bad.ipynb")
    assert agent.tool()["status"] == "failed"
    assert "could not read `nix.py`" in await agent.prompt("/outline nix.py")
    assert "could not read `.`" in await agent.prompt("/outline .")


@drives
async def test_outline_from_disk_and_without_a_file(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("def f(): ...\n")
    await agent.start({})
    assert "`def f`" in await agent.prompt("/outline a.py")
    assert agent.asked == []
    assert "which file you mean" in await agent.prompt("/outline")


@drives
async def test_find(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\nNeedle = 2\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "n.ipynb").write_text(
        notebook(code("a"), code("b\nneedle()", {"output_type": "stream", "text": "needle"}))
    )
    for hidden in (".git", "node_modules", "__pycache__"):
        (folder / hidden).mkdir()
        (folder / hidden / "f.txt").write_text("needle")
    (folder / "binary").write_bytes(b"needle\0")
    (folder / "latin").write_bytes(b"needle\xff")
    (folder / "big.txt").write_text("needle\n" * 2_000_000)
    (folder / "outside").symlink_to("/etc")
    await agent.start()
    said = await agent.prompt("/find needle")
    assert "2 line(s) in 2 of 5 file(s)" in said
    assert "`a.py:2`" in said
    assert "`sub/n.ipynb cell 2:2`" in said
    tool = agent.tool()
    assert (tool["kind"], tool["status"]) == ("search", "completed")
    assert tool["rawInput"]["text"] == "needle"
    assert tool["rawOutput"] == {"hits": 2, "files": 5}
    assert tool["locations"] == [
        {"path": str(folder / "a.py"), "line": 2},
        {
            "path": str(folder / "sub" / "n.ipynb"),
            "_meta": {"jupyter-acp": {"cell": 2, "line": 2}},
        },
    ]
    await agent.call(
        "session/set_config_option", sessionId=agent.session, configId="scope", value="notebooks"
    )
    assert "1 line(s) in 1 of 1" in await agent.prompt("/find needle")
    assert "in none of the 1 file(s)" in await agent.prompt("/find haystack")
    assert "Tell me what" in await agent.prompt("/find")


@drives
async def test_find_is_bounded(agent: Driver, folder: Path) -> None:
    (folder / "many.txt").write_text("needle\n" * 5000)
    await agent.start()
    assert "100 line(s) in 1 of 1 file(s), and stopped at 100" in await agent.prompt("/find needle")
    assert len(agent.tool()["locations"]) == 100


@drives
async def test_edit_tidies_with_permission(agent: Driver, folder: Path) -> None:
    path = folder / "a.py"
    path.write_bytes(b"x = 1  \r\ny = 2\t")
    await agent.start()
    said = await agent.prompt("/edit a.py")
    assert path.read_bytes() == b"x = 1\r\ny = 2"
    assert "I wrote `a.py`" in said
    [request] = [r for r in agent.asked if r.method == "session/request_permission"]
    call, options = request.params["toolCall"], request.params["options"]
    assert [option["kind"] for option in options] == ["allow_once", "allow_always", "reject_once"]
    diff = {
        "type": "diff",
        "path": str(path),
        "oldText": "x = 1  \r\ny = 2\t",
        "newText": "x = 1\r\ny = 2",
    }
    assert call["content"] == [diff]
    assert call["toolCallId"] == agent.tool()["toolCallId"]
    assert agent.tool()["content"] == [diff]
    assert agent.tool()["status"] == "completed"
    assert agent.methods()[-1] == "fs/write_text_file"
    assert "tidy already" in await agent.prompt("/edit a.py")


@drives
async def test_edit_replaces(agent: Driver, folder: Path) -> None:
    (folder / "my file.txt").write_text("old text, old text\n")
    await agent.start()
    await agent.ask('/edit "my file.txt" old text => new')
    assert (folder / "my file.txt").read_text() == "new, new\n"
    assert "does not contain" in await agent.prompt('/edit "my file.txt" gone => new')
    assert "old text => new text" in await agent.prompt('/edit "my file.txt" half a wish')


@drives
async def test_edit_keeps_line_breaks_of_markdown(agent: Driver, folder: Path) -> None:
    (folder / "a.md").write_text("one   \ntwo \n   \nthree")
    await agent.start()
    await agent.ask("/edit a.md")
    assert (folder / "a.md").read_text() == "one  \ntwo\n\nthree"


@drives
async def test_reject_leaves_the_file_alone(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("x \n")
    agent.permission = "reject_once"
    await agent.start()
    said = await agent.prompt("/edit a.py")
    assert "left `a.py` as it was" in said
    assert (folder / "a.py").read_text() == "x \n"
    assert agent.tool()["status"] == "failed"
    assert "fs/write_text_file" not in agent.methods()


@drives
async def test_always_is_asked_once_and_forgotten_with_the_session(
    agent: Driver, folder: Path
) -> None:
    (folder / "a.py").write_text("x \n")
    (folder / "b.py").write_text("x \n")
    agent.permission = "allow_always"
    await agent.start()
    await agent.ask("/edit a.py")
    agent.permission = "reject_once"
    await agent.ask("/edit b.py")
    assert (folder / "b.py").read_text() == "x\n"
    assert agent.methods().count("session/request_permission") == 1
    assert "Rejected" in await agent.prompt("/run true")
    other = (await agent.call("session/new", cwd=str(folder), mcpServers=[]))["sessionId"]
    (folder / "a.py").write_text("x \n")
    await agent.ask("/edit a.py", session=other)
    assert (folder / "a.py").read_text() == "x \n"


@drives
async def test_a_file_that_changes_meanwhile_is_not_overwritten(
    agent: Driver, folder: Path
) -> None:
    path = folder / "a.py"
    path.write_text("x \n")
    agent.permission = None
    await agent.start()
    turn = asyncio.ensure_future(agent.prompt("/edit a.py"))
    await agent.until(lambda: "session/request_permission" in agent.methods())
    path.write_text("typed by a person \n")
    agent.asked[-1].respond({"outcome": {"outcome": "selected", "optionId": "allow_once"}})
    assert "changed while I waited" in await turn
    assert path.read_text() == "typed by a person \n"


@pytest.mark.parametrize(
    "answer", [{}, {"outcome": None}, {"outcome": {"outcome": "selected", "optionId": "yes"}}]
)
@drives
async def test_only_a_clear_yes_is_one(agent: Driver, folder: Path, answer: dict[str, Any]) -> None:
    (folder / "a.py").write_text("x \n")
    agent.permission = None
    await agent.start()
    turn = asyncio.ensure_future(agent.prompt("/edit a.py"))
    await agent.until(lambda: "session/request_permission" in agent.methods())
    agent.asked[-1].respond(answer)
    assert "Rejected" in await turn
    assert (folder / "a.py").read_text() == "x \n"


@drives
async def test_modes_change_what_it_does(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("x \n")
    await agent.start()
    await agent.call("session/set_mode", sessionId=agent.session, modeId="read")
    assert "I wrote nothing" in await agent.prompt("/edit a.py")
    assert agent.tool()["content"][0]["newText"] == "x\n"
    assert "I ran nothing" in await agent.prompt("/run touch b")
    assert (folder / "a.py").read_text() == "x \n"
    assert agent.methods() == ["fs/read_text_file"]
    agent.permission = "reject_once"
    await agent.call("session/set_mode", sessionId=agent.session, modeId="edit")
    assert "I wrote `a.py`" in await agent.prompt("/edit a.py")
    assert (folder / "a.py").read_text() == "x\n"
    assert "Rejected" in await agent.prompt("/run touch b")
    assert names(folder) == ["a.py"]


@drives
async def test_edit_without_what_it_needs(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("x \n")
    (folder / "b.bin").write_bytes(b"\xff")
    await agent.start({"fs": {"readTextFile": False, "writeTextFile": False}})
    # Asked all the same, and then written by itself.
    assert "I wrote `a.py`" in await agent.prompt("/edit a.py")
    assert agent.methods() == ["session/request_permission"]
    assert (folder / "a.py").read_text() == "x\n"
    agent.asked.clear()
    assert "could not read `nix.py`" in await agent.prompt("/edit nix.py")
    assert "not text" in await agent.prompt("/edit b.bin")
    assert "Tell me which file" in await agent.prompt("/edit")
    assert agent.asked == []


@drives
async def test_edit_tidies_the_cells_of_a_notebook(agent: Driver, folder: Path) -> None:
    path = folder / "my_plot.ipynb"
    path.write_text(notebook(markdown("a  \nb "), code("x = 1 \ny", PLOT, count=3)))
    before = json.loads(path.read_text())
    await agent.start()
    await agent.ask("/edit my_plot.ipynb")
    after = json.loads(path.read_text())
    before["cells"][0]["source"] = "a  \nb"
    before["cells"][1]["source"] = ["x = 1\n", "y"]
    assert after == before
    assert path.read_text().startswith('{\n "cells": [\n  {\n')
    assert '"é"' in path.read_text()
    assert "tidy already" in await agent.prompt("/edit my_plot.ipynb")


@drives
async def test_a_kernel_that_starts_does_not_stop_an_edit(agent: Driver, folder: Path) -> None:
    path = folder / "n.ipynb"
    path.write_text(notebook(code("x = 1 ")))
    agent.permission = None
    await agent.start()
    turn = asyncio.ensure_future(agent.prompt("/edit n.ipynb"))
    await agent.until(lambda: "session/request_permission" in agent.methods())
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "metadata": {"kernelspec": {"name": "r"}}}))
    agent.asked[-1].respond({"outcome": {"outcome": "selected", "optionId": "allow_once"}})
    assert "I wrote `n.ipynb`" in await turn
    after = json.loads(path.read_text())
    assert after["metadata"] == {"kernelspec": {"name": "r"}}
    assert after["cells"][0]["source"] == ["x = 1"]


@drives
async def test_edit_replaces_in_cells_only(agent: Driver, folder: Path) -> None:
    path = folder / "n.ipynb"
    path.write_text(notebook(markdown("cells of code"), code("cells", PRINT)))
    await agent.start()
    await agent.ask("/edit n.ipynb cells => rows")
    after = json.loads(path.read_text())
    assert [cell["source"] for cell in after["cells"]] == ["rows of code", ["rows"]]
    assert after["cells"][1]["outputs"] == [PRINT]
    assert "does not contain" in await agent.prompt("/edit n.ipynb nbformat => x")


@drives
async def test_todo_collects_and_keeps_what_people_wrote(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1  # TODO: one\n# todo list\ns = 'TODO'\n")
    (folder / "b.js").write_text("/* FIXME two */\n")
    (folder / "n.ipynb").write_text(notebook(code("a\n# TODO three")))
    await agent.start()
    assert "3 comment(s)" in await agent.prompt("/todo")
    assert agent.tool()["content"][0]["oldText"] is None
    file = folder / "TODO.md"
    text = file.read_text()
    items = [line for line in text.splitlines() if line.startswith("- ")]
    assert items == [
        "- [ ] `a.py:1` TODO: one",
        "- [ ] `b.js:1` FIXME two",
        "- [ ] `n.ipynb cell 1:2` TODO three",
    ]
    assert "up to date" in await agent.prompt("/todo")
    file.write_text("# Mine\n\n" + text + "\nAlso mine\n")
    (folder / "b.js").unlink()
    await agent.ask("/todo")
    assert file.read_text() == "# Mine\n\n" + text.replace(items[1] + "\n", "") + "\nAlso mine\n"


@drives
async def test_todo_with_nothing_to_do(agent: Driver, folder: Path) -> None:
    await agent.start()
    assert "no TODO" in await agent.prompt("/todo")
    assert names(folder) == []


@drives
async def test_run(agent: Driver, folder: Path) -> None:
    await agent.start()
    said = await agent.prompt("/run echo out; pwd; exit 3")
    assert "ended with exit status 3" in said
    await agent.until(lambda: agent.released)
    tool = agent.tool()
    assert (tool["kind"], tool["status"]) == ("execute", "failed")
    assert tool["content"][0] == {"type": "terminal", "terminalId": agent.released[0]}
    assert tool["rawOutput"]["exitCode"] == 3
    assert tool["rawOutput"]["output"] == f"out\n{folder}\n"
    assert agent.methods() == [
        "session/request_permission",
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/output",
        "terminal/release",
    ]
    assert "with exit status 0" in await agent.prompt("/run true")
    assert agent.tool()["status"] == "completed"
    agent.updates.clear()
    await agent.call("session/load", sessionId=agent.session, cwd=str(folder), mcpServers=[])
    first = agent.of("tool_call")[0]
    assert f"out\n{folder}" in first["content"][0]["content"]["text"]
    assert first["status"] == "failed"


@drives
async def test_run_rejected_and_without_terminals(agent: Driver, folder: Path) -> None:
    agent.permission = "reject_once"
    await agent.start()
    assert "I ran nothing" in await agent.prompt("/run touch made")
    assert agent.methods() == ["session/request_permission"]
    assert names(folder) == []
    await agent.start({**EVERYTHING, "terminal": False})
    assert "does not offer terminals" in await agent.prompt("/run touch made")


@drives
async def test_cancel_kills_what_runs(agent: Driver) -> None:
    await agent.start()
    turn = asyncio.ensure_future(agent.ask("/run sleep 3000"))
    await agent.until(lambda: "terminal/wait_for_exit" in agent.methods())
    agent.connection.notify("session/cancel", {"sessionId": agent.session})
    assert await turn == "cancelled"
    await agent.until(lambda: agent.released)
    assert agent.methods()[-2:] == ["terminal/kill", "terminal/release"]
    assert agent.tool()["status"] == "failed"


@drives
async def test_plan_moves(agent: Driver, folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(code("a"), code("b")))
    await agent.start()
    said = await agent.prompt("/plan")
    assert "1 file(s)" in said
    assert "2 cell(s)" in said
    states = ["".join(entry["status"][0] for entry in plan["entries"]) for plan in agent.of("plan")]
    assert states == ["ppp", "ipp", "cpp", "cip", "ccp", "cci", "ccc"]
    assert {entry["priority"] for entry in agent.of("plan")[0]["entries"]} == {
        "high",
        "medium",
        "low",
    }


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (
            {"action": "accept", "content": {"name": "Ada", "autosave": False, "languages": ["r"]}},
            "- Name: Ada\n- Autosave: no\n- Languages: r\n",
        ),
        ({"action": "decline"}, "declined"),
        ({"action": "cancel"}, "without an answer"),
        ({"action": "shrug"}, "'shrug'"),
    ],
)
@drives
async def test_ask(agent: Driver, form: dict[str, Any], words: str) -> None:
    agent.form = form
    await agent.start()
    assert words in await agent.prompt("/ask")
    params = agent.asked[0].params
    assert (params["mode"], params["sessionId"]) == ("form", agent.session)
    types = [field["type"] for field in params["requestedSchema"]["properties"].values()]
    assert sorted(types) == ["array", "boolean", "integer", "number", "string", "string"]


@drives
async def test_ask_of_a_client_without_forms(agent: Driver) -> None:
    await agent.start({})
    assert "does not offer forms" in await agent.prompt("/ask")


@drives
async def test_image_is_shown(agent: Driver) -> None:
    await agent.start()
    await agent.ask("/image")
    [image] = [
        chunk["content"]
        for chunk in agent.of("agent_message_chunk")
        if chunk["content"]["type"] == "image"
    ]
    assert image["mimeType"] == "image/png"
    data = base64.b64decode(image["data"], validate=True)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert data.endswith(b"IEND\xaeB`\x82")


@drives
async def test_stream_loses_and_doubles_nothing(agent: Driver) -> None:
    await agent.start()
    assert len((await agent.prompt("/stream")).split()) == 100
    before = len(agent.of("agent_message_chunk"))
    await agent.ask("/stream 30,000")
    chunks = [chunk["content"]["text"] for chunk in agent.of("agent_message_chunk")[before:]]
    assert chunks == [f"{number} " for number in range(1, 30_001)]
    assert len({chunk["messageId"] for chunk in agent.of("agent_message_chunk")}) == 2
    for wrong in ("0", "-5", "many"):
        assert "Tell me how many" in await agent.prompt(f"/stream {wrong}")


@drives
async def test_stream_can_be_cancelled(agent: Driver) -> None:
    await agent.start()
    turn = asyncio.ensure_future(agent.ask("/stream 1000000"))
    await agent.until(lambda: len(agent.updates) > 100_000)
    agent.connection.notify("session/cancel", {"sessionId": agent.session})
    assert await turn == "cancelled"
    assert len(agent.of("agent_message_chunk")) < 1_000_000


@drives
async def test_stream_waits_for_a_reader(agent: Driver, state: Path) -> None:
    await agent.start()
    agent.wire.pause()
    turn = asyncio.ensure_future(agent.ask("/stream 200000"))
    # Once it uses no more CPU it is either blocked, as it should be, or done with everything.
    process = psutil.Process(agent.process.pid)
    file = state / f"{agent.session}.jsonl"
    spent, before = 0.0, -1.0

    def begun() -> bool:
        return b"user_message_chunk" in file.read_bytes()

    while spent == 0.0 or spent != before or not begun():
        before = spent
        await asyncio.sleep(0.5)
        spent = process.cpu_times().user
    assert b"agent_message_chunk" not in file.read_bytes()
    agent.wire.resume()
    assert await turn == "end_turn"
    assert len(agent.said().split()) == 200_000


@drives
async def test_slow(agent: Driver) -> None:
    await agent.start()
    said = await agent.prompt("/slow 0.6")
    assert said == "0.5 of 0.6 s\n\n0.6 of 0.6 s\n\nDone.\n"
    for wrong in ("-1", "nan", "1e9", "long"):
        assert "Tell me how long" in await agent.prompt(f"/slow {wrong}")


@drives
async def test_an_error_of_the_client_is_told(agent: Driver, folder: Path) -> None:
    (folder / "a.py").write_text("x \n")
    await agent.start()
    agent.permission = None
    turn = asyncio.ensure_future(agent.prompt("/edit a.py"))
    await agent.until(lambda: "session/request_permission" in agent.methods())
    (folder / "a.py").chmod(0o400)
    (folder / "a.py").unlink()
    (folder / "a.py").mkdir()
    agent.asked[-1].respond({"outcome": {"outcome": "selected", "optionId": "allow_once"}})
    assert "That did not work" in await turn
    assert agent.tool()["status"] == "failed"
    assert "Assistant" in await agent.prompt("hello")
