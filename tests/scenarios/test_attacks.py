# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents and strangers try, and that nothing was opened, started or sent for them.

`docs/security.md` lists the attacks and names the tests of each, here and elsewhere.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import re
import stat
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from acpclient import scripted
from audit import watched
from gitserver import git
from server import running
from steps import connect

from jupyter_acp.client.documents.disk import read_text, write_text
from jupyter_acp.client.large_answers import AT_ONCE
from jupyter_acp.client.permissions.question_files import NamedFiles
from jupyter_acp.paths import contained
from jupyter_acp.rpc import RpcError
from jupyter_acp.rpc.connection import MOST_REQUESTS

ROOT = Path(__file__).parents[2]
ASK = "session/request_permission"
SECRET = "secret-4711.txt"


@pytest.fixture
def acp_config():
    return {"permissions": {}, "max_sessions": 30, "max_terminals": 5}


@pytest.fixture
def acp_agents():
    return {"scripted": scripted(), "other": scripted()}


@pytest.fixture
def outside(root):
    """A folder beside the one that is shown, with something in it."""
    folder = root.parent / f"{root.name}-x"
    folder.mkdir()
    (folder / SECRET).write_text("secret")
    return folder


def untouched(folder):
    assert sorted(path.name for path in folder.iterdir()) == [SECRET]
    assert (folder / SECRET).read_text() == "secret"


async def request(window, session, method, **params):
    """Let the agent ask for something; return what it was answered."""
    await window.prompt(session, ["request", method, params])
    return json.loads(window.texts()[-1])


async def fs(window, session, method, path, content="changed"):
    return await request(window, session, f"fs/{method}_text_file", path=path, content=content)


async def question(window, start=0):
    return await window.wait(lambda m: m.get("method") == ASK and "id" in m, start)


async def pending(window, acp, session):
    """Which questions are open; a window that comes back is asked them again."""
    behind = (await acp.manager()).get(session)
    return (await window.attach(session, behind.log.seq))["pending"]


async def choose(window, asked, option):
    outcome = {"outcome": {"outcome": "selected", "optionId": option}}
    await window.send({"jsonrpc": "2.0", "id": asked["id"], "result": outcome})


def spellings(root, outside):
    """Ways to write the path of a file outside, as far as a text may be a path at all."""
    up = f"{root}/../{outside.name}/{SECRET}"
    return {
        "plain": f"{outside}/{SECRET}",
        "dots": up,
        "many dots": f"{root}/a/b/../../../{outside.name}/{SECRET}",
        "a sibling that begins with the same letters": f"{root}-x/{SECRET}",
        "double slashes": f"/{outside}//{SECRET}",
        "a share": f"//host/share/{SECRET}",
        "encoded dots": f"{root}/%2e%2e/{outside.name}/{SECRET}",
        "encoded slash": f"{root}/..%2f{outside.name}%2f{SECRET}",
        "encoded twice": f"{root}/%252e%252e/{outside.name}/{SECRET}",
        "NUL": f"{root}/a\0/../../{outside.name}/{SECRET}",
        "NUL at the end": f"{outside}/{SECRET}\0.txt",
        "relative": f"../{outside.name}/{SECRET}",
        "home": f"~/{SECRET}",
        "a URI": f"file://{quote(str(outside))}/{SECRET}",
        "a URI of another machine": f"file://host/{SECRET}",
        "a drive": f"C:\\{SECRET}",
        "UNC": f"\\\\host\\share\\{SECRET}",
        "a device of Windows": f"\\\\?\\C:\\{SECRET}",
        "backslashes": f"{root}\\..\\{outside.name}\\{SECRET}",
    }


async def test_no_spelling_of_a_path_leads_outside(window, root, outside, session):
    # Some of them are hidden files inside, which would be asked about.
    rules = {"*": [{"kind": "*", "match": "*/..*", "decision": "deny"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    for name, path in spellings(root, outside).items():
        with watched() as seen:
            answer = await fs(window, session, "read", path)
        # What is a strange name and no way out may be one, of a file that is not there yet.
        is_name = "encoded" in name or "back" in name
        assert "message" in answer or (is_name and answer == {"content": ""}), (name, answer)
        assert seen.opened(SECRET) == [], name
        assert not seen.started and not seen.connected
        with watched() as seen:
            answer = await fs(window, session, "write", path)
        assert "message" in answer or is_name, (name, answer)
        assert not seen.started and not seen.connected
        untouched(outside)
    # What was made has strange names, and is inside.
    made = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert {name.partition("/")[0] for name in made} <= {"%2e%2e", "%252e%252e"}


@pytest.mark.parametrize("method", ["read", "write"])
async def test_no_link_leads_outside(window, root, outside, session, method):
    (root / "file").symlink_to(outside / SECRET)
    (root / "folder").symlink_to(outside)
    (root / "in").mkdir()
    (root / "in" / "relative").symlink_to(Path("..") / ".." / outside.name)
    (root / "chain").symlink_to(root / "folder")
    (root / "dangling").symlink_to(outside / "new.txt")
    (root / "loop").symlink_to(root / "loop")
    for path in (
        root / "file",
        root / "folder" / SECRET,
        root / "folder" / "new.txt",
        root / "in" / "relative" / SECRET,
        root / "chain" / SECRET,
        root / "dangling",
        root / "loop",
    ):
        with watched() as seen:
            answer = await fs(window, session, method, str(path))
        assert "message" in answer, path
        assert seen.opened(SECRET) == [] and seen.opened("new.txt") == []
        untouched(outside)


@pytest.mark.parametrize("method", ["read", "write"])
async def test_a_link_that_comes_while_somebody_thinks_leads_nowhere(
    window, root, outside, session, method
):
    folder = root / ".asked"
    folder.mkdir()
    (folder / SECRET).write_text("harmless")
    step = ["request", f"fs/{method}_text_file", {"path": f"{folder}/{SECRET}", "content": "evil"}]
    turn = await window.start_prompt(session, step)
    asked = await question(window)
    folder.rename(root / "gone")
    folder.symlink_to(outside)
    with watched() as seen:
        await choose(window, asked, "allow")
        await window.response(turn)
    answer = json.loads(window.texts()[-1])
    assert "could not be" in answer["message"], answer
    assert seen.opened(SECRET) == []
    untouched(outside)
    assert (root / "gone" / SECRET).read_text() == "harmless"


class Swapping:
    """Puts a folder and a link into each other's place, as fast as it can."""

    def __init__(self, folder: Path, link: Path) -> None:
        self.count = 0
        self._names = os.fsencode(folder), os.fsencode(link)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._swap)

    def _swap(self) -> None:
        here, exchange = -100, 2
        libc = ctypes.CDLL(None, use_errno=True)
        # An even number of times: in the end everything is where it was.
        while not (self._stop.is_set() and self.count % 2 == 0):
            if libc.renameat2(here, self._names[0], here, self._names[1], exchange) != 0:
                break
            self.count += 1

    def __enter__(self) -> Swapping:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two files at once")
async def test_a_link_that_comes_at_the_wrong_moment_leads_nowhere(window, root, outside, session):
    place = root / "place"
    place.mkdir()
    (place / SECRET).write_text("harmless")
    link = root / "link"
    link.symlink_to(outside)
    path = str(place / SECRET)
    read = 0
    with Swapping(place, link) as swapping:
        # By the way that an agent has, which is slow, and by the one behind it.
        for _ in range(40):
            answer = await fs(window, session, "read", path)
            assert "secret" not in str(answer.get("content")), answer
        for number in range(2000):
            try:
                target = contained(path, [str(root)])
                assert "harmless" in read_text(target)
                read += 1
                write_text(target, f"harmless {number}")
            except RpcError:
                pass
            untouched(outside)
    untouched(outside)
    # It was in the way, and not all the time.
    assert swapping.count > 100 and read > 0


async def test_what_is_no_plain_file_of_its_own_is_refused(window, root, outside, session):
    os.link(outside / SECRET, root / "hard.txt")
    os.mkfifo(root / "pipe")
    (root / "huge.txt").touch()
    os.truncate(root / "huge.txt", 10 * 1024**3)
    names = {"hard.txt": "hard links", "pipe": "regular", "huge.txt": "too many"}
    if os.getuid() == 0:
        try:
            os.mknod(root / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
            names["device"] = "regular"
        except OSError:
            # Not in every container.
            pass
    before = psutil.Process().memory_info().rss
    for name, words in names.items():
        for method in ("read", "write"):
            with watched() as seen:
                answer = await fs(window, session, method, str(root / name))
            assert words in answer["message"], (method, name, answer)
            assert name == "huge.txt" or seen.opened(name) == []
    untouched(outside)
    assert (root / "hard.txt").read_text() == "secret"
    assert psutil.Process().memory_info().rss - before < 32 * 1024 * 1024


@pytest.mark.parametrize(
    "path",
    ["/proc/self/environ", "/proc/1/environ", "/sys/kernel/vmcoreinfo", "/dev/zero", "/dev/fd/0"],
)
def test_what_belongs_to_the_kernel_is_nobodys_file(path):
    with watched() as seen, pytest.raises(RpcError, match="belongs to the system"):
        contained(path, ["/"])
    assert seen.events == []
    assert contained("/etc/hostname", ["/"]) == Path("/etc/hostname").resolve()


# What runs by itself


PROTECTED = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".jupyter/jupyter_server_config.py",
    ".ipython/profile_default/startup/00.py",
    ".vscode/tasks.json",
    ".cursor/mcp.json",
    ".claude/settings.json",
    ".mcp.json",
    ".bashrc",
    ".profile",
    ".zshrc",
    "share/jupyter/kernels/evil/kernel.json",
    "share/jupyter/lab/settings/overrides.json",
]


@pytest.mark.parametrize("is_there", [True, False])
async def test_what_runs_by_itself_is_written_by_nobodys_rule(window, root, session, is_there):
    rules = {"*": [{"kind": "*", "match": "*", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    for name in PROTECTED:
        path = root / name
        if is_there:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("mine")
        start = len(window.received)
        step = ["request", "fs/write_text_file", {"path": str(path), "content": "evil"}]
        turn = await window.start_prompt(session, step)
        asked = await question(window, start)
        assert asked["params"]["_meta"]["jupyter-acp"]["files"][0]["risk"], name
        await choose(window, asked, "deny")
        await window.response(turn)
        assert json.loads(window.texts()[-1])["code"] == -32011
        assert (path.read_text() == "mine") if is_there else not path.exists()


# Answers that nobody gave


async def test_an_answer_counts_once_for_its_own_question_and_window(
    window, acp, acp_connect, session
):
    stranger = await acp_connect()
    turn = await window.start_prompt(session, ["ask"], ["ask"])
    first = await question(window)
    yes = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    # A window that does not show the session knows the id from somewhere, or makes one up.
    await stranger.send({"jsonrpc": "2.0", "id": first["id"], "result": yes})
    for made_up in ("0", 1, None, first["id"].upper(), first["params"]["toolCall"]["toolCallId"]):
        await window.send({"jsonrpc": "2.0", "id": made_up, "result": yes})
    await choose(window, first, "an option that was not offered")
    await stranger.result("session/list")
    await window.result("session/list")
    assert await pending(window, acp, session) == [first["id"]]
    assert window.texts() == []

    start = len(window.received)
    await choose(window, first, "no")
    second = await question(window, start)
    assert second["id"] != first["id"]
    # The same answer once more is none to the next question.
    await window.send({"jsonrpc": "2.0", "id": first["id"], "result": yes})
    await window.result("session/list")
    assert await pending(window, acp, session) == [second["id"]]
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    # Too late.
    await window.send({"jsonrpc": "2.0", "id": second["id"], "result": yes})
    await window.result("session/list")
    outcomes = [json.loads(text)["outcome"] for text in window.texts()]
    assert [each.get("optionId", each["outcome"]) for each in outcomes] == ["no", "cancelled"]


async def test_what_an_agent_says_in_our_name_is_not_passed_on(window, session):
    forged = {"rule": {"kind": "*", "match": "*"}, "files": [], "requestId": "mine", "seq": 1}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_always"}]
    params = {
        "toolCall": {"toolCallId": "1", "title": "Look"},
        "options": options,
        "_meta": {"jupyter-acp": forged, "theirs": 1},
    }
    turn = await window.start_prompt(session, ["request", ASK, params])
    asked = await question(window)
    assert asked["params"]["_meta"] == {"jupyter-acp": {"requestId": asked["id"]}, "theirs": 1}
    await choose(window, asked, "y")
    await window.response(turn)


async def test_where_named_files_lead_is_told(window, root, outside, session):
    (root / "link").symlink_to(outside / SECRET)
    (root / "plain.txt").touch()
    call = {
        "toolCallId": "1",
        "kind": "edit",
        "locations": [{"path": f"{root}/plain.txt"}, {"path": f"{root}/link"}, {"path": 7}, "x"],
        "content": [{"type": "diff", "path": f"{root}/.git/config", "newText": ""}],
    }
    options = [{"optionId": "n", "name": "No", "kind": "reject_once"}]
    turn = await window.start_prompt(
        session, ["request", ASK, {"toolCall": call, "options": options}]
    )
    with watched() as seen:
        asked = await question(window)
    assert asked["params"]["_meta"]["jupyter-acp"]["files"] == [
        {"path": f"{root}/link", "leadsTo": str(outside / SECRET), "isOutside": True},
        {"path": f"{root}/.git/config", "risk": "git"},
    ]
    assert asked["params"]["toolCall"] == call
    assert seen.opened(SECRET) == []
    await choose(window, asked, "n")
    await window.response(turn)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        # A change is one, whatever it is called.
        ({"kind": "read", "content": [{"type": "diff", "path": "{root}/.mcp.json"}]}, ["agent"]),
        ({"kind": "edit", "rawInput": {"file_path": "{root}/.mcp.json"}}, ["agent"]),
        ({"kind": "edit", "locations": [{"path": "a"}] * 99 + [{"path": ".mcp.json"}]}, ["agent"]),
        ({"kind": "read", "locations": [{"path": "{root}/.mcp.json"}]}, []),
        ({"kind": "edit", "locations": [{"path": "/" + "x" * 200_000}]}, []),
        ({"kind": "edit", "locations": [None, 7, {"path": 7}], "content": "x", "rawInput": []}, []),
    ],
)
async def test_no_named_file_is_passed_over(acp, root, window, session, call, told):
    behind = (await acp.manager()).get(session)
    call = json.loads(json.dumps(call).replace("{root}", str(root)))
    files = NamedFiles(str(root)).told(behind, {"toolCall": call})
    assert [each["risk"] for each in files] == told


@pytest.mark.parametrize("names", [["a/{n}"] * 300, ["/" + "a/" * 1900 + "{n}"] * 20])
async def test_a_question_about_more_files_than_anybody_can_look_at_is_not_asked(
    window, session, names
):
    locations = [{"path": name.format(n=number)} for number, name in enumerate(names)]
    call = {"toolCallId": "1", "kind": "edit", "locations": locations}
    answer = await request(window, session, ASK, toolCall=call, options=[])
    assert answer["code"] == -32602 and "ask about fewer" in answer["message"]


async def test_a_folder_behind_a_link_makes_no_links_of_its_files(window, root, tmp_path, acp):
    (tmp_path / "way").symlink_to(root)
    session = await window.new(tmp_path / "way")
    (root / "plain.txt").touch()
    behind = (await acp.manager()).get(session)
    for name in ("plain.txt", f"{tmp_path}/way/plain.txt"):
        assert (
            NamedFiles(str(root)).told(behind, {"toolCall": {"locations": [{"path": name}]}}) == []
        )


async def test_a_name_that_is_no_text_is_asked_about_all_the_same(window, root, session):
    (root / ".odd").symlink_to(os.fsdecode(b"\xff\xfe"))
    (root / os.fsdecode(b"\xff\xfe")).touch()
    call = {"toolCallId": "1", "kind": "edit", "locations": [{"path": f"{root}/.odd"}]}
    options = [{"optionId": "n", "name": "No", "kind": "reject_once"}]
    turn = await window.start_prompt(
        session, ["request", ASK, {"toolCall": call, "options": options}]
    )
    asked = await question(window)
    assert "\ufffd" in asked["params"]["_meta"]["jupyter-acp"]["files"][0]["leadsTo"]
    await choose(window, asked, "n")
    await window.response(turn)


# Others' sessions


async def test_ids_of_others_are_nobodys(window, root, session):
    """An agent that knows the ids of another agent's session and terminal gets nothing by them."""
    rules = {"*": [{"kind": "terminal", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    create = {"command": "sleep", "args": ["1000"]}
    terminal = (await request(window, session, "terminal/create", **create))["terminalId"]
    await window.prompt(session, ["whoami"])
    theirs = window.texts()[-1]
    other = await window.new(root, "other")
    running = len(psutil.Process().children(recursive=True))
    for method in ("output", "kill", "wait_for_exit", "release"):
        answer = await request(window, other, f"terminal/{method}", terminalId=terminal)
        assert answer == {
            "code": -32002,
            "message": f"There is no terminal {terminal!r} in this session.",
        }
    for id in (session, theirs):
        for method, params in (
            ("terminal/output", {"terminalId": terminal}),
            ("fs/read_text_file", {"path": f"{root}/a"}),
            ("workspace/open_documents", {}),
            (ASK, {"toolCall": {"toolCallId": "1"}, "options": []}),
        ):
            line = {
                "jsonrpc": "2.0",
                "id": "x",
                "method": method,
                "params": {**params, "sessionId": id},
            }
            await window.prompt(other, ["raw", json.dumps(line) + "\n"], ["until_answer", "x"])
            error = json.loads(window.texts()[-1])["error"]
            assert error == {"code": -32602, "message": "There is no such session."}
    assert len(psutil.Process().children(recursive=True)) == running
    assert (await window.attach(session))["pending"] == []


# Repositories that bring something along


async def test_what_a_cloned_repository_configures_is_inert(window, acp, root, tmp_path):
    ran = tmp_path / "ran"
    touch = f"touch {ran}"
    python = f"import pathlib; pathlib.Path({str(ran)!r}).touch()"
    server = {"mcpServers": {"evil": {"command": "touch", "args": [str(ran)]}}}
    files = {
        ".mcp.json": json.dumps(server),
        ".cursor/mcp.json": json.dumps(server),
        ".vscode/mcp.json": json.dumps(server),
        ".claude/settings.json": json.dumps(
            {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": touch}]}]}}
        ),
        ".jupyter/jupyter_server_config.py": python,
        "jupyter_server_config.py": python,
        "sitecustomize.py": python,
        "jupyter_acp.py": python,
        "orjson.py": python,
        ".gitattributes": "* filter=evil\n",
        ".gitconfig": f'[filter "evil"]\n\tsmudge = {touch}\n',
        "acp/agents.json": json.dumps({"agents": [{"id": "evil", "argv": ["touch", str(ran)]}]}),
    }
    source = tmp_path / "source"
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(content)
    git(source, "init", "-q")
    git(source, "add", "-A", "-f")
    git(source, "commit", "-qm", "Evil")
    clone = root / "clone"
    git(root, "clone", "-q", str(source), str(clone))
    for agent in ("scripted", "builtin"):
        with watched() as seen:
            session = await window.new(clone, agent)
            text = json.dumps([["mcp"]]) if agent == "scripted" else "/find evil"
            prompt = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
            await window.result("session/prompt", prompt)
        # The agent itself, and nothing else.
        assert len(seen.started) <= 1, seen.started
        for name in (".mcp.json", "mcp.json", "settings.json", "sitecustomize.py"):
            assert seen.opened(name) == []
    given = next(json.loads(text) for text in window.texts() if text.startswith("[{"))
    assert [each["name"] for each in given] == ["jupyter"]
    assert not ran.exists()


# Terminals


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PATH",
        "PAGER",
        "SHELL",
        "GIT_SSH_COMMAND",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "PROMPT_COMMAND",
        "BASH_FUNC_ls%%",
        "SSL_CERT_FILE",
        "https_proxy",
        "JUPYTER_TOKEN",
        "ld_preload",
    ],
)
async def test_a_variable_that_makes_another_program_of_a_command_is_shown_and_asked_about(
    window, root, session, name
):
    # The user allows the command itself: by a rule, and in answer to what the agent asks.
    rules = {"*": [{"kind": "terminal", "match": "true*", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    env = [{"name": "CI", "value": "1"}, {"name": name, "value": "./evil"}]
    create = {"command": "true", "env": env}
    call = {"kind": "execute", "title": "true", "rawInput": create, "toolCallId": "t"}
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    with watched() as seen:
        turn = await window.start_prompt(
            session,
            ["request", ASK, {"toolCall": call, "options": options}],
            ["request", "terminal/create", create],
        )
        await choose(window, await question(window), "yes")
        start = len(window.received)
        asked = await question(window, start)
        assert seen.started == []
        shown = asked["params"]["toolCall"]
        assert shown["rawInput"]["env"] == {"CI": "1", name: "./evil"}
        assert shown["title"] == f"Run `{name}=./evil true`"
        # Nor is it allowed for good what was allowed once.
        assert "allow_always" not in [each["kind"] for each in asked["params"]["options"]]
        await choose(window, asked, "deny")
        await window.response(turn)
        assert seen.started == []
    assert json.loads(window.texts()[-1])["code"] == -32011


async def test_a_command_without_text_is_none(window, session):
    for create in ({"command": "a\0b"}, {"command": "ls", "args": ["\0"]}, {"command": ""}):
        assert (await request(window, session, "terminal/create", **create))["code"] == -32602
    assert window.of(ASK) == []


@pytest.mark.parametrize(
    "env",
    [
        {"name": "A=B", "value": "x"},
        {"name": "", "value": "x"},
        {"name": "A\0", "value": "x"},
        {"name": "A", "value": "x\0"},
    ],
)
async def test_a_variable_can_be_passed_on(window, session, env):
    answer = await request(window, session, "terminal/create", command="true", env=[env])
    assert answer["code"] == -32602 and "env" in answer["message"]


async def test_no_command_starts_outside(window, root, outside, session):
    (root / "link").symlink_to(outside)
    for cwd in (
        str(outside),
        f"{root}/../{outside.name}",
        str(root / "link"),
        "/proc/self/cwd",
        "~",
    ):
        with watched() as seen:
            answer = await request(window, session, "terminal/create", command="true", cwd=cwd)
        assert answer["code"] == -32602, (cwd, answer)
        assert seen.started == []
    assert window.of(ASK) == []


@pytest.mark.parametrize("is_swapped", [True, False])
async def test_a_command_starts_where_it_was_said_to(window, root, outside, session, is_swapped):
    (root / "place").mkdir()
    create = {"command": "touch", "args": ["made"], "cwd": str(root / "place")}
    turn = await window.start_prompt(session, ["request", "terminal/create", create])
    asked = await question(window)
    if is_swapped:
        (root / "place").rename(root / "gone")
        (root / "place").symlink_to(outside)
    with watched() as seen:
        await choose(window, asked, "allow")
        await window.response(turn)
    answer = json.loads(window.texts()[-1])
    if is_swapped:
        assert "could not be started" in answer["message"]
        assert seen.started == []
        assert list((root / "gone").iterdir()) == []
    else:
        waited = {"terminalId": answer["terminalId"]}
        assert (await request(window, session, "terminal/wait_for_exit", **waited))["exitCode"] == 0
        assert (root / "place" / "made").exists()
    untouched(outside)


# Too much of everything


async def test_terminals_that_wait_to_be_allowed_count(window, session):
    lines = [
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": f"t{number}",
                "method": "terminal/create",
                "params": {"sessionId": "{session}", "command": "sleep", "args": [str(number)]},
            }
        )
        for number in range(8)
    ]
    await window.prompt(session, ["whoami"])
    text = "".join(f"{line}\n" for line in lines).replace("{session}", window.texts()[-1])
    with watched() as seen:
        turn = await window.start_prompt(session, ["raw", text], ["until_answer", "t7"])
        await window.wait(lambda m: "max_terminals" in str(m))
        assert len((await window.attach(session))["pending"]) == 5
        await window.notify("session/cancel", {"sessionId": session})
        await window.response(turn)
    assert seen.started == []


async def test_commands_that_a_rule_allows_count_while_they_start(window, session):
    rules = {"*": [{"kind": "terminal", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    await window.prompt(session, ["whoami"])
    params = {"sessionId": window.texts()[-1], "command": "sleep", "args": ["1000"]}
    line = json.dumps({"jsonrpc": "2.0", "id": "ID", "method": "terminal/create", "params": params})
    text = "".join(line.replace('"ID"', f'"t{number}"') + "\n" for number in range(40))
    await window.prompt(session, ["raw", text], ["until_answer", "t39"])
    await window.wait(lambda _: len(window.of("_jupyter/terminal/created")) >= 5)
    await window.prompt(session, ["chunk", "on"])
    assert len(window.of("_jupyter/terminal/created")) == 5


async def test_a_path_without_end_holds_nobody_up(window, root, session):
    for path in ("/x" * 500_000, f"{root}/{'a/' * 100_000}b"):
        answer = await fs(window, session, "read", path)
        assert answer["code"] == -32602 and len(answer["message"]) < 500
    answer = await request(window, session, "terminal/create", command="ls", cwd="/x" * 500_000)
    assert answer["code"] == -32602


async def test_ten_thousand_questions(window, acp, root, session):
    other = await window.new(root, "other")
    await window.prompt(session, ["whoami"])
    params = {"sessionId": window.texts()[-1], "toolCall": {"toolCallId": "1"}, "options": []}
    line = json.dumps({"jsonrpc": "2.0", "id": "ID", "method": ASK, "params": params})
    # In several writes, for a prompt is a text as well.
    start = len(window.received)
    turn = await window.start_prompt(
        session,
        *(
            ["raw", "".join(line.replace('"ID"', f'"q{thousand}-{n}"') + "\n" for n in range(1000))]
            for thousand in range(10)
        ),
        ["until_answer", "q9-999"],
        ["until_cancel"],
    )
    said = await window.wait(lambda m: "q9-999" in str(m) and "more than a person" in str(m), start)
    assert said
    asked = [m for m in window.received[start:] if m.get("method") == ASK and "id" in m]
    assert len(asked) == 100
    assert len((await window.attach(session))["pending"]) == 100
    # Others are not kept waiting.
    assert (await window.prompt(other, ["chunk", "on"]))["result"]["stopReason"] == "end_turn"
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    assert (await window.attach(session))["pending"] == []


async def test_answers_that_are_not_read_are_not_made(window, acp, root, session):
    (root / SECRET).write_text("x" * 8 * 1024 * 1024)
    other = await window.new(root, "other")
    await window.prompt(session, ["whoami"])
    params = {"sessionId": window.texts()[-1], "path": f"{root}/{SECRET}"}
    line = json.dumps(
        {"jsonrpc": "2.0", "id": "ID", "method": "fs/read_text_file", "params": params}
    )
    reads = "".join(line.replace('"ID"', f'"r{number}"') + "\n" for number in range(60))
    behind = (await acp.manager()).get(session)
    with watched() as seen:
        turn = await window.start_prompt(
            session,
            ["raw", reads],
            ["shell", f"until [ -e '{root}/go' ]; do sleep 0.05; done"],
            ["until_answer", "r59"],
        )
        while not behind.is_full:
            await asyncio.sleep(0.01)
        for _ in range(20):
            await window.prompt(other, ["chunk", "on"])
        # Some on their way to it, some that were begun before those were made.
        assert 0 < len(seen.opened(SECRET)) <= 4 * AT_ONCE
        (root / "go").touch()
        await window.response(turn)
        # Whoever reads them gets them all, in whatever order.
        while len(seen.opened(SECRET)) < 60:
            await asyncio.sleep(0.05)


async def test_more_requests_than_can_wait(window, root, session):
    create = {"command": "sleep", "args": ["1000"]}
    turn = await window.start_prompt(session, ["request", "terminal/create", create])
    await choose(window, await question(window), "allow")
    await window.response(turn)
    terminal = json.loads(window.texts()[-1])["terminalId"]
    await window.prompt(session, ["whoami"])
    params = {"sessionId": window.texts()[-1], "terminalId": terminal}
    line = json.dumps(
        {"jsonrpc": "2.0", "id": "ID", "method": "terminal/wait_for_exit", "params": params}
    )
    waits = "".join(line.replace('"ID"', f'"w{n}"') + "\n" for n in range(MOST_REQUESTS + 1))
    await window.prompt(session, ["raw", waits], ["until_answer", f"w{MOST_REQUESTS}"])
    answer = json.loads(window.texts()[-1])["error"]
    assert answer["code"] == -32010 and "wait for their answers" in answer["message"]


async def test_a_million_updates_that_nobody_reads(tmp_path):
    agents = {"scripted": scripted(), "other": scripted()}
    with running(tmp_path, agents) as server:
        window = await connect(server)
        flooded = await window.new(tmp_path)
        other = await window.new(tmp_path, "other")
        await window.prompt(flooded, ["same", 1000, "x" * 50])
        assert server.process is not None
        process = psutil.Process(server.process.pid)
        before = process.memory_info().rss
        turn = await window.start_prompt(flooded, ["same", 1_000_000, "x" * 50])
        await window.notify("_jupyter/session/detach", {"sessionId": flooded})
        while True:
            # Others go on all the while.
            await window.prompt(other, ["chunk", "on"])
            states = {each["id"]: each["state"] for each in server.get("sessions")["sessions"]}
            if states[flooded] == "idle":
                break
        assert process.memory_info().rss - before < 64 * 1024 * 1024
        await window.response(turn)
        assert window.texts().count("x" * 50) < 1_000_000
        assert server.get(f"sessions/{flooded}")["seq"] > 1_001_000


async def test_ten_thousand_sessions(window, root):
    first = await window.new(root)
    params = {"cwd": str(root), "mcpServers": []}
    before = psutil.Process().memory_info().rss
    ids = [await window.start("session/new", params) for _ in range(10_000)]
    answers = [await window.response(id) for id in ids[:200]]
    await window.response(ids[-1])
    answers = [m for m in window.received if m.get("id") in set(ids) and "method" not in m]
    refused = [m["error"]["message"] for m in answers if "error" in m]
    assert len(answers) - len(refused) == 29
    assert all("30 sessions are open" in words and "max_sessions" in words for words in refused)
    assert psutil.Process().memory_info().rss - before < 64 * 1024 * 1024
    assert (await window.prompt(first, ["chunk", "on"]))["result"]["stopReason"] == "end_turn"
    await window.result("session/close", {"sessionId": first})
    assert await window.new(root)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "nonsense",
        "[]",
        "[" * 100_000,
        '{"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": ' + "[" * 5000,
        '{"id": {}, "method": []}',
        b"\x00\xff\xfe",
        b"{}" * 1000,
        "\ud7ff\u0000\u2028" * 1000,
        json.dumps({"jsonrpc": "2.0", "method": "x" * 1_000_000}),
    ],
)
async def test_frames_that_make_no_sense(window, acp_connect, session, frame):
    hostile = await acp_connect()
    with watched() as seen:
        await hostile.socket.write_message(frame, binary=isinstance(frame, bytes))
        # It goes on, or is closed; it does not hang.
        asking = asyncio.ensure_future(hostile.result("session/list"))
        await asyncio.wait([asking], timeout=60)
        assert asking.done()
        assert hostile.closed.is_set() if asking.exception() else "sessions" in asking.result()
    assert seen.started == [] and seen.connected == []
    assert (await window.prompt(session, ["chunk", "on"]))["result"]["stopReason"] == "end_turn"


# The list


def test_every_attack_of_the_list_has_its_tests():
    """The documentation names tests; each must be one."""
    text = (ROOT / "docs" / "security.md").read_text()
    table = text.split("| attack |")[1].split("## Limits")[0]
    rows = [line for line in table.splitlines()[2:] if line.startswith("|")]
    assert len(rows) >= 20
    sources = [
        *(ROOT / "tests").rglob("test_*.py"),
        *(ROOT / "tests" / "browser").glob("*.spec.ts"),
    ]
    known = {path.name: path.read_text() for path in sources}
    for row in rows:
        named = re.findall(r"`([\w.]+)`: ([^;|]+)", row.rsplit("|", 2)[1])
        assert named, row
        for file, tests in named:
            for test in tests.split(","):
                name = test.strip()
                is_one = f"def {name}(" in known[file] or f"test('{name}" in known[file]
                assert is_one, f"{file} has no test {name}"
