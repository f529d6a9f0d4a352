# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The catalog of agents: built in, found on PATH, from a registry, and from the configuration."""

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
    """An agent cannot be used; the message is for the user who asked for it."""


class UnknownAgent(CatalogError):  # noqa: N818 (reads as what happened)
    """There is no agent of this id."""


class AgentNotAllowed(CatalogError):  # noqa: N818 (reads as what happened)
    """The administrator does not allow this agent."""


class AgentUnavailable(CatalogError):  # noqa: N818 (reads as what happened)
    """The agent is known but cannot be started here."""


@dataclass(frozen=True)
class Entry:
    """An agent, and whether it can be started, or what is missing."""

    spec: AgentSpec
    available: bool
    missing: str | None = None
    install: str | None = None

    def public(self) -> dict[str, Any]:
        """Return the description for windows and REST clients."""
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
    """Lists all allowed agents. A later source wins: built-in, PATH, registry, configuration."""

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
        """Return every allowed agent, looked up anew to include those installed meanwhile."""
        entries: dict[str, Entry] = {}
        for entry in self._entries():
            if not self._is_allowed(entry.spec.id):
                continue
            known = entries.get(entry.spec.id)
            # An unavailable agent of the registry must not replace an available one.
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
        """Return the spec of an agent that can be started; raise an error that says what to do."""
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
        """Return True if the agent is reached by a websocket instead of a process here."""
        return any(entry.spec.id == id and entry.spec.url for entry in self.list())

    @property
    def default_id(self) -> str:
        """The agent for sessions that name none: the configured one, else the first available."""
        if self._default:
            return self._default
        ready = [entry.spec.id for entry in self.list() if entry.available]
        return BUILTIN_ID if BUILTIN_ID in ready or not ready else ready[0]

    @property
    def problems(self) -> Problems:
        """Problems for the administrator: refused registry entries, an unreadable registry."""
        return [*self._offers().problems]

    def refresh(self) -> None:
        """Read the registry again; call this in a thread, because it may wait for the network."""
        with self._reading:
            self._registry = self._read_registry()

    def _entries(self) -> Iterator[Entry]:
        yield self._entry([_builtin()])
        for candidates in _known():
            yield self._entry(candidates)
        for id_, candidates in self._offers().agents.items():
            # An entry of the registry must not pose as the built-in agent, which users trust.
            if id_ != BUILTIN_ID:
                yield self._entry(candidates)
        for id_, value in self._config.items():
            yield self._configured(id_, value)

    def _entry(self, candidates: Sequence[Candidate]) -> Entry:
        for candidate in candidates:
            ready = self._resolve(candidate.spec)
            if ready is not None:
                return Entry(ready, available=True)
        # Prefer the candidate that can be installed with one command.
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
            # Not validated on purpose, so that the invalid entry is listed by its name.
            spec = AgentSpec.model_construct(id=name, name=name, source="config")
            return Entry(spec, available=False, missing=missing)
        return self._entry([Candidate(spec, _not_found(spec))])

    def _resolve(self, spec: AgentSpec) -> AgentSpec | None:
        """Return the spec with the full path of its program, or None if it is not found."""
        if spec.url:
            return spec
        program = self._which(spec.argv[0], path=spec.env_values().get("PATH"))
        if program is None:
            return None
        # Absolute, because the agent may be started in another directory than the server.
        return spec.model_copy(update={"argv": [os.path.abspath(program), *spec.argv[1:]]})

    def _offers(self) -> Registry:
        if self._registry is None:
            # While another thread fetches the registry, answer without it instead of waiting.
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
