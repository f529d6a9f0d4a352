# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions: conversations that the server keeps independently of windows and agent processes."""
