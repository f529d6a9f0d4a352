# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""A user's server on a hub, with another folder for `/etc`; it notes down each program that it starts."""

import os
import sys
from pathlib import Path

from jupyter_core import paths
from jupyterhub.singleuser import main

STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty")


def watch(file):
    """Write down what is started, for as long as this process lives."""
    notes = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def hook(event, args):
        if event in STARTS:
            os.write(notes, f"{event} {args}\n".encode(errors="replace"))

    sys.addaudithook(hook)


if __name__ == "__main__":
    root = Path(sys.argv.pop(1))
    paths.SYSTEM_CONFIG_PATH[:] = [str(root / "etc/jupyter")]
    watch(root / f"started-{os.environ['JUPYTERHUB_USER']}")
    main()
