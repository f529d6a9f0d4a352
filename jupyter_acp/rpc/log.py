# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The type of loggers: Jupyter passes its extensions a logger or an adapter."""

from __future__ import annotations

import logging
from typing import Any, TypeAlias

# A string, because LoggerAdapter is generic in type stubs only.
Logger: TypeAlias = "logging.Logger | logging.LoggerAdapter[Any]"
