# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The agent that is always there: no language model, no key, no network, every part of ACP."""
