# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents do through us: allowed by a rule, refused by one, or asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_acp.app import PERMISSION_EVENT
from jupyter_acp.client.permissions.policy import Action, Rule
from jupyter_acp.client.permissions.protected_files import needs_permission, risk_of_writing

ASK = "session/request_permission"
DECIDED = "_jupyter/permission_decided"


@pytest.fixture
def acp_config():
    return {"permissions": {}}


@pytest.fixture
def session(window, jp_root_dir, jp_asyncio_loop):
    return jp_asyncio_loop.run_until_complete(window.new(jp_root_dir))


def steps(method, **params):
    return ["request", method, params]


async def choose(window, option, start=0):
    """Answer the next question that the server asks; return it."""
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m, start)
    outcome = {"outcome": "cancelled"}
    if option is not None:
        outcome = {"outcome": "selected", "optionId": option}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": outcome}})
    return question["params"]


async def answered(window, session, step, option):
    """Let the agent do something, answer the question, and return both."""
    start = len(window.received)
    turn = await window.start_prompt(session, step)
    question = await choose(window, option, start)
    await window.response(turn)
    return question, json.loads(window.texts()[-1])


async def unasked(window, session, step):
    start = len(window.received)
    await window.prompt(session, step)
    assert not [m for m in window.received[start:] if m.get("method") == ASK]
    return json.loads(window.texts()[-1])


async def test_a_terminal_is_asked_for(window, session, jp_root_dir):
    step = steps("terminal/create", command="echo", args=["a b"])
    question, answer = await answered(window, session, step, "allow")
    call = question["toolCall"]
    assert call["title"] == "Run `echo 'a b'`" and call["kind"] == "execute"
    assert call["rawInput"] == {"command": "echo 'a b'", "cwd": str(jp_root_dir.resolve())}
    assert [o["kind"] for o in question["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
    assert "terminalId" in answer
    decided = window.of(DECIDED)[-1]["params"]
    told = {key: decided[key] for key in ("kind", "subject", "decision", "by")}
    assert told == {
        "kind": "terminal",
        "subject": "echo 'a b'",
        "decision": "allow",
        "by": "user",
    }


@pytest.mark.parametrize("option", ["deny", "never", None])
async def test_no_is_no(window, session, jp_root_dir, option):
    step = steps("terminal/create", command="touch", args=["made"])
    _, answer = await answered(window, session, step, option)
    assert answer["code"] == -32011 and "the user said no" in answer["message"]
    assert not (jp_root_dir / "made").exists()


async def test_always_lasts_for_the_session_and_that_command(window, session):
    step = steps("terminal/create", command="echo *")
    await answered(window, session, step, "always")
    assert "terminalId" in await unasked(window, session, step)
    await answered(window, session, steps("terminal/create", command="echo 1"), "never")
    answer = await unasked(window, session, steps("terminal/create", command="echo 1"))
    assert "before" in answer["message"]


async def test_what_the_agent_has_asked_for_is_not_asked_again(window, session):
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    for chosen in ("y", "n"):
        call = {"toolCallId": "1", "kind": "execute", "rawInput": {"command": "ls -l"}}
        ask = steps(ASK, toolCall=call, options=options)
        start = len(window.received)
        create = steps("terminal/create", command="ls", args=["-l"])
        turn = await window.start_prompt(session, ask, create, create)
        await choose(window, chosen, start)
        for _ in range(1 if chosen == "y" else 2):
            # The second one was not part of the bargain.
            at = next(i for i, m in enumerate(window.received[start:]) if m.get("method") == ASK)
            start += at + 1
            assert (await choose(window, "deny", start))["toolCall"]["title"] == "Run `ls -l`"
        await window.response(turn)
        assert json.loads(window.texts()[-1])["code"] == -32011


async def test_what_was_allowed_in_a_turn_ends_with_it(window, session):
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    call = {"toolCallId": "1", "kind": "execute", "rawInput": {"command": "ls -l"}}
    turn = await window.start_prompt(session, steps(ASK, toolCall=call, options=options))
    await choose(window, "y")
    await window.response(turn)
    start = len(window.received)
    create = steps("terminal/create", command="ls", args=["-l"])
    turn = await window.start_prompt(session, create)
    assert (await choose(window, "deny", start))["toolCall"]["title"] == "Run `ls -l`"
    await window.response(turn)


async def test_hidden_files_need_a_yes_to_be_read_and_written(window, session, jp_root_dir):
    for name in (".env", ".git/config", "sub/.ssh/id", "jupyter_server_config.py"):
        path = jp_root_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("old")
        read = steps("fs/read_text_file", path=str(path))
        _, answer = await answered(window, session, read, "deny")
        assert answer["code"] == -32011
        _, answer = await answered(window, session, read, "allow")
        assert answer == {"content": "old"}
        write = steps("fs/write_text_file", path=str(path), content="new")
        question, answer = await answered(window, session, write, "deny")
        *_, diff = question["toolCall"]["content"]
        assert (diff["oldText"], diff["newText"]) == ("old", "new")
        assert answer["code"] == -32011 and path.read_text() == "old"
        _, answer = await answered(window, session, write, "allow")
        assert answer == {} and path.read_text() == "new"


async def test_a_file_that_is_not_there_is_asked_about_when_it_is_written(
    window, session, jp_root_dir
):
    path = jp_root_dir.resolve() / ".env"
    read = steps("fs/read_text_file", path=str(path))
    write = steps("fs/write_text_file", path=str(path), content="new")
    assert await unasked(window, session, read) == {"content": ""}
    question, answer = await answered(window, session, write, "deny")
    (diff,) = question["toolCall"]["content"]
    assert question["toolCall"]["title"] == "Write .env"
    assert (diff["oldText"], diff["newText"]) == (None, "new")
    assert answer["code"] == -32011 and not path.exists()
    _, answer = await answered(window, session, write, "allow")
    assert answer == {} and path.read_text() == "new"
    _, answer = await answered(window, session, read, "allow")
    assert answer == {"content": "new"}


@pytest.mark.parametrize("name", ["notes.txt", ".env"])
async def test_an_agent_that_looks_asks_looks_again_and_writes(window, session, jp_root_dir, name):
    """As Gemini makes a file: it cannot go on after an error."""
    file = jp_root_dir.resolve() / name
    path = str(file)
    call = {"toolCallId": "w", "kind": "edit", "title": f"Writing to {name}", "status": "pending"}
    diff = {"type": "diff", "path": name, "oldText": "", "newText": "new"}
    call |= {"content": [diff], "locations": [{"path": path}]}
    options = [{"optionId": "proceed_once", "name": "Allow", "kind": "allow_once"}]
    read = steps("fs/read_text_file", path=path)
    ask = steps(ASK, toolCall=call, options=options)
    write = steps("fs/write_text_file", path=path, content="new")
    begin = ["update", {"sessionUpdate": "tool_call", **call, "status": "in_progress"}]
    turn = await window.start_prompt(session, read, ask, begin, read, write)
    await choose(window, "proceed_once")
    await window.response(turn)
    before, _, again, written = map(json.loads, window.texts())
    assert before == again == {"content": ""} and written == {}
    assert file.read_text() == "new"
    # What the agent has asked for is not asked again.
    assert len(window.of(ASK)) == 1


@pytest.mark.parametrize("name", [".git/hooks/pre-commit", ".mcp.json", "kernels/x/kernel.json"])
async def test_what_runs_by_itself_is_asked_about_whatever_was_allowed(
    window, session, jp_root_dir, name
):
    path = jp_root_dir.resolve() / name
    everything = {"*": [{"kind": "*", "match": "*", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": everything})
    call = {"toolCallId": "1", "kind": "edit", "title": "Edit", "locations": [{"path": str(path)}]}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_always"}]
    write = steps("fs/write_text_file", path=str(path), content="new")
    for _ in range(2):
        start = len(window.received)
        ask = steps(ASK, toolCall=call, options=options)
        turn = await window.start_prompt(session, ask, write)
        await choose(window, "y", start)
        start += (
            next(i for i, m in enumerate(window.received[start:]) if m.get("method") == ASK) + 1
        )
        question = await choose(window, "allow", start)
        await window.response(turn)
        warning, diff = question["toolCall"]["content"]
        assert warning["content"]["text"].endswith(".")
        assert warning["content"]["_meta"]["jupyter-acp"]["risk"]
        assert diff["newText"] == "new"
        # There is no "always" to it.
        assert [o["optionId"] for o in question["options"]] == ["allow", "deny", "never"]
        assert json.loads(window.texts()[-1]) == {} and path.read_text() == "new"
        path.unlink()
    _, answer = await answered(window, session, write, "deny")
    assert answer["code"] == -32011 and not path.exists()


async def test_a_link_to_a_hidden_file_is_a_hidden_file(window, session, jp_root_dir):
    (jp_root_dir / ".secret").write_text("x")
    (jp_root_dir / "plain.txt").symlink_to(".secret")
    read = steps("fs/read_text_file", path=str(jp_root_dir / "plain.txt"))
    _, answer = await answered(window, session, read, "deny")
    assert answer["code"] == -32011


async def test_a_folder_that_the_session_was_given_is_not_hidden_in_itself(window, tmp_path):
    folder = tmp_path / ".config" / "work"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("x")
    session = await window.new(folder)
    read = steps("fs/read_text_file", path=str(folder / "a.txt"))
    assert await unasked(window, session, read) == {"content": "x"}


async def test_rules_of_the_user(window, acp, acp_connect, session, jp_root_dir):
    rules = {
        "scripted": [
            {"kind": "terminal", "match": "echo *", "decision": "allow"},
            {"kind": "write", "match": "locked/*", "decision": "deny"},
            {"kind": "read", "match": ".env", "decision": "allow"},
        ]
    }
    await window.notify("_jupyter/settings/update", {"rules": rules})
    create = steps("terminal/create", command="echo", args=["1"])
    assert "terminalId" in await unasked(window, session, create)
    tricky = steps("terminal/create", command="echo 1; touch made")
    await answered(window, session, tricky, "deny")
    write = steps("fs/write_text_file", path=str(jp_root_dir / "locked" / "a"), content="")
    answer = await unasked(window, session, write)
    assert answer["code"] == -32011 and "rule of the user" in answer["message"]
    (jp_root_dir / ".env").write_text("x")
    read = steps("fs/read_text_file", path=str(jp_root_dir / ".env"))
    assert await unasked(window, session, read) == {"content": "x"}
    # They hold without a window, and after a restart; nonsense changes nothing.
    await window.notify("_jupyter/settings/update", {"rules": {"*": [{"decision": "perhaps"}]}})
    await window.result("session/list", {})
    await acp.stop_extension()
    later = await acp_connect()
    again = await later.new(jp_root_dir)
    assert "terminalId" in await unasked(later, again, create)


@pytest.mark.parametrize("kind", ["read", "write"])
async def test_what_is_asked_where_no_rule_fits_is_the_users_choice(
    window, session, jp_root_dir, kind
):
    file = jp_root_dir / "a.py"
    file.write_text("x")
    step = {
        "read": steps("fs/read_text_file", path=str(file)),
        "write": steps("fs/write_text_file", path=str(file), content="y"),
    }[kind]
    assert "code" not in (await unasked(window, session, step) or {})
    await window.notify("_jupyter/settings/update", {"defaults": {kind: "ask"}})
    _, answer = await answered(window, session, step, "deny")
    assert answer["code"] == -32011 and "the user said no" in answer["message"]
    # A rule of theirs says more; an answer for good is one.
    await answered(window, session, step, "always")
    assert "code" not in (await unasked(window, session, step) or {})
    # What is not asked about is so only where nothing else speaks against it.
    await window.notify("_jupyter/settings/update", {"defaults": {kind: "allow"}})
    (jp_root_dir / ".env").write_text("x")
    hidden = [*step[:2], {**step[2], "path": str(jp_root_dir / ".env")}]
    await answered(window, session, hidden, "deny")


class TestAdmin:
    """Rules that no user can change."""

    @pytest.fixture
    def acp_config(self):
        rules = [
            {"kind": "terminal", "match": "rm *", "decision": "deny"},
            {"kind": "terminal", "match": "echo *", "decision": "allow"},
            {"kind": "write", "match": "*.py", "decision": "ask"},
        ]
        return {"permissions": {"scripted": rules}}

    async def test_win(self, window, session, jp_root_dir, jp_serverapp):
        events = []

        async def listen(logger, schema_id, data):
            events.append(data)

        everything = {"scripted": [{"decision": "allow"}]}
        await window.notify("_jupyter/settings/update", {"rules": everything})
        create = steps("terminal/create", command="rm", args=["-r", "x"])
        answer = await unasked(window, session, create)
        assert answer["code"] == -32011 and "administrator" in answer["message"]
        jp_serverapp.event_logger.add_listener(schema_id=PERMISSION_EVENT, listener=listen)
        assert "terminalId" in await unasked(
            window, session, steps("terminal/create", command="echo", args=["1"])
        )
        write = steps("fs/write_text_file", path=str(jp_root_dir / "a.py"), content="")
        await answered(window, session, write, "allow")
        await window.result("session/list", {})
        assert [(e["kind"], e["decision"], e["by"], e["agent"]) for e in events] == [
            ("terminal", "allow", "admin", "scripted"),
            ("write", "allow", "user", "scripted"),
        ]


class TestAllowedByTheAdmin:
    """Not even an administrator who allows everything means this."""

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {"*": [{"decision": "allow"}]}}

    async def test_what_runs_by_itself_is_asked_about(self, window, session, jp_root_dir):
        write = steps(
            "fs/write_text_file", path=str(jp_root_dir / ".git" / "config"), content="[x]"
        )
        _, answer = await answered(window, session, write, "deny")
        assert answer["code"] == -32011 and not (jp_root_dir / ".git").exists()


class TestBadRules:
    """A typing error must not become a permission."""

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {"*": [{"kind": "terminal", "decision": "denied"}]}}

    async def test_nothing_starts(self, acp):
        with pytest.raises(Exception, match=r"AcpExtension\.permissions"):
            await acp.manager()


@pytest.mark.parametrize(
    ("match", "command", "fits"),
    [
        ("*", "anything; at all", True),
        ("git *", "git status", True),
        ("git *", "git status && rm x", False),
        ("git *", "git $(rm x)", False),
        ("git log | head", "git log | head", True),
        ("git *", "gitx", False),
        ("git *", "git -c 'alias.x=!touch made' x", False),
        ("git[*]", "git*", True),
    ],
)
def test_commands_that_a_rule_allows(match, command, fits):
    rule = Rule(kind="terminal", match=match, decision="allow")
    assert rule.fits(Action("terminal", [command], "")) is fits


RISKS = {
    "shell": [
        "a/.bashrc",
        ".zshenv",
        ".config/fish/x",
        "venv/bin/activate",
        ".tmux.conf",
        ".basHrc",
        ".bashrc.d/x",
        ".config/nushell/config.nu",
    ],
    "jupyter": [
        "Jupyter_Notebook_config.py",
        "jupyterhub_config.py",
        ".jupyter/custom/custom.js",
        ".ipython/profile_default/startup/a.py",
        ".local/share/jupyter/kernels/x/logo.png",
        "kernels/mine/kernel.json",
        "settings/overrides.json",
        "Library/Jupyter/lab/x",
        ".config/ipython/profile_default/startup/a.py",
    ],
    "python": ["sitecustomize.py", "SiteCustomize.PY.", "lib/site-packages/evil.pth", ".pdbrc"],
    "git": [
        ".git",
        "sub/.git/hooks/pre-commit",
        ".gitattributes",
        # As other file systems, or people, would read them.
        ".GIT/config",
        ".git /config",
        ".git./config",
        ".g\u200bit/config",
        ".gi\ufe0ft/config",
        ".git\u034f/config",
        "\uff0egit/config",
        ".git::$INDEX_ALLOCATION/config",
        "GIT~1/config",
    ],
    "automation": [".pre-commit-config.yaml", ".github/workflows/test.yml", "lefthook.yml"],
    "editor": [
        ".vscode/tasks.json",
        ".cursor/mcp.json",
        ".config/nvim/init.lua",
        "a.Code-Workspace",
    ],
    "agent": [".claude/settings.json", ".mcp.json", ".mcp.json ", ".cursorrules"],
    "login": [".ssh/authorized_keys", "Library/LaunchAgents/x.plist", ".config/autostart/x"],
    "packages": [".npmrc", ".config/pip/pip.conf", ".Rprofile", "pip.conf", ".gradle/init.gradle"],
}
HARMLESS = [
    "a.py",
    "git/config",
    "kernels/a.py",
    "notes.config.json",
    "model.pth",
    "src/autostart/manager.py",
    "static/page_config.json",
    "sitecustom\u0131ze.py",
    "...",
]
HIDDEN = [".hidden/a.py", ".env", "sub/.x", ".github/ISSUE_TEMPLATE.md", ". ./x", ".:x/y"]


@pytest.mark.parametrize(("risk", "name"), [(risk, name) for risk in RISKS for name in RISKS[risk]])
def test_files_that_do_something_by_themselves(risk, name):
    path = Path("/w") / name
    found = risk_of_writing(path, ["/w"])
    assert found is not None and found.id == risk
    assert needs_permission(path, ["/w"], "write")


@pytest.mark.parametrize("name", HARMLESS[:-1])
def test_files_that_do_nothing(name):
    path = Path("/w") / name
    assert risk_of_writing(path, ["/w"]) is None
    assert not needs_permission(path, ["/w"], "write") and not needs_permission(
        path, ["/w"], "read"
    )


@pytest.mark.parametrize("name", HIDDEN)
def test_files_that_need_permission(name):
    path = Path("/w") / name
    assert needs_permission(path, ["/w"], "write") and needs_permission(path, ["/w"], "read")
    # It is hidden, and does nothing.
    assert risk_of_writing(path, ["/w"]) is None


def test_to_read_what_runs_by_itself_is_harmless_unless_it_holds_secrets():
    assert not needs_permission(Path("/w/kernels/x/kernel.json"), ["/w"], "read")
    assert needs_permission(Path("/w/jupyter_server_config.py"), ["/w"], "read")


@pytest.mark.parametrize("root", ["/h/.claude", "/h/.vscode", "/h/p/.git", "/h/.config"])
def test_a_folder_that_was_given_takes_no_risk_away(root):
    name = {"/h/.config": "git/config"}.get(root, "settings.json")
    assert risk_of_writing(Path(root) / name, [root]) is not None
    # Others can be in such a place without being of it.
    inside = Path("/usr/share/jupyter/work/a.py")
    assert risk_of_writing(inside, ["/usr/share/jupyter/work"]) is None


def test_a_repository_without_a_working_tree_is_one_by_any_name(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    assert risk_of_writing(folder / "config", [str(tmp_path)]) is None
    (folder / "HEAD").touch()
    for name in ("config", "objects/x", "hooks/pre-commit"):
        found = risk_of_writing(folder / name, [str(tmp_path)])
        assert found is not None and found.id == "git", name
    assert risk_of_writing(folder / "readme", [str(tmp_path)]) is None


@pytest.mark.parametrize(
    ("call", "step"),
    [
        # A yes to something else is no yes to this.
        (
            {"kind": "read", "title": "Read", "locations": [{"path": "{root}/.env"}]},
            ("fs/write_text_file", {"path": "{root}/.env", "content": "x"}),
        ),
        (
            {"kind": "edit", "title": "Edit", "rawInput": {"source": "ls -l"}},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"kind": "execute", "title": "Look", "toolCallId": "ls -l"},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"title": "List", "rawInput": {"command": "ls -l"}},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"kind": "execute", "title": "Fix a typo", "rawInput": {"script": "ls -l"}},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"kind": "execute", "title": "ls -l", "rawInput": {"command": "ls -l"}},
            (
                "terminal/create",
                {"command": "ls -l", "env": [{"name": "LS_SOMETHING", "value": "x"}]},
            ),
        ),
        (
            {"kind": "execute", "title": "Say it", "rawInput": {"command": ["echo", "ls -l"]}},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"kind": "execute", "title": "List", "rawInput": {"path": "ls -l"}},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"kind": "execute", "title": "List", "rawInput": {"command": "ls -l"}},
            ("terminal/create", {"command": "ls -l", "cwd": "{root}/other"}),
        ),
        *(
            (
                {"kind": "execute", "title": "List", "rawInput": {"command": "ls -l"}},
                ("terminal/create", {"command": "/bin/bash", "args": ["-c", line]}),
            )
            for line in (
                "cd '{root}/other' && ls -l",
                "cd '{root}'; ls -l",
                'cd "{root}" && ls -l',
                "cd '{root}' && ls -l; true",
                " cd '{root}' && ls -l",
            )
        ),
        (
            {"kind": "execute", "title": "ls -l", "rawInput": {"cmd": "ls -l", "cwd": "{root}"}},
            ("terminal/create", {"command": "ls -l", "cwd": "{root}/other"}),
        ),
        (
            {"kind": "execute", "title": "ls -l", "rawInput": {"cmd": "ls -l", "cwd": "other"}},
            ("terminal/create", {"command": "ls -l"}),
        ),
        (
            {"kind": "execute", "title": "ls -l", "rawInput": {"cmd": "ls -l", "cwd": "a\0b"}},
            ("terminal/create", {"command": "ls -l"}),
        ),
    ],
)
async def test_what_another_yes_does_not_cover(window, session, jp_root_dir, call, step):
    root = str(jp_root_dir.resolve())
    (jp_root_dir / ".env").write_text("old")
    (jp_root_dir / "other").mkdir()
    text = json.dumps([call, step]).replace("{root}", root)
    call, (method, params) = json.loads(text)
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    ask = steps(ASK, toolCall={"toolCallId": "1", **call}, options=options)
    turn = await window.start_prompt(session, ask, steps(method, **params))
    await choose(window, "y")
    at = next(i for i, m in enumerate(window.received) if m.get("method") == ASK)
    await choose(window, "deny", at + 1)
    await window.response(turn)
    assert json.loads(window.texts()[-1])["code"] == -32011


@pytest.mark.parametrize(
    ("given", "create"),
    [
        ({"command": ["bash", "-lc", "ls -l"]}, {"command": "ls -l"}),
        ({"command": ["ls", "-l"]}, {"command": "ls", "args": ["-l"]}),
        ({"cmd": "ls -l", "cwd": "{root}"}, {"command": "ls -l"}),
        (
            {"command": "ls -l"},
            {
                "command": "/bin/bash",
                "args": ["-c", "cd '{root}' && ls -l"],
                "env": [
                    {"name": "NO_COLOR", "value": "1"},
                    {"name": "GIT_TERMINAL_PROMPT", "value": "0"},
                    {"name": "SHELL", "value": "/bin/bash"},
                ],
            },
        ),
        ({"cmd": "ls -l", "cwd": "other"}, {"command": "ls -l", "cwd": "{root}/other"}),
        ({"cmd": "ls -l", "workdir": "{root}/link"}, {"command": "ls -l", "cwd": "{root}/other"}),
    ],
)
async def test_a_yes_covers_the_same_command_in_the_same_folder(
    window, session, jp_root_dir, given, create
):
    (jp_root_dir / "other").mkdir()
    (jp_root_dir / "link").symlink_to(jp_root_dir / "other")
    text = json.dumps([given, create]).replace("{root}", str(jp_root_dir.resolve()))
    given, create = json.loads(text)
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    call = {"toolCallId": "1", "kind": "execute", "title": "List", "rawInput": given}
    ask = steps(ASK, toolCall=call, options=options)
    turn = await window.start_prompt(session, ask, steps("terminal/create", **create))
    await choose(window, "y")
    await window.response(turn)
    assert "terminalId" in json.loads(window.texts()[-1])


async def test_an_id_that_stands_for_yes_and_no_is_no_yes(window, session):
    options = [
        {"optionId": "x", "name": "Allow", "kind": "allow_once"},
        {"optionId": "x", "name": "Reject", "kind": "reject_once"},
    ]
    call = {"toolCallId": "1", "kind": "execute", "rawInput": {"command": "ls -l"}}
    ask = steps(ASK, toolCall=call, options=options)
    turn = await window.start_prompt(session, ask, steps("terminal/create", command="ls -l"))
    await choose(window, "x")
    at = next(i for i, m in enumerate(window.received) if m.get("method") == ASK)
    await choose(window, "deny", at + 1)
    await window.response(turn)
    assert json.loads(window.texts()[-1])["code"] == -32011


async def test_what_is_always_allowed_is_so_in_the_sessions_own_folder(
    window, session, jp_root_dir
):
    other = jp_root_dir.resolve() / "other"
    other.mkdir()
    await answered(window, session, steps("terminal/create", command="./build.sh"), "always")
    create = steps("terminal/create", command="./build.sh", cwd=str(other))
    question, _ = await answered(window, session, create, "deny")
    assert question["toolCall"]["rawInput"]["cwd"] == str(other)
    # Nor is that offered which would not be kept.
    assert "always" not in [option["optionId"] for option in question["options"]]


async def test_variables_are_shown(window, session):
    env = [{"name": "CI", "value": "1"}, {"name": "PAGER", "value": "cat"}]
    create = steps("terminal/create", command="git", args=["status"], env=env)
    question, _ = await answered(window, session, create, "deny")
    assert question["toolCall"]["rawInput"]["env"] == {"CI": "1", "PAGER": "cat"}


async def test_a_rule_allows_no_variables_that_it_does_not_know(window, session):
    rules = {"*": [{"kind": "terminal", "match": "git *", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    for name, value, is_asked in (
        ("CI", "1", False),
        ("NO_COLOR", "1", False),
        ("SHELL", "/bin/sh", False),
        ("SHELL", "./sh", True),
        ("PAGER", "cat", False),
        ("PAGER", "./cat", True),
        ("SOMETHING_ELSE", "1", True),
    ):
        env = [{"name": name, "value": value}]
        create = steps("terminal/create", command="git", args=["--version"], env=env)
        if is_asked:
            question, answer = await answered(window, session, create, "deny")
            assert question["toolCall"]["rawInput"]["env"] == {name: value}
            assert question["toolCall"]["title"] == f"Run `{name}={value} git --version`"
            assert answer["code"] == -32011
        else:
            assert "terminalId" in await unasked(window, session, create)


async def test_a_program_that_is_only_named_like_a_shell(window, session):
    rules = {"*": [{"kind": "terminal", "match": "git *", "decision": "allow"}]}
    await window.notify("_jupyter/settings/update", {"rules": rules})
    create = steps("terminal/create", command="./sh", args=["-c", "git status"])
    _, answer = await answered(window, session, create, "deny")
    assert answer["code"] == -32011


async def test_nothing_starts_in_a_session_that_was_closed_meanwhile(window, session, jp_root_dir):
    create = steps("terminal/create", command="touch", args=["made"])
    await window.start_prompt(session, create)
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m)
    await window.result("session/close", {"sessionId": session})
    outcome = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": outcome})
    await window.result("session/list", {})
    assert not (jp_root_dir / "made").exists()


@pytest.mark.parametrize(
    ("match", "path", "fits"),
    [
        ("data/*", "data/a.csv", True),
        ("data/*", "DATA/a.csv", True),
        ("data/*", "data./a.csv", True),
        ("caf\u00e9/*", "cafe\u0301/a.csv", True),
        ("*/SECRET*", "x/secret.txt", True),
        ("data/*", "date/a.csv", False),
        ("*:*", "data/a.csv", False),
        ("*.", "data/a.csv", False),
    ],
)
def test_what_is_forbidden_is_so_by_any_of_its_names(match, path, fits):
    action = Action("write", [f"/w/{path}", path], "")
    assert Rule(match=match, decision="deny").fits(action) is fits
    assert Rule(match=match, decision="ask").fits(action) is fits
    # What is allowed is what was written down, and nothing that merely looks like it.
    is_same = fits and match == "data/*" and path == "data/a.csv"
    assert Rule(match=match, decision="allow").fits(action) is is_same


class TestRulesOfEveryFolder:
    """What a rule names is the same wherever the session was started."""

    @pytest.fixture
    def acp_config(self):
        return {"permissions": {"*": [{"kind": "write", "match": "data/*", "decision": "deny"}]}}

    async def test_inside(self, window, jp_root_dir):
        (jp_root_dir / "data").mkdir()
        session = await window.new(jp_root_dir / "data")
        write = steps("fs/write_text_file", path=str(jp_root_dir / "data" / "a"), content="")
        answer = await unasked(window, session, write)
        assert answer["code"] == -32011 and "administrator" in answer["message"]
