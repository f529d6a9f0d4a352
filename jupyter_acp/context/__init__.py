# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Context: the text about the user's editor that goes along with a prompt."""
