# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Permissions of agents: rules, questions to the user, and protected files."""
