# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The report about a server with the local configuration, which is created but never serves."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import sys
from typing import TYPE_CHECKING

from .agents import started
from .checks import agents, configuration, environment, files, installation, versions
from .findings import Section, as_data, as_text, bad, good
from .servers import servers

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def examine(arguments: list[str], *, starts_agents: bool, is_json: bool) -> int:
    """Print the report; return 1 if a finding is bad."""
    sections: list[Section] = [("Versions", versions())]
    try:
        server = _server(arguments)
    except (Exception, SystemExit) as error:
        finding = bad(
            "The Jupyter server does not start with this configuration, or ignores a part of it: "
            f"{error}",
            "Run `jupyter server --show-config` to list the configuration files.",
        )
        sections.append(("Server", [finding]))
    else:
        sections += _looked_at(server, starts_agents=starts_agents)
    is_bad = any(finding.level == "bad" for _, findings in sections for finding in findings)
    if is_json:
        report = json.dumps(as_data(sections), indent=2)
    else:
        end = "There are problems: see above." if is_bad else "All is well."
        report = f"{as_text(sections)}\n\n{end}"
    sys.stdout.write(report + "\n")
    return int(is_bad)


def _server(arguments: list[str]) -> ServerApp:
    """Create a server with its extensions as `jupyter server` does, but without a port."""
    from jupyter_server.serverapp import ServerApp

    # By default a server ignores an invalid configuration file, with all restrictions in it.
    server = ServerApp(log_level=logging.ERROR, open_browser=False, raise_config_file_errors=True)
    # Hide the output of other extensions.
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            server.initialize(arguments, new_httpserver=False)
        except SystemExit:
            raise RuntimeError(said.getvalue().strip()[-1000:] or "it ended immediately") from None
    return server


def _looked_at(server: ServerApp, *, starts_agents: bool) -> list[Section]:
    found, extension = installation(server)
    sections: list[Section] = [("Installation", found)]
    if extension is None:
        return sections
    sections.append(("Configuration", configuration(server, extension)))
    catalog, entries = agents(extension)
    if starts_agents:
        ready = [entry.spec for entry in catalog if entry.available]
        entries += asyncio.run(started(ready, extension))
    else:
        entries.append(
            good("No agent was started. Use `--start` to start every agent and show its version.")
        )
    sections.append(("Agents", entries))
    if found := servers(extension):
        sections.append(("MCP servers", found))
    sections.append(("Files", files(extension)))
    sections.append(("Environment", environment()))
    return sections
