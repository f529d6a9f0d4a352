# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The documentation says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_acp import protocol
from jupyter_acp.app import AcpExtension
from jupyter_acp.client import terminals

ROOT = Path(__file__).parent.parent


def test_every_trait_is_documented_and_nothing_else():
    text = (ROOT / "docs" / "configuration.md").read_text()
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert documented == set(AcpExtension.class_own_traits(config=True))


def test_every_method_of_ours_is_documented():
    text = (ROOT / "docs" / "socket.md").read_text()
    ours = {
        value
        for module in (protocol, terminals)
        for value in vars(module).values()
        if isinstance(value, str) and value.startswith("_jupyter/")
    }
    assert len(ours) > 6
    assert {name for name in ours if name not in text} == set()


def test_links_between_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_nobody_is_sent_to_another_project():
    # The distribution `jupyter-acp` belongs to others.
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"install jupyter-acp(?!-bridge)", document.read_text())
