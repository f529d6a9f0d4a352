# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The one list of agents: built in, found on PATH, offered by a registry, written in the config."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pydantic import ValidationError

from .known import KNOWN_AGENTS
from .modules import own_module
from .registry import Registry, RegistryError, load_registry
from .spec import AgentSpec, Candidate, basename, explain

BUILTIN_ID = "builtin"


class CatalogError(LookupError):
    """An agent cannot be had; the message is meant for the person who asked for it."""


class UnknownAgent(CatalogError):  # noqa: N818 (reads as what happened)
    """Nobody has heard of this agent."""


class AgentNotAllowed(CatalogError):  # noqa: N818 (reads as what happened)
    """The administrator does not allow this agent."""


class AgentUnavailable(CatalogError):  # noqa: N818 (reads as what happened)
    """The agent is known but cannot run here as things are."""


@dataclass(frozen=True)
class Entry:
    """An agent, and whether it can be started now or what is missing."""

    spec: AgentSpec
    available: bool
    missing: str | None = None
    install: str | None = None

    def public(self) -> dict[str, Any]:
        """What a browser may know."""
        return {
            **self.spec.public(),
            "available": self.available,
            "missing": self.missing,
            "install": self.install,
        }


# The class below has a method of the name `list`.
Entries = list[Entry]
Problems = list[str]


class Catalog:
    """Every agent that may be used here. A later source wins: built-in, PATH, registry, config."""

    def __init__(
        self,
        config: Mapping[str, Any],
        allowed: Sequence[str] | None = None,
        registry: str = "",
        default: str = "",
        which: Callable[..., str | None] = shutil.which,
    ) -> None:
        self._config = config
        self._allowed = tuple(allowed or ())
        self._location = registry
        self._default = default
        self._which = which
        self._registry: Registry | None = None
        self._reading = threading.Lock()

    def list(self) -> Entries:
        """Every allowed agent, looked up afresh: one that was installed a moment ago is found."""
        entries: dict[str, Entry] = {}
        for entry in self._entries():
            if not self._is_allowed(entry.spec.id):
                continue
            known = entries.get(entry.spec.id)
            # A registry only offers: it must not take away what already works.
            if (
                entry.spec.source == "registry"
                and known
                and known.available
                and not entry.available
            ):
                continue
            entries[entry.spec.id] = entry
        return [*entries.values()]

    def get(self, id: str) -> AgentSpec:
        """The agent of this id, ready to be started, or an error that says what to do."""
        if not self._is_allowed(id):
            raise AgentNotAllowed(
                f"The agent `{id}` is not allowed on this server. {self._choice()} "
                "The administrator sets this with `AcpExtension.allowed_agents`."
            )
        entry = next((entry for entry in self.list() if entry.spec.id == id), None)
        if entry is None:
            raise UnknownAgent(
                f"There is no agent `{id}`. {self._choice()} "
                "Others can be added with `AcpExtension.agents`."
            )
        if not entry.available:
            hint = f" To install it, run: {entry.install}" if entry.install else ""
            raise AgentUnavailable(f"{entry.spec.name} cannot be started. {entry.missing}{hint}")
        return entry.spec

    def is_elsewhere(self, id: str) -> bool:
        """Whether an agent is reached by a socket, and not started here."""
        return any(entry.spec.id == id and entry.spec.url for entry in self.list())

    @property
    def default_id(self) -> str:
        """The agent of a session that names none. A configured one is never silently replaced."""
        if self._default:
            return self._default
        ready = [entry.spec.id for entry in self.list() if entry.available]
        return BUILTIN_ID if BUILTIN_ID in ready or not ready else ready[0]

    @property
    def problems(self) -> Problems:
        """What an administrator should know: refused registry entries, an unreadable registry."""
        return [*self._offers().problems]

    def refresh(self) -> None:
        """Read the registry again. This may wait for the network: call it in a thread."""
        with self._reading:
            self._registry = self._read_registry()

    def _entries(self) -> Iterator[Entry]:
        yield self._entry([_builtin()])
        for candidates in _known():
            yield self._entry(candidates)
        for id_, candidates in self._offers().agents.items():
            # The name of the agent that needs no trust must not lead to one that does.
            if id_ != BUILTIN_ID:
                yield self._entry(candidates)
        for id_, value in self._config.items():
            yield self._configured(id_, value)

    def _entry(self, candidates: Sequence[Candidate]) -> Entry:
        for candidate in candidates:
            ready = self._resolve(candidate.spec)
            if ready is not None:
                return Entry(ready, available=True)
        # One command is easier to follow than a download.
        best = next(
            (candidate for candidate in candidates if candidate.spec.install), candidates[0]
        )
        return Entry(best.spec, available=False, missing=best.missing, install=best.spec.install)

    def _configured(self, id_: Any, value: Any) -> Entry:
        try:
            fields = dict(value) if isinstance(value, Mapping) else {"argv": None}
            spec = AgentSpec.model_validate({**fields, "id": id_, "source": "config"})
        except ValidationError as error:
            wrong = explain(error) if isinstance(value, Mapping) else "it must be a dictionary"
            missing = f"Its entry in `AcpExtension.agents` is not usable: {wrong}."
            name = str(id_)
            # Unvalidated on purpose: the broken entry is shown by its name, to be repaired.
            spec = AgentSpec.model_construct(id=name, name=name, source="config")
            return Entry(spec, available=False, missing=missing)
        return self._entry([Candidate(spec, _not_found(spec))])

    def _resolve(self, spec: AgentSpec) -> AgentSpec | None:
        """The spec with the full path of its program, or nothing where there is no such program."""
        if spec.url:
            return spec
        program = self._which(spec.argv[0], path=spec.env_values().get("PATH"))
        if program is None:
            return None
        # Absolute, since the agent may be started in another directory than the server's.
        return spec.model_copy(update={"argv": [os.path.abspath(program), *spec.argv[1:]]})

    def _offers(self) -> Registry:
        if self._registry is None:
            # While another thread is still fetching, answer without it instead of waiting.
            if not self._location or not self._reading.acquire(blocking=False):
                return Registry()
            try:
                self._registry = self._read_registry()
            finally:
                self._reading.release()
        return self._registry

    def _read_registry(self) -> Registry:
        if not self._location:
            return Registry()
        try:
            return load_registry(self._location)
        except RegistryError as error:
            return Registry(problems=[str(error)])

    def _is_allowed(self, id_: str) -> bool:
        return not self._allowed or any(fnmatchcase(id_, pattern) for pattern in self._allowed)

    def _choice(self) -> str:
        ready = [f"`{entry.spec.id}`" for entry in self.list() if entry.available]
        return f"Ready to use: {', '.join(ready)}." if ready else "No agent is ready to use."


def _builtin() -> Candidate:
    spec = AgentSpec(
        id=BUILTIN_ID,
        name="Notebook Assistant",
        description="Shows what an agent can do here. No language model, no key, no network.",
        argv=own_module("jupyter_acp.builtin"),
        source="built-in",
    )
    return Candidate(spec, "The Python of this server is no longer where it was.")


def _known() -> Iterator[Sequence[Candidate]]:
    for agent in KNOWN_AGENTS:
        programs = " or ".join(f"`{command[0]}`" for command in agent.commands)
        missing = f"It is not installed: there is no {programs} on the server's PATH."
        yield [
            Candidate(
                AgentSpec(
                    id=agent.id,
                    name=agent.name,
                    description=agent.description,
                    argv=[*command],
                    source="path",
                    install=agent.install,
                ),
                missing,
            )
            for command in agent.commands
        ]


def _not_found(spec: AgentSpec) -> str:
    if spec.url:
        return ""
    program = basename(spec.argv[0])
    if program != spec.argv[0]:
        return f"`{program}` does not exist where `argv` says, or it is not executable."
    whose = "that its `env` sets" if "PATH" in spec.env else "of the server"
    return f"`{program}` is not on the PATH {whose}."
