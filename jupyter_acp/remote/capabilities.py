# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What the two sides of a remote session say of themselves."""

from __future__ import annotations

from typing import Any

from .. import protocol


def takes_remote(capabilities: dict[str, Any]) -> bool:
    """Whether an agent says that it can work on a repository that is somewhere else."""
    return ours(capabilities).get("remoteSessions") not in (None, False)


def without_files(capabilities: dict[str, Any]) -> dict[str, Any]:
    """Return what a client offers, but for what has to do with its own files."""
    kept = {k: v for k, v in capabilities.items() if k not in ("fs", "terminal", "workspace")}
    meta = kept.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get(protocol.META), dict):
        ours = {k: v for k, v in meta[protocol.META].items() if k != "workspace"}
        kept["_meta"] = {**meta, protocol.META: ours}
    return kept


def ours(holder: dict[str, Any]) -> dict[str, Any]:
    """Return what is in our own corner of `_meta`."""
    meta = holder.get("_meta")
    found = meta.get(protocol.META) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}
