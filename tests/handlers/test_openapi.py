# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The OpenAPI file says what the server does: no more, no less, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import pytest
import yaml
from acpclient import scripted
from jsonschema import ValidationError
from openapi import METHODS, NOBODY, Checked
from openapi_spec_validator import OpenAPIV31SpecValidator
from tornado.web import RequestHandler

from jupyter_acp.handlers import ROUTES

Call = Callable[..., Awaitable[Any]]


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    return yaml.safe_load((files("jupyter_acp") / "openapi.yaml").read_text("utf-8"))


@pytest.fixture
def acp_agents() -> dict[str, Any]:
    return {
        "scripted": scripted(),
        "silent": scripted(mute=True, stderr="I sulk"),
        "refusing": scripted(new_error={"code": -32000, "message": "log in", "data": {"a": 1}}),
        "absent": {"argv": ["there-is-no-such-program"]},
        "not usable": 7,
        "remote": {"url": "wss://user:password@agents.invalid/acp?key=1"},
    }


@pytest.fixture
def acp_config() -> dict[str, Any]:
    return {"initialize_timeout": 30.0}


# Long enough for a new Python to say something, and to be waited for.
impatient = pytest.mark.parametrize("acp_config", [{"initialize_timeout": 10.0}])


@pytest.fixture
def call(spec: dict[str, Any], acp: Any, jp_fetch: Any) -> Checked:
    return Checked(spec, jp_fetch)


def test_the_file_is_valid(spec):
    OpenAPIV31SpecValidator(spec).validate()
    assert spec["openapi"].startswith("3.1")


def test_every_route_is_in_the_file_and_no_other(spec):
    served = {
        (method, re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", route))
        for route, handler in ROUTES
        for method in METHODS
        if getattr(handler, method) is not RequestHandler._unimplemented_method
    }
    described = {
        (method, path)
        for path, item in spec["paths"].items()
        for method in item
        if method in METHODS or method in ("options", "trace")
    }
    assert served == described
    assert ("patch", "/acp/sessions/{id}") in served


def test_every_operation_has_a_name_of_its_own_and_can_be_refused(spec):
    operations = [
        op for item in spec["paths"].values() for op in item.values() if "responses" in op
    ]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        assert "403" in operation["responses"], operation["operationId"]


async def test_health_and_agents(call):
    assert (await call("get", "/acp/health", 200))["sessions"] == 0
    listed = {agent["id"]: agent for agent in (await call("get", "/acp/agents", 200))["agents"]}
    assert listed["scripted"]["default"] is True
    assert listed["scripted"]["running"] is False
    assert listed["remote"]["url"] == "wss://agents.invalid/acp"
    assert listed["absent"]["available"] is False
    assert "not usable" in listed
    restarted = await call("post", "/acp/agents/{id}/restart", 200, id="scripted")
    assert restarted["agentInfo"]["name"] == "scripted"
    listed = {agent["id"]: agent for agent in (await call("get", "/acp/agents", 200))["agents"]}
    assert listed["scripted"]["running"] is True


async def test_files(call, jp_root_dir):
    (jp_root_dir / "data").mkdir()
    (jp_root_dir / "data" / "my data.csv").write_text("")
    found = await call("get", "/acp/files", 200, query="DATA")
    assert found == {"files": ["data/my data.csv"], "complete": True}
    await call("get", "/acp/files", 400, limit=0)


@impatient
async def test_agents_that_cannot_be_restarted(call):
    for id, status, words in (
        ("nobody", 404, "There is no agent"),
        ("absent", 503, "cannot be started"),
        ("silent", 503, "did not answer"),
    ):
        error = await call("post", "/acp/agents/{id}/restart", status, id=id)
        assert words in error["message"]


async def test_the_log_of_an_agent(call, window, tmp_path):
    path = "/acp/agents/{id}/log"
    assert (await call("get", path, 200, id="scripted"))["lines"] == []
    session = await window.new(tmp_path)
    await window.prompt(session, ["stderr", "a word\n", 2], ["stderr", "half a", 1])
    assert (await call("get", path, 200, id="scripted"))["lines"] == ["a word", "a word", "half a"]
    await window.prompt(session, ["stderr", "x\n", 1000], ["stderr", "the end\n", 1], ["exit", 3])
    lines = (await call("get", path, 200, id="scripted"))["lines"]
    assert lines == ["x"] * 199 + ["the end"]
    await call("post", "/acp/agents/{id}/restart", 200, id="scripted")
    assert (await call("get", path, 200, id="scripted"))["lines"] == []
    assert "There is no agent" in (await call("get", path, 404, id="nobody"))["message"]
    assert "cannot be started" in (await call("get", path, 503, id="absent"))["message"]


@impatient
async def test_the_log_of_an_agent_that_never_came_up(call):
    await call("post", "/acp/agents/{id}/restart", 503, id="silent")
    assert (await call("get", "/acp/agents/{id}/log", 200, id="silent"))["lines"] == ["I sulk"]


async def test_the_life_of_a_session(call, window, tmp_path):
    made = await call("post", "/acp/sessions", 201, {"cwd": str(tmp_path), "title": "Mine"})
    id = made["id"]
    assert (made["state"], made["title"], made["cwd"]) == ("idle", "Mine", str(tmp_path))
    await window.attach(id)
    await window.prompt(id, ["chunk", "one"], ["chunk", "two"])
    described = await call("get", "/acp/sessions/{id}", 200, id=id)
    assert described["stopReason"] == "end_turn"
    assert described["seq"] > 2
    renamed = await call("patch", "/acp/sessions/{id}", 200, {"title": "Yours"}, id=id)
    assert renamed["title"] == "Yours"
    (listed,) = (await call("get", "/acp/sessions", 200))["sessions"]
    assert listed == renamed
    page = await call("get", "/acp/sessions/{id}/messages", 200, id=id)
    assert page["seq"] == len(page["messages"]) == renamed["seq"]
    assert await call("delete", "/acp/sessions/{id}", 204, id=id) is None
    assert (await call("get", "/acp/sessions", 200))["sessions"] == []


async def test_a_session_without_a_body_uses_the_defaults(call, jp_root_dir):
    made = await call("post", "/acp/sessions", 201)
    assert (made["agent"], made["cwd"]) == ("scripted", str(jp_root_dir.resolve()))


async def test_running_waiting_and_failed_sessions(call, window, tmp_path):
    id = await window.new(tmp_path)
    turn = await window.start_prompt(id, ["ask"])
    await window.wait(lambda m: m.get("method") == "session/request_permission")
    busy = await call("get", "/acp/sessions/{id}", 200, id=id)
    assert (busy["state"], busy["waiting"]) == ("running", 1)
    assert (await call("get", "/acp/health", 200))["running"] == 1
    await window.notify("session/cancel", {"sessionId": id})
    await window.response(turn)
    assert not (await call("get", "/acp/sessions/{id}", 200, id=id))["failed"]
    await window.prompt(id, ["exit", 3])
    lost = await call("get", "/acp/sessions/{id}", 200, id=id)
    assert (lost["state"], lost["failed"]) == ("disconnected", True)
    assert "3" in lost["error"]
    # Questions, answers, states and losses: all of them are messages of the transcript.
    page = await call("get", "/acp/sessions/{id}/messages", 200, id=id)
    methods = {message["method"] for message in page["messages"]}
    assert {"_jupyter/permission_resolved", "_jupyter/session/state"} <= methods


async def test_sessions_that_are_refused(call, tmp_path):
    path = "/acp/sessions"
    for body, words in (
        ({"cwd": "relative"}, "absolute"),
        ({"cwd": str(tmp_path / "missing")}, "there is no folder"),
        ({"cwd": 5}, "cwd"),
        ({"title": "x" * 501}, "title"),
        ({"colour": "blue"}, "colour"),
        ([], "object"),
        ("{", "JSON"),
    ):
        error = await call("post", path, 400, body)
        assert words in error["message"]
    assert "There is no agent" in (await call("post", path, 404, {"agent": "nobody"}))["message"]
    refused = await call("post", path, 502, {"agent": "refusing"})
    assert (refused["message"], refused["data"]) == ("log in", {"a": 1})
    assert (await call("get", path, 200))["sessions"] == []


async def test_sessions_that_do_not_exist(call):
    for method, path, body in (
        ("get", "/acp/sessions/{id}", None),
        ("patch", "/acp/sessions/{id}", {"title": "x"}),
        ("delete", "/acp/sessions/{id}", None),
        ("get", "/acp/sessions/{id}/messages", None),
    ):
        error = await call(method, path, 404, body, id=NOBODY)
        assert NOBODY in error["message"]


async def test_bad_names(call, window, tmp_path):
    id = await window.new(tmp_path)
    for body in ({}, {"title": ""}, {"title": 5}, {"title": "x" * 501}, {"title": "x", "state": 1}):
        await call("patch", "/acp/sessions/{id}", 400, body, id=id)


async def test_pages(call, window, tmp_path):
    id = await window.new(tmp_path)
    await window.prompt(id, ["flood", 1100, 1])
    path = "/acp/sessions/{id}/messages"
    last = (await call("get", path, 200, id=id, limit=1))["seq"]

    async def page(**query: Any) -> list[int]:
        messages = (await call("get", path, 200, id=id, **query))["messages"]
        return [message["params"]["_meta"]["jupyter-acp"]["seq"] for message in messages]

    assert await page() == list(range(1, 201))
    assert await page(limit=5000) == list(range(1, 1001))
    assert await page(after=3, before=7) == [4, 5, 6]
    assert await page(after=3, before=7, limit=2) == [4, 5]
    assert await page(after=3, before=7, limit=2, order="newest") == [5, 6]
    assert await page(limit=3, order="newest") == [last - 2, last - 1, last]
    assert await page(after=last) == []
    for query in (
        {"after": -1},
        {"limit": 0},
        {"limit": "many"},
        {"before": "1.5"},
        {"order": "up"},
    ):
        (name,) = query
        error = await call("get", path, 400, id=id, **query)
        assert error["message"].startswith(name)


@pytest.mark.parametrize("name", ["after", "before", "limit"])
async def test_a_number_that_nothing_can_hold_is_no_failure(call, jp_fetch, window, tmp_path, name):
    id = await window.new(tmp_path)
    # The first is the largest that SQLite takes, the last more than Python converts.
    for number in (2**63 - 1, 2**63, "9" * 5000):
        response = await jp_fetch(
            *("acp", "sessions", id, "messages"), params={name: number}, raise_error=False
        )
        assert response.code in (200, 400), (name, len(str(number)), response.body)
        call.check("get", "/acp/sessions/{id}/messages", response)


@pytest.mark.parametrize(
    "body", [b"\xff", b'{"title": "\\ud800"}', b"{", b"[]", b'"x"', b"1", b'{"title": {}}', b"NaN"]
)
async def test_odd_bodies_are_refused_and_do_not_fail(call, window, tmp_path, body):
    id = await window.new(tmp_path)
    await call("post", "/acp/sessions", 400, body)
    await call("patch", "/acp/sessions/{id}", 400, body, id=id)


async def test_refusals_without_a_token(call, jp_fetch, spec):
    for path, item in spec["paths"].items():
        for method in set(item) & set(METHODS):
            if path == "/acp/ws":
                continue
            response = await jp_fetch(
                *path.format(id=NOBODY).strip("/").split("/"),
                method=method.upper(),
                headers={"Authorization": "token wrong"},
                raise_error=False,
                allow_nonstandard_methods=True,
            )
            assert response.code == 403
            call.check(method, path, response)


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        (
            "CreateSession",
            [{}, {"agent": "scripted"}, {"agent": None, "cwd": None, "title": "x" * 500}],
            [{"agent": 5}, {"title": None}, {"title": "x" * 501}, {"colour": 1}, []],
        ),
        (
            "PatchSession",
            [{"title": "x"}, {"title": "x" * 500}],
            [{}, {"title": ""}, {"title": None}, {"title": "x" * 501}, {"title": "x", "id": "y"}],
        ),
    ],
)
async def test_the_server_takes_what_the_schema_takes(call, window, name, valid, invalid):
    session = (await call("post", "/acp/sessions", 201))["id"]
    schema = {"$ref": f"#/components/schemas/{name}"}
    method, path, good = {
        "CreateSession": ("post", "/acp/sessions", 201),
        "PatchSession": ("patch", "/acp/sessions/{id}", 200),
    }[name]
    for body in valid:
        call.validate(schema, body)
        await call(method, path, good, body, id=session)
    for body in invalid:
        with pytest.raises(ValidationError):
            call.validate(schema, body)
        await call(method, path, 400, body, id=session)
