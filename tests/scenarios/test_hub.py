# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""On a JupyterHub everybody has their own sessions, and guests only what they were given."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from acpclient import is_state, scripted
from actions import ACTIONS
from hub import SERVICE, Browser, hub_of
from mcpclient import servers
from tornado.httpclient import HTTPClientError

from jupyter_acp.hub import EXECUTE

pytestmark = pytest.mark.timeout(300)
AGENTS = {"scripted": scripted(capabilities={"loadSession": True}, replay="all")}
ASK = "session/request_permission"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with hub_of(tmp_path_factory.mktemp("hub"), AGENTS) as hub:
        yield hub


async def opened(hub, name, token):
    window = await hub.window(name, token)
    await window.initialize()
    return window


def answer(option):
    return {"outcome": {"outcome": "selected", "optionId": option}}


def share(hub, server, guest, *scopes):
    """Let somebody into a server; return a token of theirs that is good for nothing else."""
    hub.make(guest)
    access = f"access:servers!server={server}"
    hub.api("POST", f"shares/{server}", {"user": guest, "scopes": [access]})
    return hub.token(guest, access, *scopes)


async def may_act(hub, name, window):
    """Whether the server of a user lets a window work, by what it says and by what it does."""
    said = (await window.initialize())["_meta"]["jupyter-acp"]["mayAct"]
    did = await window.ask("session/new", {"cwd": str(hub.home(name)), "mcpServers": []})
    assert ("result" in did) is said, did
    assert said or "(403)" in did["error"]["message"]
    await window.close()
    return said


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
    before = hub.started("ada")
    for method, path in ACTIONS:
        route = path.replace("ID", "scripted" if "agents" in path else sessions["ada"])
        for token in (tokens["bob"], "wrong", None):
            assert hub.status(method.upper(), f"/user/ada{route}", token) == 403, (route, token)
    for token in (tokens["bob"], "wrong"):
        with pytest.raises(HTTPClientError) as refused:
            await hub.window("ada", token)
        assert refused.value.code == 403
    assert hub.started("ada") == before and "scripted.py" in str(before)
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
    token = share(hub, "ada/", "gus")
    watching = await opened(hub, "ada", token)
    await watching.attach(session)
    await window.prompt(session, ["chunk", "Look."])
    await watching.wait(lambda _: watching.texts() == ["Look."])
    assert hub.status("GET", f"/user/ada/acp/sessions/{session}/messages", token) == 200

    before = hub.started("ada")
    for method, path in ACTIONS:
        if ACTIONS[method, path] != "read":
            route = path.replace("ID", "scripted" if "agents" in path else session)
            assert hub.status(method.upper(), f"/user/ada{route}", token) == 403, route
    for method in ("session/prompt", "session/new", "session/delete"):
        refused = await watching.ask(method, {"sessionId": session, "prompt": [], "cwd": "/"})
        assert "(403)" in refused["error"]["message"]
    # Nobody asks them, and what they answer all the same decides nothing.
    turn = await window.start_prompt(session, ["ask"])
    asked = await window.wait(lambda m: m.get("method") == ASK)
    await watching.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer("yes")})
    await watching.result("session/list")
    assert (await is_asked(hub, owner, session))["id"] == asked["id"]
    await window.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer("no")})
    await window.response(turn)
    await watching.wait(lambda _: len(watching.texts()) == 2)
    assert json.loads(watching.texts()[-1]) == answer("no")
    assert watching.of(ASK) == []
    assert hub.started("ada") == before
    # Nobody gets further than they were let.
    assert hub.status("GET", "/user/gus/acp/sessions", token) == 403
    assert hub.status("GET", "/user/gus/acp/sessions", guest) == 200
    for each in (window, watching):
        await each.close()


async def is_asked(hub, token, session):
    """The question that still waits for ada, as another window of hers gets it."""
    window = await opened(hub, "ada", token)
    await window.attach(session)
    question = await window.wait(lambda m: m.get("method") == ASK and "id" in m)
    await window.close()
    return question


async def test_a_guest_who_may_act_does_what_the_owner_can(hub):
    window = await opened(hub, "ada", hub.user("ada"))
    session = await window.new(hub.home("ada"))
    watching = await opened(hub, "ada", share(hub, "ada/", "gil"))
    await watching.attach(session)
    acting = await opened(hub, "ada", share(hub, "ada/", "gil", f"{EXECUTE}!server=ada/"))
    turn = await acting.start_prompt(session, ["ask"], ["chunk", "Done."])
    asked = await acting.wait(lambda m: m.get("method") == ASK)
    await acting.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer("yes")})
    assert (await acting.response(turn))["result"]["stopReason"] == "end_turn"
    # The same person, with a token that was not asked for with the scope, only sees it.
    await watching.wait(lambda _: watching.texts()[-1:] == ["Done."])
    assert watching.of(ASK) == []
    for each in (window, watching, acting):
        await each.close()


@pytest.mark.parametrize(
    ("name", "scope", "acts"),
    [
        ("gil", f"{EXECUTE}!user=ada", True),
        ("ann", EXECUTE, True),
        ("ann", f"{EXECUTE}!server=ada/", True),
        ("ann", f"{EXECUTE}!server=ada/other", False),
        ("ann", f"{EXECUTE}!user=ann", False),
        ("gus", f"{EXECUTE}!server=bob/", False),
    ],
)
async def test_the_scope_counts_where_it_is_for(hub, name, scope, acts):
    hub.user("ada")
    token = share(hub, "ada/", name, scope)
    assert await may_act(hub, "ada", await hub.window("ada", token)) is acts


async def test_the_scope_counts_for_one_of_several_servers(hub):
    hub.make("ina")
    hub.spawn("ina", "two")
    for server, acts in (("ina/two", True), ("ina/", False)):
        token = share(hub, "ina/two", "ann", f"{EXECUTE}!server={server}")
        assert await may_act(hub, "ina", await hub.window("ina/two", token)) is acts


async def test_a_service_with_the_name_of_the_owner_is_a_guest(hub):
    token = hub.user("ada")
    assert hub.api("GET", "user", token=SERVICE)["kind"] == "service"
    assert await may_act(hub, "ada", await hub.window("ada", token))
    assert not await may_act(hub, "ada", await hub.window("ada", SERVICE))


async def test_a_browser_logs_in_with_what_it_may_do(hub):
    hub.user("ada")
    hub.make("tom")
    hub.api("POST", "groups/students", {"users": ["ada"]})
    hub.api("POST", "groups/teachers/users", {"users": ["tom"]})
    share(hub, "ada/", "gus")
    teacher, guest, owner = (Browser(hub, name) for name in ("tom", "gus", "ada"))
    # Whoever comes to somebody else's server is asked what it may know of them.
    assert f"{EXECUTE}!server" in teacher.visit("ada")
    asked = guest.visit("ada")
    assert asked and not any(EXECUTE in scope for scope in asked)
    assert owner.visit("ada") == []
    assert await may_act(hub, "ada", await teacher.window("ada"))
    assert not await may_act(hub, "ada", await guest.window("ada"))
    assert await may_act(hub, "ada", await owner.window("ada"))


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


async def of_two_files(hub, name):
    """What is in force for somebody who asks for more than the administrator allows."""
    mine = hub.home(name) / ".jupyter" / "jupyter_server_config.json"
    mine.parent.mkdir(parents=True)
    allowed = {"*": [{"kind": "terminal", "decision": "allow"}]}
    traits = {"allowed_agents": ["scripted", "builtin"], "permissions": allowed}
    mine.write_text(json.dumps({"AcpExtension": traits}))
    token = hub.user(name)
    listed = hub.get(f"/user/{name}/acp/agents", token)["agents"]
    window = await opened(hub, name, token)
    session = await window.new(hub.home(name))
    await window.prompt(session, ["request", "terminal/create", {"command": "true"}])
    await window.close()
    return {agent["id"] for agent in listed}, "terminalId" in json.loads(window.texts()[-1])


async def test_users_do_not_soften_what_the_administrator_has_set(hub):
    assert await of_two_files(hub, "eve") == ({"scripted"}, False)


async def test_users_do_where_their_own_configuration_is_read(tmp_path):
    with hub_of(tmp_path, AGENTS, has_user_config=True) as hub:
        assert await of_two_files(hub, "eve") == ({"scripted", "builtin"}, True)


async def test_what_was_decided_is_an_event_in_the_file_of_the_page(hub):
    window = await opened(hub, "uma", hub.user("uma"))
    session = await window.new(hub.home("uma"))
    await window.prompt(session, ["request", "terminal/create", {"command": "true"}])
    await window.close()
    events = [json.loads(line) for line in (hub.folder / "var/log/agents.log").open()]
    (event,) = [each for each in events if each["session"] == session]
    assert event["__schema__"] == "https://events.jupyter.org/jupyter_acp/permission/v1"
    assert (event["kind"], event["decision"]) == ("terminal", "deny")
