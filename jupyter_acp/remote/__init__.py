# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that run elsewhere, on a git repository, and come back as a branch."""
