# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A spec refuses what cannot work, says why in words, and never shows a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from jupyter_acp.agents.spec import AgentSpec, explain

SECRET = "s3cr3t-value"


def spec(**fields: Any) -> AgentSpec:
    return AgentSpec.model_validate({"id": "a", "source": "config", **fields})


def refusal(**fields: Any) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        spec(**fields)
    return caught.value


def test_a_command_is_named_after_its_id() -> None:
    agent = spec(id="my-agent", argv=["my-agent", "--acp"])
    assert (agent.name, agent.kind, agent.argv) == ("my-agent", "command", ["my-agent", "--acp"])


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        spec(argv=["x"]).name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("good", ["a", "A1", "my-agent_2.0", "x" * 64])
def test_ids_that_are_fine(good: str) -> None:
    assert spec(id=good, argv=["x"]).id == good


@pytest.mark.parametrize(
    "bad", ["", "-a", ".a", "a/b", "../a", "a\\b", "a b", "a\n", "a\0", "é", "x" * 65]
)
def test_ids_that_are_refused(bad: str) -> None:
    assert "letters, digits" in explain(refusal(id=bad, argv=["x"]))


@pytest.mark.parametrize(
    "fields",
    [{}, {"argv": []}, {"argv": ["x"], "url": "wss://h/"}],
)
def test_there_is_exactly_one_way_in(fields: dict[str, Any]) -> None:
    assert "either `argv`" in explain(refusal(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"argv": ["x"], "headers": {"A": "b"}},
        {"url": "wss://h/", "env": {"A": "b"}},
    ],
)
def test_fields_that_would_have_no_effect_are_refused(fields: dict[str, Any]) -> None:
    assert "only make" in explain(refusal(**fields))


@pytest.mark.parametrize(
    "url",
    [
        "http://h/",
        "h:80",
        "ws://",
        "wss:///x",
        "ws://h:99999/",
        "ws://[",
        "ws://h/a b",
        "ws://h/\n",
    ],
)
def test_a_url_must_be_a_websocket(url: str) -> None:
    assert "websocket address" in explain(refusal(url=url))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"argv": "x --acp"}, "`argv` must be a list"),
        ({"argv": ["x", 1]}, "`argv.1` must be text"),
        ({"argv": ["x", "a\0b"]}, "NUL"),
        ({"argv": [" "]}, "name of a program"),
        ({"argv": ["x"], "comand": 1}, "`comand` is not a known field (known are name, "),
        ({"argv": ["x"], "env": ["A=b"]}, "`env` must be a dictionary"),
        ({"argv": ["x"], "env": {"A=B": "c"}}, "'='"),
        ({"argv": ["x"], "env": {"A": 1}}, "`env.A`"),
        ({"url": "ws://h", "headers": {"A B": "c"}}, "header name"),
        ({"url": "ws://h", "headers": {"A": "c\r\nB: d"}}, "line break in the value of A"),
        ({"argv": ["x"], "name": "good\u202ename"}, "`name` must be one line"),
        ({"argv": ["x"], "install": "pip install a\nrm -rf b"}, "`install` must be one line"),
    ],
)
def test_an_error_says_what_is_wrong_with_which_field(fields: dict[str, Any], words: str) -> None:
    assert words in explain(refusal(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"argv": ["x"], "env": {"KEY": SECRET + "\0"}},
        {"argv": ["x"], "env": {"KEY": [SECRET]}},
        {"argv": ["x"], "env": f"KEY={SECRET}"},
        {"argv": ["x", [SECRET]]},
        {"url": f"http://u:{SECRET}@h/"},
        {"url": f"ws://u:{SECRET}@h:99999/"},
        {"url": "ws://h/", "headers": {"Authorization": SECRET + "\n"}},
        {"argv": ["x"], "url": "ws://h/", "env": {"KEY": SECRET}, "headers": {"A": SECRET}},
        {"argv": ["x"], "unknown": SECRET},
    ],
)
def test_no_error_shows_a_secret(fields: dict[str, Any]) -> None:
    error = refusal(**fields)
    assert SECRET not in str(error)
    assert SECRET not in repr(error)
    assert SECRET not in explain(error)


@pytest.mark.parametrize(
    "agent",
    [
        spec(argv=["/opt/x", f"--key={SECRET}"], env={"KEY": SECRET}),
        spec(url=f"wss://u:{SECRET}@h/p?token={SECRET}#{SECRET}", headers={"A": SECRET}),
    ],
    ids=["command", "websocket"],
)
def test_nothing_that_is_shown_or_sent_has_a_secret(agent: AgentSpec) -> None:
    shown = [repr(agent), str(agent), agent.model_dump_json(), repr(agent.model_dump())]
    shown += [json.dumps(agent.public()), repr(agent.env), repr(agent.headers)]
    assert not [text for text in shown if SECRET in text]


def test_the_public_part_of_a_command() -> None:
    agent = spec(id="a", name="A", description="d", icon="i.svg", argv=["/opt/bin/run", "--k"])
    assert agent.public() == {
        "id": "a",
        "name": "A",
        "description": "d",
        "icon": "i.svg",
        "source": "config",
        "kind": "command",
        "command": "run",
        "url": None,
    }


def test_the_public_part_of_a_websocket() -> None:
    public = spec(url="wss://u:p@[::1]:8443/acp?k=v#f").public()
    assert (public["kind"], public["command"]) == ("websocket", None)
    assert public["url"] == "wss://[::1]:8443/acp"


def test_who_needs_the_secrets_can_have_them() -> None:
    assert spec(argv=["x"], env={"K": SECRET}).env_values() == {"K": SECRET}
    assert spec(url="ws://h", headers={"H": SECRET}).header_values() == {"H": SECRET}
