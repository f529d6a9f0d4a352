# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The capabilities of agents and clients that concern remote sessions."""

from __future__ import annotations

from typing import Any

from .. import protocol


def takes_remote(capabilities: dict[str, Any]) -> bool:
    """Return True if an agent supports remote sessions."""
    return ours(capabilities).get("remoteSessions") not in (None, False)


def without_files(capabilities: dict[str, Any]) -> dict[str, Any]:
    """Return a client's capabilities without those for its own files."""
    kept = {k: v for k, v in capabilities.items() if k not in ("fs", "terminal", "workspace")}
    meta = kept.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get(protocol.META), dict):
        ours = {k: v for k, v in meta[protocol.META].items() if k != "workspace"}
        kept["_meta"] = {**meta, protocol.META: ours}
    return kept


def ours(holder: dict[str, Any]) -> dict[str, Any]:
    """Return our own object in `_meta`, or an empty one."""
    meta = holder.get("_meta")
    found = meta.get(protocol.META) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}
