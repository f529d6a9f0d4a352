# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Files that Jupyter saves for agents: they stay what they were, and where they were looked for."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

import pytest
from jupyter_server.services.contents.filemanager import (
    AsyncFileContentsManager,
)

from jupyter_acp.client.documents.contents import Contents
from jupyter_acp.client.documents.disk import read_text, write_text
from jupyter_acp.rpc import RpcError

NOBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path.resolve() / "shown"
    folder.mkdir()
    return folder


def contents_of(folder, cls=AsyncFileContentsManager, **options):
    manager = cls(root_dir=str(folder), **options)
    return manager, Contents(manager, str(folder.resolve()))


def test_a_file_stays_what_it_was(folder):
    path = folder / "a.txt"
    path.write_text("old, and longer than the new one")
    path.chmod(0o640)
    if os.getuid() == 0:
        os.chown(path, 1234, 100)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.tag", b"mine")
    before = path.stat()
    tags = os.listxattr(path) if sys.platform == "linux" else []
    write_text(path, "new")
    after = path.stat()
    assert path.read_text() == "new"
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert stat.S_IMODE(after.st_mode) == 0o640
    assert not tags or os.listxattr(path) == tags
    assert after.st_ino != before.st_ino
    assert [each.name for each in folder.iterdir()] == ["a.txt"]


def test_a_new_file_may_be_read_by_whom_the_user_lets_read(folder):
    before = os.umask(0o027)
    try:
        write_text(folder / "a.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "a.txt").stat().st_mode) == 0o640


def test_a_name_may_be_as_long_as_names_may_be(folder):
    path = folder / f"{'n' * 246}.txt"
    write_text(path, "one")
    write_text(path, "two")
    assert read_text(path) == "two"


@as_root
def test_a_file_that_may_be_written_in_a_folder_that_may_not():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        path = folder / "a.txt"
        path.write_text("old text")
        os.chown(path, NOBODY, NOBODY)
        with somebody_else():
            write_text(path, "new")
            assert read_text(path) == "new"
            with pytest.raises(RpcError, match="Permission denied"):
                write_text(folder / "b.txt", "new")


@as_root
def test_below_a_folder_that_may_be_entered_and_not_listed():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o711)
        home = folder / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        with somebody_else():
            write_text(home / "sub" / "a.txt", "mine")
            assert read_text(home / "sub" / "a.txt") == "mine"
        shutil.rmtree(home)


@contextlib.contextmanager
def somebody_else():
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.parametrize("is_link", [True, False])
async def test_no_link_is_followed_wherever_the_folder_is(folder, tmp_path, is_link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret")
    (tmp_path / "way").symlink_to(folder)
    _, contents = contents_of(tmp_path / "way" if is_link else folder)
    (folder / "sub").symlink_to(outside)
    with pytest.raises(RpcError, match="could not be written"):
        await contents.save_text(folder / "sub" / "a.txt", "evil")
    assert (outside / "a.txt").read_text() == "secret"
    await contents.save_text(folder / "b.txt", "fine")
    assert (folder / "b.txt").read_text() == "fine"


async def test_jupyter_is_left_as_it_is(folder):
    manager = AsyncFileContentsManager(root_dir=str(folder))
    before = dict(vars(manager))
    contents = Contents(manager, str(folder))
    await contents.save_text(folder / "a.txt", "text")
    assert vars(manager).keys() == before.keys()
    # What the user saves is saved as ever, through links too.
    (folder / "real.txt").write_text("old")
    (folder / "link.txt").symlink_to("real.txt")
    await manager.save({"type": "file", "format": "text", "content": "new"}, "link.txt")
    assert (folder / "link.txt").is_symlink() and (folder / "real.txt").read_text() == "new"
