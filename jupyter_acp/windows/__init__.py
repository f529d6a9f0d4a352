# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Clients at the socket: what each asks for, and what each is sent."""
