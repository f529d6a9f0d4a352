# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The tools for agents that are reached by a url: within ACP, by HTTP, and for nobody else."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import nbformat
import pytest
from mcpclient import ASK, client_of, decide
from nbformat.v4 import new_code_cell, new_notebook
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from urlagent import UrlAgent

from jupyter_acp.handlers import mcp as handler
from jupyter_acp.tools import mcp, remote_agents

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LONG = "import time; open('begun', 'w').close(); time.sleep(300)"


@pytest.fixture
def able():
    """The `mcpCapabilities` of the agent."""
    return {"acp": True, "http": True}


@pytest.fixture
def agent(able, jp_asyncio_loop):
    agent = UrlAgent({"mcpCapabilities": able})
    jp_asyncio_loop.run_until_complete(agent.__aenter__())
    yield agent
    jp_asyncio_loop.run_until_complete(agent.__aexit__())


@pytest.fixture
def acp_agents(agent):
    return {"far": {"url": agent.url}}


@pytest.fixture
def public_url(jp_http_port, jp_base_url):
    return f"http://127.0.0.1:{jp_http_port}{jp_base_url}"


@pytest.fixture
def acp_config(public_url):
    free = [{"kind": "run", "decision": "allow"}]
    return {"default_agent": "far", "public_url": public_url, "permissions": {"*": free}}


@pytest.fixture
def notebook(root):
    path = root / "n.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=[new_code_cell("x = 1", id="one")])))
    return path


def given(agent, number=0):
    (entry,) = agent.given[f"s{number}"]
    return entry


async def until_begun(root):
    while not (root / "begun").exists():
        await asyncio.sleep(0.05)


def text(result):
    return "\n".join(block["text"] for block in result["content"])


async def asked(agent, window, call_id):
    """Let the agent ask for leave to call one of our tools; return what it is answered."""
    call = {"toolCallId": call_id, "title": "jupyter_run_code", "rawInput": {"code": "1"}}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    start = len(window.received)
    params = {"sessionId": "s0", "toolCall": call, "options": options}
    id, answer = await agent.start("session/request_permission", params)
    question = asyncio.ensure_future(
        window.wait(lambda m: m.get("method") == "session/request_permission", start)
    )
    await asyncio.wait({answer, question}, return_when=asyncio.FIRST_COMPLETED)
    question.cancel()
    if not answer.done():
        await agent.send(method="$/cancel_request", params={"requestId": id})
        return None
    return answer.result()["result"]["outcome"]["optionId"]


class TestWithinAcp:
    """Where the agent offers it, nothing else is opened."""

    async def connect(self, agent, entry):
        answer = await agent.ask("mcp/connect", {"serverId": entry["serverId"]})
        return answer["result"]["connectionId"]

    def message(self, connection, method, params=None):
        return {"connectionId": connection, "method": method, "params": params}

    def call(self, connection, name, meta=None, **arguments):
        params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        return self.message(connection, "tools/call", params)

    async def test_a_connection(self, window, session, agent, notebook, monkeypatch):
        monkeypatch.setattr(mcp, "PROGRESS", 0.1)
        entry = given(agent)
        assert entry["type"] == "acp" and entry["name"] == "jupyter"
        assert entry["id"] == entry["serverId"] and len(entry["id"]) > 40
        connection = await self.connect(agent, entry)
        hello = self.message(connection, "initialize", {"protocolVersion": "2025-06-18"})
        greeting = (await agent.ask("mcp/message", hello))["result"]
        assert greeting["protocolVersion"] == "2025-06-18"
        done = self.message(connection, "notifications/initialized")
        await agent.send(method="mcp/message", params=done)
        tools = (await agent.ask("mcp/message", self.message(connection, "tools/list")))["result"]
        assert "read_notebook" in {tool["name"] for tool in tools["tools"]}
        read = await agent.ask(
            "mcp/message", self.call(connection, "read_notebook", path="n.ipynb")
        )
        assert read["result"]["isError"] is False and 'id="one"' in text(read["result"])
        wrong = await agent.ask("mcp/message", self.call(connection, "fly"))
        assert wrong["result"]["isError"] is True
        other = await agent.ask("mcp/message", self.message(connection, "resources/list"))
        assert other["error"]["code"] == -32601
        code = {"path": "n.ipynb", "code": "import time; time.sleep(1)"}
        slow = self.call(connection, "run_code", {"progressToken": "p"}, **code)
        assert (await agent.ask("mcp/message", slow))["result"]["isError"] is False
        progress = [m["params"] for m in agent.told if m["method"] == "mcp/message"]
        assert len(progress) >= 3
        assert {each["connectionId"] for each in progress} == {connection}
        assert {each["method"] for each in progress} == {"notifications/progress"}
        # The old name of the field, as the text of the proposal has it.
        second = (await agent.ask("mcp/connect", {"acpId": entry["id"]}))["result"]["connectionId"]
        assert second != connection
        assert "result" in await agent.ask("mcp/disconnect", {"connectionId": connection})
        gone = await agent.ask("mcp/message", self.message(connection, "ping"))
        assert "no such connection" in gone["error"]["message"]
        assert (await agent.ask("mcp/message", self.message(second, "ping")))["result"] == {}

    async def test_what_it_asks_for_is_answered_once_it_has_connected(self, window, session, agent):
        assert await asked(agent, window, "c1") is None
        connection = await self.connect(agent, given(agent))
        assert await asked(agent, window, "c2") == "y"
        # Some connect for each call.
        await agent.ask("mcp/disconnect", {"connectionId": connection})
        assert await asked(agent, window, "c3") == "y"

    @pytest.mark.parametrize("how", ["$/cancel_request", "notifications/cancelled"])
    async def test_cancelling(self, window, session, agent, root, notebook, how):
        connection = await self.connect(agent, given(agent))
        long = self.call(connection, "run_code", path="n.ipynb", code=LONG)
        id, answer = await agent.start("mcp/message", long)
        await until_begun(root)
        if how == "$/cancel_request":
            await agent.send(method=how, params={"requestId": id})
        else:
            inner = self.message(connection, how, {"requestId": id})
            await agent.send(method="mcp/message", params=inner)
        # In ACP, every request is answered.
        assert (await asyncio.wait_for(answer, 60))["error"]["code"] == -32800
        again = self.call(connection, "run_code", path="n.ipynb", code="1 + 1")
        assert "2" in text((await agent.ask("mcp/message", again))["result"])

    async def test_what_opens_nothing(self, window, root, session, agent):
        connection = await self.connect(agent, given(agent))
        entry = given(agent)
        for params in (None, {}, {"serverId": None}, {"serverId": 1}, {"serverId": session}):
            assert (
                "no such MCP server" in (await agent.ask("mcp/connect", params))["error"]["message"]
            )
        for wrong in (entry["id"][:-1], entry["id"] + "x", "", "é"):
            answer = await agent.ask("mcp/connect", {"serverId": wrong})
            assert "no such MCP server" in answer["error"]["message"]
        for id in (None, {}, "x", connection.upper() + "x"):
            answer = await agent.ask("mcp/message", self.message(id, "ping"))
            assert "no such connection" in answer["error"]["message"]
        for _ in range(remote_agents.MOST_CONNECTIONS - 1):
            await self.connect(agent, entry)
        answer = await agent.ask("mcp/connect", {"serverId": entry["id"]})
        assert "close one first" in answer["error"]["message"]

    async def test_it_is_gone_with_the_session(self, window, root, session, agent, notebook, acp):
        other = await window.new(root)
        connection = await self.connect(agent, given(agent))
        second = await self.connect(agent, given(agent, 1))
        long = self.call(connection, "run_code", path="n.ipynb", code=LONG)
        _, answer = await agent.start("mcp/message", long)
        await until_begun(root)
        tools = (await acp.manager()).services._tools
        assert tools.name_in(session) == tools.name_in(other) == "jupyter"
        await window.result("session/close", {"sessionId": session})
        assert "error" in await asyncio.wait_for(answer, 60)
        for message in (
            await agent.ask("mcp/message", self.message(connection, "ping")),
            await agent.ask("mcp/connect", {"serverId": given(agent)["id"]}),
        ):
            assert "no such" in message["error"]["message"]
        assert (await agent.ask("mcp/message", self.message(second, "ping")))["result"] == {}
        assert tools.name_in(session) is None and tools.name_in(other) == "jupyter"
        # The kernel is free.
        again = self.call(second, "run_code", path="n.ipynb", code="1 + 1")
        assert "2" in text((await agent.ask("mcp/message", again))["result"])

    async def test_the_user_is_asked(self, window, session, agent, notebook, acp):
        (await acp.manager()).services._permissions._admin = {}
        connection = await self.connect(agent, given(agent))
        call = self.call(connection, "run_code", path="n.ipynb", code="6 * 7")
        _, answer = await agent.start("mcp/message", call)
        assert "6 * 7" in json.dumps(await decide(window, "deny"))
        assert "user said no" in text((await answer)["result"])

    async def test_no_secret_of_it_is_for_another_way(
        self, window, session, agent, public_url, acp
    ):
        secret = given(agent)["id"]
        assert (await post(f"{public_url}acp/mcp", PING, secret)).code == 401
        tools = (await acp.manager()).services._tools
        assert tools._address == "", "no socket is needed for it"

    async def test_a_server_of_that_name(self, window, root, agent):
        mine = {"type": "http", "name": "jupyter", "url": "http://x.invalid", "headers": []}
        await window.result("session/new", {"cwd": str(root), "mcpServers": [mine]})
        assert [each["name"] for each in agent.given["s0"]] == ["jupyter", "jupyteracp"]


class TestNothingOffered:
    @pytest.fixture(params=[{}, {"acp": False, "http": False}, {"sse": True}, None, "odd"])
    def able(self, request):
        return request.param

    async def test_no_tools_are_given(self, window, session, agent, acp):
        assert agent.given["s0"] == []
        assert (await acp.manager()).services._tools.name_in(session) is None
        for _ in range(2):
            await window.prompt(session, ["x"])
        (notice,) = window.of("_jupyter/session/notice")
        assert "neither within ACP nor by HTTP" in notice["params"]["message"]


class TestNoAddress:
    @pytest.fixture
    def able(self):
        return {"http": True}

    @pytest.fixture
    def acp_config(self):
        return {"default_agent": "far"}

    async def test_there_is_no_way_by_http(
        self, window, session, agent, public_url, jp_auth_header
    ):
        assert agent.given["s0"] == []
        for _ in range(2):
            await window.prompt(session, ["x"])
        (notice,) = window.of("_jupyter/session/notice")
        assert "An administrator can set `public_url`" in notice["params"]["message"]
        # As any address that there is not, for those who may know.
        assert (await post(f"{public_url}acp/mcp", PING, **jp_auth_header)).code == 404


async def post(url, message, bearer=None, method="POST", chunks=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer}"
    body = message if isinstance(message, (bytes, str)) else json.dumps(message)
    request = HTTPRequest(
        url,
        method=method,
        headers={"Content-Type": "application/json", **headers},
        body=body if method in ("POST", "PUT", "PATCH") else None,
        request_timeout=60,
        follow_redirects=False,
        streaming_callback=chunks,
    )
    return await AsyncHTTPClient().fetch(request, raise_error=False)


def answered(body):
    """The answer in a body, or in the stream of events that it is."""
    *_, last = body.decode().strip().split("\n\n")
    return json.loads(last.removeprefix("event: message\ndata: "))


def running(code, id=1):
    call = {"name": "run_code", "arguments": {"path": "n.ipynb", "code": code}}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}


class TestByHttp:
    @pytest.fixture
    def able(self):
        return {"http": True}

    @pytest.fixture
    def entry(self, window, session, agent):
        return given(agent)

    @pytest.fixture
    def bearer(self, entry):
        (header,) = entry["headers"]
        assert header["name"] == "Authorization"
        return header["value"].removeprefix("Bearer ")

    @pytest.mark.parametrize("major", [1, 2])
    async def test_the_official_client(self, window, entry, notebook, major, acp, monkeypatch):
        (await acp.manager()).services._permissions._admin = {}
        monkeypatch.setattr(mcp, "PROGRESS", 0.2)
        player = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).parents[1] / "support" / "mcphttp.py"),
            env=client_of(major),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        playing = asyncio.ensure_future(player.communicate(json.dumps(entry).encode()))
        question = await decide(window, "allow")
        assert question["toolCall"]["title"] == "Run code in the kernel of n.ipynb"
        printed, errors = await asyncio.wait_for(playing, 100)
        assert player.returncode == 0, errors.decode()
        told = json.loads(printed)
        assert told["major"] == major and "read_notebook" in told["tools"]
        assert 'id="one"' in text(told["read_notebook"]) and told["fly"]["isError"]
        assert "slept" in text(told["run_code"]) and not told["run_code"]["isError"]
        assert len(told["progress"]) >= 3 and set(told["progress"]) == {"Running"}
        assert major == 1 or told["client"] == told["tools"]

    async def test_what_takes_time_is_a_stream(
        self, window, entry, bearer, notebook, acp, monkeypatch
    ):
        (await acp.manager()).services._permissions._admin = {}
        monkeypatch.setattr(handler, "PULSE", 0.1)
        chunks = []
        asking = asyncio.ensure_future(
            post(entry["url"], running("6 * 7"), bearer, chunks=chunks.append)
        )
        # While the card waits, whoever is between the two of them sees that it goes on.
        await window.wait(lambda m: m.get("method") == ASK)
        while len(chunks) < 3:
            await asyncio.sleep(0.05)
        assert set(b"".join(chunks).decode().split("\n")) == {": still at work", ""}
        await decide(window, "allow")
        answer = await asking
        assert answer.headers["Content-Type"] == "text/event-stream"
        told = answered(b"".join(chunks))
        assert told["id"] == 1 and "42" in text(told["result"])

    async def test_whoever_hangs_up_has_not_cancelled(
        self, entry, bearer, root, notebook, jp_http_port, monkeypatch
    ):
        monkeypatch.setattr(handler, "PULSE", 0.1)
        code = (
            "import os, time\nopen('begun', 'w').close()\n"
            "while not os.path.exists('go'): time.sleep(0.1)\nopen('ended', 'w').close()"
        )
        body = json.dumps(running(code))
        path = entry["url"].partition(str(jp_http_port))[2]
        reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        lines = (
            "Host: localhost",
            f"Authorization: Bearer {bearer}",
            f"Content-Length: {len(body)}",
        )
        writer.write("\r\n".join((f"POST {path} HTTP/1.1", *lines, "", body)).encode())
        await until_begun(root)
        await reader.readline()
        writer.close()
        await asyncio.sleep(0.5)
        (root / "go").touch()
        while not (root / "ended").exists():
            await asyncio.sleep(0.05)
        assert "2" in text(
            answered((await post(entry["url"], running("1 + 1"), bearer)).body)["result"]
        )

    async def test_clients_with_the_same_bearer_are_told_apart(self, entry, bearer, root, notebook):
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
        first, second = [
            (await post(entry["url"], hello, bearer)).headers["Mcp-Session-Id"] for _ in range(2)
        ]
        assert first != second
        asking = asyncio.ensure_future(
            post(entry["url"], running(LONG), bearer, Mcp_Session_Id=first)
        )
        await until_begun(root)
        again = await post(entry["url"], running("1"), bearer, Mcp_Session_Id=first)
        assert "take another id" in answered(again.body)["error"]["message"]
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        for client in (second, "", first):
            assert not asking.done()
            answer = await post(
                entry["url"], {"jsonrpc": "2.0", **cancel}, bearer, Mcp_Session_Id=client
            )
            assert answer.code == 202
        assert answered((await asking).body)["error"]["code"] == -32800

    async def test_what_it_asks_for_is_answered_once_it_has_come(
        self, window, agent, entry, bearer
    ):
        assert await asked(agent, window, "c1") is None
        assert (await post(entry["url"], PING, bearer)).code == 200
        assert await asked(agent, window, "c2") == "y"

    async def test_what_the_agent_is_given(self, entry, bearer, public_url):
        assert entry["type"] == "http" and entry["url"] == f"{public_url}acp/mcp"
        assert len(bearer) >= 43 and bearer not in entry["url"]
        answer = await post(entry["url"], PING, bearer)
        assert answer.code == 200 and answer.headers["Content-Type"] == "application/json"
        assert json.loads(answer.body) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert "Set-Cookie" not in answer.headers
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        answer = await post(entry["url"], told, bearer)
        assert answer.code == 202 and answer.body == b""
        for method in ("GET", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"):
            assert (await post(entry["url"], PING, bearer, method)).code == 405

    async def test_who_is_refused(
        self, window, root, entry, bearer, agent, jp_auth_header, http_server_client, caplog
    ):
        url = entry["url"]
        await window.new(root)
        other = given(agent, 1)["headers"][0]["value"].removeprefix("Bearer ")
        token = jp_auth_header["Authorization"]
        for status, headers in (
            (401, {}),
            (401, {"Authorization": ""}),
            (401, {"Authorization": "Bearer"}),
            (401, {"Authorization": "Bearer "}),
            (401, {"Authorization": f"Bearer {bearer[:-1]}"}),
            (401, {"Authorization": f"Bearer {bearer}x"}),
            (401, {"Authorization": f"Bearer {bearer} {bearer}"}),
            (401, {"Authorization": f"Basic {bearer}"}),
            (401, {"Authorization": f"token {bearer}"}),
            (401, {"Authorization": bearer}),
            # Whoever is logged in at this server is nobody here.
            (401, {"Authorization": token}),
            (401, {"Authorization": token.replace("token", "Bearer")}),
            (401, {"Cookie": f"token={bearer}; bearer={bearer}"}),
            (401, {"X_Authorization": f"Bearer {bearer}"}),
            (403, {"Authorization": f"Bearer {bearer}", "Origin": "https://evil.invalid"}),
            (403, {"Authorization": f"Bearer {bearer}", "Origin": url.partition("/acp")[0]}),
            (403, {"Authorization": f"Bearer {bearer}", "Origin": "null"}),
            (200, {"Authorization": f"Bearer {bearer}"}),
            (200, {"Authorization": f"bearer  {bearer}"}),
            (200, {"Authorization": f"Bearer {other}"}),
        ):
            answer = await post(url, PING, **headers)
            assert answer.code == status, headers
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert "Set-Cookie" not in answer.headers
        for name in ("bearer", "token", "access_token", "Authorization"):
            assert (await post(f"{url}?{name}={bearer}", PING)).code == 401
        assert bearer not in caplog.text
        # Nor does it open anything else of this server.
        for path in ("acp/sessions", "api/contents"):
            answer = await post(url.replace("acp/mcp", path), PING, bearer, "GET")
            assert answer.code == 403

    async def test_a_session_has_its_own_folder(self, window, bearer, entry, tmp_path, agent):
        folder = tmp_path / "other"
        folder.mkdir()
        await window.new(folder)
        other = given(agent, 1)["headers"][0]["value"].removeprefix("Bearer ")
        call = {"name": "read_notebook", "arguments": {"path": "m.ipynb"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = json.loads((await post(entry["url"], message, other)).body)
        assert f"no file {folder.resolve()}" in text(answer["result"])

    async def test_it_is_gone_with_the_session(
        self, window, session, entry, bearer, agent, root, notebook
    ):
        asking = asyncio.ensure_future(post(entry["url"], running(LONG), bearer))
        await until_begun(root)
        await window.result("session/close", {"sessionId": session})
        assert "session has ended" in answered((await asking).body)["error"]["message"]
        assert (await post(entry["url"], PING, bearer)).code == 401

    async def test_it_is_gone_with_the_agent(self, window, session, entry, bearer, agent):
        await agent.leave()
        await window.wait(lambda m: "disconnected" in str(m.get("params")))
        assert (await post(entry["url"], PING, bearer)).code == 401

    async def test_cancelling(self, entry, bearer, root, notebook):
        asking = asyncio.ensure_future(post(entry["url"], running(LONG, "x"), bearer))
        await until_begun(root)
        for id in ("y", None, {}, "x"):
            cancel = {"method": "notifications/cancelled", "params": {"requestId": id}}
            assert (await post(entry["url"], {"jsonrpc": "2.0", **cancel}, bearer)).code == 202
        assert answered((await asking).body)["error"]["code"] == -32800
        answer = await post(entry["url"], running("1 + 1", "x"), bearer)
        assert "2" in text(answered(answer.body)["result"])

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ("", 400, None),
            ("{", 400, None),
            (b"\xff", 400, None),
            ("[]", 200, -32600),
            (json.dumps([PING]), 200, -32600),
            ("7", 200, -32600),
            (json.dumps({**PING, "id": None}), 200, -32600),
            (json.dumps({**PING, "id": True}), 200, -32600),
            (json.dumps({**PING, "id": {}}), 200, -32600),
            (json.dumps({**PING, "method": "server/discover"}), 200, -32601),
            (json.dumps({**PING, "method": "tools/call"}), 200, -32602),
            (json.dumps({**PING, "method": 7}), 202, None),
            (json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}), 202, None),
        ],
    )
    async def test_odd_bodies(self, entry, bearer, body, status, code):
        answer = await post(entry["url"], body, bearer)
        assert answer.code == status
        if code is not None:
            assert json.loads(answer.body)["error"]["code"] == code

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
    async def test_no_body_of_another_method_is_read(self, entry, bearer, jp_http_port, method):
        path = entry["url"].partition(str(jp_http_port))[2]
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {bearer}",
            "Content-Length: 50000",
            "",
            "",
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        writer.write("\r\n".join(lines).encode())
        # Though nothing of it has been sent.
        assert b" 405 " in await asyncio.wait_for(reader.readline(), 20)
        writer.close()

    async def test_a_body_that_is_too_large_is_not_read(self, entry, bearer, acp, jp_http_port):
        acp.max_message_size = 100_000
        assert (await post(entry["url"], b" " * 99_000 + b"7", bearer)).code == 200
        assert (await post(entry["url"], b"x" * 100_001, bearer)).code == 413
        path = entry["url"].partition(str(jp_http_port))[2]
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n"
        chunks = "Transfer-Encoding: chunked\r\n\r\n" + f"{60_000:x}\r\n{'x' * 60_000}\r\n" * 2
        for lines, expected in (
            # Refused by what they announce, with nothing of it sent.
            ("Content-Length: 400000000\r\n\r\n", b" 401 "),
            (f"Authorization: Bearer {bearer}\r\nContent-Length: 400000000\r\n\r\n", b" 413 "),
            (f"Authorization: Bearer {bearer}\r\n{chunks}0\r\n\r\n", b" 413 "),
            (chunks, b" 401 "),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
            writer.write((head + lines).encode())
            answer = await asyncio.wait_for(reader.readline(), 20)
            assert expected in answer, lines[:100]
            writer.close()
        assert (await post(entry["url"], PING, bearer)).code == 200
