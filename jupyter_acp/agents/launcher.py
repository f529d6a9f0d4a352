# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`python launcher.py MODULE …` runs a module of ours as `python -m MODULE …` does, but for one thing.

`-m` looks for every import in the folder that the server was started in first, and that may be
somebody else's repository: its `argparse.py` would run in the name of the user. `-P`, which is
meant against that, is not there before Python 3.11.
"""

import os
import sys


def clean(path: list[str]) -> list[str]:
    """Return where to look for modules: nowhere that depends on where the server was started."""
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    relative = {os.path.abspath(entry) for entry in named if not os.path.isabs(entry)}
    found = [entry for entry in path if os.path.isabs(entry) and entry not in {here, *relative}]
    # Last, for whoever has us from one of those: nothing of Python's own is replaced from there.
    ours = os.path.dirname(os.path.dirname(here))
    return found if ours in found else [*found, ours]


if __name__ == "__main__":
    # Both modules above are loaded before this file is; from here on the path counts.
    sys.path[:] = clean(sys.path)
    import runpy

    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
