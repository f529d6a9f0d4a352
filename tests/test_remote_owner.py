# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files that keep other processes out for as long as their owner lives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict

import pytest

from jupyter_acp.remote.home.owner import Owner, take


def test_one_at_a_time(tmp_path):
    path = tmp_path / "made for it" / "busy"
    assert take(path) and not take(path)
    other = f"from pathlib import Path; from {take.__module__} import take; print(take(Path({str(path)!r})))"
    ended = subprocess.run(
        [sys.executable, "-c", other], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "False\n"
    path.unlink()
    ended = subprocess.run(
        [sys.executable, "-c", other], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "True\n"
    # That process has ended.
    assert take(path) and json.loads(path.read_text()) == asdict(Owner.this())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_what_nobody_can_read_is_left_by_somebody_dead_after_a_while(tmp_path, text):
    path = tmp_path / "busy"
    path.write_text(text)
    assert not take(path)
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))
    assert take(path)
