# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent may do through us without asking, what the user is asked, and what nobody may.

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
"""What the user wants where no rule fits."""


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
        self._defaults: Defaults = {}
        self._emit = emit
        self._said: dict[str, list[Rule]] = {}
        self._grants = Grants()

    def set_user_rules(self, rules: Any) -> None:
        """Take the user's own rules, from the settings."""
        self._user = rules_of(rules)

    def set_user_defaults(self, defaults: Defaults) -> None:
        """Take what the user wants to be asked about where no rule fits."""
        self._defaults = defaults

    def allows(self, session: SessionView, action: Action, default: Decision) -> bool:
        """Whether an agent may do something without anybody being asked."""
        return self._decide(session, action, default)[0] == "allow" and action.risk is None

    async def check(
        self,
        session: SessionView,
        action: Action,
        default: Decision,
        implied: Sequence[tuple[Action, Decision]] = (),
    ) -> None:
        """Return if the agent may; raise if it may not.

        What cannot be done without something else implies it: one question is about all of it.
        """
        decision, by = self._decide(session, action, default)
        parts = [(each, self._decide(session, each, usual)) for each, usual in implied]
        for part, decided in parts:
            if decided[0] == "deny":
                self._conclude(session, part, *decided)
        # What was said of the whole was said of its parts; a rule counts more.
        is_said = self._said_before(session, action) == "allow"
        is_open = any(
            decided[0] == "ask" and not (is_said and decided[1] == "default")
            for _, decided in parts
        )
        if decision == "allow" and (is_open or action.risk is not None):
            # Whoever allowed it may have had something else in mind.
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
        """Tell the transcript of a decision, and those who keep an eye on this server."""
        told = {"kind": kind, "subject": subject, "decision": decision, "by": by}
        session.append(DECIDED, {**told, **more})
        self._emit({**told, "session": session.id, "agent": session.agent})

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

    def _conclude(self, session: SessionView, action: Action, decision: Decision, by: str) -> None:
        """Tell what was decided, and raise if the agent may not."""
        if by != "default":
            # What needs no permission is no decision.
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
            # Files that are asked about for what they are stay so.
            wanted = None
        return wanted or default, "default"

    def _said_before(self, session: SessionView, action: Action) -> Decision | None:
        said = self._said.get(session.id, [])
        return next((rule.decision for rule in said if rule.fits(action)), None)

    async def _ask(self, session: SessionView, action: Action) -> Decision:
        # Meant for this and nothing else: what is a pattern in it is not meant as one.
        literal = "".join(f"[{c}]" if c in "*?[" else c for c in action.subjects[0])
        shown = await action.details() if action.details is not None else {}
        ours: dict[str, Any] = {}
        if action.kind not in ("run", "restart"):
            # What may be run changes from one time to the next: that is for this session only.
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
    """Return what a person can answer, in words that say what is done by it."""
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
    """Say what a file would do, in words for any client and by name for ours."""
    text = {"type": "text", "text": risk.words, "_meta": {META: {"risk": risk.id}}}
    return {"type": "content", "content": text}


def _chosen(answer: Any) -> Any:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    return outcome.get("optionId") if isinstance(outcome, dict) else None
