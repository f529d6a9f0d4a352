# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Remote sessions: their files are in a git repository elsewhere, their results are branches."""
