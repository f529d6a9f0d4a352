# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Repositories that are reached by ssh, with a real sshd where there is one."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import socket
import subprocess
import time

import pytest
from gitserver import git
from remoterunner import Client, scripted
from server import free_port

from jupyter_acp.rpc import RpcError

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")

pytestmark = pytest.mark.skipif(
    SSHD is None or shutil.which("ssh") is None, reason="there is no sshd on this machine"
)


@pytest.fixture
def sshd(tmp_path):
    """Serve on loopback those who have the one key."""
    os.makedirs("/run/sshd", exist_ok=True)
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    port = free_port()
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    assert SSHD is not None
    process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "config")])
    end = time.monotonic() + 20
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    yield folder, port
    process.terminate()
    process.wait()


@pytest.fixture
def repository(tmp_path):
    bare = tmp_path / "srv" / "p.git"
    work = tmp_path / "work"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(tmp_path, "clone", "-q", str(bare), str(work))
    (work / "a.txt").write_text("one\n")
    git(work, "checkout", "-q", "-B", "main")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "First")
    git(work, "push", "-q", "origin", "main")
    return bare


async def test_clone_and_push_by_ssh(sshd, repository, tmp_path):
    folder, port = sshd
    host = (folder / "host.pub").read_text().split()[:2]
    (folder / "known").write_text(f"[127.0.0.1]:{port} {' '.join(host)}\n")
    ssh = f"ssh -i {folder}/user -o IdentitiesOnly=yes -o UserKnownHostsFile={folder}"
    url = f"ssh://{getpass.getuser()}@127.0.0.1:{port}{repository}"
    revision = git(repository, "rev-parse", "main")
    ref = {"type": "git", "url": url, "branch": "main", "revision": revision}
    client = Client()
    options = json.dumps({"cache": str(tmp_path / "cache")})
    env = {"GIT_SSH_COMMAND": f"{ssh}/known"}
    await client.start("--options", options, *scripted(), env=env)
    try:
        session = (await client.new(ref))["sessionId"]
        target = (await client.prompt(session, ["write", "a.txt", "two"]))["target"]
        assert target["url"] == url
        assert git(repository, "show", f"{target['revision']}:a.txt") == "two"
    finally:
        await client.stop()


async def test_a_host_that_nobody_knows_is_not_trusted(sshd, repository, tmp_path):
    folder, port = sshd
    url = f"ssh://{getpass.getuser()}@127.0.0.1:{port}{repository}"
    revision = git(repository, "rev-parse", "main")
    ref = {"type": "git", "url": url, "branch": "main", "revision": revision}
    client = Client()
    options = json.dumps({"cache": str(tmp_path / "cache")})
    env = {"GIT_SSH_COMMAND": f"ssh -i {folder}/user -o UserKnownHostsFile={folder}/nobody"}
    await client.start("--options", options, *scripted(), env=env)
    try:
        # Nobody is asked whether it should be: there is no terminal to ask at.
        with pytest.raises(RpcError, match="not known to ssh yet"):
            await client.new(ref)
    finally:
        await client.stop()
