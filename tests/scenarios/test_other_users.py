# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Another user of the same machine, who really tries."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pwd
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from acpclient import Client
from mcpclient import servers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody can look into, as those of the tests are not."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def jp_runtime_dir(shared: Path) -> Path:
    folder = shared / "runtime"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


@pytest.fixture
def acp_config(shared: Path) -> dict[str, Any]:
    return {"journal": str(shared / "acp" / "journal.sqlite")}


def tries(what: Callable[[Path], Any], path: Path) -> int:
    """Let another user do something with a path; return the number of the error, 0 if there is none."""

    def work() -> None:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        try:
            what(path)
        except OSError as error:
            os._exit(error.errno or 255)
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


def connect(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def is_closed_to_others(path: Path, what: Callable[[Path], Any]) -> bool:
    """Whether another user is refused: by the folder, and without it by what is in it."""
    mode = path.parent.stat().st_mode
    refusals = [tries(os.listdir, path.parent), tries(what, path)]
    path.parent.chmod(0o755)
    refusals.append(tries(what, path))
    path.parent.chmod(mode)
    return set(refusals) == {errno.EACCES}


def test_others_get_in_where_nothing_keeps_them_out(shared: Path) -> None:
    """Else the refusals below would mean nothing."""
    file, address = shared / "file", shared / "socket"
    file.touch(0o644)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        address.chmod(0o666)
        assert (tries(Path.read_bytes, file), tries(connect, address)) == (0, 0)
    assert tries(Path.touch, shared / "other") == errno.EACCES


async def test_nobody_else_opens_the_journal(window: Client, root: Path, shared: Path) -> None:
    await window.prompt(await window.new(root), ["chunk", "Hello."])
    files = list((shared / "acp").iterdir())
    assert shared / "acp" / "journal.sqlite" in files
    for path in files:
        assert is_closed_to_others(path, Path.read_bytes), path
        assert is_closed_to_others(path, lambda path: path.open("r+b")), path


async def test_nobody_else_reaches_the_channel(
    window: Client, root: Path, jp_runtime_dir: Path
) -> None:
    (entry,) = await servers(window, await window.new(root))
    address = Path(entry["args"][-1])
    assert jp_runtime_dir in address.parents
    assert is_closed_to_others(address, connect)
    # Its owner is not refused.
    connect(address)
