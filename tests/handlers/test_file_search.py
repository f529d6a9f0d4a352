# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files that are found by a few letters."""

from __future__ import annotations

import pytest

from jupyter_acp.handlers import file_search
from jupyter_acp.handlers.file_search import find_files


@pytest.fixture
def root(tmp_path):
    for name in (
        "plot.py",
        "deep/er/plot.py",
        "deep/myplot.py",
        "plots/data.csv",
        ".hidden/plot.py",
        "node_modules/plot.py",
        "deep/.plot",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "plot-of-itself").symlink_to("plot-of-itself")
    (tmp_path / "plot-of-nothing").symlink_to("nothing")
    return str(tmp_path)


def test_the_best_come_first_and_what_is_hidden_never(root):
    found = find_files(root, "PLOT", 10)
    assert found.paths == ["plot.py", "deep/er/plot.py", "deep/myplot.py", "plots/data.csv"]
    assert found.complete
    assert find_files(root, "plot", 2).paths == ["plot.py", "deep/er/plot.py"]
    assert find_files(root, "deep/er", 10).paths == ["deep/er/plot.py"]
    assert find_files(root, "nowhere", 10).paths == []


def test_a_folder_without_end_is_left_in_time(tmp_path, monkeypatch):
    # Which of them come first is the file system's affair.
    names = {f"plot{number}.py" for number in range(6)}
    for name in names:
        (tmp_path / name).write_text("")
    monkeypatch.setattr(file_search, "LOOKED_AT", 3)
    found = find_files(str(tmp_path), "plot", 10)
    assert not found.complete
    assert len(found.paths) == 3 and set(found.paths) < names
    monkeypatch.setattr(file_search, "LOOKED_AT", 7)
    found = find_files(str(tmp_path), "plot", 10)
    assert found.complete and set(found.paths) == names
