# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The transcript of a session: messages of its agent, its users, and our own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from .. import protocol
from ..history.numbered_log import Log
from ..history.record import SessionRecord
from ..history.replay_gate import KINDS as HISTORY_KINDS
from ..history.replay_gate import ReplayGate, count_user_messages
from ..protocol import META
from ..rpc import Logger
from .setup import KINDS as SETUP_KINDS
from .setup import Setup
from .tool_calls import KINDS as CALL_KINDS
from .tool_calls import ToolCalls

TITLE_LENGTH = 80
REMEMBERS_MORE = "The agent knows more of this session than is written down here."

_UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":'
_PLAIN_KINDS = HISTORY_KINDS - {"compaction_update"}
"""The kinds of updates that go to the log unchanged."""


class Transcript:
    """Appends messages to the log, and keeps the state that windows need when they attach."""

    def __init__(
        self, record: SessionRecord, log: Log, on_change: Callable[[], None], logger: Logger
    ) -> None:
        self.setup = Setup(record, logger)
        self.calls = ToolCalls()
        """The tool calls in progress."""

        self.is_closed = False
        """True if all further messages are dropped."""

        self.compactions = 0
        """Number of times that the agent has compacted its memory."""

        self._record = record
        self._log = log
        self._on_change = on_change
        self._logger = logger
        self._gate: ReplayGate | None = None

    @property
    def seq(self) -> int:
        """The number of the last message."""
        return self._log.seq

    async def everything(self) -> list[bytes]:
        """Return all messages until now."""
        return await self._log.everything()

    # Updates of the agent

    def take(self, updates: list[dict[str, Any]]) -> None:
        """Take updates of the agent."""
        if self.is_closed:
            return
        plain: list[dict[str, Any]] = []
        for params in updates:
            try:
                update = params["update"]
                kind = update["sessionUpdate"]
                if kind in _PLAIN_KINDS and self._gate is None:
                    if kind in CALL_KINDS:
                        self.calls.take(update)
                    if len(params) == 2:
                        # The fast path for nearly all updates: only `sessionId` and `update`.
                        plain.append(update)
                        continue
            except (TypeError, KeyError):
                kind = None
            if plain:
                self._take_plain(plain)
                plain = []
            if type(kind) is str:
                self._try(self._take_one, kind, params)
            else:
                self._logger.warning("Ignored an update without a kind from %s", self._record.agent)
        if plain:
            self._take_plain(plain)

    def _take_plain(self, updates: list[dict[str, Any]]) -> None:
        try:
            self._log.append_updates(updates)
        except orjson.JSONEncodeError:
            # None was appended. Append them one by one, to lose only those that cannot be encoded.
            for update in updates:
                self._try(self._log.append_updates, [update])

    def _try(self, take: Callable[..., None], *args: Any) -> None:
        """Append an update; ignore it if it is nested too deeply to be encoded."""
        try:
            take(*args)
        except orjson.JSONEncodeError as error:
            self._logger.warning("Ignored an update from %s: %s", self._record.agent, error)

    def _take_one(self, kind: str, params: dict[str, Any]) -> None:
        if kind in SETUP_KINDS:
            self.setup.updated(kind, params["update"])
            self._on_change()
        elif self._gate is not None and kind in HISTORY_KINDS:
            self._gate.take(params)
            return
        elif kind == "compaction_update":
            self.compactions += 1
        self._append(_UPDATE, params)

    # Replay

    @property
    def gate(self) -> ReplayGate | None:
        """The replay gate while the agent may replay, else None."""
        return self._gate

    def shut_gate(self, keep: Callable[[dict[str, Any]], None] | None = None) -> ReplayGate:
        """Treat the agent's history messages as a replay from now on, and drop them.

        An empty transcript keeps them instead; `keep` receives them if it is given.
        """
        is_empty = self._log.seq == 0
        self._gate = ReplayGate(keep or (self._keep if is_empty else None))
        return self._gate

    def open_gate(self) -> None:
        """Treat the agent's messages as new from now on."""
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.open()

    async def end_replay(self, *, is_promised: bool = False) -> None:
        """Open the gate when the agent is silent; offer a reload if the agent's history is longer.

        An agent that has promised a replay gets more time to begin.
        """
        gate = self._gate
        if gate is None:
            return
        try:
            if gate.stopped or is_promised:
                await gate.quiet(await self._count_user_messages(), is_promised=is_promised)
            else:
                await gate.quiet(0, is_promised=False)
        finally:
            self.open_gate()
        told, before = gate.user_messages, self._record.offered
        if gate.stopped and told > before and told > await self._count_user_messages():
            self._record.offered = told
            offer = {"level": "info", "message": REMEMBERS_MORE, "offer": protocol.RELOAD}
            self.append(protocol.NOTICE, offer)

    async def _count_user_messages(self) -> int:
        return await asyncio.to_thread(count_user_messages, await self._log.everything())

    def replace(self, updates: Iterable[dict[str, Any]]) -> None:
        """Replace the whole transcript by the agent's updates."""
        before = self._log.seq
        self.append(protocol.RELOADED, {})
        for params in updates:
            self._keep(params)
        self._record.dropped = before
        self._record.offered = 0
        self._log.drop(before)

    def _keep(self, params: dict[str, Any]) -> None:
        self._try(self._append, _UPDATE, params)

    # Messages of users, and our own

    def prompt(self, blocks: list[Any], mark: dict[str, Any]) -> None:
        """Append a prompt; use the beginning of the first one as the title."""
        for block in blocks:
            update = {"sessionUpdate": "user_message_chunk", "content": block}
            self._append(_UPDATE, {"update": update}, mark)
        if not self._record.title:
            text = next((block.get("text") for block in blocks if block.get("type") == "text"), "")
            if title := " ".join(str(text).split())[:TITLE_LENGTH]:
                self.update({"sessionUpdate": "session_info_update", "title": title})

    def update(self, update: dict[str, Any]) -> None:
        """Append an update as if it came from the agent."""
        self._take_one(update["sessionUpdate"], {"update": update})

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Append a message of our own."""
        self._append(b'{"jsonrpc":"2.0","method":"' + method.encode() + b'","params":', params)

    def chose(self, method: str, params: dict[str, Any], result: Any) -> None:
        """Report a choice that a window made to every window."""
        told = self.setup.chose(method, params, result)
        if told is None:
            return
        method, params = told
        if method == protocol.SESSION_UPDATE:
            self.update(params["update"])
        else:
            self.append(method, params)
            self._on_change()

    def tell_choices(self) -> None:
        """Send the current choices to every window."""
        known = self.setup.known
        if isinstance(modes := known.get("modes"), dict):
            mode = modes.get("currentModeId")
            self.update({"sessionUpdate": "current_mode_update", "currentModeId": mode})
        if isinstance(models := known.get("models"), dict):
            self.append(protocol.MODEL, {"modelId": models.get("currentModelId")})
        if isinstance(options := known.get("configOptions"), list):
            self.update({"sessionUpdate": "config_option_update", "configOptions": options})

    def _append(
        self, prefix: bytes, params: dict[str, Any], ours: dict[str, Any] | None = None
    ) -> None:
        if self.is_closed:
            return
        log = self._log
        mark = {"seq": log.seq + 1, **(ours or {})}
        meta = params.get("_meta")
        params["sessionId"] = log.session
        params["_meta"] = {**meta, META: mark} if isinstance(meta, dict) else {META: mark}
        log.append(prefix + orjson.dumps(params) + b"}")
