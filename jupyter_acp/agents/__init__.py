# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Agents: the catalog, and the processes and connections of running agents."""
