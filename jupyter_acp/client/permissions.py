# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent may do through us without asking, what the user is asked, and what nobody may.

An agent has the rights of the user's account: this is consent, not a sandbox.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from ..grants import Grants
from ..policy import Action, Decision, Rule, Rules, rules_of
from ..protected import Risk
from ..protocol import DECIDED, META
from ..rpc import RpcError
from ..rpc.errors import FORBIDDEN
from .view import SessionView

_TOOL_KINDS = {
    "read": "read",
    "write": "edit",
    "terminal": "execute",
    "run": "execute",
    "restart": "execute",
}


class Permissions:
    """Decides: the administrator's rules first, then the user's, then what was said before."""

    def __init__(
        self,
        rules: Rules | None = None,
        emit: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        """Tell every decision to `emit`."""
        self._admin = rules or {}
        self._user: Rules = {}
        self._emit = emit
        self._said: dict[str, list[Rule]] = {}
        self._grants = Grants()

    def set_user_rules(self, rules: Any) -> None:
        """Take the user's own rules, from the settings."""
        self._user = rules_of(rules)

    async def check(self, session: SessionView, action: Action, default: Decision) -> None:
        """Return if the agent may; raise if it may not."""
        decision, by = self._decide(session, action, default)
        if action.risk is not None and decision == "allow":
            # Whoever allowed it may have had something else in mind.
            decision = "ask"
        if decision == "ask":
            may_be_granted = action.risk is None and not action.has_more
            if may_be_granted and self._grants.take(session.id, action):
                decision, by = "allow", "agent asked"
            else:
                decision, by = await self._ask(session, action), "user"
        elif by == "default":
            # What needs no permission is no decision.
            return
        told = {"kind": action.kind, "subject": action.subjects[0], "decision": decision, "by": by}
        session.append(DECIDED, told)
        self._emit({**told, "session": session.id, "agent": session.agent})
        if decision == "deny":
            raise RpcError(FORBIDDEN, f"{action.title}: {_REFUSALS[by]}")

    def granted(self, session: SessionView, params: Any, answer: Any) -> None:
        """Take note that the user allowed what the agent itself had asked for.

        What it then does through us is not asked a second time.
        """
        self._grants.add(session.id, session.cwd, params, _chosen(answer))

    def turn_ended(self, session_id: str) -> None:
        """Let what was granted for a turn end with it."""
        self._grants.forget(session_id)

    def forget(self, session_id: str) -> None:
        """Forget what was said in a session."""
        self.turn_ended(session_id)
        self._said.pop(session_id, None)

    def _decide(
        self, session: SessionView, action: Action, default: Decision
    ) -> tuple[Decision, str]:
        for by, rules in (("admin", self._admin), ("user's rule", self._user)):
            for rule in [*rules.get(session.agent, []), *rules.get("*", [])]:
                if rule.fits(action):
                    return rule.decision, by
        for rule in self._said.get(session.id, []):
            if rule.fits(action):
                return rule.decision, "said before"
        return default, "default"

    async def _ask(self, session: SessionView, action: Action) -> Decision:
        # Meant for this and nothing else: what is a pattern in it is not meant as one.
        literal = "".join(f"[{c}]" if c in "*?[" else c for c in action.subjects[0])
        shown = await action.details() if action.details is not None else {}
        ours: dict[str, Any] = {"rule": {"kind": action.kind, "match": literal}}
        options = _OPTIONS
        if action.risk is not None:
            shown["content"] = [_warning(action.risk), *shown.get("content", [])]
            ours |= {
                "files": [{"path": action.subjects[0], "risk": action.risk.id}],
                "isWarned": True,
            }
        elif action.kind == "run":
            # What may be run changes from one time to the next: that is for this session only.
            del ours["rule"]
        if action.risk is not None or not action.is_told:
            options = [option for option in _OPTIONS if option["optionId"] != "always"]
        answer = await session.consult(
            {
                "toolCall": {
                    "toolCallId": f"jupyter-{uuid.uuid4().hex}",
                    "title": action.title,
                    "kind": _TOOL_KINDS[action.kind],
                    "status": "pending",
                    **shown,
                },
                "options": options,
                "_meta": {META: ours},
            }
        )
        chosen = _chosen(answer)
        decision: Decision = "allow" if chosen in ("allow", "always") else "deny"
        if chosen in ("always", "never"):
            said = Rule(kind=action.kind, match=literal, decision=decision)
            self._said.setdefault(session.id, []).append(said)
        return decision


_OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "deny", "name": "Reject", "kind": "reject_once"},
    {"optionId": "never", "name": "Always reject", "kind": "reject_always"},
]
_REFUSALS = {
    "admin": "the administrator of this server does not allow it.",
    "user's rule": "a rule of the user does not allow it.",
    "said before": "the user has said no to it before.",
    "user": "the user said no.",
}


def _warning(risk: Risk) -> dict[str, Any]:
    """Say what a file would do, in words for any client and by name for ours."""
    text = {"type": "text", "text": risk.words, "_meta": {META: {"risk": risk.id}}}
    return {"type": "content", "content": text}


def _chosen(answer: Any) -> Any:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    return outcome.get("optionId") if isinstance(outcome, dict) else None
