# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is written down of a session: what its agent and its users say, and what we have to add."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson

from .. import protocol
from ..protocol import META
from .calls import KINDS as CALL_KINDS
from .calls import Calls
from .exchanges import Piece, normal
from .log import Log
from .passages import AFTER, piece_of, text_of
from .record import SessionRecord
from .repeated import LATEST, MOST, MOST_BYTES, Repeated
from .setup import KINDS as SETUP_KINDS
from .setup import Setup

TITLE_LENGTH = 80
REMEMBERS_MORE = "The agent remembers more of this session than was written down here:"
TOO_MUCH = (
    f"The agent repeats more of this session than can be compared with what was written down here "
    f"({MOST:,} messages or {MOST_BYTES >> 20} MB): what it has said after that is left out."
)

_UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":'
_HISTORY_KINDS = {
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
}


class Transcript:
    """Takes what is said, remembers what later windows have to know, and appends it to the log."""

    def __init__(
        self, record: SessionRecord, log: Log, on_change: Callable[[], None], logger: Any
    ) -> None:
        self.setup = Setup(record, logger)
        self.calls = Calls()
        """What the agent's tools are doing now."""

        self.is_closed = False
        """Whether nothing leaves a trace any more."""

        self.compactions = 0
        """How often the agent has forgotten some of what was said to it."""

        self.replayed = 0
        """How many messages agents have repeated."""

        self._record = record
        self._log = log
        self._on_change = on_change
        self._logger = logger
        self._replay: Repeated | None = None
        self._asked = ""

    # What the agent says

    def take(self, updates: list[dict[str, Any]]) -> None:
        """Take updates of the agent."""
        if self.is_closed:
            return
        plain: list[dict[str, Any]] = []
        for params in updates:
            try:
                update = params["update"]
                kind = update["sessionUpdate"]
                if kind in _HISTORY_KINDS and self._replay is None:
                    if kind in CALL_KINDS:
                        self.calls.take(update)
                    if len(params) == 2:
                        # As nearly all of them are: a session and an update, nothing to remember.
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
            # All of them or none were taken; what one of them is like is not the others' fault.
            for update in updates:
                self._try(self._log.append_updates, [update])

    def _try(self, take: Callable[..., None], *args: Any) -> None:
        """Take an update if it can be written: what is nested as deeply can be read only."""
        try:
            take(*args)
        except orjson.JSONEncodeError as error:
            self._logger.warning("Ignored an update from %s: %s", self._record.agent, error)

    def _take_one(self, kind: str, params: dict[str, Any]) -> None:
        if kind in SETUP_KINDS:
            self.setup.updated(kind, params["update"])
            self._on_change()
        elif self._replay is not None:
            self._take_repeated(self._replay, params)
            return
        elif kind == "compaction_update":
            self.compactions += 1
        self._append(_UPDATE, params)

    # What the agent repeats

    def expect_replay(self) -> None:
        """Take what the agent says from now on for the past, until it is silent."""
        self._let_go()
        self._replay = Repeated()

    def forget_replay(self) -> None:
        """Take nothing that it has said for the past after all; it was not."""
        repeated, self._replay = self._replay, None
        for params in repeated.others() if repeated is not None else []:
            self._try(self._append, _UPDATE, params)

    async def end_replay(self, *, is_promised: bool = False) -> None:
        """Wait until the agent is silent, and add what the journal has not got of it.

        An agent that has promised to repeat the past is given more time to begin.
        """
        repeated = self._replay
        if repeated is None:
            return
        try:
            news = await repeated.news(self._log, is_promised=is_promised)
        finally:
            self._replay = None
        if news and repeated.has_past:
            self.append(protocol.NOTICE, {"level": "info", "message": REMEMBERS_MORE})
        for params, after in news:
            is_placed = repeated.has_past and after is not None
            self._try(self._append, _UPDATE, params, {AFTER: after} if is_placed else None)
        if repeated.is_cut:
            self.append(protocol.NOTICE, {"level": "warning", "message": TOO_MUCH})
        if repeated.late is not None:
            self._replay = repeated
            asyncio.get_running_loop().call_later(LATEST, self._end_late, repeated)

    def _take_repeated(self, repeated: Repeated, params: dict[str, Any]) -> None:
        """Take an update that may be of the past."""
        late = repeated.late
        if late is None:
            repeated.take(params)
            self.replayed += 1
            return
        news = late.take(Piece(piece_of(params["update"]), params), self._prompt)
        self.replayed += not news
        for each in news:
            self._try(self._append, _UPDATE, each)
        if late.is_over:
            self._replay = None

    def _let_go(self) -> None:
        """Tell what was held back before anything else is told."""
        late = self._replay.late if self._replay is not None else None
        for params in late.interrupt() if late is not None else []:
            self._try(self._append, _UPDATE, params)

    def _end_late(self, repeated: Repeated) -> None:
        if self._replay is repeated:
            self._let_go()
            self._replay = None

    @property
    def _prompt(self) -> str | None:
        """What the agent is answering now, if anything."""
        return self._asked if self._record.state == "running" else None

    # What users say, and what we add

    def prompt(self, blocks: list[Any], mark: dict[str, Any]) -> None:
        """Write down what a user said, for every window, and take the first words as the title."""
        self._let_go()
        self._asked = normal("".join(text_of(block) for block in blocks))
        for block in blocks:
            update = {"sessionUpdate": "user_message_chunk", "content": block}
            self._append(_UPDATE, {"update": update}, mark)
        if not self._record.title:
            text = next((block.get("text") for block in blocks if block.get("type") == "text"), "")
            if title := " ".join(str(text).split())[:TITLE_LENGTH]:
                self.update({"sessionUpdate": "session_info_update", "title": title})

    def update(self, update: dict[str, Any]) -> None:
        """Say what the agent would say."""
        self._take_one(update["sessionUpdate"], {"update": update})

    def append(self, method: str, params: dict[str, Any]) -> None:
        """Add a message of our own."""
        self._let_go()
        self._append(b'{"jsonrpc":"2.0","method":"' + method.encode() + b'","params":', params)

    def chose(self, method: str, params: dict[str, Any], result: Any) -> None:
        """Tell every window of a choice that one of them made."""
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
        """Tell every window what is chosen now, whatever it has seen before."""
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
        mark = {"seq": log.seq + 1, **ours} if ours else {"seq": log.seq + 1}
        meta = params.get("_meta")
        params["sessionId"] = log.session
        params["_meta"] = {**meta, META: mark} if isinstance(meta, dict) else {META: mark}
        log.append(prefix + orjson.dumps(params) + b"}")
