# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The user's own repository: what can be sent from it, and what comes back to it."""
