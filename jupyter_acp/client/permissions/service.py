# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Permission checks for services: by rules, by earlier answers, or by asking the user.

An agent has the rights of the user's account: this is consent, not a sandbox.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ...protocol import DECIDED, META
from ...rpc import RpcError
from ...rpc.errors import FORBIDDEN
from ..view import SessionView
from .grants import Grants
from .policy import Action, Decision, Rule, Rules, rules_of
from .protected_files import Risk

_TOOL_KINDS = {
    "read": "read",
    "write": "edit",
    "terminal": "execute",
    "run": "execute",
    "restart": "execute",
}
Defaults = Mapping[Any, Literal["allow", "ask"]]
"""The user's settings where no rule fits, by kind of action."""


class Permissions:
    """Decides on actions: by the administrator's rules, the user's, and then earlier answers."""

    def __init__(
        self,
        rules: Rules | None = None,
        emit: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        """Report every decision to `emit`."""
        self._admin = rules or {}
        self._user: Rules = {}
        self._defaults: Defaults = {}
        self._emit = emit
        self._said: dict[str, list[Rule]] = {}
        self._grants = Grants()

    def set_user_rules(self, rules: Any) -> None:
        """Set the user's rules, from the settings."""
        self._user = rules_of(rules)

    def set_user_defaults(self, defaults: Defaults) -> None:
        """Set the user's decisions where no rule fits."""
        self._defaults = defaults

    def allows(self, session: SessionView, action: Action, default: Decision) -> bool:
        """Return True if an agent may do something without asking the user."""
        return self._decide(session, action, default)[0] == "allow" and action.risk is None

    async def check(
        self,
        session: SessionView,
        action: Action,
        default: Decision,
        implied: Sequence[tuple[Action, Decision]] = (),
    ) -> None:
        """Return if the agent may do something; raise RpcError if it may not.

        One question covers the action and all actions that it implies.
        """
        decision, by = self._decide(session, action, default)
        parts = [(each, self._decide(session, each, usual)) for each, usual in implied]
        for part, decided in parts:
            if decided[0] == "deny":
                self._conclude(session, part, *decided)
        # An earlier answer about the action covers its parts, unless a rule decides on them.
        is_said = self._said_before(session, action) == "allow"
        is_open = any(
            decided[0] == "ask" and not (is_said and decided[1] == "default")
            for _, decided in parts
        )
        if decision == "allow" and (is_open or action.risk is not None):
            # The permission may not have been meant for the part or the risk.
            decision = "ask"
        if decision == "ask":
            may_be_granted = action.risk is None and not action.has_more
            if may_be_granted and self._grants.take(session.id, action):
                decision, by = "allow", "agent asked"
            else:
                decision, by = await self._ask(session, action), "user"
        self._conclude(session, action, decision, by)
        for part, decided in parts:
            if decided[0] == "allow":
                self._conclude(session, part, *decided)

    def tell(
        self,
        session: SessionView,
        kind: str,
        subject: str,
        decision: Decision,
        by: str,
        **more: Any,
    ) -> None:
        """Report a decision to the transcript and to `emit`."""
        told = {"kind": kind, "subject": subject, "decision": decision, "by": by}
        session.append(DECIDED, {**told, **more})
        self._emit({**told, "session": session.id, "agent": session.agent})

    def granted(self, session: SessionView, params: Any, answer: Any) -> None:
        """Record that the user allowed what the agent itself had asked for.

        The user is not asked again when the agent then does it through this server.
        """
        self._grants.add(session.id, session.cwd, params, _chosen(answer))

    def turn_ended(self, session_id: str) -> None:
        """Drop what was granted for the turn."""
        self._grants.forget(session_id)

    def forget(self, session_id: str) -> None:
        """Drop the earlier answers of a session."""
        self.turn_ended(session_id)
        self._said.pop(session_id, None)

    def _conclude(self, session: SessionView, action: Action, decision: Decision, by: str) -> None:
        """Report a decision, and raise RpcError if the agent may not."""
        if by != "default":
            # Actions that need no permission are not reported.
            self.tell(session, action.kind, action.subjects[0], decision, by)
        if decision == "deny":
            raise RpcError(FORBIDDEN, f"{action.title}: {_REFUSALS[by]}")

    def _decide(
        self, session: SessionView, action: Action, default: Decision
    ) -> tuple[Decision, str]:
        for by, rules in (("admin", self._admin), ("user's rule", self._user)):
            for rule in [*rules.get(session.agent, []), *rules.get("*", [])]:
                if rule.fits(action):
                    return rule.decision, by
        if (said := self._said_before(session, action)) is not None:
            return said, "said before"
        wanted = self._defaults.get(action.kind)
        if wanted == "allow" and action.kind not in ("run", "restart"):
            # This setting does not open protected files.
            wanted = None
        return wanted or default, "default"

    def _said_before(self, session: SessionView, action: Action) -> Decision | None:
        said = self._said.get(session.id, [])
        return next((rule.decision for rule in said if rule.fits(action)), None)

    async def _ask(self, session: SessionView, action: Action) -> Decision:
        # Escape pattern characters: the answer is for this name only.
        literal = "".join(f"[{c}]" if c in "*?[" else c for c in action.subjects[0])
        shown = await action.details() if action.details is not None else {}
        ours: dict[str, Any] = {}
        if action.kind not in ("run", "restart"):
            # The code differs each time: answers are for this session only.
            ours["rule"] = {"kind": action.kind, "match": literal}
        if action.risk is not None:
            shown["content"] = [_warning(action.risk), *shown.get("content", [])]
            ours |= {
                "files": [{"path": action.subjects[0], "risk": action.risk.id}],
                "isWarned": True,
            }
        answer = await session.consult(
            {
                "toolCall": {
                    "toolCallId": f"jupyter-{uuid.uuid4().hex}",
                    "title": action.title,
                    "kind": _TOOL_KINDS[action.kind],
                    "status": "pending",
                    **shown,
                },
                "options": _options(action),
                "_meta": {META: ours},
            }
        )
        chosen = _chosen(answer)
        decision: Decision = "allow" if chosen in ("allow", "always") else "deny"
        if chosen in ("always", "never"):
            said = Rule(kind=action.kind, match=literal, decision=decision)
            self._said.setdefault(session.id, []).append(said)
        return decision


def _options(action: Action) -> list[dict[str, Any]]:
    """Return the possible answers, in words that say what they do."""
    kinds = {"run": "Run", "restart": "Restart"}
    if verb := action.verb or kinds.get(action.kind, ""):
        everything = f"{verb} everything in this notebook in this session"
        words = {"allow": verb, "always": everything, "deny": f"Don't {verb.lower()}"}
    else:
        words = {
            "allow": "Allow",
            "always": "Always allow",
            "deny": "Reject",
            "never": "Always reject",
        }
    if action.kind == "restart" or action.risk is not None or not action.is_told:
        del words["always"]
    return [{"optionId": id, "name": words[id], "kind": _OPTION_KINDS[id]} for id in words]


_OPTION_KINDS = {
    "allow": "allow_once",
    "always": "allow_always",
    "deny": "reject_once",
    "never": "reject_always",
}
_REFUSALS = {
    "admin": "the administrator of this server does not allow it.",
    "user's rule": "a rule of the user does not allow it.",
    "said before": "the user has said no to it before.",
    "user": "the user said no.",
}


def _warning(risk: Risk) -> dict[str, Any]:
    """Return the warning about a file: as text for any client, and by id for our windows."""
    text = {"type": "text", "text": risk.words, "_meta": {META: {"risk": risk.id}}}
    return {"type": "content", "content": text}


def _chosen(answer: Any) -> Any:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    return outcome.get("optionId") if isinstance(outcome, dict) else None
