# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`terminal/*`: commands that an agent runs through this server, with live output."""

from .service import Terminals

__all__ = ["Terminals"]
