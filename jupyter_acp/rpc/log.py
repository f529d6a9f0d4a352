# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The type of a log: the one that Jupyter gives its extensions may be an adapter."""

from __future__ import annotations

import logging
from typing import Any, TypeAlias

# A string: the class takes its parameter in type stubs only.
Logger: TypeAlias = "logging.Logger | logging.LoggerAdapter[Any]"
