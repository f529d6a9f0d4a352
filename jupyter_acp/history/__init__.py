# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What was said: the transcript, its numbers, the journal on disk, and what is read out of it."""
