# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The recipes of docs/hub.md do what they are there for; those for the hub itself run in test_hub.py."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.paths import SYSTEM_CONFIG_PATH
from jupyter_server.serverapp import ServerApp
from recipes import blocks, mount, told, values
from traitlets.config import Config

from jupyter_acp.agents.known import KNOWN_AGENTS

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
FILES = ("jupyter_server_config.py", "jupyterhub_config.py")


def test_every_configuration_says_which_file_it_is_for() -> None:
    """Else nothing would run it."""
    for block in blocks("python"):
        assert block.startswith(tuple(f"# {file}\n" for file in FILES)), block


# The values for the chart


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Nothing but the extension, and what the chart puts below `/`."""
    mount(tmp_path)
    return {"ServerApp": {"jpserver_extensions": {"jupyter_acp": True}}}


async def test_what_the_chart_writes_is_in_force(acp: Any, jp_fetch: Any) -> None:
    (file,) = values()["singleuser"]["extraFiles"].values()
    assert list(file["data"]) == ["AcpExtension"]
    traits = file["data"]["AcpExtension"]
    assert {"allowed_agents", "permissions"} <= traits.keys()
    assert {name: getattr(acp, name) for name in traits} == traits
    agents = json.loads((await jp_fetch("acp", "agents")).body)["agents"]
    assert {agent["id"] for agent in agents} == set(traits["allowed_agents"])


def test_the_chart_starts_servers_as_the_hub_of_the_page_does(tmp_path: Path) -> None:
    config = Config()
    exec(told("jupyterhub_config.py", tmp_path), {"c": config})
    given = values()["hub"]["config"]
    assert given == {"Spawner": {"disable_user_config": config.Spawner.disable_user_config}}
    assert given["Spawner"]["disable_user_config"] is True


# The image


def steps() -> list[list[str]]:
    """The instructions of the Dockerfile, each as its words."""
    (text,) = blocks("dockerfile")
    lines = re.sub(r"\\\n", "", text).splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


def commands() -> list[list[str]]:
    """What runs while the image is built."""
    lines = [" ".join(words) for name, *words in steps() if name == "RUN"]
    return [command.split() for line in lines for command in line.split("&&")]


def test_the_image_is_made_of_what_there_is() -> None:
    (ours,) = re.findall(r'^\[project\]\nname = "(.+)"', PYPROJECT.read_text(), re.MULTILINE)
    install, agent, doctor = commands()
    assert install == ["pip", "install", "--no-cache-dir", ours]
    # The agent that the page allows besides the built-in one.
    (file,) = values()["singleuser"]["extraFiles"].values()
    allowed = file["data"]["AcpExtension"]["allowed_agents"]
    known = {each.id: each.install for each in KNOWN_AGENTS if each.id in allowed}
    assert {*known, "builtin"} == set(allowed)
    assert [" ".join(agent).replace("--global", "-g")] == list(known.values())
    assert doctor == ["jupyter", "acp", "doctor"]


def test_the_image_has_its_configuration_where_servers_look() -> None:
    (copied,) = [words for name, *words in steps() if name == "COPY"]
    name, folder = copied
    assert name == FILES[0] == f"{ServerApp().config_file_name}.py"
    assert folder.rstrip("/") in SYSTEM_CONFIG_PATH


@pytest.mark.parametrize("is_broken", [False, True])
def test_the_image_is_built_only_if_all_is_well(tmp_path: Path, is_broken: bool) -> None:
    for name in ("etc/jupyter", "var/log"):
        (tmp_path / name).mkdir(parents=True)
    config = tmp_path / "etc/jupyter" / FILES[0]
    # Nobody can write a log there.
    root = tmp_path / "nowhere" if is_broken else tmp_path
    config.write_text(told(FILES[0], root))
    command, *words = commands()[-1]
    done = subprocess.run(
        [str(Path(sys.executable).with_name(command)), *words],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "JUPYTER_CONFIG_DIR": str(tmp_path / "none"),
            "JUPYTER_CONFIG_PATH": str(config.parent),
            "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        },
    )
    assert done.returncode == int(is_broken), done.stdout + done.stderr
    assert (f"Configuration file: {config}" in done.stdout) is not is_broken
    assert (f"{root}/var/log/agents.log" in done.stdout) is is_broken
