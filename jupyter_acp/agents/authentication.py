# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The login methods of agents, in one format."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from ..protocol import META
from ..rpc import RpcError
from ..rpc.errors import AUTH_REQUIRED
from .environment import agent_environment

if TYPE_CHECKING:
    from .agent import Agent


def explained(error: RpcError, agent: Agent) -> RpcError:
    """Add the agent's login methods to an error that asks for authentication."""
    methods = login_methods(agent) if error.code == AUTH_REQUIRED else []
    if not methods:
        return error
    data = error.data if isinstance(error.data, dict) else {}
    if isinstance(error.data, str):
        data = {"details": error.data}
    ours = {"agent": agent.spec.id, "agentName": agent.spec.name, "authMethods": methods}
    meta = data.get("_meta")
    meta = {**(meta if isinstance(meta, dict) else {}), META: ours}
    error.data = {**data, "_meta": meta}
    return error


def wants_login(error: RpcError, agent: Agent) -> bool:
    """Return True if a login may resolve the error; some agents use its code for other errors, too."""
    return error.code == AUTH_REQUIRED and bool(agent.auth_methods) and not agent.is_logged_in


def can_log_out(agent: Agent) -> bool:
    """Return True if the agent supports logout."""
    auth = agent.capabilities.get("auth")
    return isinstance(auth, dict) and auth.get("logout") not in (None, False)


def login_methods(agent: Agent) -> list[dict[str, Any]]:
    """Return the agent's login methods in one format for windows."""
    return [
        _described(method, agent)
        for method in agent.auth_methods
        if isinstance(method, dict) and isinstance(method.get("id"), str)
    ]


def _described(method: dict[str, Any], agent: Agent) -> dict[str, Any]:
    described = {
        "id": method["id"],
        "name": _text(method.get("name")) or method["id"],
        "description": _text(method.get("description")),
    }
    # Many agents still describe a terminal login here, as before ACP had a type for it.
    terminal = _dict(_dict(method.get("_meta")).get("terminal-auth"))
    if terminal.get("command"):
        words = [terminal["command"], *_list(terminal.get("args"))]
        return {**described, "type": "terminal", "command": _command(words, terminal.get("env"))}
    if method.get("type") == "terminal":
        words = [*agent.spec.argv, *_list(method.get("args"))] if agent.spec.argv else []
        return {**described, "type": "terminal", "command": _command(words, method.get("env"))}
    if method.get("type") == "env_var":
        return {
            **described,
            "type": "env_var",
            "variables": _variables(method, agent),
            "link": _text(method.get("link")),
        }
    return {**described, "type": "agent"}


def _command(words: list[Any], env: Any) -> str | None:
    """Return a command line for a shell, or None if it contains invisible characters."""
    set_first = [f"{name}={value}" for name, value in _dict(env).items()]
    words = [*(["env", *set_first] if set_first else []), *words]
    if not words or not all(isinstance(word, str) and word.isprintable() for word in words):
        return None
    return shlex.join(words)


def _variables(method: dict[str, Any], agent: Agent) -> list[dict[str, Any]]:
    """Return the environment variables of a login method, and whether each is set for the agent."""
    environment = agent_environment(os.environ, agent.spec.env_values())
    wanted = _list(method.get("vars")) or [{"name": method.get("varName")}]
    return [
        {
            "name": variable["name"],
            "label": _text(variable.get("label")),
            "optional": variable.get("optional") is True,
            "isSet": bool(environment.get(variable["name"])),
        }
        for variable in wanted
        if isinstance(variable, dict) and isinstance(variable.get("name"), str)
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
