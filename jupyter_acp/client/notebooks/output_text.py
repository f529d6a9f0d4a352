# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Outputs of cells as text and images for a model."""

from __future__ import annotations

import json
from typing import Any

from ..terminals.output import plain

IMAGE_LIMIT = 4 * 1024 * 1024
"""Maximum size of an image, in characters of base64."""

IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_TEXT_TYPES = ("text/plain", "text/markdown", "text/latex", "application/json", "text/html")


def told_outputs(outputs: list[dict[str, Any]], limit: int) -> str:
    """Return outputs as text, each cut in the middle if it is longer than `limit`."""
    return "\n".join(filter(None, (cut(output_text(each, limit), limit) for each in outputs)))


def images_of(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the images in outputs that a model can read."""
    found: list[dict[str, Any]] = []
    for output in outputs:
        data = output.get("data") or {}
        kind = next((kind for kind in IMAGE_TYPES if kind in data), None)
        if kind is not None:
            image = _joined(data[kind]).replace("\n", "")
            if len(image) <= IMAGE_LIMIT:
                found.append({"type": "image", "data": image, "mimeType": kind})
    return found


def cut(words: str, limit: int) -> str:
    """Cut the middle out of a long text: its start and its end matter most."""
    if len(words) <= limit:
        return words
    half = limit // 2
    return f"{words[:half]}\n[… {len(words) - 2 * half:,} characters left out …]\n{words[-half:]}"


def output_text(output: dict[str, Any], limit: int) -> str:
    """Return one output as text; a stream that is much longer than `limit` is cut."""
    kind = output.get("output_type")
    if kind == "stream":
        # Cut very long streams first, so that only the visible part is processed.
        return plain(cut(_joined(output.get("text")), 4 * limit)).rstrip("\n")
    if kind == "error":
        trace = plain("\n".join(map(str, output.get("traceback") or [])))
        said = f"{output.get('ename')}: {output.get('evalue')}"
        return trace if said in trace else f"{trace}\n{said}".strip()
    data = output.get("data") or {}
    shown = [
        f"[{kind}, {len(_joined(data[kind])):,} characters]" for kind in data if "image/" in kind
    ]
    readable = next((kind for kind in _TEXT_TYPES if kind in data), None)
    if readable is not None:
        shown.append(plain(_joined(data[readable])))
    elif not shown and data:
        shown.append(f"[{', '.join(data)}]")
    return "\n".join(shown)


def _joined(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "".join(value)
    return json.dumps(value, ensure_ascii=False)
