# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What docs/hub.md tells administrators to write, file by file, so that the tests run just that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

PAGE = Path(__file__).parents[2] / "docs/hub.md"


def blocks(language: str) -> list[str]:
    """Everything on the page that is written in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def told(file: str, root: Path) -> str:
    """What the page wants in a file of Python, with paths below a folder that stands for `/`."""
    parts = [block for block in blocks("python") if block.startswith(f"# {file}\n")]
    assert parts
    return "\n".join(parts).replace('"/var/', f'"{root}/var/')


def values() -> dict[str, Any]:
    """The values for the chart of Zero to JupyterHub."""
    (text,) = blocks("yaml")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def mount(root: Path) -> None:
    """Put the files of the chart where it puts them, below a folder that stands for `/`."""
    for file in values()["singleuser"]["extraFiles"].values():
        path = root / file["mountPath"].lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        # The chart writes `data` in the language that the file's name ends with.
        assert path.suffix == ".json"
        path.write_text(json.dumps(file["data"]))
