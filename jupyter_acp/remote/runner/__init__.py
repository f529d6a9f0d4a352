# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The runner, which gives remote sessions to agents that do not support them."""
