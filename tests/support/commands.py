# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Commands that an agent runs in terminals of the client."""

from __future__ import annotations

import json
import sys

import psutil

FAMILY = (
    "import os, subprocess, sys, time;"
    "child = lambda new: subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'],"
    " start_new_session=new).pid;"
    "print(os.getpid(), child(False), child(True), 'ready', flush=True); time.sleep(1000)"
)


async def call(window, session, method, **params):
    await window.prompt(session, ["request", f"terminal/{method}", params])
    return json.loads(window.texts()[-1])


async def create(window, session, command, *args, **params):
    result = await call(window, session, "create", command=command, args=list(args), **params)
    return result["terminalId"]


async def run(window, session, command, *args, **params):
    """Run a command to its end and return what the agent reads of it."""
    id = await create(window, session, command, *args, **params)
    await call(window, session, "wait_for_exit", terminalId=id)
    return await call(window, session, "output", terminalId=id)


def lives(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def python(code):
    return sys.executable, "-c", code


async def family(window, session):
    """Start them; return the terminal and the processes."""
    seen = len(window.received)
    id = await create(window, session, *python(FAMILY))
    await window.wait(lambda _: "ready" in window.printed(seen), seen)
    pids = [int(pid) for pid in window.printed(seen).split()[:3]]
    assert all(lives(pid) for pid in pids)
    return id, pids
