# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""On a JupyterHub everybody has their own sessions, and guests only what they were given."""

from __future__ import annotations

import asyncio
import socket

import psutil
import pytest
from conftest import is_state, scripted
from hub import hub_of
from mcpclient import servers
from test_security import ACTIONS
from tornado.httpclient import HTTPClientError

pytestmark = pytest.mark.timeout(300)
AGENTS = {"scripted": scripted(capabilities={"loadSession": True}, replay="all")}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with hub_of(tmp_path_factory.mktemp("hub"), AGENTS) as hub:
        yield hub


async def opened(hub, name, token):
    window = await hub.window(name, token)
    await window.initialize()
    return window


def children_of(hub, name):
    """What runs in a user's server, besides the server."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("JUPYTERHUB_USER") == name and str(hub.folder) in str(
                process.environ().get("JUPYTER_CONFIG_DIR")
            ):
                found.append(process)
        except psutil.Error:
            pass
    return found


async def test_each_user_has_their_own(hub):
    tokens = {name: hub.user(name) for name in ("ada", "bob")}
    windows = {name: await opened(hub, name, token) for name, token in tokens.items()}
    sessions = {}
    for name, window in windows.items():
        session = sessions[name] = await window.new(hub.home(name))
        await window.prompt(session, ["chunk", f"Hello {name}."])
        assert window.texts() == [f"Hello {name}."]
        listed = hub.get(f"/user/{name}/acp/sessions", tokens[name])["sessions"]
        assert [each["id"] for each in listed] == [session]

    # Nothing of the one answers the other, whatever is asked for, and nothing is started for it.
    before = {process.pid for process in children_of(hub, "ada")}
    for method, path in ACTIONS:
        route = path.replace("ID", "scripted" if "agents" in path else sessions["ada"])
        for token in (tokens["bob"], "wrong", None):
            assert hub.status(method.upper(), f"/user/ada{route}", token) == 403, (route, token)
    for token in (tokens["bob"], "wrong"):
        with pytest.raises(HTTPClientError) as refused:
            await hub.window("ada", token)
        assert refused.value.code == 403
    assert {process.pid for process in children_of(hub, "ada")} <= before
    # What is said to one's own server about a session of the other names nothing.
    error = (await windows["bob"].ask("session/load", {"sessionId": sessions["ada"]}))["error"]
    assert "ada" not in error["message"] and "Hello" not in str(error)

    # The tools of the one's agent are not reached with the ticket of the other's.
    addresses = {}
    for name, window in windows.items():
        (entry,) = await servers(window, sessions[name])
        addresses[name] = entry["args"][-1], entry["env"][0]["value"]
    assert addresses["ada"][0] != addresses["bob"][0]
    with socket.socket(socket.AF_UNIX) as tools:
        tools.connect(addresses["ada"][0])
        tools.sendall(f"{addresses['bob'][1]}\n".encode())
        tools.settimeout(30)
        assert tools.recv(1000) == b""
    for window in windows.values():
        await window.close()


async def test_nothing_of_the_hub_reaches_an_agent(hub):
    token = hub.user("eva")
    window = await opened(hub, "eva", token)
    session = await window.new(hub.home("eva"))
    await window.prompt(session, ["env"])
    environment = window.texts()[-1]
    assert "JUPYTERHUB_USER" in environment
    for name in ("JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN", "JUPYTERHUB_CLIENT_SECRET"):
        assert name not in environment
    await window.close()


async def test_a_guest_watches(hub):
    owner, guest = hub.user("ada"), hub.user("gus")
    window = await opened(hub, "ada", owner)
    session = await window.new(hub.home("ada"))
    hub.api("POST", "shares/ada/", {"user": "gus", "scopes": ["access:servers!server=ada/"]})
    token = hub.token("gus", "access:servers!server=ada/")
    watching = await opened(hub, "ada", token)
    await watching.attach(session)
    await window.prompt(session, ["chunk", "Look."])
    await watching.wait(lambda _: watching.texts() == ["Look."])
    assert hub.status("GET", f"/user/ada/acp/sessions/{session}/messages", token) == 200

    before = {process.pid for process in children_of(hub, "ada")}
    for method, path in ACTIONS:
        if ACTIONS[method, path] != "read":
            route = path.replace("ID", "scripted" if "agents" in path else session)
            assert hub.status(method.upper(), f"/user/ada{route}", token) == 403, route
    for method in ("session/prompt", "session/new", "session/delete"):
        answer = await watching.ask(method, {"sessionId": session, "prompt": [], "cwd": "/"})
        assert "(403)" in answer["error"]["message"]
    assert {process.pid for process in children_of(hub, "ada")} <= before

    # Until somebody gives them more.
    more = hub.token("gus", "access:servers!server=ada/", "custom:acp:execute")
    acting = await opened(hub, "ada", more)
    turn = await acting.start_prompt(session, ["ask"], ["chunk", "Done."])
    asked = await acting.wait(lambda m: m.get("method") == "session/request_permission")
    yes = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    await acting.send({"jsonrpc": "2.0", "id": asked["id"], "result": yes})
    assert (await acting.response(turn))["result"]["stopReason"] == "end_turn"
    await watching.wait(lambda _: watching.texts()[-1] == "Done.")
    assert watching.of("session/request_permission") == []
    # Nobody gets further than they were let.
    assert hub.status("GET", "/user/gus/acp/sessions", token) == 403
    assert hub.status("GET", "/user/gus/acp/sessions", guest) == 200
    for each in (window, watching, acting):
        await each.close()


async def test_a_restart_brings_everything_back(hub):
    token = hub.user("ida")
    window = await opened(hub, "ida", token)
    session = await window.new(hub.home("ida"))
    await window.prompt(session, ["chunk", "Before."])
    await window.close()
    hub.api("DELETE", "users/ida/server")
    hub.wait("ida", is_running=False)
    hub.spawn("ida")
    window = await opened(hub, "ida", token)
    await window.attach(session)
    await window.prompt(session, ["chunk", "After."])
    assert window.texts() == ["Before.", "After."]
    await window.close()


async def test_an_idle_server_is_culled_and_a_busy_one_is_not(tmp_path):
    with hub_of(tmp_path, AGENTS, cull_after=10) as hub:
        window = await opened(hub, "busy", hub.user("busy"))
        session = await window.new(hub.home("busy"))
        # Nothing is heard of it for longer than anybody may be idle, and nobody looks.
        await window.start_prompt(session, ["until_cancel"])
        await window.wait(is_state("running"))
        await window.close()
        hub.user("idle")
        hub.wait("idle", is_running=False)
        await asyncio.sleep(5)
        assert hub.is_running("busy")
        window = await opened(hub, "busy", hub.token("busy", "self"))
        await window.attach(session)
        assert window.texts() == []
        await window.notify("session/cancel", {"sessionId": session})
        await window.wait(is_state("idle"))
        await window.close()
