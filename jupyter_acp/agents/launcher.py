# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`python launcher.py MODULE …`: like `python -m MODULE …`, but without the working directory.

`-m` searches imports in the working directory first. That may be an untrusted repository, whose
`argparse.py` would then run with the user's rights. The option `-P` prevents this only since
Python 3.11.
"""

import os
import sys


def clean(path: list[str]) -> list[str]:
    """Return the module search path without entries that depend on the working directory."""
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    relative = {os.path.abspath(entry) for entry in named if not os.path.isabs(entry)}
    found = [entry for entry in path if os.path.isabs(entry) and entry not in {here, *relative}]
    # If this package was imported from such an entry, append it last: there it cannot shadow the
    # standard library.
    ours = os.path.dirname(os.path.dirname(here))
    return found if ours in found else [*found, ours]


if __name__ == "__main__":
    # `os` and `sys` were loaded before this file; all later imports use the clean path.
    sys.path[:] = clean(sys.path)
    import runpy

    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
