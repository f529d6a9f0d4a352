# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Findings of checks, and their output as text or data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["good", "note", "bad"]

_SIGNS: dict[Level, str] = {"good": "ok  ", "note": "note", "bad": "BAD "}


@dataclass(frozen=True)
class Finding:
    """The result of one check, with advice unless it is good."""

    level: Level
    text: str
    advice: str = ""


Section = tuple[str, list[Finding]]


def good(text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding("good", text)


def note(text: str, advice: str = "") -> Finding:
    """Return a finding that is worth knowing, but not a problem."""
    return Finding("note", text, advice)


def bad(text: str, advice: str) -> Finding:
    """Return a finding about something that does not work or is not safe."""
    return Finding("bad", text, advice)


def as_text(sections: Iterable[Section]) -> str:
    """Return the report as text."""
    lines: list[str] = []
    for title, findings in sections:
        lines += ["", title]
        for finding in findings:
            lines.append(f"  {_SIGNS[finding.level]}  {finding.text}")
            lines += [f"        {line}" for line in finding.advice.splitlines()]
    return "\n".join(lines[1:])


def as_data(sections: Iterable[Section]) -> list[dict[str, Any]]:
    """Return the report as data for JSON."""
    return [
        {"section": title, "findings": [asdict(finding) for finding in findings]}
        for title, findings in sections
    ]
