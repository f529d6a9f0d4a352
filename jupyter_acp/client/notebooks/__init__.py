# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks and their kernels: reading and changing cells, running code."""
