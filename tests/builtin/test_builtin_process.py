# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A client built on rpc/ that drives the built-in agent's real process, and how that one lives."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from builtindriver import ARGV, driven, drives, environment

from jupyter_acp.rpc import RpcError


@drives
async def test_end_of_input_ends_it_in_the_middle_of_a_turn(state: Path, folder: Path) -> None:
    async with driven(state, folder) as agent:
        await agent.start()
        turn = asyncio.ensure_future(agent.ask("/slow 3000"))
        await agent.until(agent.said)
    assert agent.process.returncode == 0
    assert agent.process.stderr is not None
    assert await agent.process.stderr.read() == b""
    with pytest.raises(RpcError):
        await turn


def test_the_last_request_before_the_end_of_input_is_answered(tmp_path: Path) -> None:
    line = b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}\n'
    ended = subprocess.run(
        ARGV, input=line, capture_output=True, env=environment(tmp_path), timeout=20, check=False
    )
    assert ended.returncode == 0
    assert b'"id":7' in ended.stdout
    assert ended.stderr == b""


def test_without_a_client_it_says_what_it_is(tmp_path: Path) -> None:
    ended = subprocess.run(
        ARGV,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(tmp_path),
        timeout=20,
        check=False,
    )
    assert ended.returncode == 1
    assert b"ACP agent" in ended.stderr


def test_it_starts_without_heavy_imports() -> None:
    code = (
        "import sys, jupyter_acp.builtin.__main__\n"
        "heavy = {'pydantic', 'tornado', 'jupyter_server', 'traitlets', 'importlib.metadata'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
