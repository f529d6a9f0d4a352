# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an administrator can set for remote sessions, here and in the runner."""

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
    """Return where repositories are kept if nobody has said where."""
    return Path(jupyter_data_dir()) / "acp" / "remote"


class RemoteOptions(BaseModel):
    """The traits `remote_…` of the server, which its runner is given as they are, in JSON."""

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
        """Where repositories may be."""
        return Policy(self.schemes, self.hosts)

    @property
    def limits(self) -> Limits:
        """How large they may be."""
        return Limits(int(self.size * 1e6), self.files)

    @property
    def is_possible(self) -> bool:
        """Whether there is a git at all."""
        return shutil.which("git") is not None

    def runner(self, spec: AgentSpec) -> AgentSpec:
        """Return an agent that works on repositories that are elsewhere, by wrapping one that does not."""
        options = f"--options={self.model_dump_json()}"
        argv = [*own_module("jupyter_acp.remote"), options, "--", *spec.argv]
        # As one that asks for nothing here: its tools would work on other files than it sees.
        return spec.model_copy(update={"argv": argv, "source": "built-in"})
