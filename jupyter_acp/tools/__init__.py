# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The client services as tools of an MCP server, for agents that cannot use them directly."""
