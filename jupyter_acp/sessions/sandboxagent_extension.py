# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Translation between the extension `sandboxagent.dev` and plain ACP."""

from __future__ import annotations

import asyncio
from typing import Any

from ..protocol import SANDBOX
from ..rpc import invalid_params

REQUESTED_ID = "requestedSessionId"
"""The key of the metadata that counts only when a session is opened."""

HINTS = ("mode", "model", "variant", "permissionMode")
"""Hints for a new session that can be chosen later, too."""


_PLAIN = {"type", "title", "description", "default", "enum", "enumNames", "oneOf"}
"""The properties of a form field that the extension can express."""


def corner(holder: Any) -> dict[str, Any]:
    """Return the extension's entry in `_meta`."""
    meta = holder.get("_meta") if isinstance(holder, dict) else None
    found = meta.get(SANDBOX) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}


def metadata_of(params: Any) -> dict[str, Any]:
    """Return the metadata of a request or a notification, from `_meta` and `metadata`."""
    metadata = params.get("metadata") if isinstance(params, dict) else None
    return {**corner(params), **(metadata if isinstance(metadata, dict) else {})}


def as_elicitation(params: dict[str, Any]) -> dict[str, Any]:
    """Return a question of the extension as an ACP form."""
    questions = _questions(params)
    properties: dict[str, Any] = {}
    for index, question in enumerate(questions):
        properties[_name(index)] = _field(question)
    message = _text(params)
    if len(questions) == 1:
        # Show the question once, not above and beside the field.
        message = _text(questions[0])
        properties[_name(0)]["title"] = "Your answer"
    return {
        "sessionId": params["sessionId"],
        "mode": "form",
        "message": message or "The agent has some questions.",
        "requestedSchema": {
            "type": "object",
            "properties": properties,
            "required": [_name(index) for index in range(len(questions))],
        },
        "_meta": {**(params.get("_meta") or {}), SANDBOX: _kept(params)},
    }


def as_answer(params: dict[str, Any], result: Any) -> dict[str, Any]:
    """Return the answer to a form as the answer to the extension's question."""
    result = result if isinstance(result, dict) else {}
    action = result.get("action")
    outcome = {"accept": "answered", "decline": "rejected"}.get(str(action), "cancelled")
    answer: dict[str, Any] = {"outcome": outcome}
    if outcome == "answered":
        content = result.get("content") or {}
        given = [content.get(_name(index)) for index in range(len(_questions(params)))]
        answer["answers"] = [each if isinstance(each, list) else [each] for each in given]
    answer["_meta"] = {SANDBOX: {**_kept(params), "status": outcome}}
    return answer


def as_question(
    form: dict[str, Any], original: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """Return a form as a question of the extension, or None if the extension cannot express it.

    If the form was made from a question of the extension, that question is the `original`.
    """
    ours = {"sessionId": form["sessionId"], "_meta": form.get("_meta") or {}}
    if original is not None:
        return {**original, **ours}
    fields = _fields(form)
    if form.get("mode") == "url" or len(fields) != 1:
        return None
    (field,) = fields.values()
    if field.get("type") != "string" or not _PLAIN.issuperset(field):
        return None
    choices = _choices(field)
    words = [form.get("message"), field.get("title"), field.get("description")]
    said = dict.fromkeys(each for each in words if isinstance(each, str) and each)
    asked: dict[str, Any] = {**ours, "question": "\n".join(said)}
    if choices:
        asked["options"] = [{"id": value, "label": label} for value, label in choices.items()]
    return asked


def as_form_answer(form: dict[str, Any], answer: Any) -> dict[str, Any]:
    """Return the answer to `as_question` as an answer to the form; empty if it is invalid."""
    if not isinstance(answer, dict):
        return {}
    outcome = answer.get("outcome", answer.get("status"))
    if outcome == "rejected":
        return {"action": "decline"}
    if outcome == "cancelled":
        return {"action": "cancel"}
    fields, answers = _fields(form), answer.get("answers")
    if outcome != "answered" or not isinstance(answers, list) or len(answers) != len(fields):
        return {}
    content: dict[str, Any] = {}
    for (name, field), given in zip(fields.items(), answers, strict=True):
        values = given if isinstance(given, list) else [given]
        several = field.get("type") == "array"
        choices = _choices(field.get("items") if several else field)
        if not values or not all(_fits(value, choices) for value in values):
            return {}
        if not several and len(values) > 1:
            return {}
        content[name] = values if several else values[0]
    return {"action": "accept", "content": content}


async def answered(params: dict[str, Any], form: asyncio.Future[Any]) -> dict[str, Any]:
    """Wait for the form's answer, and return it as the answer to the extension's question."""
    return as_answer(params, await asyncio.shield(form))


def _questions(params: dict[str, Any]) -> list[dict[str, Any]]:
    several = params.get("questions")
    found = several if isinstance(several, list) else [params]
    questions = [each for each in found if isinstance(each, dict)]
    if not questions or not all(_text(each) for each in questions):
        raise invalid_params("question: there must be something to ask.")
    return questions


def _field(question: dict[str, Any]) -> dict[str, Any]:
    """Return the form field for one answer: one or several options, or free text."""
    offered = _options(question)
    title = {"title": _text(question)}
    if not offered:
        return {**title, "type": "string"}
    choices = [{"const": value, "title": label} for value, label in offered]
    if question.get("multiple") or question.get("multiSelect"):
        return {**title, "type": "array", "items": {"anyOf": choices}, "minItems": 1}
    return {**title, "type": "string", "oneOf": choices}


def _options(question: dict[str, Any]) -> list[tuple[str, str]]:
    options = question.get("options")
    found: list[tuple[str, str]] = []
    for option in options if isinstance(options, list) else []:
        if isinstance(option, str):
            found.append((option, option))
        elif isinstance(option, dict):
            names = [option.get(key) for key in ("id", "optionId", "value", "label", "name")]
            value = next((name for name in names if isinstance(name, str)), None)
            if value is not None:
                label = option.get("label") or option.get("name") or value
                detail = option.get("description")
                found.append((value, f"{label}: {detail}" if detail else str(label)))
    return found


def _fields(form: dict[str, Any]) -> dict[str, dict[str, Any]]:
    schema = form.get("requestedSchema")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    fields = fields if isinstance(fields, dict) else {}
    return {name: field for name, field in fields.items() if isinstance(field, dict)}


def _choices(field: Any) -> dict[str, str]:
    """Return the values of a field with their labels; none for free text."""
    field = field if isinstance(field, dict) else {}
    titled = field.get("oneOf") or field.get("anyOf")
    if isinstance(titled, list):
        choices = [each for each in titled if isinstance(each, dict)]
        return {
            str(each.get("const")): str(each.get("title", each.get("const"))) for each in choices
        }
    values, names = field.get("enum"), field.get("enumNames")
    values = values if isinstance(values, list) else []
    names = names if isinstance(names, list) and len(names) == len(values) else values
    return {str(value): str(name) for value, name in zip(values, names, strict=True)}


def _fits(value: Any, choices: dict[str, str]) -> bool:
    return isinstance(value, str) and (not choices or value in choices)


def _kept(params: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a question that its answer has to repeat."""
    kept = dict(corner(params))
    for name in ("questionId", "options"):
        if name in params:
            kept.setdefault(name, params[name])
    return kept


def _text(holder: dict[str, Any]) -> str:
    for name in ("question", "prompt", "message", "text"):
        if isinstance(holder.get(name), str) and holder[name]:
            return str(holder[name])
    return ""


def _name(index: int) -> str:
    return f"answer{index + 1}"
