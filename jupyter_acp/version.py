# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The version that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return it, or zeros for sources that were never installed."""
    try:
        return version("jupyter-acp-bridge")
    except PackageNotFoundError:
        return "0.0.0"
