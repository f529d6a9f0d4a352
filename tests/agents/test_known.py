# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The table of known agents is sound: every row makes a valid spec and can be installed."""

from __future__ import annotations

import pytest

from jupyter_acp.agents.known import KNOWN_AGENTS, KnownAgent
from jupyter_acp.agents.spec import AgentSpec


def test_no_agent_is_listed_twice() -> None:
    ids = [agent.id for agent in KNOWN_AGENTS]
    commands = [command for agent in KNOWN_AGENTS for command in agent.commands]
    assert len(set(ids)) == len(ids)
    assert len(set(commands)) == len(commands)


@pytest.mark.parametrize("agent", KNOWN_AGENTS, ids=lambda agent: agent.id)
def test_every_row_is_complete(agent: KnownAgent) -> None:
    assert agent.name
    assert agent.description
    assert agent.install
    assert "\n" not in agent.install
    for command in agent.commands:
        spec = AgentSpec(id=agent.id, argv=[*command], source="path", install=agent.install)
        assert spec.public()["command"] == command[0]


def test_the_agents_that_the_issue_names_are_there() -> None:
    commands = {" ".join(command) for agent in KNOWN_AGENTS for command in agent.commands}
    assert commands >= {
        "claude-agent-acp",
        "codex-acp",
        "gemini --acp",
        "opencode acp",
        "goose acp",
        "qwen --acp",
        "copilot --acp",
        "auggie --acp",
    }
