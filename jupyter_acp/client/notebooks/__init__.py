# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Notebooks and their kernels: cells are read and changed, code is run."""
