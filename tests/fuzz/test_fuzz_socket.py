# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Whatever a window, an agent or a REST client sends, a real server answers and goes on."""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from acpclient import Client, Connect, Loop, scripted
from hypothesis import given, settings
from hypothesis import strategies as st
from openapi import METHODS, NOBODY, Checked
from tornado.httpclient import AsyncHTTPClient

from jupyter_acp import protocol

ANYTHING = {"argv": [sys.executable, str(Path(__file__).parent / "agent.py")]}


@pytest.fixture
def acp_agents() -> dict[str, Any]:
    return {"scripted": scripted(), "anything": ANYTHING}


@pytest.fixture
def acp_config() -> dict[str, Any]:
    # Only what does nothing is ever run.
    rules = [
        {"kind": "terminal", "match": "true*", "decision": "allow"},
        {"kind": "terminal", "decision": "deny"},
        {"kind": "*", "decision": "allow"},
    ]
    return {"default_agent": "anything", "permissions": {"*": rules}}


@pytest.fixture
def no_process_left() -> Iterator[None]:
    """Fail if anything still runs; to be asked for before the server is."""
    before = set(psutil.Process().children(recursive=True))
    yield
    _, alive = psutil.wait_procs(
        set(psutil.Process().children(recursive=True)) - before, timeout=10
    )
    assert not alive


# What is sent: messages as they should be, but for a part of them

OF_WINDOWS: dict[str, Any] = {
    protocol.INITIALIZE: protocol.InitializeParams,
    protocol.AUTHENTICATE: protocol.Params,
    protocol.LOGOUT: protocol.Params,
    protocol.SESSION_NEW: protocol.NewSessionParams,
    protocol.SESSION_FORK: protocol.ForkParams,
    protocol.SESSION_LIST: protocol.ListParams,
    protocol.SESSION_PROMPT: protocol.PromptParams,
    protocol.ATTACH: protocol.AttachParams,
    protocol.EXT_EVENTS: protocol.EventsParams,
    protocol.CHANGE_DECIDE: ["path", "change", "parts", "decision", "old", "new"],
    protocol.WORKSPACE: protocol.WorkspaceUpdate,
    protocol.SETTINGS: protocol.SettingsUpdate,
    protocol.REMOTE_INSPECT: protocol.InspectParams,
    protocol.REMOTE_PUSH: protocol.PushParams,
    protocol.REMOTE_FETCH: protocol.ResultParams,
    protocol.REMOTE_FILE: protocol.ResultFileParams,
    protocol.REMOTE_ACT: protocol.ActParams,
    **dict.fromkeys((protocol.SESSION_LOAD, protocol.SESSION_RESUME), protocol.NewSessionParams),
    **dict.fromkeys((protocol.SESSION_CLOSE, protocol.SESSION_DELETE), protocol.SessionParams),
    **dict.fromkeys((protocol.SESSION_CANCEL, protocol.DETACH), protocol.SessionParams),
    **dict.fromkeys((protocol.EXT_TERMINATE, "other/method"), protocol.SessionParams),
    protocol.SET_MODE: ["modeId"],
    protocol.SET_MODEL: ["modelId"],
    protocol.SET_CONFIG_OPTION: ["configId", "value"],
    protocol.EXT_SET_METADATA: ["metadata"],
}
OF_AGENTS: dict[str, Any] = {
    protocol.READ_FILE: protocol.ReadFileParams,
    protocol.WRITE_FILE: protocol.WriteFileParams,
    protocol.TERMINAL_CREATE: protocol.CreateTerminalParams,
    protocol.TERMINAL_OUTPUT: protocol.TerminalParams,
    protocol.TERMINAL_KILL: protocol.TerminalParams,
    protocol.TERMINAL_RELEASE: protocol.TerminalParams,
    protocol.OPEN_DOCUMENTS: protocol.SessionParams,
    protocol.RECENT_DOCUMENTS: protocol.RecentParams,
    protocol.SESSION_UPDATE: ["update"],
    protocol.REQUEST_PERMISSION: ["toolCall", "options"],
    protocol.ELICIT: ["message", "requestedSchema"],
    protocol.EXT_QUESTION: ["question"],
    protocol.EXT_METADATA_UPDATE: ["metadata"],
    "other/method": [],
}
TEXT = {"type": "text", "text": "hello"}
CALL = {"toolCallId": "call-1", "title": "do it", "kind": "edit", "status": "completed"}
DIFF = {"type": "diff", "path": "$ROOT/a.txt", "oldText": "a", "newText": "b"}
UPDATES = [
    {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": "1"},
    {"sessionUpdate": "user_message_chunk", "content": TEXT},
    {"sessionUpdate": "tool_call", **CALL, "content": [DIFF], "locations": [{"path": "$ROOT"}]},
    {"sessionUpdate": "tool_call_update", **CALL, "rawOutput": {"a": 1}},
    {
        "sessionUpdate": "plan",
        "entries": [{"content": "x", "priority": "high", "status": "pending"}],
    },
    {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x"}]},
    {"sessionUpdate": "current_mode_update", "currentModeId": "a"},
    {"sessionUpdate": "config_option_update", "configOptions": [{"id": "a", "currentValue": "b"}]},
    {"sessionUpdate": "session_info_update", "title": "x", "updatedAt": "2020-01-01T00:00:00Z"},
    {
        "sessionUpdate": "usage_update",
        "used": 1,
        "size": 2,
        "cost": {"amount": 1, "currency": "USD"},
    },
]
PLAUSIBLE: dict[str, Any] = {
    "sessionId": "$SESSION",
    "cwd": "$ROOT",
    "path": "$ROOT/a.txt",
    "oldPath": "b.txt",
    "content": "some text",
    "line": 1,
    "prompt": [TEXT, {"type": "resource_link", "uri": "file://$ROOT/a.txt", "name": "a"}],
    "mcpServers": [{"name": "x", "command": "true", "args": [], "env": []}],
    "additionalDirectories": ["$ROOT"],
    "remote": {"type": "git", "url": "file:///a", "branch": "b", "revision": "0" * 40},
    "protocolVersion": 1,
    "clientCapabilities": {"_meta": {"jupyter-acp": {}}},
    "clientInfo": {"name": "x"},
    "number": 1,
    "action": "merge",
    "branch": "main",
    "decision": "undo",
    "change": "call-1",
    "parts": ["1"],
    "old": "a\n",
    "new": "b\n",
    "after": 0,
    "run": "1",
    "limit": 5,
    "cursor": "0",
    "uncommitted": True,
    "progressToken": "x",
    "window": "page",
    "full": True,
    "documents": [
        {"path": "a.txt", "languageId": "plaintext", "fileHash": "0", "cursor": {"line": 1}}
    ],
    "recents": [{"path": "a.txt", "kind": "notebook"}],
    "closed": ["a.txt"],
    "active": "a.txt",
    "focused": True,
    "shares": {"openDocuments": True},
    "gone": False,
    "rules": {"*": [{"kind": "read", "match": "*", "decision": "allow"}]},
    "metadata": {"title": "x", "mode": "a", "requestedSessionId": "y"},
    "modeId": "a",
    "modelId": "a",
    "configId": "mode",
    "value": "b",
    "methodId": "key",
    "command": "true",
    "args": ["1"],
    "env": [{"name": "A", "value": "b"}],
    "outputByteLimit": 10,
    "terminalId": "1",
    "toolCall": {**CALL, "content": [DIFF], "locations": [{"path": "$ROOT/a.txt"}]},
    "options": [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}],
    "message": "who are you?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    "question": {"text": "why?", "options": ["a"]},
    "_meta": {
        "jupyter-acp": {"agent": "anything", "home": True},
        "sandboxagent.dev": {"title": "x"},
    },
}
NUMBERS = [-1, 0, 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63), 0.5, 1e300]
WORDS = [
    "",
    "\0",
    "a\0b",
    "\ud800",
    "..",
    "relative",
    "/nowhere",
    "$ROOT",
    "$SESSION",
    "$LONG",
    "git",
]
WORDS += [
    "$ROOT/a.ipynb",
    "$ROOT/new/b.txt",
    "$ROOT/../c",
    "file://[",
    "text",
    "tool_call",
    "\u202e",
]
ODD = st.sampled_from(NUMBERS) | st.sampled_from(WORDS) | st.sampled_from([None, True, [], {}])
JUNK = (
    ODD
    | st.just("$DEEP")
    | st.text(max_size=4)
    | st.lists(ODD, max_size=3)
    | st.dictionaries(st.sampled_from([*PLAUSIBLE, "type", "uri"]), ODD, max_size=3)
)


def instead_of(value: Any) -> Any:
    """Draw something else: often of the same kind, which gets further."""
    if isinstance(value, (int, float)):
        return st.sampled_from(NUMBERS) | JUNK
    return st.sampled_from(WORDS) | JUNK if isinstance(value, str) else JUNK


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a value: what holds it, and by which key."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    below = [nodes(value[key]) for key in keys if isinstance(value[key], (dict, list))]
    return [*((value, key) for key in keys), *(node for more in below for node in more)]


@st.composite
def messages(draw: st.DrawFn, methods: dict[str, Any]) -> dict[str, Any]:
    """Draw a request or notification, in which something may be missing, or something else."""
    method = draw(st.sampled_from(sorted(methods)))
    fields = methods[method]
    if not isinstance(fields, list):
        fields = [field.alias or name for name, field in fields.model_fields.items()]
    params = copy.deepcopy({name: PLAUSIBLE[name] for name in fields if name in PLAUSIBLE})
    params.setdefault("sessionId", "$SESSION")
    if "update" in fields:
        params["update"] = copy.deepcopy(draw(st.sampled_from(UPDATES)))
    if "old" in fields:
        params["before"], params["after"] = params.pop("new"), params.pop("old")
    for _ in range(draw(st.sampled_from([1, 2, 3, 0]))):
        holder, key = draw(st.sampled_from(nodes(params) or [(params, "x")]))
        if draw(st.sampled_from(["change", "change", "drop"])) == "drop" and holder is not params:
            del holder[key]
        else:
            holder[key] = draw(instead_of(holder.get(key) if isinstance(holder, dict) else None))
    return {"jsonrpc": "2.0", "method": method, "params": params}


def written(message: Any, session: str, root: Path) -> str:
    """Return the text of a message, the words in it that stand for others replaced."""
    text = json.dumps(message).replace('"$DEEP"', "[" * 900 + "]" * 900)
    text = text.replace("$LONG", "x" * 5000)
    return text.replace("$SESSION", session).replace("$ROOT", str(root))


class Answering(list[dict[str, Any]]):
    """What a window has received; whatever it is asked, it answers at once."""

    def __init__(self, window: Client) -> None:
        super().__init__(window.received)
        self._window = window
        self.answer = "{}"

    def append(self, message: dict[str, Any]) -> None:
        super().append(message)
        if "method" in message and "id" in message:
            id = json.dumps(message["id"])
            answer = f'{{"jsonrpc":"2.0","id":{id},"result":{self.answer}}}'
            self._window.socket.write_message(answer)


class Stage:
    """A server with one window that is up to something, and one that minds its own business.

    It is kept for all examples of a test, on purpose: what one leaves behind is there for the next.
    """

    def __init__(self, window: Client, calm: Client, session: str, root: Path, log: Any) -> None:
        self.window = window
        self.root = root
        self._calm = calm
        self._session = session
        self._log = log
        self._received = window.received = Answering(window)
        self.asked = 0

    async def begin(self) -> str:
        """Open a session that anything may happen to."""
        session = await self.window.new(self.root)
        self.window.received.clear()
        return session

    def will_answer(self, answer: Any, session: str) -> None:
        """Let the user answer whatever is asked from now on."""
        self._received.answer = written(answer, session, self.root)

    async def end(self) -> None:
        """Fail if something went wrong that nobody had foreseen, and tidy up."""
        await self.window.result("session/list", {})
        for made in (await self._calm.result("session/list", {}))["sessions"]:
            if made["sessionId"] != self._session:
                await self._calm.result("session/delete", {"sessionId": made["sessionId"]})
        self._calm.received.clear()
        raised = [f"{r.getMessage()}: {r.exc_info[1]!r}" for r in self._log.records if r.exc_info]
        self._log.clear()
        assert raised == []

    async def is_fine(self) -> None:
        """Fail unless others can go on working."""
        response = await self._calm.prompt(self._session, ["chunk", "still here"])
        assert response["result"]["stopReason"] == "end_turn"
        assert self._calm.texts()[-1:] == ["still here"]


@pytest.fixture
def stage(
    no_process_left: None,
    acp_connect: Connect,
    root: Path,
    jp_asyncio_loop: Loop,
    caplog: pytest.LogCaptureFixture,
) -> Iterator[Stage]:
    async def make() -> Stage:
        (root / "a.txt").write_text("a\n")
        window, calm = await acp_connect(), await acp_connect()
        return Stage(window, calm, await calm.new(root, "scripted"), root, caplog)

    stage = jp_asyncio_loop.run_until_complete(make())
    yield stage
    jp_asyncio_loop.run_until_complete(stage.is_fine())


# Each is many messages, and a server takes longer than a function.
fewer = settings(max_examples=settings().max_examples // 4)

KINDS = st.sampled_from(["request", "request", "request", "notification", "binary", "bare"])
NOISE = st.tuples(st.just("noise"), st.text(max_size=10) | st.sampled_from(["{", "[]", '{"id":1}']))


def test_whatever_a_window_sends_is_answered_once_and_harms_nobody(stage, jp_asyncio_loop):
    async def send(sent: list[tuple[str, Any]], answer: Any) -> None:
        session = await stage.begin()
        stage.will_answer(answer, session)
        asked = []
        for kind, message in sent:
            if kind == "request":
                stage.asked += 1
                asked.append(f"asked {stage.asked}")
                message = {"id": asked[-1], **message}
            elif kind == "bare":
                message = message["params"]
            frame = message if kind == "noise" else written(message, session, stage.root)
            await stage.window.socket.write_message(frame, binary=kind == "binary")
        for id in asked:
            got = await stage.window.response(id)
            assert ("result" in got) != ("error" in got)
        await stage.end()
        ids = [message.get("id") for message in stage.window.received if "method" not in message]
        assert [ids.count(id) for id in asked] == [1] * len(asked)

    @fewer
    @given(st.lists(st.tuples(KINDS, messages(OF_WINDOWS)) | NOISE, min_size=3, max_size=8), JUNK)
    def sending(sent: list[tuple[str, Any]], answer: Any) -> None:
        jp_asyncio_loop.run_until_complete(send(sent, answer))

    sending()


def test_whatever_an_agent_says_is_answered_once_and_harms_nobody(stage, jp_asyncio_loop):
    async def say(said: list[tuple[str, Any]], answer: Any) -> None:
        session = await stage.begin()
        stage.will_answer(answer, session)
        lines, asked = "", []
        for kind, message in said:
            if kind == "request":
                stage.asked += 1
                asked.append(f"asked {stage.asked}")
                message = {"id": asked[-1], **message}
            elif kind == "bare":
                message = message["params"]
            text = message if kind == "noise" else written(message, "$THEIRS", stage.root)
            lines += text.replace("\n", " ") + "\n"
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "x", "say": lines}]}
        await stage.window.result("session/prompt", prompt)
        # What makes no sense is no answer: the question waits for another one.
        stage.will_answer({"action": "cancel", "outcome": {"outcome": "cancelled"}}, session)
        await stage.window.notify("_jupyter/session/detach", {"sessionId": session})
        await stage.window.attach(session)
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go on"}]}
        for _ in range(1000):
            result = await stage.window.result("session/prompt", prompt)
            answered = [id for id in result["_meta"]["heard"] if id in asked]
            if set(answered) == set(asked):
                break
            await asyncio.sleep(0.01)
        assert sorted(answered) == sorted(asked)
        await stage.end()

    @fewer
    @given(st.lists(st.tuples(KINDS, messages(OF_AGENTS)) | NOISE, min_size=3, max_size=8), JUNK)
    def saying(said: list[tuple[str, Any]], answer: Any) -> None:
        jp_asyncio_loop.run_until_complete(say(said, answer))

    saying()


# REST

SPEC = yaml.safe_load((files("jupyter_acp") / "openapi.yaml").read_text("utf-8"))
ROUTES = [
    (method, path)
    for path, item in SPEC["paths"].items()
    for method in item
    if method in METHODS and path != "/acp/ws"
]
PIECES = ["limit=", "after=", "before=", "query=", "order=", "agent=", "&", "&", "&", "=", ";", "+"]
PIECES += [
    "0",
    "1",
    "-1",
    "9" * 15,
    "9" * 30,
    "1e3",
    "%EF%BC%91",
    "newest",
    "a",
    "hello",
    "%00",
    "%ff",
]
PIECES += ["%", "%2f", "%22", "*", "(", "AND", "NEAR", "^", "%E2%80%AE", "%F0%9F%98%80", "x" * 3000]
QUERIES = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
PATH_IDS = [
    "$SESSION",
    "$SESSION",
    "anything",
    NOBODY,
    "nobody",
    "..",
    "%2e%2e",
    "%00",
    "%ff",
    "%2f",
]
FILE = [
    {
        "jupyter-acp": {"format": 1},
        "session": {
            "id": NOBODY,
            "agent": "anything",
            "cwd": "$ROOT",
            "title": "x",
            "created": "2020-01-01T00:00:00+00:00",
            "updated": "2020-01-01T00:00:00+00:00",
            "metadata": {"a": 1},
        },
    },
    *(
        {"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}
        for update in UPDATES
    ),
]


@st.composite
def bodies(draw: st.DrawFn, path: str) -> Any:
    """Draw what is sent to a route: nothing, noise, or nearly what it wants."""
    kind = draw(st.sampled_from(["right", "right", "right", "junk", "noise", "nothing"]))
    if kind == "noise":
        return draw(st.binary(max_size=8))
    if kind != "right":
        return draw(JUNK) if kind == "junk" else None
    if path != "/acp/import":
        fields = st.sampled_from(["agent", "cwd", "title", "title", "id"])
        return draw(st.dictionaries(fields, st.sampled_from(["anything", "$ROOT"]) | JUNK))
    lines = copy.deepcopy(FILE)
    for _ in range(draw(st.integers(0, 3))):
        holder, key = draw(st.sampled_from(nodes(lines)))
        holder[key] = draw(instead_of(holder[key]))
    return lines


def test_no_rest_client_makes_the_server_fail(
    stage, jp_asyncio_loop, jp_http_port, jp_base_url, jp_auth_header
):
    checked = Checked(SPEC, None)

    async def fetch(method: str, path: str, id: str, query: str, body: Any) -> None:
        session = await stage.begin()
        data = body
        if isinstance(body, list) and path == "/acp/import":
            data = "\n".join(written(line, session, stage.root) for line in body)
        elif body is not None and not isinstance(body, bytes):
            data = written(body, session, stage.root)
        place = path.replace("{id}", id.replace("$SESSION", session)).lstrip("/")
        response = await AsyncHTTPClient().fetch(
            f"http://localhost:{jp_http_port}{jp_base_url}{place}?{query}",
            method=method.upper(),
            headers=jp_auth_header,
            body=data,
            raise_error=False,
            allow_nonstandard_methods=True,
        )
        assert response.code < 500, (response.code, response.body)
        # What is no route, and what is no text, Jupyter refuses before we see it.
        if response.code not in (400, 404) or b'"message"' in response.body:
            checked.check(method, path, response)
        await stage.end()

    @given(st.sampled_from(ROUTES), st.sampled_from(PATH_IDS), QUERIES, st.data())
    def fetching(route: tuple[str, str], id: str, query: str, data: Any) -> None:
        method, path = route
        if path.endswith("/restart") and id == "anything":
            # A new process each time would take too long.
            id = "nobody"
        body = data.draw(bodies(path))
        jp_asyncio_loop.run_until_complete(fetch(method, path, id, query, body))

    fetching()


# Found by the tests above

OF_A_WINDOW = [
    (protocol.SESSION_PROMPT, {"prompt": [{"type": "text", "text": "x", "a": "$DEEP"}]}),
    (protocol.WORKSPACE, {"window": "w", "recents": [{"path": "a", "b": "$DEEP"}]}),
    (protocol.EXT_EVENTS, {"after": 2**63}),
    (protocol.REMOTE_INSPECT, {"cwd": "/" + "x" * 300}),
    (protocol.REMOTE_PUSH, {"cwd": "/" + "x" * 300}),
]


@pytest.mark.parametrize(("method", "params"), OF_A_WINDOW)
async def test_what_a_window_sent_that_was_not_foreseen(stage, method, params):
    session = await stage.begin()
    message = {"jsonrpc": "2.0", "method": method, "params": {"sessionId": session, **params}}
    await stage.window.send(written(message, session, stage.root))
    await stage.window.send(written({**message, "id": "asked"}, session, stage.root))
    await stage.window.response("asked")
    await stage.end()


@pytest.mark.parametrize("field", ["line", "limit"])
async def test_a_part_of_a_file_that_nothing_can_hold(stage, field):
    session = await stage.begin()
    params = {"sessionId": "$THEIRS", "path": str(stage.root / "a.txt"), field: 2**64 - 1}
    said = {"jsonrpc": "2.0", "id": "asked", "method": protocol.READ_FILE, "params": params}
    prompt = [{"type": "text", "text": "x", "say": json.dumps(said) + "\n"}]
    for _ in range(100):
        result = await stage.window.result(
            "session/prompt", {"sessionId": session, "prompt": prompt}
        )
        if result["_meta"]["heard"]:
            break
        prompt = [{"type": "text", "text": "go on"}]
        await asyncio.sleep(0.01)
    await stage.end()
