# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""How Sphinx makes a site of these pages."""

from __future__ import annotations

from typing import Any

project = "jupyter-acp-bridge"
author = "Jupyter ACP contributors"
copyright = author
extensions = ["myst_parser"]
html_theme = "furo"
html_title = project
html_copy_source = False
myst_heading_anchors = 3

# What is outside of this folder is a page of its own here.
_PAGES = {"](../CHANGELOG.md)": "](changelog.md)", "](../CONTRIBUTING.md)": "](contributing.md)"}


def _lead_to_pages(_app: Any, _page: str, source: list[str]) -> None:
    for outside, inside in _PAGES.items():
        source[0] = source[0].replace(outside, inside)


def setup(app: Any) -> None:
    """Let links that are right in the repository be right on the site, too."""
    app.connect("source-read", _lead_to_pages)
