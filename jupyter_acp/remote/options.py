# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an admin may set for sessions on repositories that are elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..agents.modules import own_module
from ..agents.spec import AgentSpec
from .git import TIMEOUT
from .limits import Limits
from .refs import SCHEMES, Policy
from .runner.cache import Keeping


@dataclass(frozen=True)
class RemoteOptions:
    """As the server has it, and as the runner is told on its command line."""

    cache: Path
    schemes: Sequence[str] = SCHEMES
    hosts: Sequence[str] = ()
    branch: str = "acp/{session}"
    author: str = ""
    timeout: float = TIMEOUT
    limits: Limits = field(default_factory=Limits)
    keeping: Keeping = field(default_factory=Keeping)

    @property
    def policy(self) -> Policy:
        """Where repositories may be."""
        return Policy(tuple(self.schemes), tuple(self.hosts))

    @property
    def is_possible(self) -> bool:
        """Whether there is a git at all."""
        return shutil.which("git") is not None

    def runner(self, spec: AgentSpec) -> AgentSpec:
        """Return an agent that works on repositories that are elsewhere, by wrapping one that does not."""
        options = [
            *(f"--scheme={scheme}" for scheme in self.schemes),
            *(f"--host={host}" for host in self.hosts),
            f"--cache={self.cache}",
            f"--branch={self.branch}",
            f"--author={self.author}",
            f"--timeout={self.timeout}",
            f"--size={self.limits.size / 1e6}",
            f"--files={self.limits.files}",
            f"--keep-days={self.keeping.days}",
            f"--keep-size={self.keeping.size / 1e6}",
        ]
        argv = [*own_module("jupyter_acp.remote"), *options, "--", *spec.argv]
        # As one that asks for nothing here: its tools would work on other files than it sees.
        return spec.model_copy(update={"argv": argv, "source": "built-in"})
