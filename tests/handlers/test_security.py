# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Who may ask what, and what nobody is told."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from http.cookies import SimpleCookie
from typing import Any, ClassVar
from urllib.parse import urlencode

import psutil
import pytest
from acpclient import Client, Connect, Loop, scripted
from actions import ACTIONS
from audit import watched
from jupyter_server.auth import Authorizer
from jupyter_server.base.handlers import json_sys_info
from mcpclient import decide
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.routing import PathMatches, RuleRouter
from tornado.web import RequestHandler
from tornado.websocket import websocket_connect

from jupyter_acp.handlers import ROUTES

SECRET = "s3cret-that-stays"
NOBODY = "00000000-0000-0000-0000-000000000000"
METHODS = ("get", "head", "post", "put", "patch", "delete")


ASK = "session/request_permission"
BODIES = {
    ("post", "/acp/sessions"): {"agent": "nobody"},
    ("patch", "/acp/sessions/ID"): {"title": "x"},
}


class Rules(Authorizer):
    """Denies what a test says and remembers what it was asked."""

    denied: ClassVar[set[tuple[str, str]]] = set()
    asked: ClassVar[list[tuple[str, str]]] = []

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        Rules.asked.append((action, resource))
        return (action, resource) not in Rules.denied


@pytest.fixture(autouse=True)
def rules() -> type[Rules]:
    Rules.denied, Rules.asked = set(), []
    return Rules


@pytest.fixture
def acp_config() -> dict[str, Any]:
    """No rules: commands are asked for."""
    return {"permissions": {}}


@pytest.fixture
def acp_agents() -> dict[str, Any]:
    return {
        "scripted": {**scripted(), "env": {"API_KEY": SECRET}},
        "remote": {
            # Port 9 (discard): nothing listens there.
            "url": f"ws://user:{SECRET}@127.0.0.1:9/acp?key={SECRET}",
            "headers": {"Authorization": f"Bearer {SECRET}"},
        },
        # Sockets know no fragments, so that this one fails for another reason.
        "fragment": {"url": f"ws://user:{SECRET}@127.0.0.1:9/acp#{SECRET}"},
        # Entries with a mistake are explained, and must not be quoted.
        "both": {"argv": ["a"], "url": f"ws://host/?key={SECRET}", "env": {"K": SECRET}},
        "list-in-env": {"argv": ["a"], "env": {"K": [SECRET]}},
        "line-break": {"url": "ws://host/", "headers": {"Authorization": f"{SECRET}\nX"}},
        "not-a-socket": {"url": f"https://user:{SECRET}@host/"},
        "one-line": {"argv": f"agent --key {SECRET}"},
        "text": SECRET,
    }


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    return {
        **jp_server_config,
        "ServerApp": {**jp_server_config["ServerApp"], "authorizer_class": Rules},
    }


@pytest.fixture
def no_processes(acp: Any) -> Iterator[None]:
    """Fail if the test has started anything, whether or not it still runs."""
    # Jupyter asks git for its own version before it shows the first error.
    json_sys_info()
    before = set(psutil.Process().children(recursive=True))
    with watched() as seen:
        yield
    assert seen.started == []
    # What others have started may end meanwhile.
    assert not set(psutil.Process().children(recursive=True)) - before


class Browser:
    """Plain HTTP with nothing sent along but what the test says."""

    def __init__(self, port: int, base_url: str) -> None:
        self._client = AsyncHTTPClient()
        self.host = f"localhost:{port}"
        self.port = port
        self._base_url = base_url
        self.cookies: dict[str, str] = {}

    async def fetch(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: Any = None
    ) -> Any:
        response = await self._client.fetch(
            self._url("http", path),
            method=method.upper(),
            headers={**self._cookie(), **(headers or {})},
            body=body,
            follow_redirects=False,
            raise_error=False,
            allow_nonstandard_methods=True,
        )
        for header in response.headers.get_list("Set-Cookie"):
            for name, morsel in SimpleCookie(header).items():
                self.cookies[name] = morsel.value
        return response

    async def upgrade(self, headers: dict[str, str] | None = None, query: str = "") -> Any:
        """Open the socket, or return the status of the refusal."""
        request = HTTPRequest(
            self._url("ws", "/acp/ws") + query, headers={**self._cookie(), **(headers or {})}
        )
        try:
            return await websocket_connect(request)
        except HTTPClientError as error:
            return error.code

    async def log_in(self, token: str) -> None:
        """Fill in the form of the login page."""
        await self.fetch("get", "/login")
        form = urlencode({"password": token, "_xsrf": self.cookies["_xsrf"]})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        response = await self.fetch("post", "/login", kind, form)
        assert response.code == 302, response.body
        assert any(name.startswith("username-") for name in self.cookies)

    @property
    def xsrf(self) -> dict[str, str]:
        return {"X-XSRFToken": self.cookies["_xsrf"]}

    def _url(self, scheme: str, path: str) -> str:
        return f"{scheme}://{self.host}{self._base_url.rstrip('/')}{path}"

    def _cookie(self) -> dict[str, str]:
        pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": pairs} if pairs else {}


@pytest.fixture
def browser(
    acp: Any, http_server: Any, jp_http_port: int, jp_base_url: str, jp_asyncio_loop: Loop
) -> Browser:
    async def open_browser() -> Browser:
        return Browser(jp_http_port, jp_base_url)

    return jp_asyncio_loop.run_until_complete(open_browser())


@pytest.fixture
def token(jp_serverapp: Any) -> str:
    return jp_serverapp.identity_provider.token


def served(web_app: Any, base_url: str) -> dict[str, type[RequestHandler]]:
    """Every route that the running server has below `acp/`, ours or not."""

    def walk(router: RuleRouter) -> Iterator[tuple[str, type[RequestHandler]]]:
        for rule in router.rules:
            if isinstance(rule.target, RuleRouter):
                yield from walk(rule.target)
            elif isinstance(rule.matcher, PathMatches):
                yield rule.matcher.regex.pattern.rstrip("$"), rule.target

    prefix = base_url.rstrip("/")
    return {
        pattern.removeprefix(prefix): handler
        for pattern, handler in walk(web_app.default_router)
        if pattern.removeprefix(prefix).startswith("/acp")
    }


def operations(routes: dict[str, type[RequestHandler]]) -> set[tuple[str, str]]:
    return {
        (method, re.sub(r"\(\?P<\w+>[^)]*\)", "ID", route))
        for route, handler in routes.items()
        for method in METHODS
        if getattr(handler, method) is not RequestHandler._unimplemented_method
    }


@pytest.fixture
def routes(jp_web_app: Any, jp_base_url: str) -> set[tuple[str, str]]:
    """Every method of every route, as the server has them."""
    return operations(served(jp_web_app, jp_base_url))


Answer = Callable[..., Awaitable[int]]


@pytest.fixture
def answer(browser: Browser) -> Answer:
    """Return the status of one operation; the socket is asked for as a browser does it."""

    async def status(operation: tuple[str, str], headers: dict[str, str]) -> int:
        method, path = operation
        if path == "/acp/ws":
            socket = await browser.upgrade(headers)
            if isinstance(socket, int):
                return socket
            socket.close()
            return 101
        body = json.dumps(BODIES.get(operation, {})) if method in ("post", "patch") else None
        id = "nobody" if "agents" in path else NOBODY
        return (await browser.fetch(method, path.replace("ID", id), headers, body)).code

    return status


def test_the_table_is_the_server(jp_web_app, jp_base_url, routes):
    assert served(jp_web_app, jp_base_url) == dict(ROUTES)
    assert routes == set(ACTIONS)


def test_every_route_is_known_to_the_authorizer_as_acp():
    for route, handler in ROUTES:
        assert handler.auth_resource == "acp", route


@pytest.mark.parametrize(
    "credentials",
    [
        {},
        {"Authorization": "token wrong"},
        {"Authorization": "token "},
        {"Authorization": "Bearer wrong"},
        {"Cookie": "username-localhost=forged"},
    ],
    ids=["nothing", "wrong token", "empty token", "wrong bearer", "forged cookie"],
)
async def test_nothing_answers_a_stranger(
    routes, answer, browser, no_processes, rules, credentials, jp_fetch
):
    # With the XSRF token that everyone gets: else its absence would hide a missing login check.
    await browser.fetch("get", "/login")
    headers = {**browser.xsrf, **credentials}
    if "Cookie" in headers:
        headers["Cookie"] += f"; _xsrf={browser.cookies['_xsrf']}"
    statuses = {operation: await answer(operation, headers) for operation in routes}
    assert statuses == dict.fromkeys(routes, 403)
    # Not even whether it exists: a plain GET of the socket is refused the same way.
    assert (await browser.fetch("get", "/acp/ws", credentials)).code == 403
    assert rules.asked == []
    agents = json.loads((await jp_fetch("acp", "agents")).body)["agents"]
    assert not any(agent["running"] for agent in agents)


async def test_a_preflight_tells_nothing(routes, browser, no_processes):
    for path in {path for _, path in routes} - {"/acp/ws"}:
        response = await browser.fetch("options", path.replace("ID", NOBODY))
        assert response.code in (200, 204)
        assert response.body == b""
        # No other site is invited.
        assert "Access-Control-Allow-Origin" not in response.headers


async def test_other_methods_are_not_served(browser, no_processes, token):
    headers = {"Authorization": f"token {token}"}
    for path in ("/acp/agents", "/acp/sessions", f"/acp/sessions/{NOBODY}"):
        assert (await browser.fetch("put", path, headers, "{}")).code == 405


@pytest.mark.parametrize("action", ["read", "write", "execute"])
async def test_the_authorizer_decides(routes, answer, no_processes, rules, token, action):
    rules.denied = {(action, "acp")}
    headers = {"Authorization": f"token {token}"}
    for operation in routes:
        rules.asked.clear()
        status = await answer(operation, headers)
        # The socket lets in who may watch, and asks whether it may let them act.
        more = ["execute"] if operation[1] == "/acp/ws" and action != "read" else []
        assert rules.asked == [(each, "acp") for each in (ACTIONS[operation], *more)], operation
        assert (status == 403) is (ACTIONS[operation] == action), (operation, status)


@pytest.fixture
def guest(acp_connect: Connect, rules: type[Rules], jp_asyncio_loop: Loop) -> Client:
    """The window of somebody who may only read; whoever opens one later may do everything."""

    async def connect() -> Client:
        rules.denied = {("execute", "acp"), ("write", "acp")}
        guest = await acp_connect()
        rules.denied = set()
        return guest

    return jp_asyncio_loop.run_until_complete(connect())


async def test_who_may_only_read_may_watch(window, acp_connect, rules, tmp_path):
    session = await window.new(tmp_path, "scripted")
    await window.prompt(session, ["chunk", "Hello."])
    rules.denied = {("execute", "acp"), ("write", "acp")}
    guest = await acp_connect(initialize=False)
    told = await guest.initialize()
    assert told["_meta"]["jupyter-acp"]["mayAct"] is False
    assert [each["sessionId"] for each in (await guest.result("session/list"))["sessions"]] == [
        session
    ]
    await guest.attach(session)
    await guest.wait(lambda _: guest.texts() == ["Hello."])

    mine = {"sessionId": session}
    refused = [
        ("session/prompt", {**mine, "prompt": [{"type": "text", "text": "[]"}]}),
        ("session/new", {"cwd": str(tmp_path), "mcpServers": []}),
        ("session/fork", {**mine, "cwd": str(tmp_path)}),
        ("session/load", {**mine, "cwd": str(tmp_path), "mcpServers": []}),
        ("session/resume", {**mine, "cwd": str(tmp_path)}),
        ("session/close", mine),
        ("session/delete", mine),
        ("session/set_mode", {**mine, "modeId": "b"}),
        ("session/set_config_option", {**mine, "configId": "a", "value": "b"}),
        ("authenticate", {"methodId": "a"}),
        ("logout", {}),
        ("_sandboxagent/session/set_metadata", {**mine, "metadata": {"title": "x"}}),
        ("_sandboxagent/session/terminate", mine),
        ("_sandboxagent/session/events", mine),
        ("_jupyter/change/decide", mine),
        ("_jupyter/remote/inspect", {"cwd": str(tmp_path)}),
        ("_jupyter/remote/push", {"cwd": str(tmp_path)}),
        ("_jupyter/remote/fetch", {**mine, "number": 1}),
        ("_jupyter/remote/stop", {**mine, "number": 1}),
        ("_jupyter/remote/act", {**mine, "number": 1, "action": "apply"}),
        ("_anything/else", mine),
    ]
    with watched() as seen:
        for method, params in refused:
            error = (await guest.ask(method, params))["error"]
            assert "not work in them (403)" in error["message"], (method, error)
    assert seen.started == []


async def test_a_guest_decides_nothing(window, guest, acp_connect, tmp_path):
    session = await window.new(tmp_path, "scripted")
    await guest.attach(session)
    running = await window.start_prompt(session, ["ask"], ["chunk", "Done."])
    question = await window.wait(lambda m: m.get("method") == ASK)
    yes, no = ({"outcome": {"outcome": "selected", "optionId": id}} for id in ("yes", "no"))
    await guest.notify("session/cancel", {"sessionId": session})
    await guest.send({"jsonrpc": "2.0", "id": question["id"], "result": yes})
    await guest.result("session/list")
    # It is still open: whoever comes and may answer is asked.
    other = await acp_connect()
    await other.attach(session)
    await other.wait(lambda m: m.get("id") == question["id"] and m.get("method") == ASK)
    await window.send({"jsonrpc": "2.0", "id": question["id"], "result": no})
    assert (await window.response(running))["result"]["stopReason"] == "end_turn"
    await guest.wait(lambda _: guest.texts()[-1:] == ["Done."])
    assert json.loads(guest.texts()[-2]) == no
    assert guest.of(ASK) == []


async def test_a_guest_says_nothing_of_what_is_open(window, guest, root):
    session = await window.new(root, "scripted")
    document = {"path": "a.py", "languageId": "python", "kind": "file"}
    page = {"window": "page", "full": True, "documents": [document], "active": "a.py"}

    async def opened() -> list[str]:
        await window.prompt(session, ["request", "workspace/open_documents", {}])
        return [each["uri"] for each in json.loads(window.texts()[-1])["documents"]]

    await guest.notify("_jupyter/workspace/update", {**page, "focused": True})
    await guest.result("session/list")
    assert await opened() == []
    # It is the same words that count from others.
    await window.notify("_jupyter/workspace/update", {**page, "focused": True})
    assert await opened() == [(root / "a.py").as_uri()]


async def test_a_guest_sets_no_rules(window, guest, root):
    session = await window.new(root, "scripted")
    rules = {"rules": {"*": [{"kind": "*", "decision": "allow"}]}}
    command = {"command": "touch", "args": ["made"]}
    await guest.notify("_jupyter/settings/update", rules)
    await guest.result("session/list")
    with watched() as seen:
        turn = await window.start_prompt(session, ["request", "terminal/create", command])
        await decide(window, "deny")
        await window.response(turn)
    assert seen.started == []
    # It is the same words that count from others.
    await window.notify("_jupyter/settings/update", rules)
    await window.prompt(session, ["request", "terminal/create", command])
    assert "terminalId" in json.loads(window.texts()[-1])
    assert len([m for m in window.of(ASK) if "id" in m]) == 1


async def test_a_guest_sets_up_no_servers(window, guest, root):
    servers = {"servers": [{"name": "evil", "command": "touch", "args": ["made"]}]}

    async def names() -> list[str]:
        session = await window.new(root, "scripted")
        await window.prompt(session, ["mcp"])
        return [each["name"] for each in json.loads(window.texts()[-1])]

    await guest.notify("_jupyter/settings/update", servers)
    await guest.result("session/list")
    assert "evil" not in await names()
    # It is the same words that count from others.
    await window.notify("_jupyter/settings/update", servers)
    assert "evil" in await names()


async def test_the_right_token_is_let_in(answer, rules, token):
    for credentials in ({"Authorization": f"token {token}"}, {"Authorization": f"Bearer {token}"}):
        assert await answer(("get", "/acp/health"), credentials) == 200
        assert await answer(("get", "/acp/ws"), credentials) == 101


async def test_the_socket_takes_the_token_from_the_query(browser, token):
    # Browsers cannot set headers on a socket.
    socket = await browser.upgrade(query=f"?token={token}")
    assert not isinstance(socket, int)
    socket.close()
    assert await browser.upgrade(query="?token=wrong") == 403


def foreign(browser: Browser) -> dict[str, str]:
    return {
        "another site": "https://evil.example",
        "null": "null",
        "another port": f"http://localhost:{browser.port + 1}",
        "no port": "http://localhost",
        "another name": f"http://127.0.0.1:{browser.port}",
        "a longer name": f"http://{browser.host}.evil.example",
        "a user that looks like the host": f"http://{browser.host}@evil.example",
        "a path that looks like the host": f"http://evil.example/{browser.host}",
    }


async def test_a_cookie_from_another_site_opens_no_socket(browser, no_processes, token):
    await browser.log_in(token)
    statuses = {
        name: await browser.upgrade({"Origin": origin}) for name, origin in foreign(browser).items()
    }
    assert statuses == dict.fromkeys(foreign(browser), 403)
    # What browsers of today add by themselves must not soften it.
    port = foreign(browser)["another port"]
    assert await browser.upgrade({"Origin": port, "Sec-Fetch-Site": "same-site"}) == 403


async def test_the_cookie_with_our_own_origin_opens_the_socket(browser, token):
    await browser.log_in(token)
    socket = await browser.upgrade({"Origin": f"http://{browser.host}"})
    assert not isinstance(socket, int)
    client = Client(socket)
    assert (await client.initialize())["protocolVersion"] == 1
    await client.close()


async def test_a_cookie_without_login_opens_no_socket(browser):
    await browser.fetch("get", "/login")
    assert browser.cookies
    assert await browser.upgrade({"Origin": f"http://{browser.host}"}) == 403


async def test_a_cookie_changes_nothing_without_the_xsrf_token(
    routes, browser, no_processes, token
):
    await browser.log_in(token)
    changes = {operation for operation in routes if operation[0] not in ("get", "head")}
    assert changes
    for method, path in changes:
        path = path.replace("ID", NOBODY)
        for headers in ({}, {"X-XSRFToken": "wrong"}):
            response = await browser.fetch(method, path, headers, "{}")
            assert response.code == 403, (method, path)
            assert b"xsrf" in response.body.lower()


async def test_a_cookie_with_the_xsrf_token_is_let_in(browser, token):
    await browser.log_in(token)
    assert (await browser.fetch("get", "/acp/sessions")).code == 200
    assert (await browser.fetch("post", "/acp/sessions", browser.xsrf, "{}")).code == 201


async def test_a_cookie_from_another_site_reads_nothing(browser, no_processes, token):
    await browser.log_in(token)
    for origin in foreign(browser).values():
        for path in ("/acp/agents", "/acp/sessions", "/acp/health"):
            response = await browser.fetch("get", path, {"Origin": origin})
            assert response.code in (403, 404), (origin, path)


async def test_secrets_of_agents_stay_here(jp_fetch, window, tmp_path):
    response = await jp_fetch("acp", "agents")
    agents = {agent["id"]: agent for agent in json.loads(response.body)["agents"]}
    assert agents["remote"]["url"] == "ws://127.0.0.1:9/acp"
    for broken in ("both", "list-in-env", "line-break", "not-a-socket", "one-line", "text"):
        assert agents[broken]["available"] is False
        assert agents[broken]["missing"]
    shown = [response]
    session = await window.new(tmp_path)
    # The agent did get it: else there would be nothing to hide.
    assert SECRET in json.dumps((await window.prompt(session, ["env"])) and window.texts())
    mark = len(window.received)
    other = await window.new(tmp_path)
    await window.prompt(other, ["exit", 1])
    await window.ask("session/list", {})
    for id in ("remote", "fragment"):
        wanted = {"cwd": str(tmp_path), "_meta": {"jupyter-acp": {"agent": id}}}
        assert "error" in await window.ask("session/new", wanted)
    assert SECRET not in json.dumps(window.received[mark:])
    for parts, options in (
        (("sessions",), {"method": "POST", "body": json.dumps({"agent": "remote"})}),
        (("agents", "fragment", "restart"), {"method": "POST", "body": ""}),
        (("agents", "text", "restart"), {"method": "POST", "body": ""}),
        (("sessions",), {}),
        (("sessions", other), {}),
        (("sessions", other, "messages"), {}),
        (("health",), {}),
    ):
        shown.append(await jp_fetch("acp", *parts, raise_error=False, **options))
    for answer in shown:
        assert SECRET not in answer.body.decode()
        assert SECRET not in str(answer.headers)
    assert [answer.code for answer in shown] == [200, 503, 503, 503, 200, 200, 200, 200]


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """What an administrator who has not asked for more finds in the log."""
    return "\n".join(
        logging.Formatter("%(levelname)s %(message)s").format(record)
        for record in caplog.records
        if record.levelno >= logging.INFO
    )


async def test_logs_hold_nothing_that_was_said(window, jp_fetch, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    said, heard = "what-the-user-said", "what-the-agent-said"
    session = await window.new(tmp_path)
    await window.prompt(session, ["chunk", heard], ["fail", -32000, "no"], ["chunk", said])
    # Every kind of request that is refused on its way, with the words in it.
    await window.prompt(session, ["request", "fs/nothing", {"text": said}])
    await window.prompt(session, ["request", "fs/read_text_file", {"path": said}])
    await window.ask("session/nothing", {"sessionId": session, "text": said})
    await window.ask("session/prompt", {"sessionId": session, "prompt": said})
    await window.notify("session/nothing", {"sessionId": session, "text": said})
    turn = await window.start_prompt(session, ["ask"], ["chunk", said])
    ask = await window.wait(lambda m: m.get("method") == "session/request_permission")
    refused = {"outcome": {"outcome": "selected", "optionId": "never-offered"}}
    await window.send({"jsonrpc": "2.0", "id": ask["id"], "result": refused})
    await window.notify("session/cancel", {"sessionId": session})
    await window.response(turn)
    # What it prints before it ends badly is told in the chat, and nowhere else.
    last = [["chunk", heard], ["stderr", f"{SECRET}\n", 1], ["exit", 3]]
    assert SECRET in str(await window.prompt(session, *last))
    await jp_fetch("acp", "sessions", session, method="PATCH", body=json.dumps({"title": said}))
    text = logged(caplog)
    # There is a log, and it has what somebody who looks for a fault needs.
    assert "Starting agent scripted" in text
    assert "exit" in text
    for hidden in (said, heard, SECRET):
        assert hidden not in text


async def test_logs_hold_nothing_that_was_searched_for(browser, token, caplog):
    caplog.set_level(logging.INFO)
    headers = {"Authorization": f"token {token}"}
    for path in ("search", "files"):
        for more, status in (("", 200), ("&limit=x", 400)):
            address = f"/acp/{path}?query={SECRET}{more}"
            assert (await browser.fetch("get", address, headers)).code == status
    # Also if it is the address itself that nobody knows, or nobody is let in.
    assert (
        await browser.fetch("get", f"/acp/sessions/{NOBODY}?query={SECRET}", headers)
    ).code == 404
    browser.cookies.clear()
    assert (await browser.fetch("get", f"/acp/search?query={SECRET}")).code == 403
    text = logged(caplog)
    assert "/acp/search" in text
    assert SECRET not in text, [line for line in text.splitlines() if SECRET in line]


async def test_logs_hold_no_tokens(browser, tmp_path, token, caplog):
    caplog.set_level(logging.INFO)
    client = Client(await browser.upgrade(query=f"?token={token}"))
    await client.initialize()
    session = await client.new(tmp_path)
    await client.close()
    statuses = [
        (await browser.fetch(method, f"/acp/sessions{path}token={token}", body=body)).code
        for method, path, body in (
            ("get", "?", None),
            ("get", f"/{NOBODY}?", None),
            ("get", f"/{session}/messages?limit=x&", None),
            ("post", "?", "{"),
            ("post", "?", json.dumps({"cwd": "relative"})),
            ("put", "?", "{}"),
        )
    ]
    assert statuses == [200, 404, 400, 400, 400, 405]
    text = logged(caplog)
    assert NOBODY in text
    assert token not in text, [line for line in text.splitlines() if token in line]
