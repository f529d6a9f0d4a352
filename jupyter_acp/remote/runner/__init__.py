# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The runner: lets any agent work on a repository that is elsewhere."""
