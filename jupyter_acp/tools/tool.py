# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What a tool is, what it is called with, and what comes of it."""

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
    """What the tools are made of."""

    workspace: Workspace
    notebooks: Notebooks
    running: Running
    kernels: Kernels
    control: KernelControl
    showing: Showing


@dataclass(frozen=True)
class Call(Generic[A]):
    """One call of a tool."""

    services: Services
    session: SessionView
    given: A
    title: str
    """What it does, in words for people."""

    document: Path | None
    result: dict[str, Any] = field(default_factory=dict)
    """What has come of it so far, as data: if it is cancelled, that was done all the same."""

    @property
    def path(self) -> Path:
        """The document that it is about."""
        assert self.document is not None
        return self.document


@dataclass(frozen=True)
class Answer:
    """What came of a call."""

    content: Content
    """What the model gets."""

    result: dict[str, Any] = field(default_factory=dict)
    """The same as data, for those who watch."""

    failed: bool = False
    """Whether code was run that failed."""


@dataclass(frozen=True)
class Tool:
    """One tool."""

    call: Callable[[Call[Any]], Awaitable[Answer]]
    arguments: type[Arguments]
    words: str
    """What it does, in words for people; `{file}`, `{cell}` and `{cells}` are what it is about."""

    card: Callable[[Call[Any]], Awaitable[dict[str, Any]]] | None = None
    """Returns what a card shows of a call besides its title, as fields of a tool call."""

    reads_only: bool = False
    destroys: bool = False
    """Whether something may be lost by it."""

    repeats: bool = False
    """Whether doing it once more changes something once more."""

    reaches_out: bool = False
    """Whether it may do anything anywhere: code can."""

    shares: str | None = None
    """What the user has to share for it to be there."""

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.call.__name__

    @property
    def title(self) -> str:
        """What people call it."""
        return title_of(self.name)

    @property
    def description(self) -> str:
        """What it is for: what its documentation says."""
        return " ".join((self.call.__doc__ or "").split())

    @property
    def annotations(self) -> dict[str, Any]:
        """What agents decide by, as MCP names it."""
        return {
            "title": self.title,
            "readOnlyHint": self.reads_only,
            "destructiveHint": self.destroys,
            "idempotentHint": not self.repeats,
            "openWorldHint": self.reaches_out,
        }


def title_of(name: str) -> str:
    """Return what people call the tool of a name."""
    return name.replace("_", " ").capitalize()
