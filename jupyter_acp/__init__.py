# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents of the Agent Client Protocol in Jupyter: the extension points."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Looked up when asked for: the metadata of a package is slow to find.
        from .version import installed_version

        return installed_version()
    raise AttributeError(name)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyter-acp-bridge"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .app import AcpExtension

    return [{"module": "jupyter_acp", "app": AcpExtension}]
