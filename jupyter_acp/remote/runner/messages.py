# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The parts of ACP messages that concern remote sessions."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from ... import protocol
from ...rpc import invalid_params
from ..capabilities import ours
from ..filenames import some


def remote_of(params: dict[str, Any]) -> Any:
    """Return the reference in a request, from `remote` or from `_meta`."""
    remote = params.get("remote")
    return remote if remote is not None else ours(params).get("remote")


def offered(capabilities: dict[str, Any]) -> dict[str, Any]:
    """Return the agent's capabilities, together with those of the runner."""
    sessions, meta = capabilities.get("sessionCapabilities"), capabilities.get("_meta")
    # Offered even if the agent lacks them: the runner has files to remove.
    sessions = {**(sessions if isinstance(sessions, dict) else {}), "close": {}, "delete": {}}
    told = {**ours(capabilities), "remoteSessions": True}
    return {
        **capabilities,
        "sessionCapabilities": sessions,
        "_meta": {**(meta if isinstance(meta, dict) else {}), protocol.META: told},
    }


def hints_of(params: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of `_meta` that are not ours."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    return {key: value for key, value in meta.items() if key != protocol.META}


def folder_in(root: Path, wanted: Any) -> Path:
    """Return the requested folder in the repository; refuse any folder outside."""
    if not isinstance(wanted, str) or not wanted:
        return root
    parts = PurePosixPath(wanted).parts
    folder = root.joinpath(*parts)
    if PurePosixPath(wanted).is_absolute() or ".." in parts or ".git" in parts:
        raise invalid_params("folder: must be one of the repository.")
    if not folder.is_dir() or not folder.resolve().is_relative_to(root.resolve()):
        raise invalid_params(f"folder: there is no {wanted} at this revision.")
    return folder


def words_of(prompt: Any) -> str:
    """Return the text blocks of a prompt as one text."""
    blocks = prompt if isinstance(prompt, list) else []
    return "\n".join(
        block["text"]
        for block in blocks
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


def left_out(left: dict[str, str]) -> str:
    """Return a message that lists the paths left out of the result."""
    paths: dict[str, list[str]] = {}
    for path, why in left.items():
        paths.setdefault(why, []).append(path)
    lines = (f"- {some(names)}: {why}" for why, names in paths.items())
    return "\n\nThis is left out of what is brought back:\n\n" + "\n".join(lines) + "\n"
