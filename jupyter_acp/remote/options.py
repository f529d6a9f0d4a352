# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The settings for remote sessions, in the server and in the runner."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from jupyter_core.paths import jupyter_data_dir
from pydantic import BaseModel, ConfigDict, Field

from ..agents.modules import own_module
from ..agents.spec import AgentSpec
from .git import TIMEOUT
from .limits import Limits
from .refs import Policy


def default_cache() -> Path:
    """Return the default folder for repositories."""
    return Path(jupyter_data_dir()) / "acp" / "remote"


class RemoteOptions(BaseModel):
    """The values of the server's traits `remote_…`, which the runner gets as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache: Path = Field(default_factory=default_cache)
    schemes: tuple[Literal["https", "ssh", "http", "file"], ...] = ("https", "ssh")
    hosts: tuple[str, ...] = ()
    branch: str = "acp/{session}"
    author: str = ""
    timeout: float = TIMEOUT
    size: float = 2000
    files: int = 100_000
    keep_days: float = 30

    @property
    def policy(self) -> Policy:
        """The policy for addresses of repositories."""
        return Policy(self.schemes, self.hosts)

    @property
    def limits(self) -> Limits:
        """The limits on the size of repositories."""
        return Limits(int(self.size * 1e6), self.files)

    @property
    def is_possible(self) -> bool:
        """True if git is installed."""
        return shutil.which("git") is not None

    def runner(self, spec: AgentSpec) -> AgentSpec:
        """Return the spec of the runner that wraps an agent for remote sessions."""
        options = f"--options={self.model_dump_json()}"
        argv = [*own_module("jupyter_acp.remote"), options, "--", *spec.argv]
        # A built-in agent gets no MCP servers: here they would work on other files than it does.
        return spec.model_copy(update={"argv": argv, "source": "built-in"})
