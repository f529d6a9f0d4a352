# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The installed version of the package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return the installed version, or "0.0.0" if the package is not installed."""
    try:
        return version("jupyter-acp-bridge")
    except PackageNotFoundError:
        return "0.0.0"
