# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""JSON-RPC 2.0 over pipes and websockets: framing, ids, cancellation and backpressure."""

from .connection import Connection, Peer
from .errors import RpcError, invalid_params, method_not_found
from .log import Logger
from .request import Request

__all__ = [
    "Connection",
    "Logger",
    "Peer",
    "Request",
    "RpcError",
    "invalid_params",
    "method_not_found",
]
