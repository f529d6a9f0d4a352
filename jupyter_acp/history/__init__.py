# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Transcripts: the log in memory, the journal on disk, search, export and retention."""
