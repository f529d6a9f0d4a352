# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The built-in agent: every part of ACP, without a language model, a key or network access."""
