# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The relay between a client and a wrapped agent, which adds remote sessions to the agent.

To the client the runner is an agent; to the agent it is a client without files and terminals,
because the agent works on local files. Messages about other sessions are passed on unchanged.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable
from typing import Any, TypeVar

from ... import protocol
from ...rpc import Connection, Peer, Request, RpcError, invalid_params
from ...rpc.connection import Store
from ...rpc.errors import INVALID_REQUEST, UNAVAILABLE
from ...rpc.outbox import Queue
from ..capabilities import ours, takes_remote
from ..git import GitError
from ..progress import Reporter
from ..refs import GitRemoteRef, Policy, RefError, git_ref, public_url
from .cache import Cache
from .messages import folder_in, hints_of, left_out, offered, remote_of, words_of
from .worktree import Author, Worktree, commit_message
from .wrapped_agent import StartAgent, Wrapped, can, name_of


class Behind(Store):
    """Pauses reading from the agent while the client is slow to read."""

    def __init__(self, outbox: Queue) -> None:
        self._outbox = outbox

    def keeps_up(self) -> bool:
        """Return True if there is room for more messages to the client."""
        return not self._outbox.full

    async def room(self) -> None:
        """Wait until there is room for more."""
        while self._outbox.full:
            await self._outbox.room()


T = TypeVar("T")

_OF_THE_CLIENT = ("remote", "additionalDirectories", "sessionId", "_meta")
"""Parameters that are not passed on to the agent as they are."""

END_PATIENCE = 3.0
"""Timeout for the agent to close or delete a session, in seconds; then its files are removed."""


class Runner(Peer):
    """Serves one client, with up to two processes of the wrapped agent."""

    def __init__(
        self,
        start: StartAgent,
        cache: Cache,
        *,
        policy: Policy,
        author: Author,
    ) -> None:
        self._cache = cache
        self._policy = policy
        self._author = author
        self._connection: Connection
        self._there = Wrapped(self, start, is_remote=True)
        self._here = Wrapped(self, start, is_remote=False)
        self._worktrees: dict[str, Worktree] = {}
        self.client: dict[str, Any] = {}
        """The client's info and capabilities."""

    def connect(self, connection: Connection) -> Connection:
        """Use this connection to the client."""
        self._connection = connection
        return connection

    @property
    def connection(self) -> Connection:
        """The connection to the client."""
        return self._connection

    async def close(self) -> None:
        """Stop the agents; the files of their sessions stay, to continue later."""
        for wrapped in (self._there, self._here):
            await wrapped.stop()

    # Messages from the client

    def on_request(self, request: Request) -> None:
        """Serve requests about remote sessions; pass on all others."""
        params = request.params if isinstance(request.params, dict) else {}
        if request.method == protocol.INITIALIZE:
            request.run(self._initialize(params))
        elif not self.client:
            raise RpcError(INVALID_REQUEST, "The first request must be `initialize`.")
        elif request.method == protocol.SESSION_NEW and remote_of(params) is not None:
            request.run(self._new(params))
        elif self._cache.knows(params.get("sessionId")):
            request.run(self._serve(request.method, params))
        elif request.method in (protocol.AUTHENTICATE, protocol.LOGOUT):
            request.run(self._login(request.method, params))
        else:
            request.run(self._pass_on(request))

    def on_notification(self, method: str, params: Any) -> None:
        """Pass on a notification to the agent."""
        if not isinstance(params, dict):
            return
        session = params.get("sessionId")
        if isinstance(session, str) and session in self._worktrees:
            self._there.notify(method, {**params, "sessionId": self._there.theirs(session)})
        else:
            self._here.notify(method, params)

    # Requests

    async def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        capabilities = params.get("clientCapabilities")
        self.client = {
            "info": params.get("clientInfo") or {},
            "capabilities": capabilities if isinstance(capabilities, dict) else {},
        }
        agent = await self._there.ready()
        return {
            "protocolVersion": protocol.PROTOCOL_VERSION,
            "agentInfo": agent.info,
            "agentCapabilities": offered(agent.capabilities),
            "authMethods": agent.auth_methods,
        }

    async def _new(self, params: dict[str, Any]) -> Any:
        agent = await self._there.ready()
        if takes_remote(agent.capabilities):
            # The agent supports remote sessions itself.
            return await (await self._here.ready()).connection.request(protocol.SESSION_NEW, params)
        ref = self._ref(remote_of(params))
        if earlier := await self._earlier(ours(params).get("continues"), ref):
            # A new session of the agent on the same files: some may not be in the result.
            return await self._open_again(earlier, protocol.SESSION_NEW, params)
        with self._reporter(params) as report:
            worktree = await _told(self._cache.begin(uuid.uuid4().hex, ref, report))
        return await self._open_or_delete(worktree, protocol.SESSION_NEW, params)

    async def _earlier(self, session: Any, ref: GitRemoteRef) -> Worktree | None:
        """Return the worktree of an earlier session on the same repository, if available."""
        if not self._cache.knows(session) or session in self._worktrees:
            return None
        try:
            if self._cache.known(session)["remote"]["url"] != public_url(ref.url):
                return None
            return await self._cache.find(session)
        except GitError:
            # The worktree is gone or in use: continue from the last result.
            return None

    async def _open_again(
        self, worktree: Worktree, method: str, params: dict[str, Any], theirs: str | None = None
    ) -> dict[str, Any]:
        """Open a session in an existing worktree; if that fails, release the worktree."""
        was_open = worktree.session in self._worktrees
        try:
            return await self._open(worktree, method, params, theirs)
        except BaseException:
            if not was_open:
                self._worktrees.pop(worktree.session, None)
                self._there.leave(worktree.session)
                self._cache.release(worktree.session)
            raise

    async def _open_or_delete(
        self, worktree: Worktree, method: str, params: dict[str, Any], theirs: str | None = None
    ) -> dict[str, Any]:
        """Open a session; if that fails, delete its worktree."""
        try:
            return await self._open(worktree, method, params, theirs)
        except BaseException:
            self._worktrees.pop(worktree.session, None)
            await asyncio.shield(self._cache.delete(worktree.session))
            raise

    async def _open(
        self, worktree: Worktree, method: str, params: dict[str, Any], theirs: str | None = None
    ) -> dict[str, Any]:
        """Open a session of the agent in a worktree."""
        agent = await self._there.ready()
        known = {"sessionId": theirs} if theirs is not None else {}
        body = {
            **{key: value for key, value in params.items() if key not in _OF_THE_CLIENT},
            "cwd": str(folder_in(worktree.path, ours(params).get("folder"))),
            "mcpServers": params.get("mcpServers") or [],
            **known,
        }
        if hints := hints_of(params):
            body["_meta"] = hints
        self._worktrees[worktree.session] = worktree

        def joined(result: Any) -> None:
            found = result.get("sessionId", theirs) if isinstance(result, dict) else theirs
            if not isinstance(found, str):
                raise RpcError(UNAVAILABLE, f"{agent.spec.name} answered {method} without an id.")
            self._there.join(found, worktree.session)
            self._cache.note(worktree, agentSession=found)

        if theirs is not None and method != protocol.SESSION_FORK:
            # Some agents replay before they answer.
            self._there.join(theirs, worktree.session)
        result = await agent.connection.request(method, body, note=joined)
        result = result if isinstance(result, dict) else {}
        told = {"remote": worktree.ref.public(), "folder": body["cwd"]}
        meta = result.get("_meta")
        return {
            **result,
            "sessionId": worktree.session,
            "_meta": {**(meta if isinstance(meta, dict) else {}), protocol.META: told},
        }

    async def _serve(self, method: str, params: dict[str, Any]) -> Any:
        """Serve a request about a remote session."""
        session = params["sessionId"]
        if method in (protocol.SESSION_LOAD, protocol.SESSION_RESUME):
            theirs = self._cache.known(session).get("agentSession")
            if not isinstance(theirs, str):
                raise RpcError(UNAVAILABLE, "The agent has never heard of this session.")
            worktree = await _told(self._cache.find(session))
            return await self._open_again(worktree, method, params, theirs)
        if method == protocol.SESSION_FORK:
            worktree = await _told(self._cache.fork(session, uuid.uuid4().hex))
            theirs = self._cache.known(session).get("agentSession")
            return await self._open_or_delete(worktree, method, params, theirs)
        if method in (protocol.SESSION_CLOSE, protocol.SESSION_DELETE):
            return await self._end(method, session)
        if session not in self._worktrees:
            raise RpcError(INVALID_REQUEST, "The session is not open: load or resume it first.")
        if method == protocol.SESSION_PROMPT:
            return await self._prompt(self._worktrees[session], params)
        agent = await self._there.ready()
        body = {**params, "sessionId": self._there.theirs(session)}
        return await agent.connection.request(method, body)

    async def _prompt(self, worktree: Worktree, params: dict[str, Any]) -> dict[str, Any]:
        """Pass on a prompt, then commit and push the agent's changes."""
        agent = await self._there.ready()
        body = {**params, "sessionId": self._there.theirs(worktree.session)}
        message = commit_message(words_of(params.get("prompt")), name_of(agent), worktree.session)
        self._cache.note(worktree, unsaved=True)
        try:
            result = await agent.connection.request(protocol.SESSION_PROMPT, body)
        except RpcError:
            # Even a failed turn may have changed files.
            await self._bring_home(worktree, message)
            raise
        target = await self._bring_home(worktree, message)
        result = result if isinstance(result, dict) else {}
        if target is None:
            return result
        meta = result.get("_meta")
        mirrored = {protocol.META: {"target": target.public()}}
        return {
            **result,
            "target": target.public(),
            "_meta": {**(meta if isinstance(meta, dict) else {}), **mirrored},
        }

    async def _bring_home(self, worktree: Worktree, message: str) -> GitRemoteRef | None:
        """Commit and push; if that fails, tell the user and keep the commit for the next push."""
        head = ""
        try:
            head, left = await worktree.commit(message, self._author)
            if left:
                self._say(worktree.session, left_out(left))
            target = await worktree.push(head)
            self._cache.note(worktree, unsaved=False)
        except GitError as error:
            kept = f" It is kept as commit {head[:12]}, to be pushed next time." if head else ""
            self._say(worktree.session, f"\n\nThe work could not be brought back. {error}{kept}\n")
            return None
        return target

    async def _end(self, method: str, session: str) -> dict[str, Any]:
        worktree = self._worktrees.pop(session, None)
        try:
            await self._tell_end(method, session)
        finally:
            self._there.leave(session)
            is_delete = method == protocol.SESSION_DELETE
            clearing = self._cache.delete(session) if is_delete else self._close(session, worktree)
            await asyncio.shield(_told(clearing))
        return {}

    async def _close(self, session: str, worktree: Worktree | None) -> None:
        """Remove the worktree of a session; commit unsaved work first."""
        if self._cache.known(session).get("unsaved"):
            worktree = worktree or await self._cache.find(session)
            message = commit_message("Unfinished work", name_of(await self._there.ready()), session)
            try:
                await worktree.commit(message, self._author)
            except GitError:
                # The user was told when the first attempt failed.
                self._cache.release(session)
                return
        await self._cache.close(session)

    async def _tell_end(self, method: str, session: str) -> None:
        """Tell the agent that a session has ended; ignore errors, because its files must go."""
        theirs = self._cache.known(session).get("agentSession")
        agent = await self._there.ready()
        if isinstance(theirs, str) and can(agent, method.rpartition("/")[2]):
            telling = agent.connection.request(method, {"sessionId": theirs})
            try:
                await asyncio.wait_for(telling, END_PATIENCE)
            except (RpcError, asyncio.TimeoutError) as error:
                agent.log.info("%s did not take %s: %s", agent.spec.name, method, error)

    async def _login(self, method: str, params: dict[str, Any]) -> Any:
        """Pass on a request to every running process: the client sees one agent."""
        result: Any = {}
        for wrapped in (self._there, self._here):
            if wrapped.is_there or wrapped is self._there:
                agent = await wrapped.ready()
                result = await agent.connection.request(method, params)
        return result

    async def _pass_on(self, request: Request) -> Any:
        agent = await self._here.ready()
        return await agent.connection.request(request.method, request.params)

    # Messages to the client

    def _ref(self, value: Any) -> GitRemoteRef:
        try:
            ref = git_ref(value)
            self._policy.check(ref.url)
        except RefError as error:
            raise invalid_params(f"{error}.") from None
        return ref

    def _reporter(self, params: dict[str, Any]) -> Reporter:
        token = ours(params).get("progressToken")
        return Reporter(
            lambda progress: self._connection.notify(protocol.PROGRESS, progress),
            token if isinstance(token, str) else None,
        )

    def _say(self, session: str, text: str) -> None:
        content = {"type": "text", "text": text}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        self._connection.notify(protocol.SESSION_UPDATE, {"sessionId": session, "update": update})


async def _told(work: Awaitable[T]) -> T:
    """Do work with git; turn its failure into an RPC error."""
    try:
        return await work
    except GitError as error:
        raise RpcError(UNAVAILABLE, str(error)) from None
