# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The commands of `jupyter acp`."""

from __future__ import annotations

import argparse
import sys

DOCTOR = """Check this installation: versions, agents, configuration, files and environment. Arguments
that it does not know are given to the server that is looked at, as `--config FILE` or
`--AcpExtension.journal=FILE`. It ends with 1 if something is bad."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return how it ended."""
    parser = argparse.ArgumentParser(prog="jupyter acp", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser(
        "doctor", help="check this installation", description=DOCTOR, allow_abbrev=False
    )
    doctor.add_argument(
        "--start", action="store_true", help="start every agent that is found, and ask its version"
    )
    doctor.add_argument("--json", action="store_true", help="print it for programs to read")
    options, rest = parser.parse_known_args(arguments)

    from .examine import examine

    return examine(rest, starts_agents=options.start, is_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
