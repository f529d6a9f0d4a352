# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Types for tools: the tool, its call, and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .arguments import Arguments
from .model_text import Content

if TYPE_CHECKING:
    from ..client.documents.showing import Showing
    from ..client.notebooks.control import KernelControl
    from ..client.notebooks.kernels import Kernels
    from ..client.notebooks.running import Running
    from ..client.notebooks.service import Notebooks
    from ..client.view import SessionView
    from ..client.workspace import Workspace

A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Services:
    """The services that tools use."""

    workspace: Workspace
    notebooks: Notebooks
    running: Running
    kernels: Kernels
    control: KernelControl
    showing: Showing


@dataclass(frozen=True)
class Call(Generic[A]):
    """A call of a tool."""

    services: Services
    session: SessionView
    given: A
    title: str
    """Title of the call, for users."""

    document: Path | None
    result: dict[str, Any] = field(default_factory=dict)
    """Partial result as data, which is reported even if the call is cancelled."""

    @property
    def path(self) -> Path:
        """Document of the call."""
        assert self.document is not None
        return self.document


@dataclass(frozen=True)
class Answer:
    """The result of a call."""

    content: Content
    """Content for the model."""

    result: dict[str, Any] = field(default_factory=dict)
    """The same as data, for the transcript."""

    failed: bool = False
    """True if code was run and failed."""


@dataclass(frozen=True)
class Tool:
    """A tool."""

    call: Callable[[Call[Any]], Awaitable[Answer]]
    arguments: type[Arguments]
    words: str
    """Title of a call, for users, with the placeholders `{file}`, `{cell}` and `{cells}`."""

    card: Callable[[Call[Any]], Awaitable[dict[str, Any]]] | None = None
    """Returns the contents of the card for a call, as fields of a tool call."""

    reads_only: bool = False
    destroys: bool = False
    """True if something may be lost."""

    repeats: bool = False
    """True if a repeated call changes something again."""

    reaches_out: bool = False
    """True if it may have any effect anywhere, as code may."""

    shares: str | None = None
    """Kind of document list that the user has to share for the tool to exist, or None."""

    @property
    def name(self) -> str:
        """Name for agents."""
        return self.call.__name__

    @property
    def title(self) -> str:
        """Name for users."""
        return title_of(self.name)

    @property
    def description(self) -> str:
        """Description for agents: the docstring of the function."""
        return " ".join((self.call.__doc__ or "").split())

    @property
    def annotations(self) -> dict[str, Any]:
        """Hints for agents, in the format of MCP."""
        return {
            "title": self.title,
            "readOnlyHint": self.reads_only,
            "destructiveHint": self.destroys,
            "idempotentHint": not self.repeats,
            "openWorldHint": self.reaches_out,
        }


def title_of(name: str) -> str:
    """Return the name for users of a tool."""
    return name.replace("_", " ").capitalize()
