# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The modes, models, options and commands that an agent offers in a session, and the choices."""

from __future__ import annotations

from typing import Any

from .. import protocol
from ..context.block import title_without_context
from ..history.record import TITLE_LIMIT, SessionRecord, is_writable
from ..rpc import Logger
from .options import chosen

_OFFERED = ("modes", "models", "configOptions")

KINDS = {
    "current_mode_update",
    "config_option_update",
    "available_commands_update",
    "session_info_update",
}
"""The kinds of updates whose content is kept for windows that attach later."""


class Setup:
    """Keeps the agent's offers and the choices in the record, for windows that attach later."""

    def __init__(self, record: SessionRecord, log: Logger) -> None:
        self._record = record
        self._log = log

    @property
    def known(self) -> dict[str, Any]:
        """All offers and choices, by the names of the fields in ACP."""
        return self._record.setup

    def keep(self, key: str, value: Any) -> None:
        """Store a value, unless it cannot be encoded."""
        if is_writable(value):
            self.known[key] = value
        else:
            self._log.warning("Ignored the %s of %s: nested too deeply", key, self._record.agent)

    def began(self, result: dict[str, Any]) -> None:
        """Store the offers in an answer to `session/new`, `load`, `resume` or `fork`."""
        for key in _OFFERED:
            if key in result:
                self.keep(key, result[key])

    def chosen(self) -> dict[str, Any]:
        """Return the current modes, models and options, in the format of `session/new`."""
        return {key: self.known[key] for key in _OFFERED if key in self.known}

    def updated(self, kind: str, update: dict[str, Any]) -> None:
        """Store the content of an update."""
        if kind == "current_mode_update" and isinstance(self.known.get("modes"), dict):
            mode = update.get("currentModeId")
            self.keep("modes", {**self.known["modes"], "currentModeId": mode})
        elif kind == "config_option_update":
            self.keep("configOptions", update.get("configOptions"))
        elif kind == "available_commands_update":
            self.keep("availableCommands", update.get("availableCommands"))
        elif kind == "session_info_update" and isinstance(update.get("title"), str):
            # Also change the update itself, which goes on to windows.
            update["title"] = title_without_context(update["title"])
            self._record.title = update["title"][:TITLE_LIMIT]

    def chose(
        self, method: str, params: dict[str, Any], result: Any
    ) -> tuple[str, dict[str, Any]] | None:
        """Store a choice that the agent accepted; return the message for windows, or None."""
        if method == protocol.SET_MODE:
            mode = params.get("modeId")
            return _update({"sessionUpdate": "current_mode_update", "currentModeId": mode})
        if method == protocol.SET_MODEL and isinstance(self.known.get("models"), dict):
            # ACP has no update for the model; newer agents have a config option instead.
            model = params.get("modelId")
            self.keep("models", {**self.known["models"], "currentModelId": model})
            return protocol.MODEL, {"modelId": model}
        if method == protocol.SET_CONFIG_OPTION:
            told = result.get("configOptions") if isinstance(result, dict) else None
            options = (
                told
                if isinstance(told, list)
                else chosen(self.known, params.get("configId"), params.get("value"))
            )
            return _update({"sessionUpdate": "config_option_update", "configOptions": options})
        return None


def _update(update: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return protocol.SESSION_UPDATE, {"update": update}
