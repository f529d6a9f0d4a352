# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The commands of `jupyter acp`. Imports are local, because agents run a command for each call."""

from __future__ import annotations

import sys

DOCTOR = """Check this installation: versions, agents, configuration, files and environment. Unknown
arguments are passed to the server, e.g. `--config FILE` or `--AcpExtension.journal=FILE`. The exit
status is 1 if there is a problem."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["tool"]:
        from .tools.cli import main as tool

        return tool(given[1:])
    return _other(given)


def _other(given: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(prog="jupyter acp", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser(
        "doctor", help="check this installation", description=DOCTOR, allow_abbrev=False
    )
    doctor.add_argument(
        "--start", action="store_true", help="start every available agent and show its version"
    )
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    commands.add_parser("tool", help="call a tool for notebooks, for agents with a shell")
    options, rest = parser.parse_known_args(given)

    from .doctor.examine import examine

    return examine(rest, starts_agents=options.start, is_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
