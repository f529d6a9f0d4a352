# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What is in the messages of a client, and what it is told, as far as repositories are concerned."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from ... import protocol
from ...rpc import invalid_params
from ..capabilities import ours
from ..filenames import some


def remote_of(params: dict[str, Any]) -> Any:
    """Return the reference in a request, wherever its client was able to put it."""
    remote = params.get("remote")
    return remote if remote is not None else ours(params).get("remote")


def offered(capabilities: dict[str, Any]) -> dict[str, Any]:
    """Return what the agent can, and what it can with us around it."""
    sessions, meta = capabilities.get("sessionCapabilities"), capabilities.get("_meta")
    # Whether or not the agent wants to know: the files have to go.
    sessions = {**(sessions if isinstance(sessions, dict) else {}), "close": {}, "delete": {}}
    told = {**ours(capabilities), "remoteSessions": True}
    return {
        **capabilities,
        "sessionCapabilities": sessions,
        "_meta": {**(meta if isinstance(meta, dict) else {}), protocol.META: told},
    }


def hints_of(params: dict[str, Any]) -> dict[str, Any]:
    """Return what others have put into `_meta`."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    return {key: value for key, value in meta.items() if key != protocol.META}


def folder_in(root: Path, wanted: Any) -> Path:
    """Return the folder of the repository that the session is about, if it is one of its own."""
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
    """Return what the user has said in a prompt."""
    blocks = prompt if isinstance(prompt, list) else []
    return "\n".join(
        block["text"]
        for block in blocks
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


def left_out(left: dict[str, str]) -> str:
    """Say what is not brought back."""
    paths: dict[str, list[str]] = {}
    for path, why in left.items():
        paths.setdefault(why, []).append(path)
    lines = (f"- {some(names)}: {why}" for why, names in paths.items())
    return "\n\nThis is left out of what is brought back:\n\n" + "\n".join(lines) + "\n"
