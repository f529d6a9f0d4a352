# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Kernels: listing and starting them, and running code in them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from ...paths import os_path
from ...rpc import RpcError, invalid_params
from ...rpc.errors import INTERNAL_ERROR, UNAVAILABLE
from .outputs import Outputs, Ran

PULSE = 0.5
"""Interval between checks of a silent kernel, in seconds."""

PATIENCE = 5.0
"""Timeout for an interrupted run to end, in seconds."""

_ANEW = ("starting", "restarting", "dead")


@dataclass(frozen=True)
class Kernel:
    """A running kernel."""

    id: str
    name: str
    state: str


class Kernels:
    """Works with all kernels of this server, including those of the user's notebooks."""

    def __init__(self, kernels: Any, sessions: Any, specs: Any, root: str | None) -> None:
        """Take Jupyter's managers, and the folder that contents paths are relative to."""
        self._kernels = kernels
        self._sessions = sessions
        self._specs = specs
        self._root = root
        self._starting: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._talks: set[Conversation] = set()

    # Listing and starting

    async def list(self) -> list[dict[str, Any]]:
        """Return all kernels, each with the notebooks that use it."""
        users: dict[str, list[str]] = {}
        for session in await _maybe(self._sessions.list_sessions()):
            path = os_path(self._root, session.get("path") or "")
            if session.get("type") == "notebook" and path is not None:
                users.setdefault(session["kernel"]["id"], []).append(str(path))
        specs = await self.specs()
        return [
            {
                "id": model["id"],
                "name": model["name"],
                "language": specs.get(model["name"], {}).get("language"),
                "state": model.get("execution_state"),
                "lastActivity": model.get("last_activity"),
                "notebooks": users.get(model["id"], []),
            }
            for model in await _maybe(self._kernels.list_kernels())
        ]

    async def specs(self) -> dict[str, dict[str, Any]]:
        """Return the installed kernels."""
        found = await _maybe(self._specs.get_all_specs())
        return {
            name: {
                "displayName": entry["spec"].get("display_name"),
                "language": entry["spec"].get("language"),
            }
            for name, entry in found.items()
        }

    async def find(self, path: Path) -> Kernel | None:
        """Return the kernel of a notebook, or None."""
        for session in await _maybe(self._sessions.list_sessions()):
            file = os_path(self._root, session.get("path") or "")
            model = session.get("kernel") or {}
            is_it = file is not None and (file == path or file.resolve() == path)
            if is_it and model.get("id") in self._kernels:
                return _kernel(model)
        return None

    async def start(self, path: Path, metadata: dict[str, Any]) -> Kernel:
        """Return the kernel of a notebook; start one as Jupyter does if there is none."""
        async with self._starting.setdefault(path, asyncio.Lock()):
            if (kernel := await self.find(path)) is not None:
                return kernel
            if self._root is None or Path(self._root) not in path.parents:
                raise invalid_params(
                    f"{path} is not inside of the folder that Jupyter serves ({self._root}): no "
                    "kernel can be started for it."
                )
            name = await self._choose(metadata)
            try:
                session = await _maybe(
                    self._sessions.create_session(
                        path=path.relative_to(self._root).as_posix(),
                        name=path.name,
                        type="notebook",
                        kernel_name=name,
                    )
                )
            except Exception as error:
                raise RpcError(
                    INTERNAL_ERROR, f"The kernel {name} could not be started: {error}"
                ) from error
            return _kernel(session["kernel"])

    async def described(self, wanted: str | None) -> dict[str, Any]:
        """Return the notebook metadata for a kernel, given by its name, title or language."""
        specs = await self.specs()
        default = str(self._kernels.default_kernel_name)
        known = [default] if wanted is None else _alike(specs, wanted)
        # Several kernels may have the given language.
        name = next((name for name in (wanted, default, *known) if name in known), None)
        if name not in specs:
            raise invalid_params(
                f"kernel: {name or wanted} is not installed here. Installed are: "
                f"{', '.join(sorted(specs)) or 'none'}."
            )
        spec = specs[name]
        kernelspec = {"name": name, "display_name": spec["displayName"] or name}
        if spec["language"]:
            kernelspec["language"] = spec["language"]
        return {"kernelspec": kernelspec}

    async def _choose(self, metadata: dict[str, Any]) -> str:
        """Return the kernelspec that a notebook names, else one of the same language."""
        spec = metadata.get("kernelspec") or {}
        wanted = spec.get("name")
        language = spec.get("language") or (metadata.get("language_info") or {}).get("name")
        default = str(self._kernels.default_kernel_name)
        if wanted is None and language is None:
            return default
        specs = await self.specs()
        alike = [name for name in specs if language and specs[name]["language"] == language]
        for name in (wanted, *([default] if default in alike else []), *sorted(alike)):
            if name in specs:
                return str(name)
        raise invalid_params(
            f"The notebook wants the kernel {wanted or language!r}, which is not installed here. "
            f"Installed are: {', '.join(sorted(specs)) or 'none'}. Ask the user to choose one."
        )

    # Running code

    async def execute(
        self, kernel: Kernel, code: str, *, timeout: float, store_history: bool, owner: str
    ) -> Ran:
        """Run code and return the result; interrupt it after the timeout."""
        deadline = time.monotonic() + timeout
        outputs = Outputs()
        async with self._conversation(kernel, deadline, owner) as talk:
            talk.execute(code, store_history=store_history)
            try:
                reply = await talk.finish(outputs, deadline)
                note = ""
                if reply is None:
                    note = f"It took longer than {timeout:g} s"
                    reply, note = await self._stop(talk, outputs, note)
            except asyncio.CancelledError:
                if talk.started:
                    await self.interrupt(kernel)
                raise
        ran = Ran("ok", outputs.items, (reply or {}).get("execution_count"), note, talk.language)
        if note:
            ran.status = "timeout"
        elif outputs.failed or (reply or {}).get("status") == "error":
            ran.status = "error"
        elif (reply or {}).get("status") in ("aborted", "abort"):
            ran.status, ran.note = "aborted", "Something before it failed."
        return ran

    async def evaluate(self, kernel: Kernel, expression: str, *, timeout: float) -> Any:
        """Return the kernel's answer to an expression, without outputs, history or count."""
        deadline = time.monotonic() + timeout
        async with self._conversation(kernel, deadline) as talk:
            talk.execute("", expression=expression)
            reply = await talk.finish(Outputs(), deadline)
            if reply is None and talk.started:
                await self.interrupt(kernel)
        return ((reply or {}).get("user_expressions") or {}).get("it")

    @contextlib.asynccontextmanager
    async def watch(
        self, kernel: Kernel, code: str, *, timeout: float, owner: str
    ) -> AsyncIterator[Conversation]:
        """Wait until a kernel is free, then track whether it runs code sent by a window."""
        async with self._conversation(kernel, time.monotonic() + timeout, owner) as talk:
            following = asyncio.ensure_future(talk.follow(code))
            try:
                yield talk
            finally:
                following.cancel()
                # Wait for the task before its channels are closed.
                await asyncio.gather(following, return_exceptions=True)

    async def language(self, kernel: Kernel, *, timeout: float) -> str:
        """Return the language that a kernel reports."""
        async with self._conversation(kernel, time.monotonic() + timeout) as talk:
            return talk.language

    async def interrupt(self, kernel: Kernel) -> None:
        """Interrupt a kernel."""
        # A kernel that has ended needs no interrupt.
        with contextlib.suppress(Exception):
            await _maybe(self._kernels.interrupt_kernel(kernel.id))

    async def restart(self, kernel: Kernel) -> None:
        """Restart a kernel."""
        try:
            await _maybe(self._kernels.restart_kernel(kernel.id))
        except Exception as error:
            raise RpcError(
                INTERNAL_ERROR, f"The kernel {kernel.name} could not be restarted: {error}"
            ) from error

    def run(self, kernel: Kernel) -> Conversation | None:
        """Return the run in progress in a kernel, if it belongs to a session."""
        at_it = (talk for talk in self._talks if talk.kernel.id == kernel.id and talk.started)
        return next((talk for talk in at_it if talk.owner), None)

    async def _stop(
        self, talk: Conversation, outputs: Outputs, note: str
    ) -> tuple[dict[str, Any] | None, str]:
        if not talk.started:
            return None, f"{note} to begin: the kernel is busy. It runs when the kernel is free."
        await self.interrupt(talk.kernel)
        reply = await talk.finish(outputs, time.monotonic() + PATIENCE)
        if reply is None:
            return None, f"{note} and does not react to an interrupt: it may still be running."
        return reply, f"{note} and was interrupted."

    @contextlib.asynccontextmanager
    async def _conversation(
        self, kernel: Kernel, deadline: float, owner: str = ""
    ) -> AsyncIterator[Conversation]:
        try:
            manager = self._kernels.get_kernel(kernel.id)
        except Exception:
            raise _gone() from None
        while not manager.has_kernel and time.monotonic() < deadline:  # noqa: ASYNC110
            # Jupyter may list a kernel before its process exists.
            await asyncio.sleep(0.1)
        client = manager.client()
        # All clients of a manager share a session id, and the kernel replies to the last client of
        # an id: two concurrent tools would receive each other's replies.
        client.session.session = uuid4().hex
        client.start_channels(stdin=False, hb=False)
        try:
            talk = Conversation(kernel, client, lambda: kernel.id in self._kernels)
            await talk.begin(manager, deadline)
            talk.owner = owner
            self._talks.add(talk)
            try:
                yield talk
            finally:
                self._talks.discard(talk)
        finally:
            client.stop_channels()


class Conversation:
    """One request to a shared kernel: from this server, or from a window."""

    def __init__(self, kernel: Kernel, client: Any, exists: Any) -> None:
        self.kernel = kernel
        self.started = False
        """True if the kernel has begun the request: only then it may be interrupted."""

        self.language = ""
        self.owner = ""
        """Id of the session that the request belongs to."""

        self._client = client
        self._exists = exists
        self._manager: Any = None
        self._process: Any = None
        self._id = ""
        self._reply: dict[str, Any] | None = None

    async def begin(self, manager: Any, deadline: float) -> None:
        """Wait until the kernel is free and its messages arrive."""
        self._manager = manager
        self._process = _process(manager)
        self._id = self._client.kernel_info()
        while time.monotonic() < deadline:
            heard = await self._hear(PULSE)
            if self._reply is None:
                await self._take_reply()
            if self._reply is not None:
                if self.started:
                    self.language = (self._reply.get("language_info") or {}).get("name", "")
                    self.started = False
                    return
                if heard is None:
                    # The subscription came too late for the messages of this request: send another.
                    self._reply = None
                    self._id = self._client.kernel_info()
            elif heard is None:
                await self._check_alive()
        raise RpcError(
            UNAVAILABLE,
            "The kernel is busy with something else; nothing was run. Wait until it is idle, or "
            "give a longer timeout.",
        )

    def execute(self, code: str, *, store_history: bool = False, expression: str = "") -> None:
        """Send code, or an expression to evaluate."""
        self._reply = None
        self._id = self._client.execute(
            code,
            silent=not code,
            store_history=store_history,
            user_expressions={"it": expression} if expression else {},
            allow_stdin=False,
            stop_on_error=False,
        )

    async def finish(self, outputs: Outputs, deadline: float) -> dict[str, Any] | None:
        """Collect messages until the request is done; return the reply, None after the deadline."""
        is_idle = False
        quiet = 0
        while (left := deadline - time.monotonic()) > 0:
            message = await self._hear(min(PULSE, left))
            if message is None:
                quiet += 1
                await self._check_alive()
            else:
                quiet = 0
                kind, content = message
                if kind == "status":
                    is_idle = content.get("execution_state") == "idle"
                else:
                    outputs.take(kind, content)
            if self._reply is None and (is_idle or message is None):
                await self._take_reply()
            # With many messages, the idle status may get lost; the reply also marks the end.
            if self._reply is not None and (is_idle or quiet > 1):
                return self._reply
        return None

    async def follow(self, code: str) -> None:
        """Keep `started` true while the kernel runs the code sent by a window."""
        from queue import Empty

        try:
            while True:
                # With many messages, receiving never waits: let other tasks run.
                await asyncio.sleep(0)
                with contextlib.suppress(Empty):
                    self._note(await _maybe(self._client.get_iopub_msg(timeout=PULSE)), code)
        finally:
            # Without messages, the state of the kernel is unknown.
            self.started = False

    def _note(self, message: dict[str, Any], code: str) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        parent = message["parent_header"].get("msg_id")
        if kind == "execute_input":
            # The code of the window's request is known, its id is not. The start of another request
            # means that this one has ended, even if its idle status was lost.
            self._id = parent
            self.started = content.get("code") == code
        elif kind == "status":
            state = content.get("execution_state")
            if (state == "idle" and parent == self._id) or state in _ANEW:
                self.started = False

    async def _hear(self, wait: float) -> tuple[str, dict[str, Any]] | None:
        """Return the next message for this request, or None if none arrives in time."""
        from queue import Empty

        end = time.monotonic() + wait
        while (left := end - time.monotonic()) > 0:
            try:
                message = await _maybe(self._client.get_iopub_msg(timeout=left))
            except Empty:
                return None
            kind, content = message["header"]["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") == self._id:
                if kind == "status" and content.get("execution_state") == "busy":
                    self.started = True
                return kind, content
            if kind == "status" and content.get("execution_state") in ("restarting", "dead"):
                raise _gone()
        return None

    async def _take_reply(self) -> None:
        from queue import Empty

        with contextlib.suppress(Empty):
            while self._reply is None:
                message = await _maybe(self._client.get_shell_msg(timeout=0.05))
                if message["parent_header"].get("msg_id") == self._id:
                    self._reply = message["content"]

    async def _check_alive(self) -> None:
        is_alive = self._exists() and await _maybe(self._manager.is_alive())
        # Jupyter may have restarted the process, and the new one does not know the request.
        if not is_alive or _process(self._manager) != self._process:
            raise _gone()


def _kernel(model: dict[str, Any]) -> Kernel:
    return Kernel(model["id"], model["name"], model.get("execution_state") or "unknown")


def _alike(specs: dict[str, dict[str, Any]], wanted: str) -> list[str]:
    """Return the kernels with a given name, title or language."""
    names = {
        name: (name, spec["displayName"] or "", spec["language"] or "")
        for name, spec in specs.items()
    }
    return sorted(
        name for name in names if wanted.lower() in (each.lower() for each in names[name])
    )


def _process(manager: Any) -> Any:
    """Return the process id of a kernel, or None if it is unknown."""
    return getattr(getattr(manager, "provisioner", None), "pid", None)


def _gone() -> RpcError:
    return RpcError(
        UNAVAILABLE, "The kernel was restarted or has ended meanwhile; its variables are gone."
    )


async def _maybe(value: Any) -> Any:
    from jupyter_server.utils import ensure_async

    return await ensure_async(value)
