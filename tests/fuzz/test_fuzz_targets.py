# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The fuzzer's targets still hold for a moment; whoever looks for faults lets them run for longer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("atheris", reason="atheris is not there for every Python and machine")

TARGETS = Path(__file__).parent / "targets.py"


@pytest.mark.parametrize("target", ["framing", "paths", "refs", "merges"])
def test_nothing_is_found_in_a_moment(tmp_path, target):
    ran = subprocess.run(
        [sys.executable, str(TARGETS), target, "-runs=3000", "-seed=1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 and "Done 3000 runs" in ran.stderr, ran.stderr
